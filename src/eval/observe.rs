//! `on_result`: what an answer does to the state. It cannot refuse.

use super::call::{Answer, Call, Facts};
use super::changes::Changes;
use super::decide::Matching;
use super::run::{Env, Silent, Trace};
use super::session::{Fault, Session};
use super::verdict::{Failure, Observation, Rule, Undefined};

pub(super) fn observe(session: &mut Session, call: &Call<'_>, answer: Answer<'_>) -> Observation {
    let policy = session.policy.clone();
    // A faulted session stays as it is: nothing that it could still learn opens it again.
    let found = if let Some(fault) = session.fault {
        Err(fault)
    } else {
        let actions = policy.0.matching(call.tool);
        changes(session, call, answer, &actions, &mut Silent, &mut |_, _| {})
    };
    let changes = match found {
        Ok(changes) => changes,
        Err(fault) => {
            session.fault = Some(fault);
            return Observation { changed: false, fault: Some(fault), violated: session.violated() };
        }
    };
    let changed = changes.commit(&mut session.state);
    let violated = if changed || !session.safe { session.violated() } else { Vec::new() };
    session.safe = violated.is_empty();
    Observation { changed, fault: None, violated }
}

/// What the answer would assign. `rule` hears of each rule before `trace` hears of its values.
pub(super) fn changes<T: Trace>(
    session: &Session,
    call: &Call<'_>,
    answer: Answer<'_>,
    actions: &[u32],
    trace: &mut T,
    rule: &mut dyn FnMut(&mut T, Rule),
) -> Result<Changes, Fault> {
    let program = &*session.policy.0;
    let mut misfits = Vec::new();
    let matching = Matching::bind(program, call, actions, &mut misfits);
    // An allowed call fits. What was never allowed and is observed all the same must not be forgotten.
    for misfit in misfits {
        if let Failure::Argument { action, .. } = misfit
            && program.typed.actions.get(action).is_some_and(|action| !action.on_result.is_empty())
        {
            return Err(Fault { rule: Rule::OnResult { action, assignment: 0 }, reason: Undefined::Argument });
        }
    }
    let facts = Facts::new(*call, Some(answer));
    let env = Env { program, state: &session.state, overlay: &[], args: &[], facts: &facts };
    let mut changes = Changes::default();
    for (index, action, args) in matching.each() {
        for (at, assignment) in action.on_result.iter().enumerate() {
            let this = Rule::OnResult { action: index, assignment: at };
            rule(trace, this);
            let assigned = changes.assign(assignment, &Env { args, ..env }, trace);
            assigned.map_err(|error| Fault { rule: this, reason: error.reason })?;
        }
    }
    Ok(changes)
}
