//! Spacer, the solver's engine for Horn clauses: an inductive invariant, or the knowledge that there is none.

use super::clock::Clock;
use super::encode::{Place, Value, and, numerals, params, state, truth};
use super::path::next;
use super::sexpr;
use super::target::Target;
use super::transition::Transition;
use crate::model::{System, Term, VarType};
use z3::ast::{Ast, Bool, Dynamic, Int, forall_const};
use z3::{Fixedpoint, FuncDecl, SatResult, Sort};

#[derive(Debug)]
pub(super) enum Answer {
    /// Claimed to be inductive and to exclude the target; not checked here.
    Invariant(Term),
    /// The target can be reached.
    Reachable,
    Unknown(String),
}

pub(super) fn ask(
    system: &System,
    transitions: &[Transition],
    target: &Target,
    clock: Clock,
) -> Result<Answer, String> {
    // A new one for each query: one that has been pushed or asked before answers differently.
    let engine = Fixedpoint::new();
    let sorts: Vec<Sort> = system
        .vars
        .iter()
        .map(|var| match var.ty {
            VarType::Bool => Sort::bool(),
            VarType::Int | VarType::Text => Sort::int(),
        })
        .collect();
    let reach = FuncDecl::new("reach", &sorts.iter().collect::<Vec<_>>(), &Sort::bool());
    let bad = FuncDecl::new("bad", &[], &Sort::bool());
    engine.register_relation(&reach);
    engine.register_relation(&bad);
    let in_reach = |values: &[Value]| applied(&reach, values);
    let vars = state(system, "");
    let rule = |own: &[Int], body: &Bool, head: &Bool| {
        let mut bounds: Vec<Dynamic> = vars.iter().map(dynamic).collect();
        bounds.extend(own.iter().map(Dynamic::from));
        let bounds: Vec<&dyn Ast> = bounds.iter().map(|one| one as &dyn Ast).collect();
        let clause = body.implies(head);
        if bounds.is_empty() {
            engine.add_rule(&clause, None);
        } else {
            engine.add_rule(&forall_const(&bounds, &[], &clause), None);
        }
    };
    engine.add_rule(&in_reach(&numerals(system, &system.initial()))?, None);
    for transition in transitions {
        let own = params(transition.params, "");
        let place = Place { vars: &vars, params: &own };
        let body = and(&[in_reach(&vars)?, truth(&transition.guard, place)?]);
        rule(&own, &body, &in_reach(&next(system, transition, place)?)?);
    }
    let head = applied(&bad, &[])?;
    for case in target.cases.iter().filter(|case| case.term != Term::FALSE) {
        let own = params(case.params, "");
        let place = Place { vars: &vars, params: &own };
        rule(&own, &and(&[in_reach(&vars)?, truth(&case.term, place)?]), &head);
    }
    let mut limits = z3::Params::new();
    limits.set_u32("timeout", clock.millis());
    engine.set_params(&limits);
    Ok(match engine.query(&head) {
        SatResult::Sat => Answer::Reachable,
        SatResult::Unknown if clock.is_over() => Answer::Unknown("no answer in time".to_owned()),
        SatResult::Unknown => Answer::Unknown(engine.get_reason_unknown()),
        SatResult::Unsat => match engine.get_answer() {
            // Without a definition the target needs no state at all to be excluded.
            Some(answer) => Answer::Invariant(sexpr::definition(&answer.to_string(), "reach").unwrap_or(Term::TRUE)),
            None => Answer::Unknown("the solver gave no invariant".to_owned()),
        },
    })
}

fn dynamic(value: &Value) -> Dynamic {
    match value {
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
    }
}

fn applied(predicate: &FuncDecl, values: &[Value]) -> Result<Bool, String> {
    let values: Vec<Dynamic> = values.iter().map(dynamic).collect();
    let values: Vec<&dyn Ast> = values.iter().map(|one| one as &dyn Ast).collect();
    predicate.apply(&values).as_bool().ok_or_else(|| "a predicate of the solver is no truth value".to_owned())
}
