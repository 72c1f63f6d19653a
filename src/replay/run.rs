//! Deciding recorded calls in order.

use crate::eval::{Answer, Call, Failed, Policy, Session, Value, Verdict};
use crate::recording::{Record, Recorded};
use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What became of one recorded call.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub tool: Option<String>,
    /// `allow`, `deny`, `pass` or `malformed`.
    pub verdict: &'static str,
    pub reason: Option<String>,
    #[serde(serialize_with = "failed")]
    pub failed: Vec<Failed>,
    /// Names of the matching actions, in file order.
    pub actions: Vec<Arc<str>>,
    /// After the decision and the answer.
    pub state: State,
    #[serde(skip)]
    pub before: State,
    /// After the decision, before the answer.
    #[serde(skip)]
    pub decided: State,
    pub observed: Option<Observed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<Timing>,
}

/// What the answer did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observed {
    pub changed: bool,
    pub faulted: bool,
    /// Names of the invariants that are broken now.
    pub violated: Vec<Arc<str>>,
    pub state: State,
}

/// Nanoseconds of one whole decision.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    pub median: u64,
    pub p99: u64,
}

/// Variables and their values, in the policy's order.
#[derive(Clone, Debug, PartialEq)]
pub struct State(pub Vec<(Arc<str>, Value)>);

impl State {
    /// `n 0 → 1` for each variable that has another value here than in `earlier`.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        let pairs = self.0.iter().zip(&earlier.0).filter(|(after, before)| after.1 != before.1);
        pairs.map(|((name, after), (_, before))| format!("{name} {before} → {after}")).collect()
    }

    #[must_use]
    pub fn of(session: &Session) -> Self {
        let names = session.policy().typed().state.iter().map(|var| Arc::clone(&var.name));
        Self(names.zip(session.state().iter().cloned()).collect())
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (&**name, value)))
    }
}

fn failed<S: Serializer>(failed: &[Failed], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Shown<'f> {
        kind: &'static str,
        name: &'f str,
    }
    serializer.collect_seq(failed.iter().map(|failed| Shown { kind: failed.kind.as_str(), name: &failed.name }))
}

/// Decides the calls in order in one session. `timing`: how many more times each call is decided on
/// the state before it, to measure.
#[must_use]
pub fn replay(policy: &Policy, calls: &[Recorded], timing: usize) -> Vec<Row> {
    rows(policy, calls, timing).collect()
}

/// As [`replay`], but each call is read and decided when its row is asked for: all rows of a long
/// recording take many times its size.
pub fn rows<C: Borrow<Recorded>>(
    policy: &Policy,
    calls: impl IntoIterator<Item = C>,
    timing: usize,
) -> impl Iterator<Item = Row> {
    let mut session = policy.session();
    calls.into_iter().map(move |call| row(&mut session, call.borrow(), timing))
}

pub(super) fn row(session: &mut Session, recorded: &Recorded, timing: usize) -> Row {
    let record = match recorded {
        Recorded::Call(record) => record,
        Recorded::Malformed { tool, reason } => {
            return Row {
                tool: tool.clone(),
                verdict: "malformed",
                reason: Some(format!("malformed call: {reason}")),
                failed: Vec::new(),
                actions: Vec::new(),
                state: State::of(session),
                before: State::of(session),
                decided: State::of(session),
                observed: None,
                ns: None,
            };
        }
    };
    let before = State::of(session);
    let ns = measure(session, record, timing);
    let verdict = session.check(&record.call());
    let decided = State::of(session);
    let answer = record.answer().filter(|_| verdict.decision.permits());
    let observed = answer.map(|answer| observe(session, &record.call(), answer));
    Row {
        tool: Some(record.tool.clone()),
        verdict: verdict.decision.as_str(),
        reason: verdict.reason(),
        failed: verdict.failed(),
        actions: action_names(session.policy(), &verdict),
        state: State::of(session),
        before,
        decided,
        observed,
        ns,
    }
}

fn action_names(policy: &Policy, verdict: &Verdict) -> Vec<Arc<str>> {
    let actions = verdict.actions.iter().filter_map(|at| policy.typed().actions.get(*at as usize));
    actions.map(|action| Arc::clone(&action.name)).collect()
}

/// Takes in an answer.
pub(super) fn observe(session: &mut Session, call: &Call<'_>, answer: Answer<'_>) -> Observed {
    let observation = session.observe(call, answer);
    let invariants = &session.policy().typed().invariants;
    let violated = observation.violated.iter().filter_map(|at| invariants.get(*at));
    Observed {
        changed: observation.changed,
        faulted: observation.fault.is_some(),
        violated: violated.map(|invariant| Arc::clone(&invariant.name)).collect(),
        state: State::of(session),
    }
}

fn measure(session: &Session, record: &Record, times: usize) -> Option<Timing> {
    let mut spent: Vec<Duration> = (0..times)
        .map(|_| {
            let mut copy = session.clone();
            let call = record.call();
            let start = Instant::now();
            let verdict = copy.check(&call);
            let spent = start.elapsed();
            drop(verdict);
            spent
        })
        .collect();
    spent.sort_unstable();
    let at = |share: usize| {
        let index = (spent.len() * share).div_ceil(100).saturating_sub(1);
        spent.get(index).map(|spent| u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX))
    };
    Some(Timing { median: at(50)?, p99: at(99)? })
}
