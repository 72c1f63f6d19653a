//! A trace on concrete numbers: what the solver found must also follow from the terms' own values. Knows no
//! solver.

use super::target::Target;
use super::transition::Transition;
use crate::model::{NoValue, Step, System, Term};

/// The state after the steps; otherwise why they cannot be taken.
pub(super) fn walk(system: &System, transitions: &[Transition], steps: &[Step]) -> Result<Vec<i64>, String> {
    let mut state = system.initial();
    for (at, step) in steps.iter().enumerate() {
        let mut next = None;
        for transition in transitions {
            let same = transition.class == step.class && transition.outcome == step.outcome;
            if same && is_true(&transition.guard, &state, &step.params)? {
                next = Some(transition);
                break;
            }
        }
        let taken = next.ok_or_else(|| format!("step {} of the trace cannot be taken", at + 1))?;
        let mut after = state.clone();
        for (var, term) in &taken.next {
            let slot = after.get_mut(*var).ok_or_else(|| format!("the model has no variable {var}"))?;
            *slot = term.value(&state, &step.params).map_err(no_value)?;
        }
        state = after;
    }
    Ok(state)
}

/// Whether the state is the target, by a call of this class with these arguments if one is given.
pub(super) fn arrives(target: &Target, state: &[i64], call: Option<&(usize, Vec<i64>)>) -> Result<bool, String> {
    for case in &target.cases {
        let (class, params) = call.map_or((None, [].as_slice()), |(class, params)| (Some(*class), params));
        if case.class == class && is_true(&case.term, state, params)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_true(term: &Term, state: &[i64], params: &[i64]) -> Result<bool, String> {
    term.value(state, params).map(|value| value != 0).map_err(no_value)
}

fn no_value(why: NoValue) -> String {
    match why {
        NoValue::Undefined => "a division by zero in the trace",
        NoValue::TooLarge => "the trace needs a number beyond 64 bits",
    }
    .to_owned()
}
