//! Simple facts that hold in every reachable state: guessed from the system's own constants, and kept if they
//! are inductive together (Houdini; Flanagan and Leino 2001).

use super::clock::Clock;
use super::encode::{Place, or, state, truth};
use super::path::{hop, is_true};
use super::target::Target;
use super::transition::{Transition, holds};
use crate::model::{System, Term, VarType};
use std::collections::BTreeSet;
use z3::ast::Bool;
use z3::{SatResult, Solver};

/// More guesses than this cost more than they bring.
const MAX: usize = 300;

/// The conjunction of the facts; `true` if none was found in time.
pub(super) fn facts(
    system: &System,
    transitions: &[Transition],
    target: &Target,
    clock: Clock,
) -> Result<Term, String> {
    let initial = system.initial();
    let mut kept = guesses(system, transitions, target);
    kept.retain(|guess| guess.value(&initial, &[]) == Ok(1));
    kept.truncate(MAX);
    let (here, there) = (state(system, "@0"), state(system, "@1"));
    let solver = Solver::new();
    solver.assert(hop(system, transitions, &here, &there, 0)?.constraint);
    let mut before = Vec::new();
    let mut after = Vec::new();
    for (at, guess) in kept.iter().enumerate() {
        let assumed = Bool::new_const(format!("fact{at}"));
        solver.assert(assumed.implies(&truth(guess, Place { vars: &here, params: &[] })?));
        before.push(assumed);
        after.push(truth(guess, Place { vars: &there, params: &[] })?);
    }
    let mut alive: Vec<usize> = (0..kept.len()).collect();
    for round in 0.. {
        if alive.is_empty() || clock.is_over() {
            return Ok(Term::TRUE);
        }
        let broken = Bool::new_const(format!("round{round}"));
        let of = |all: &[Bool]| -> Vec<Bool> { alive.iter().filter_map(|at| all.get(*at).cloned()).collect() };
        let negated: Vec<Bool> = of(&after).iter().map(Bool::not).collect();
        solver.assert(broken.implies(&or(&negated)));
        let mut assumed = of(&before);
        assumed.push(broken);
        solver.set_params(&clock.params());
        match solver.check_assumptions(&assumed) {
            SatResult::Unsat => break,
            SatResult::Unknown => return Ok(Term::TRUE),
            SatResult::Sat => {
                let Some(model) = solver.get_model() else { return Ok(Term::TRUE) };
                let count = alive.len();
                alive.retain(|at| after.get(*at).is_some_and(|fact| is_true(&model, fact)));
                if alive.len() == count {
                    return Ok(Term::TRUE);
                }
            }
        }
    }
    Ok(strongest(alive.into_iter().filter_map(|at| kept.get(at).cloned()).collect()))
}

/// Of the bounds of one variable only the tightest.
fn strongest(facts: Vec<Term>) -> Term {
    let weaker = |fact: &Term| {
        facts.iter().any(|other| match (bound(fact), bound(other)) {
            (Some((var, upper, value)), Some((other_var, other_upper, other_value))) => {
                var == other_var
                    && upper == other_upper
                    && if upper { other_value < value } else { other_value > value }
            }
            _ => false,
        })
    };
    Term::and(facts.iter().filter(|fact| !weaker(fact)).cloned().collect::<Vec<_>>())
}

/// Variable, whether it is an upper bound, and its value.
fn bound(fact: &Term) -> Option<(usize, bool, i64)> {
    let Term::Le(two) = fact else { return None };
    match &**two {
        [Term::Var(var), Term::Int(value)] => Some((*var, true, *value)),
        [Term::Int(value), Term::Var(var)] => Some((*var, false, *value)),
        _ => None,
    }
}

fn guesses(system: &System, transitions: &[Transition], target: &Target) -> Vec<Term> {
    let mut constants = vec![BTreeSet::new(); system.vars.len()];
    let mut look = |term: &Term| compared(term, &mut constants);
    transitions.iter().for_each(|transition| look(&transition.guard));
    target.cases.iter().for_each(|case| look(&case.term));
    system.invariants.iter().for_each(|invariant| look(&invariant.term));
    let mut all: Vec<Term> = system.invariants.iter().map(|invariant| holds(&invariant.term)).collect();
    if let Some(state) = &target.state {
        all.push(Term::not(state.clone()));
    }
    let last_text = i64::try_from(system.texts.len()).unwrap_or(i64::MAX) - 1;
    for (at, (var, own)) in system.vars.iter().zip(&mut constants).enumerate() {
        let bounds =
            |value: i64| [Term::le(Term::Var(at), Term::Int(value)), Term::le(Term::Int(value), Term::Var(at))];
        match var.ty {
            VarType::Bool if var.init == 0 => all.push(Term::not(Term::Var(at))),
            VarType::Bool => all.push(Term::Var(at)),
            VarType::Text => {
                all.push(Term::eq(Term::Var(at), Term::Int(var.init)));
                all.push(Term::le(Term::Int(0), Term::Var(at)));
                all.push(Term::le(Term::Var(at), Term::Int(last_text)));
            }
            VarType::Int => {
                own.insert(var.init);
                let near: BTreeSet<i64> =
                    own.iter().flat_map(|value| [value.saturating_sub(1), *value, value.saturating_add(1)]).collect();
                all.extend(near.into_iter().flat_map(bounds));
            }
        }
    }
    all
}

/// The numbers that each variable is compared with.
fn compared(term: &Term, constants: &mut [BTreeSet<i64>]) {
    if let Term::Eq(two) | Term::Lt(two) | Term::Le(two) = term {
        let [a, b] = &**two;
        for (one, other) in [(a, b), (b, a)] {
            if let (Some(var), Term::Int(value)) = (only_variable(one), other)
                && let Some(own) = constants.get_mut(var)
            {
                own.insert(*value);
            }
        }
    }
    term.children().iter().for_each(|child| compared(child, constants));
}

/// The variable of `n` and `n + 1`.
fn only_variable(term: &Term) -> Option<usize> {
    match term {
        Term::Var(at) => Some(*at),
        Term::Add(two) | Term::Sub(two) => match &**two {
            [Term::Var(at), Term::Int(_)] | [Term::Int(_), Term::Var(at)] => Some(*at),
            _ => None,
        },
        _ => None,
    }
}
