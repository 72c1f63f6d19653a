//! Systems built by hand: what the engine must prove, find, or leave open.

use super::*;
use crate::ir::ArgId;
use crate::json::Json;
use crate::model::{
    Assign, Class, Goal, Guard, Invariant, Kind, Outcome, Param, Step, System, Term, Tool, Var, VarType,
};
use std::time::{Duration, Instant};

fn v(at: usize) -> Term {
    Term::Var(at)
}

fn p(at: usize) -> Term {
    Term::Param(at)
}

fn n(value: i64) -> Term {
    Term::Int(value)
}

fn limits(millis: u64) -> Limits {
    Limits { time: Duration::from_millis(millis), memory_mb: 1024, depth: 60 }
}

fn system(vars: &[(VarType, i64)], classes: Vec<Class>, invariants: Vec<Term>) -> System {
    let var = |(at, (ty, init)): (usize, &(VarType, i64))| Var {
        name: format!("x{at}").into(),
        ty: *ty,
        init: *init,
        origin: None,
        capped: false,
    };
    let tool =
        |at: usize| Tool { name: format!("s__t{at}"), upstream: "s".to_owned(), actions: vec![vec![0]], listed: true };
    System {
        vars: vars.iter().enumerate().map(var).collect(),
        texts: vec!["a".into(), "b".into(), "c".into()],
        tools: (0..classes.len()).map(tool).collect(),
        classes,
        invariants: invariants
            .into_iter()
            .enumerate()
            .map(|(index, term)| Invariant { side: 0, index, term })
            .collect(),
        fault: None,
        watched: Vec::new(),
        gaps: Vec::new(),
    }
}

fn assigns(all: &[(usize, Term)]) -> Vec<Assign> {
    all.iter().map(|(var, term)| Assign { var: *var, label: None, side: 0, term: term.clone() }).collect()
}

fn outcome(changes: &[(usize, Term)]) -> Outcome {
    Outcome { answer: None, witnessed: true, changes: assigns(changes) }
}

fn class(params: usize, guards: &[Term], effect: &[(usize, Term)], outcomes: &[&[(usize, Term)]]) -> Class {
    let param = |at: usize| Param {
        name: format!("n{at}").into(),
        origin: Vec::<(usize, usize, ArgId)>::new(),
        lower: Vec::new(),
        upper: Vec::new(),
    };
    Class {
        kind: Kind::Call { tool: 0 },
        call: Json::Null,
        witnessed: true,
        params: (0..params).map(param).collect(),
        guards: guards.iter().map(|term| Guard { label: None, side: 0, term: term.clone() }).collect(),
        effect: assigns(effect),
        affected: Vec::new(),
        outcomes: std::iter::once(outcome(&[])).chain(outcomes.iter().map(|changes| outcome(changes))).collect(),
        marks: Vec::new(),
    }
}

fn plus(at: usize, by: i64) -> (usize, Term) {
    (at, Term::add(v(at), n(by)))
}

fn timed(system: &System, goal: &Goal, limits: &Limits) -> (Found, Duration) {
    let before = Instant::now();
    let found = reach(system, goal, limits);
    let took = before.elapsed();
    println!("{took:?}: {}", told(system, &found));
    (found, took)
}

fn told(system: &System, found: &Found) -> String {
    match found {
        Found::Never { invariant, k, how } => format!("never by {how} (k {k}): {}", system.shown(invariant)),
        other => format!("{other:?}"),
    }
}

#[test]
fn relations_of_unbounded_counters_are_proved() {
    let ints = [(VarType::Int, 0), (VarType::Int, 0)];
    let together = system(&ints, vec![class(0, &[], &[plus(0, 1), plus(1, 1)], &[])], vec![]);
    let sum = Term::add(v(0), v(1));
    let room = Term::lt(sum.clone(), n(10));
    let bounded = system(
        &ints,
        vec![class(0, &[room.clone()], &[plus(0, 1)], &[]), class(0, &[room], &[plus(1, 1)], &[])],
        vec![],
    );
    for (system, bad) in [(&together, Term::not(Term::eq(v(0), v(1)))), (&bounded, Term::lt(n(10), sum.clone()))] {
        let goal = Goal::State(bad);
        let (found, took) = timed(system, &goal, &limits(10_000));
        let Found::Never { invariant, k, .. } = found else { panic!("{found:?}") };
        assert_eq!(recheck(system, &goal, &invariant, k), Ok(()));
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    let (found, _) = timed(&bounded, &Goal::State(Term::eq(sum, n(10))), &limits(10_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: true, .. } if steps.len() == 10), "{found:?}");
}
