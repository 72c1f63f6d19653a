//! `on_result`: what an answer does to the state. It cannot refuse.

use super::call::{Answer, Call, Facts};
use super::decide::{Matching, set};
use super::run::{Env, Silent, Trace, run};
use super::session::{Fault, Session};
use super::verdict::{Observation, Rule};
use crate::ir::{Value, VarId};

pub(super) fn observe(session: &mut Session, call: &Call<'_>, answer: Answer<'_>) -> Observation {
    let policy = session.policy.clone();
    let actions = policy.0.matching(call.tool);
    let changes = match changes(session, call, answer, &actions, &mut Silent, &mut |_, _| {}) {
        Ok(changes) => changes,
        Err(fault) => {
            session.fault = Some(fault);
            return Observation { changed: false, fault: Some(fault), violated: session.violated() };
        }
    };
    let mut changed = false;
    for (id, value) in changes {
        if let Some(slot) = session.state.get_mut(id.0 as usize)
            && *slot != value
        {
            *slot = value;
            changed = true;
        }
    }
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
) -> Result<Vec<(VarId, Value)>, Fault> {
    let program = &*session.policy.0;
    // The call was allowed, so its arguments fit; one that does not has no value to observe with.
    let mut misfits = Vec::new();
    let matching = Matching::bind(program, call, actions, &mut misfits);
    if !misfits.is_empty() {
        return Ok(Vec::new());
    }
    let facts = Facts::new(*call, Some(answer));
    let env = Env { program, state: &session.state, overlay: &[], args: &[], facts: &facts };
    let mut changes: Vec<(VarId, Value)> = Vec::new();
    for (index, action, args) in matching.each() {
        for (at, assignment) in action.on_result.iter().enumerate() {
            let this = Rule::OnResult { action: index, assignment: at };
            rule(trace, this);
            let value = {
                let earlier = changes.iter().position(|(id, _)| *id == assignment.variable);
                let own = earlier.and_then(|at| changes.get(at..=at)).unwrap_or_default();
                run(&assignment.expr, &Env { args, overlay: own, ..env }, trace).map(|value| value.to_value())
            };
            match value {
                Ok(value) => set(&mut changes, assignment.variable, value),
                Err(error) => return Err(Fault { rule: this, reason: error.reason }),
            }
        }
    }
    Ok(changes)
}
