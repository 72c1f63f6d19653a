//! Steps as solver constraints: from one state to the next one, with a selector for each transition.

use super::encode::{Place, Value, and, of_type, or, params, truth};
use super::transition::Transition;
use crate::model::{System, VarType};
use z3::Model;
use z3::ast::{Bool, Int};

/// The constraint that the second state follows from the first, and what tells how.
#[derive(Debug)]
pub(super) struct Hop {
    /// To be asserted.
    pub(super) constraint: Bool,
    /// For each transition: it is taken. At least one is.
    pub(super) taken: Vec<Bool>,
    /// For each transition its parameters.
    pub(super) params: Vec<Vec<Int>>,
}

/// `at` numbers the step, for names of its own.
pub(super) fn hop(
    system: &System,
    transitions: &[Transition],
    from: &[Value],
    to: &[Value],
    at: usize,
) -> Result<Hop, String> {
    let mut all = Vec::new();
    let mut taken = Vec::new();
    let mut all_params = Vec::new();
    for (number, transition) in transitions.iter().enumerate() {
        // Outcomes of one class share its parameters; so does no other class.
        let own = params(transition.params, &format!("@{at}c{}", transition.class));
        let place = Place { vars: from, params: &own };
        let selector = Bool::new_const(format!("t{number}@{at}"));
        let mut holds = vec![truth(&transition.guard, place)?];
        holds.extend(change(system, transition, place, from, to)?);
        all.push(selector.implies(and(&holds)));
        taken.push(selector);
        all_params.push(own);
    }
    all.push(or(&taken));
    Ok(Hop { constraint: and(&all), taken, params: all_params })
}

fn change(
    system: &System,
    transition: &Transition,
    place: Place<'_>,
    from: &[Value],
    to: &[Value],
) -> Result<Vec<Bool>, String> {
    let mut equalities = Vec::new();
    for (at, ((var, before), after)) in system.vars.iter().zip(from).zip(to).enumerate() {
        let new = transition.next.iter().find(|(var, _)| *var == at);
        equalities.push(match new {
            Some((_, term)) => after.equals(&of_type(term, var.ty, place)?),
            None => after.equals(before),
        });
    }
    Ok(equalities)
}

/// The values after a transition, as expressions over the state before it.
pub(super) fn next(system: &System, transition: &Transition, place: Place<'_>) -> Result<Vec<Value>, String> {
    let mut values = place.vars.to_vec();
    for (var, term) in &transition.next {
        let ty = system.vars.get(*var).map_or(VarType::Int, |var| var.ty);
        let slot = values.get_mut(*var).ok_or_else(|| format!("the model has no variable {var}"))?;
        *slot = of_type(term, ty, place)?;
    }
    Ok(values)
}

/// The numbers of the parameters; `None` if one is beyond 64 bits.
pub(super) fn numbers(model: &Model, params: &[Int]) -> Option<Vec<i64>> {
    params.iter().map(|param| model.eval(param, true)?.as_i64()).collect()
}

/// Whether the model makes it true.
pub(super) fn is_true(model: &Model, term: &Bool) -> bool {
    model.eval(term, true).and_then(|value| value.as_bool()) == Some(true)
}
