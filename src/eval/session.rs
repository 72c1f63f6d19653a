//! One agent's session: the state of a policy over time.

use super::call::{Answer, Call, Facts};
use super::policy::{Policy, argument, initial};
use super::run::{Env, Silent, run};
use super::verdict::{Observation, Rule, Undefined, Verdict};
use super::{decide, evidence, observe};
use crate::ir::{self, Value};
use crate::json::{Json, Object};

/// The state of one session. Sessions of one policy are independent; each is `Send`.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) policy: Policy,
    pub(super) state: Vec<Value>,
    /// Whether every invariant holds in the state.
    pub(super) safe: bool,
    pub(super) fault: Option<Fault>,
}

/// An `on_result` that could not be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub rule: Rule,
    pub reason: Undefined,
}

impl Policy {
    /// A session in the initial state.
    #[must_use]
    pub fn session(&self) -> Session {
        let state = initial(&self.0.typed);
        // A compiled policy holds its invariants initially.
        Session { policy: self.clone(), state, safe: true, fault: None }
    }

    /// A session that goes on from a recorded state. `None` unless `state` gives every variable, and
    /// nothing else, a value of its type.
    #[must_use]
    pub fn session_in(&self, state: &Object) -> Option<Session> {
        let variables = &self.0.typed.state;
        let value = |var: &ir::StateVar| argument(state.get(&var.name)?, var.ty).ok().map(|value| value.to_value());
        let values: Vec<Value> = variables.iter().map(value).collect::<Option<_>>()?;
        if state.len() != values.len() {
            return None;
        }
        let mut session = Session { policy: self.clone(), state: values, safe: true, fault: None };
        session.safe = session.violated().is_empty();
        Some(session)
    }
}

impl Session {
    /// Decides a call. An allowed call's effects are committed before this returns; a denied call
    /// leaves the state as it was.
    pub fn check(&mut self, call: &Call<'_>) -> Verdict {
        decide::check(self, call)
    }

    /// Takes in the answer to a call that was allowed: its `on_result` effects are committed
    /// whatever they violate.
    pub fn observe(&mut self, call: &Call<'_>, answer: Answer<'_>) -> Observation {
        observe::observe(self, call, answer)
    }

    /// Why the call is denied in the present state: every failing rule with the values of its
    /// sub-expressions. Empty if it is not denied. Changes nothing.
    #[must_use]
    pub fn evidence(&self, call: &Call<'_>) -> Vec<evidence::RuleEvidence> {
        evidence::failing(self, call)
    }

    /// Every rule that deciding the call in the present state evaluates, in order, with its value and
    /// those of its sub-expressions. Empty for a faulted session. Changes nothing.
    #[must_use]
    pub fn trace(&self, call: &Call<'_>) -> Vec<evidence::RuleEvidence> {
        evidence::trace(self, call)
    }

    /// The same for the `on_result` rules that taking in the answer evaluates.
    #[must_use]
    pub fn trace_answer(&self, call: &Call<'_>, answer: Answer<'_>) -> Vec<evidence::RuleEvidence> {
        evidence::trace_answer(self, call, answer)
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The value of every state variable, in the policy's order.
    #[must_use]
    pub fn state(&self) -> &[Value] {
        &self.state
    }

    /// The value of a variable by name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        let id = self.policy.typed().var_named(name)?;
        self.state.get(id.0 as usize)
    }

    /// What made the session deny every call, if something did.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Whether an invariant holds in the present state; `Err` if it has no value.
    pub(super) fn invariant(&self, index: usize) -> Result<bool, Undefined> {
        let invariant = self.policy.typed().invariants.get(index);
        invariant.map_or(Ok(true), |invariant| self.holds(&invariant.expr))
    }

    /// Whether a condition of the policy over the state alone holds now; `Err` if it has no value.
    pub fn holds(&self, condition: &ir::Expr) -> Result<bool, Undefined> {
        let program = &self.policy.0;
        let call = Call { tool: "", upstream: "", arguments: &Json::Null };
        let facts = Facts::new(call, None);
        let env = Env { program, state: &self.state, overlay: &[], args: &[], facts: &facts };
        run(condition, &env, &mut Silent).map(|value| value.is_true()).map_err(|error| error.reason)
    }

    /// Indices of the invariants that do not hold now.
    pub(super) fn violated(&self) -> Vec<usize> {
        (0..self.policy.0.typed.invariants.len()).filter(|at| self.invariant(*at) != Ok(true)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::FileId;

    #[test]
    fn sessions_move_between_threads_and_share_the_policy() {
        let text = "state: {n: {type: int, init: 0}}\ninvariants: [{name: cap, expr: n <= 1}]\n\
            actions: [{name: a, match: s__t, effect: {n: n + 1}}]\n";
        let policy = Policy::compile(text, FileId(0)).policy.unwrap();
        let decide = |mut session: Session| {
            let call = Call { tool: "s__t", upstream: "s", arguments: &Json::Null };
            [session.check(&call), session.check(&call)].map(|verdict| verdict.decision.permits())
        };
        let threads: Vec<_> =
            (0..4).map(|_| policy.session()).map(|one| std::thread::spawn(move || decide(one))).collect();
        for thread in threads {
            // Each session has a state of its own.
            assert_eq!(thread.join().unwrap(), [true, false]);
        }
    }

    #[test]
    fn an_answer_to_a_call_that_was_never_allowed_is_not_forgotten() {
        let text = "state: {t: {type: bool, init: false}}\nactions:\n\
            - {name: a, match: s__t, args: {x: str}, requires: not t, on_result: {t: \"x == 'y'\"}}\n";
        let policy = Policy::compile(text, FileId(0)).policy.unwrap();
        let mut session = policy.session();
        let call = Call { tool: "s__t", upstream: "s", arguments: &Json::Null };
        assert!(!session.check(&call).decision.permits());
        let answer = Json::String("text".to_owned());
        assert!(session.observe(&call, Answer::Result(&answer)).fault.is_some());
        let other = Call { tool: "s__other", ..call };
        let reason = session.check(&other).reason().unwrap();
        assert!(reason.contains("an argument is missing or has another type"), "{reason}");
        // A faulted session learns nothing more.
        assert!(session.observe(&other, Answer::Result(&answer)).fault.is_some());
    }
}
