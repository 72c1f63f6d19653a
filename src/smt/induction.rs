//! k-induction: a target that is absent from k states in a row is absent from the next one.

use super::clock::Clock;
use super::encode::{Place, state, truth};
use super::path::hop;
use super::target::Target;
use super::transition::Transition;
use crate::model::{System, Term};
use z3::ast::Bool;
use z3::{SatResult, Solver};

/// The least `k` of the range for which the step holds, where the facts hold in every state. The base, that the
/// first k states do not reach the target, is the caller's.
pub(super) fn step(
    system: &System,
    transitions: &[Transition],
    target: &Target,
    facts: &Term,
    (least, most): (usize, usize),
    clock: Clock,
) -> Result<Option<usize>, String> {
    let Some(reached) = &target.state else { return Ok(None) };
    let solver = Solver::new();
    let mut last = state(system, "@0");
    solver.assert(truth(facts, Place { vars: &last, params: &[] })?);
    for k in 1..=most {
        solver.assert(truth(reached, Place { vars: &last, params: &[] })?.not());
        let next = state(system, &format!("@{k}"));
        solver.assert(hop(system, transitions, &last, &next, k - 1)?.constraint);
        solver.assert(truth(facts, Place { vars: &next, params: &[] })?);
        last = next;
        if k < least {
            continue;
        }
        if clock.is_over() {
            return Ok(None);
        }
        let goal = Bool::new_const(format!("goal@{k}"));
        solver.assert(goal.implies(&target.reached(&last, &format!("@{k}"))?));
        solver.set_params(&clock.params());
        match solver.check_assumptions(&[goal]) {
            SatResult::Unsat => return Ok(Some(k)),
            SatResult::Unknown => return Ok(None),
            SatResult::Sat => {}
        }
    }
    Ok(None)
}
