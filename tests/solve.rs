//! The solver in processes of its own: answers in order, the deadline in wall-clock time, nothing left behind.
#![cfg(feature = "smt")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use praxiom::model::{Assign, Class, Goal, Kind, Outcome, System, Term, Var, VarType};
use praxiom::smt::child::{Job, Plan, reach_in_child};
use praxiom::smt::{Found, Limits};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_praxiom");

/// Counters from 1, each counted up by a call of its own.
fn counters(count: usize) -> System {
    let var = |at: usize| Var { name: format!("x{at}").into(), ty: VarType::Int, init: 1, origin: None, capped: false };
    let class = |at: usize| Class {
        kind: Kind::Call { tool: 0 },
        call: praxiom::json::Json::Null,
        witnessed: true,
        params: Vec::new(),
        guards: Vec::new(),
        effect: vec![Assign {
            var: at,
            label: None,
            side: 0,
            term: Term::add(Term::Var(at), Term::Int(1)),
            alone: Term::add(Term::Var(at), Term::Int(1)),
        }],
        affected: Vec::new(),
        outcomes: vec![Outcome { answer: None, witnessed: true, changes: Vec::new() }],
        marks: Vec::new(),
    };
    System {
        vars: (0..count).map(var).collect(),
        texts: Vec::new(),
        tools: Vec::new(),
        classes: (0..count).map(class).collect(),
        invariants: Vec::new(),
        fragile: Vec::new(),
        fault: None,
        watched: Vec::new(),
        watches: Vec::new(),
        late: Vec::new(),
        gaps: Vec::new(),
    }
}

fn job(system: usize, goal: Term, millis: u64) -> Job {
    let limits = Limits { time: Duration::from_millis(millis), memory_mb: 512, depth: 40 };
    Job { system, goal: Goal::State(goal), limits }
}

/// No sum of two cubes is a cube, which no solver knows.
fn cubes() -> Term {
    let cube = |at: usize| Term::mul(Term::mul(Term::Var(at), Term::Var(at)), Term::Var(at));
    Term::eq(Term::add(cube(0), cube(1)), cube(2))
}

fn equals(at: usize, value: i64) -> Term {
    Term::eq(Term::Var(at), Term::Int(value))
}

#[test]
fn answers_come_in_order_and_in_time() {
    let systems = [counters(3), counters(1)];
    let deep = (0..2000).fold(Term::Var(0), |sum, _| Term::add(sum, Term::Var(0)));
    let jobs = [
        job(0, cubes(), 60_000),
        job(0, equals(0, 3), 10_000),
        job(1, equals(0, 0), 10_000),
        job(1, equals(0, 4), 10_000),
        job(0, equals(2, -5), 10_000),
        job(1, Term::eq(deep, Term::Int(1)), 10_000),
        job(7, equals(0, 4), 10_000),
    ];
    let before = Instant::now();
    let found =
        reach_in_child(Path::new(PROGRAM), &systems, &jobs, Plan { workers: 2, deadline: Duration::from_secs(3) });
    let took = before.elapsed();
    println!("{took:?}: {found:#?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(matches!(&found[0], Found::Unknown { why, .. } if why.starts_with("no answer in its share of the time")));
    assert!(matches!(&found[1], Found::Reached { steps, minimal: true, .. } if steps.len() == 2));
    assert!(matches!(&found[2], Found::Never { .. }));
    assert!(matches!(&found[3], Found::Reached { steps, minimal: true, .. } if steps.len() == 3));
    assert!(matches!(&found[4], Found::Never { .. }));
    assert!(matches!(&found[5], Found::Never { .. }));
    assert!(matches!(&found[6], Found::Unknown { why, .. } if why.contains("not there")));
}

#[test]
fn a_solver_that_hangs_or_dies_is_no_answer() {
    let jobs = [job(0, equals(0, 3), 500), job(0, equals(0, 3), 500)];
    let run = |program: &str, jobs: &[Job]| {
        let before = Instant::now();
        let plan = Plan { workers: 2, deadline: Duration::from_millis(1500) };
        let found = reach_in_child(Path::new(program), &[counters(1)], jobs, plan);
        assert!(before.elapsed() < Duration::from_millis(2500), "{:?}", before.elapsed());
        let why = |found: &Found| match found {
            Found::Unknown { why, .. } => why.clone(),
            other => panic!("{other:?}"),
        };
        found.iter().map(why).collect::<Vec<_>>().join("\n")
    };
    let script = |name: &str, lines: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let told = run("/bin/false", &jobs);
    assert!(told.contains("exit code 1") || told.contains("does not read"), "{told}");
    let told = run(&script("babbles", "while echo what; do :; done"), &jobs);
    assert!(told.contains("its answer"), "{told}");
    // Its grandchild still holds the pipes when it is ended.
    let told = run(&script("hangs", "sleep 4 & sleep 4"), &jobs);
    assert!(told.contains("no answer in its share of the time"), "{told}");
    let told = run(&script("dies", "read line; kill -9 $$"), &jobs);
    assert!(told.contains("signal 9"), "{told}");
    assert!(run("/", &jobs).contains("cannot be started"));
    // Far too little memory for the solver to begin with.
    let mut tight = job(0, equals(0, 3), 1000);
    tight.limits.memory_mb = 1;
    let told = run(PROGRAM, &[tight]);
    assert!(told.contains("ended without an answer (signal 6)"), "{told}");
}
