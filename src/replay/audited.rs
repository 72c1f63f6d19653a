//! An audit log decided again: every decision and every answer in the order in which the gateway committed
//! them, each on the state of its own key, compared with what is on record.

use super::run::{Observed, Row, State, observe, row};
use crate::audit::{Answered, Decided, Entry, Read, RecordedAnswer, RecordedKey};
use crate::eval::{Answer, Call, Policy, Session, Value};
use crate::ir::Action;
use crate::json::{Json, Object};
use crate::recording::{Record, Recorded};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Calls that may wait for their answer; the oldest are forgotten, and their keys' states with them.
const MAX_PENDING: usize = 10_000;
/// Digests of other policies that are named.
const MAX_POLICIES: usize = 8;

/// Counts of what came of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub decisions: u64,
    pub agreed: u64,
    pub differed: u64,
    pub unknown: UnknownCounts,
    /// What `on_result` did.
    pub answers: AnswerCounts,
    /// Calls that no policy saw.
    pub refused: u64,
    /// How often a state was taken from the log because it was not known otherwise.
    pub resumed: u64,
    /// Digests of other policies that decided; then verdicts alone are compared.
    pub other_policies: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownCounts {
    pub redacted: u64,
    pub state: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnswerCounts {
    pub agreed: u64,
    pub differed: u64,
    pub unknown: u64,
}

/// Why a decision cannot be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Its arguments are not on record, or only in part.
    Redacted,
    /// An earlier event is not, and so the state before is not known.
    State,
}

impl Unknown {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Redacted => "redacted",
            Self::State => "state",
        }
    }
}

/// A decision, or an answer that did something else, then and now.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedRow {
    /// Line of the log.
    pub line: u64,
    pub seq: u64,
    pub principal: String,
    pub session: Option<String>,
    /// `null` where it cannot be said.
    pub agrees: Option<bool>,
    /// What differs: `verdict`, `failed`, `before`, `state`, `observed`.
    pub differs: Vec<&'static str>,
    #[serde(flatten)]
    pub row: Row,
    pub recorded: RecordedSide,
}

/// What the log says.
#[derive(Clone, Debug, Serialize)]
pub struct RecordedSide {
    pub verdict: String,
    #[serde(serialize_with = "failed")]
    pub failed: Vec<(String, String)>,
    pub state: Object,
    pub observed: Option<crate::audit::Observed>,
}

fn failed<S: Serializer>(failed: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(failed.iter().map(|(kind, name)| BTreeMap::from([("kind", kind), ("name", name)])))
}

/// A call whose answer may change the state.
#[derive(Debug)]
struct Pending {
    key: RecordedKey,
    call: Waiting,
}

#[derive(Debug)]
enum Waiting {
    /// Permitted now; the recorded verdict was a denial if `denied`.
    Permitted { record: Record, denied: bool },
    /// Denied now: its answer would never have come.
    Denied,
    /// Nobody can say what it was.
    Unknown,
}

/// Decides a log again, record by record.
#[derive(Debug)]
pub struct Audited {
    policy: Policy,
    /// The policy is the one that decided.
    same: bool,
    /// A key that was not seen yet has the initial state.
    fresh: bool,
    /// `None`: its state is not known.
    sessions: BTreeMap<RecordedKey, Option<Session>>,
    pending: BTreeMap<u64, Pending>,
    summary: Summary,
}

