//! Whether a certificate proves what it says, by plain queries: each in a solver of its own.

use super::clock::Clock;
use super::encode::{Place, Value, and, numerals, params, state, truth};
use super::path::hop;
use super::target::Target;
use super::transition::{Transition, holds};
use crate::model::{System, Term};
use z3::ast::{Ast, Bool, Int, forall_const};
use z3::{SatResult, Solver};

/// The invariant holds at first, every step keeps it, and with it the target is never reached; for `k` above 1
/// the last needs the target's absence in the k states before, and its absence in the first k states.
pub(super) fn confirm(
    system: &System,
    transitions: &[Transition],
    target: &Target,
    (invariant, k): (&Term, usize),
    clock: Clock,
) -> Result<(), String> {
    let invariant = holds(invariant);
    let holds_in = |vars: &[Value]| truth(&invariant, Place { vars, params: &[] });
    let first = numerals(system, &system.initial());
    let here = state(system, "@0");
    let there = state(system, "@1");

    refuted(&[holds_in(&first)?.not()], clock, "the invariant does not hold at the start")?;
    let step = hop(system, transitions, &here, &there, 0)?.constraint;
    refuted(&[holds_in(&here)?, step, holds_in(&there)?.not()], clock, "a step breaks the invariant")?;
    if k <= 1 {
        return excluded(target, &here, holds_in(&here)?, clock);
    }

    let (mut from_start, mut anywhere) = (Vec::new(), vec![holds_in(&here)?]);
    let (mut start, mut last) = (first, here);
    for at in 0..k {
        let suffix = format!("@{at}");
        let query = [from_start.as_slice(), &[target.reached(&start, &suffix)?]].concat();
        refuted(&query, clock, &format!("the goal is reached in {at} steps"))?;
        // Not for any parameters: that needs the target as a term over the state.
        let absent = target.state.as_ref().ok_or("the goal depends on arguments")?;
        anywhere.push(truth(absent, Place { vars: &last, params: &[] })?.not());
        let next = state(system, &format!("@{}", at + 1));
        from_start.push(hop(system, transitions, &start, &next, at)?.constraint);
        anywhere.push(hop(system, transitions, &last, &next, at)?.constraint);
        anywhere.push(holds_in(&next)?);
        start.clone_from(&next);
        last = next;
    }
    anywhere.push(target.reached(&last, &format!("@{k}"))?);
    refuted(&anywhere, clock, "with the invariant the goal can be reached after steps that avoid it")
}

/// The invariant excludes the target.
fn excluded(target: &Target, vars: &[Value], invariant: Bool, clock: Clock) -> Result<(), String> {
    let failure = "the invariant does not exclude the goal";
    let Some(stuck) = &target.stuck else {
        return refuted(&[invariant, target.reached(vars, "@0")?], clock, failure);
    };
    // Asked as it was put, with all arguments: how they were eliminated is not trusted.
    let mut query = vec![invariant, truth(&stuck.state, Place { vars, params: &[] })?];
    for (count, allowed) in &stuck.allowed {
        let own = params(*count, "");
        let denied = truth(allowed, Place { vars, params: &own })?.not();
        let bounds: Vec<&dyn Ast> = own.iter().map(|param: &Int| param as &dyn Ast).collect();
        query.push(if bounds.is_empty() { denied } else { forall_const(&bounds, &[], &denied) });
    }
    refuted(&query, clock, failure)
}

fn refuted(all: &[Bool], clock: Clock, failure: &str) -> Result<(), String> {
    if clock.is_over() {
        return Err("no time was left to check the proof".to_owned());
    }
    let solver = Solver::new();
    solver.set_params(&clock.params());
    solver.assert(and(all));
    match solver.check() {
        SatResult::Unsat => Ok(()),
        SatResult::Sat => Err(failure.to_owned()),
        SatResult::Unknown => {
            let why = solver.get_reason_unknown().unwrap_or_default();
            Err(format!("whether {failure} stayed unknown: {why}"))
        }
    }
}