impl Audited {
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        Self {
            policy: policy.clone(),
            same: false,
            fresh: false,
            sessions: BTreeMap::new(),
            pending: BTreeMap::new(),
            summary: Summary::default(),
        }
    }

    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Takes the next record, which stands on this line of the log. Gives a row for each decision, and for
    /// an answer that did something else than recorded. `Err`: the record cannot be read, and what it
    /// did is not known.
    pub fn record(&mut self, line: u64, record: &Json) -> Result<Option<AuditedRow>, String> {
        let read = Read::of(record).inspect_err(|_| self.gap())?;
        Ok(match read.entry {
            Entry::Start { continues, policy_digest } => {
                self.start(continues, policy_digest);
                None
            }
            Entry::Decided(decided) => Some(self.decided(line, read.seq, decided)),
            Entry::Answered(answered) => self.answered(line, read.seq, answered),
            Entry::Refused => {
                self.summary.refused += 1;
                None
            }
            Entry::Gap => {
                self.gap();
                None
            }
            Entry::Other => None,
        })
    }

    /// Something is missing here: no state is known any more.
    pub fn gap(&mut self) {
        self.fresh = false;
        self.sessions.clear();
        self.pending.clear();
    }

    fn start(&mut self, continues: bool, digest: String) {
        self.same = digest == self.policy.digest();
        if !self.same && self.summary.other_policies.len() < MAX_POLICIES {
            self.summary.other_policies.insert(digest);
        }
        // States live in memory: another process begins anew.
        if !continues {
            self.gap();
            self.fresh = true;
        }
    }

    fn decided(&mut self, line: u64, seq: u64, decided: Decided) -> AuditedRow {
        self.summary.decisions += 1;
        let mut session = match self.sessions.remove(&decided.key) {
            Some(known) => known,
            None => self.fresh.then(|| self.policy.session()),
        };
        let Some(arguments) = decided.arguments.clone() else {
            self.summary.unknown.redacted += 1;
            let harmless = !decided.cut
                && (self.same && decided.verdict == "deny"
                    || matching(&self.policy, &decided.tool).all(|action| action.effect.is_empty()));
            if !harmless {
                session = self.resume(&decided.after);
            }
            self.wait(seq, &decided, Waiting::Unknown);
            self.sessions.insert(decided.key.clone(), session);
            return unknown(line, seq, decided, Unknown::Redacted);
        };
        if session.is_none() && !decided.faulted {
            session = self.resume(&decided.before);
        }
        let Some(mut known) = session else {
            self.summary.unknown.state += 1;
            session = if decided.faulted { None } else { self.resume(&decided.after) };
            self.wait(seq, &decided, Waiting::Unknown);
            self.sessions.insert(decided.key.clone(), session);
            return unknown(line, seq, decided, Unknown::State);
        };
        let (tool, upstream) = (decided.tool.clone(), decided.upstream.clone());
        let record = Record { tool, upstream, arguments, result: None, is_error: false };
        let now = Recorded::Call(record);
        let row = row(&mut known, &now, 0);
        let permitted = row.verdict != "deny";
        self.sessions.insert(decided.key.clone(), Some(known));
        if let Recorded::Call(record) = now {
            let denied = decided.verdict == "deny";
            self.wait(seq, &decided, if permitted { Waiting::Permitted { record, denied } } else { Waiting::Denied });
        }
        let mut differs = Vec::new();
        if row.verdict != decided.verdict {
            differs.push("verdict");
        }
        if self.same {
            let failed = row.failed.iter().map(|failed| (failed.kind.as_str(), &*failed.name));
            if !failed.eq(decided.failed.iter().map(|(kind, name)| (kind.as_str(), name.as_str()))) {
                differs.push("failed");
            }
            if !is_state(&row.before, &decided.before) {
                differs.push("before");
            }
            if !is_state(&row.decided, &decided.after) {
                differs.push("state");
            }
        }
        let agrees = differs.is_empty();
        if agrees {
            self.summary.agreed += 1;
        } else {
            self.summary.differed += 1;
        }
        side_by_side(line, seq, decided, Some(agrees), differs, row)
    }

    /// Remembers a call that was forwarded and whose answer matters.
    fn wait(&mut self, seq: u64, decided: &Decided, call: Waiting) {
        let matters = decided.cut || has_on_result(&self.policy, &decided.tool);
        if decided.forwarded && matters {
            self.pending.insert(seq, Pending { key: decided.key.clone(), call });
            if self.pending.len() > MAX_PENDING {
                self.pending.pop_first();
            }
        }
    }

    fn answered(&mut self, line: u64, seq: u64, answered: Answered) -> Option<AuditedRow> {
        if !answered.cut && !has_on_result(&self.policy, &answered.tool) {
            return None;
        }
        let pending = self.pending.remove(&answered.of).filter(|pending| pending.key == answered.key);
        let waiting = pending.map_or(Waiting::Unknown, |pending| pending.call);
        let ran = answered.observed.is_some();
        let (record, answer) = match (&waiting, &answered.answer) {
            (Waiting::Denied, _) => return None,
            // Where the recorded policy denied, a dry run went on without `on_result`.
            (Waiting::Permitted { denied: false, .. }, _) if !ran => return None,
            (Waiting::Unknown, _) if !ran => return None,
            (Waiting::Permitted { record, .. }, Some(RecordedAnswer::Result(result))) => {
                (record, Answer::Result(result))
            }
            (Waiting::Permitted { record, .. }, Some(RecordedAnswer::Error(error))) => (record, Answer::Error(error)),
            (Waiting::Permitted { denied: true, .. }, None) => return None,
            _ => {
                self.summary.answers.unknown += 1;
                let faulted = answered.observed.as_ref().is_some_and(|seen| seen.faulted);
                let session = if faulted { None } else { self.resume(&answered.after) };
                self.sessions.insert(answered.key, session);
                return None;
            }
        };
        let Some(Some(session)) = self.sessions.get_mut(&answered.key) else {
            self.summary.answers.unknown += 1;
            return None;
        };
        let before = State::of(session);
        let call: Call<'_> = record.call();
        let now = observe(session, &call, answer);
        let comparable = self.same && ran;
        let differs = if comparable { differences(&now, &answered) } else { Vec::new() };
        if differs.is_empty() {
            self.summary.answers.agreed += u64::from(comparable);
            return None;
        }
        self.summary.answers.differed += 1;
        let state = now.state.clone();
        Some(AuditedRow {
            line,
            seq,
            principal: answered.key.principal,
            session: answered.key.session,
            agrees: Some(false),
            differs,
            row: Row {
                tool: Some(answered.tool),
                verdict: "answer",
                reason: None,
                failed: Vec::new(),
                actions: Vec::new(),
                state: state.clone(),
                decided: before.clone(),
                before,
                observed: Some(now),
                ns: None,
            },
            recorded: RecordedSide {
                verdict: "answer".to_owned(),
                failed: Vec::new(),
                state: answered.after,
                observed: answered.observed,
            },
        })
    }

    /// A session in a recorded state, if all of it is on record and means the same now.
    fn resume(&mut self, state: &Object) -> Option<Session> {
        let session = if self.same { self.policy.session_in(state) } else { None };
        self.summary.resumed += u64::from(session.is_some());
        session
    }
}

fn differences(now: &Observed, answered: &Answered) -> Vec<&'static str> {
    let mut differs = Vec::new();
    let same = answered.observed.as_ref().is_some_and(|seen| {
        let violated = now.violated.iter().map(|name| &**name);
        seen.changed == now.changed
            && seen.faulted == now.faulted
            && violated.eq(seen.violated.iter().map(String::as_str))
    });
    if !same {
        differs.push("observed");
    }
    if !is_state(&now.state, &answered.after) {
        differs.push("state");
    }
    differs
}

fn unknown(line: u64, seq: u64, decided: Decided, why: Unknown) -> AuditedRow {
    let nothing = State(Vec::new());
    let row = Row {
        tool: Some(decided.tool.clone()),
        verdict: "unknown",
        reason: Some(why.as_str().to_owned()),
        failed: Vec::new(),
        actions: Vec::new(),
        state: nothing.clone(),
        before: nothing.clone(),
        decided: nothing,
        observed: None,
        ns: None,
    };
    side_by_side(line, seq, decided, None, Vec::new(), row)
}

fn side_by_side(
    line: u64,
    seq: u64,
    decided: Decided,
    agrees: Option<bool>,
    differs: Vec<&'static str>,
    row: Row,
) -> AuditedRow {
    let Decided { key, verdict, failed, after, .. } = decided;
    let recorded = RecordedSide { verdict, failed, state: after, observed: None };
    AuditedRow { line, seq, principal: key.principal, session: key.session, agrees, differs, row, recorded }
}

fn matching<'p>(policy: &'p Policy, tool: &str) -> impl Iterator<Item = &'p Action> {
    policy.typed().actions.iter().filter(move |action| action.globs.iter().any(|(glob, _)| glob.matches(tool)))
}

fn has_on_result(policy: &Policy, tool: &str) -> bool {
    matching(policy, tool).any(|action| !action.on_result.is_empty())
}

/// Whether a recorded state is this one, as far as it is shown.
fn is_state(state: &State, recorded: &Object) -> bool {
    let equal = |(name, value): (&str, &Json), (own, now): &(std::sync::Arc<str>, Value)| {
        name == &**own
            && match (value, now) {
                (Json::Null, Value::Str(_)) => true,
                (Json::Bool(value), Value::Bool(now)) => value == now,
                (Json::Number(value), Value::Int(now)) => *value.spelling() == now.to_string(),
                (Json::String(value), Value::Str(now)) => value.as_str() == &**now,
                _ => false,
            }
    };
    recorded.len() == state.0.len() && recorded.iter().zip(&state.0).all(|(recorded, own)| equal(recorded, own))
}
