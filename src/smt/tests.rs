//! Systems built by hand: what the engine must prove, find, or leave open.

use super::*;
use crate::ir::ArgId;
use crate::json::Json;
use crate::model::{Assign, Class, Goal, Guard, Invariant, Kind, Outcome, Param, System, Term, Tool, Var, VarType};
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
        fragile: Vec::new(),
        fault: None,
        watched: Vec::new(),
        watches: Vec::new(),
        late: Vec::new(),
        gaps: Vec::new(),
    }
}

fn assigns(all: &[(usize, Term)]) -> Vec<Assign> {
    all.iter()
        .map(|(var, term)| Assign { var: *var, label: None, side: 0, term: term.clone(), alone: term.clone() })
        .collect()
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
        vec![class(0, std::slice::from_ref(&room), &[plus(0, 1)], &[]), class(0, &[room], &[plus(1, 1)], &[])],
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

#[test]
fn spacer_finds_what_induction_does_not() {
    // x2 counts the steps; x0 and x1 share them: x0 + x1 == x2, which nothing in the system says.
    let ints = [(VarType::Int, 0), (VarType::Int, 0), (VarType::Int, 0), (VarType::Bool, 0), (VarType::Text, 0)];
    let on = (3, Term::TRUE);
    let system = system(
        &ints,
        vec![
            class(0, &[], &[plus(0, 1), plus(2, 1), on.clone()], &[]),
            class(0, &[v(3)], &[plus(1, 1), plus(2, 1), (4, n(2))], &[]),
        ],
        vec![],
    );
    let goal = Goal::State(Term::and([Term::eq(v(4), n(2)), Term::lt(v(2), n(2))]));
    let (found, took) = timed(&system, &goal, &limits(10_000));
    let Found::Never { invariant, k, .. } = found else { panic!("{found:?}") };
    assert_eq!(recheck(&system, &goal, &invariant, k), Ok(()));
    assert!(took < Duration::from_secs(3), "{took:?}");

    let goal = Goal::State(Term::not(Term::eq(Term::add(v(0), v(1)), v(2))));
    let transitions = transition::transitions(&system).unwrap();
    let clock = clock::Clock::new(Duration::from_secs(5));
    let target = target::Target::new(&system, &goal, clock).unwrap();
    let spacer::Answer::Invariant(invariant) = spacer::ask(&system, &transitions, &target, clock).unwrap() else {
        panic!("no invariant")
    };
    println!("Spacer: {}", system.shown(&invariant));
    assert_eq!(recheck(&system, &goal, &invariant, 1), Ok(()));
    // What is no proof is not taken for one.
    assert!(recheck(&system, &goal, &Term::TRUE, 1).unwrap_err().contains("exclude"));
    assert!(recheck(&system, &goal, &Term::le(v(2), n(5)), 1).unwrap_err().contains("step"));
    assert!(recheck(&system, &goal, &Term::le(n(1), v(2)), 1).unwrap_err().contains("start"));
}

#[test]
fn k_induction_is_confirmed_with_its_k() {
    // A ring of three texts: from "b" follows "c", from "c" follows "a"; "a" stays.
    let ring = |from: i64, to: i64| class(0, &[Term::eq(v(0), n(from))], &[(0, n(to))], &[]);
    let system = system(&[(VarType::Int, 0)], vec![ring(5, 6), ring(6, 7), ring(7, 8)], vec![]);
    let goal = Goal::State(Term::eq(v(0), n(8)));
    assert!(recheck(&system, &goal, &Term::TRUE, 1).is_err());
    assert!(recheck(&system, &goal, &Term::TRUE, 3).is_err());
    assert_eq!(recheck(&system, &goal, &Term::TRUE, 4), Ok(()));
    let early = Goal::State(Term::eq(v(0), n(0)));
    assert!(recheck(&system, &early, &Term::TRUE, 2).unwrap_err().contains("0 steps"));
}

#[test]
fn a_fault_ends_the_session() {
    // The answer divides by x0, which a call counts down from 2.
    let divide: &[(usize, Term)] = &[(1, Term::floor_div(n(7), v(0)))];
    let mut system = system(
        &[(VarType::Int, 2), (VarType::Int, 0), (VarType::Bool, 0)],
        vec![class(0, &[Term::lt(n(0), v(0))], &[plus(0, -1)], &[divide])],
        vec![],
    );
    system.fault = Some(2);
    let (found, _) = timed(&system, &Goal::State(v(2)), &limits(5_000));
    let Found::Reached { steps, minimal: true, .. } = found else { panic!("{found:?}") };
    assert_eq!(steps.last().map(|step| step.outcome), Some(1));
    assert_eq!(steps.len(), 2);
    let after = Goal::State(Term::and([v(2), Term::lt(n(0), v(0))]));
    assert!(matches!(timed(&system, &after, &limits(5_000)).0, Found::Never { .. }));
    system.fault = None;
    assert!(matches!(reach(&system, &after, &limits(1_000)), Found::Unknown { .. }));
}

#[test]
fn what_is_not_witnessed_counts_for_proofs_only() {
    let mut unseen = class(0, &[], &[(0, Term::TRUE)], &[]);
    unseen.witnessed = false;
    let long = [
        class(0, &[Term::lt(v(1), n(3))], &[plus(1, 1)], &[]),
        class(0, &[Term::eq(v(1), n(3))], &[(0, Term::TRUE)], &[]),
    ];
    let vars = [(VarType::Bool, 0), (VarType::Int, 0)];
    let only = system(&vars, vec![unseen.clone()], vec![]);
    let goal = Goal::State(v(0));
    let Found::Unknown { why, .. } = reach(&only, &goal, &limits(2_000)) else { panic!() };
    assert!(why.contains("no real call"), "{why}");
    let also = system(&vars, [vec![unseen], long.to_vec()].concat(), vec![]);
    let (found, _) = timed(&also, &goal, &limits(2_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: false, .. } if steps.len() == 4), "{found:?}");
    // That such a call is open is no proof that the session is not stuck.
    let stuck = Goal::Stuck { state: Term::TRUE, classes: vec![0] };
    assert!(matches!(timed(&only, &stuck, &limits(2_000)).0, Found::Unknown { .. }));
}

/// A budget: a call spends n with 1 <= n and spent + n <= limit, in one of two purses.
fn budget(limit: i64) -> System {
    let purse = |at: usize| {
        let after = Term::add(v(at), p(0));
        class(1, &[Term::le(n(1), p(0)), Term::le(after.clone(), n(limit))], &[(at, after)], &[])
    };
    let count = class(0, &[Term::lt(v(2), n(limit))], &[plus(2, 1)], &[]);
    system(&[(VarType::Int, 0), (VarType::Int, 0), (VarType::Int, 0)], vec![purse(0), purse(1), count], vec![])
}

#[test]
fn whole_number_arguments_are_eliminated_exactly() {
    let budget = budget(200);
    let over = Goal::State(Term::lt(n(400), Term::add(v(0), v(1))));
    assert!(matches!(timed(&budget, &over, &limits(5_000)).0, Found::Never { .. }));
    let full = Goal::State(Term::eq(Term::add(v(0), v(1)), n(400)));
    let (found, _) = timed(&budget, &full, &limits(5_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: true, .. } if steps.len() == 2), "{found:?}");
    let stuck = |classes: &[usize]| Goal::Stuck { state: Term::TRUE, classes: classes.to_vec() };
    let (found, _) = timed(&budget, &stuck(&[0, 1]), &limits(5_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: true, .. } if steps.len() == 2), "{found:?}");
    // Where one purse cannot be emptied the session is never stuck.
    let mut refilled = budget.clone();
    refilled.classes[1] = class(1, &[Term::le(n(1), p(0))], &[(1, Term::add(v(1), p(0)))], &[]);
    let (found, _) = timed(&refilled, &stuck(&[0, 1]), &limits(5_000));
    assert!(matches!(found, Found::Never { .. }), "{found:?}");
    let call = Goal::Call(vec![(0, Term::and([Term::lt(n(5), p(0)), Term::eq(Term::add(v(0), p(0)), n(3))]))]);
    let (found, _) = timed(&budget, &call, &limits(5_000));
    assert!(matches!(found, Found::Never { .. }), "{found:?}");
    let call = Goal::Call(vec![(0, Term::and([Term::lt(n(5), p(0)), Term::lt(n(7), v(0))]))]);
    let (found, _) = timed(&budget, &call, &limits(5_000));
    let Found::Reached { steps, class: Some((0, params)), minimal: true } = found else { panic!("{found:?}") };
    assert!(steps.len() == 1 && params[0] > 5 && steps[0].params[0] > 7);
    // Coefficients other than 1 are the solver's: 2 n == x0 and 3 n <= 12 has an answer for x0 in 0, 2, … 8.
    let even = Term::and([Term::eq(Term::mul(n(2), p(0)), v(0)), Term::le(Term::mul(p(0), n(3)), n(12))]);
    let up = class(0, &[], &[plus(0, 1)], &[]);
    let step = class(1, &[even], &[plus(1, 1)], &[]);
    let system = system(&[(VarType::Int, 2), (VarType::Int, 0)], vec![up, step], vec![]);
    let two = Goal::Stuck { state: Term::eq(Term::modulo(v(0), n(2)), n(0)), classes: vec![1] };
    let (found, _) = timed(&system, &two, &limits(5_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: true, .. } if steps.len() == 8), "{found:?}");
}

#[test]
fn texts_are_numbers_of_a_finite_table() {
    let text = [(VarType::Text, 0), (VarType::Text, 0)];
    let set = class(0, &[Term::is_in(v(1), vec![0, 1])], &[(0, v(1))], &[&[(1, n(1))]]);
    let system = system(&text, vec![set], vec![]);
    let both = |a: i64, b: i64| Goal::State(Term::and([Term::eq(v(0), n(a)), Term::eq(v(1), n(b))]));
    let (found, _) = timed(&system, &both(1, 1), &limits(5_000));
    assert!(matches!(&found, Found::Reached { steps, minimal: true, .. } if steps.len() == 2), "{found:?}");
    assert!(matches!(timed(&system, &both(1, 0), &limits(5_000)).0, Found::Never { .. }));
    assert!(matches!(timed(&system, &both(2, 1), &limits(5_000)).0, Found::Never { .. }));
    let outside = Goal::State(Term::not(Term::is_in(v(0), vec![0, 1, 2])));
    assert!(matches!(timed(&system, &outside, &limits(5_000)).0, Found::Never { .. }));
}

#[test]
fn what_nobody_can_answer_stays_unknown_and_in_time() {
    let cube = |at: usize| Term::mul(Term::mul(v(at), v(at)), v(at));
    let up = |at: usize| class(0, &[], &[plus(at, 1)], &[]);
    let one = (VarType::Int, 1);
    let system = system(&[one, one, one], vec![up(0), up(1), up(2)], vec![]);
    let goal = Goal::State(Term::eq(Term::add(cube(0), cube(1)), cube(2)));
    let (found, took) = timed(&system, &goal, &limits(1_500));
    assert!(
        matches!(&found, Found::Unknown { why, .. } if why == "no answer in its share of the time; it has nonlinear arithmetic"),
        "{found:?}"
    );
    assert!(took < Duration::from_secs(4), "{took:?}");
}

mod against_values {
    use super::*;
    use proptest::prelude::*;
    use z3::{Config, SatResult, Solver};

    fn number() -> impl Strategy<Value = Term> {
        let leaf = prop_oneof![(-9_i64..10).prop_map(n), (0_usize..2).prop_map(v), (0_usize..2).prop_map(p)];
        leaf.prop_recursive(3, 16, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            let by = (-7_i64..8).prop_filter("not zero", |by| *by != 0);
            prop_oneof![
                two.clone().prop_map(|(a, b)| Term::add(a, b)),
                two.clone().prop_map(|(a, b)| Term::sub(a, b)),
                two.clone().prop_map(|(a, b)| Term::mul(a, b)),
                two.clone().prop_map(|(a, b)| Term::floor_div(a, b)),
                two.prop_map(|(a, b)| Term::modulo(a, b)),
                (inner.clone(), by.clone()).prop_map(|(a, by)| Term::floor_div(a, n(by))),
                (inner.clone(), by).prop_map(|(a, by)| Term::modulo(a, n(by))),
                inner.prop_map(Term::neg),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn the_solver_computes_as_terms_do(term in number(), vars in prop::array::uniform2(-50_i64..50),
                                           params in prop::array::uniform2(-50_i64..50)) {
            let system = system(&[(VarType::Int, 0), (VarType::Int, 0)], vec![], vec![]);
            let agrees = z3::with_z3_config(&Config::new(), || {
                let place = encode::Place {
                    vars: &encode::state(&system, ""),
                    params: &encode::params(2, ""),
                };
                let expected = match term.value(&vars, &params) {
                    Ok(value) => Term::and([term.has_value(), Term::eq(term.guarded(), n(value))]),
                    Err(_) => Term::not(term.has_value()),
                };
                let is = |term: &Term| encode::truth(term, place).unwrap();
                let solver = Solver::new();
                for at in 0..2 {
                    solver.assert(is(&Term::eq(v(at), n(vars[at]))));
                    solver.assert(is(&Term::eq(p(at), n(params[at]))));
                }
                solver.assert(is(&expected).not());
                solver.check() == SatResult::Unsat
            });
            prop_assert!(agrees, "{term:?}");
        }
    }
}

mod against_search {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, VecDeque};

    /// Variables 0 and 1 are truth values, 2 and 3 counters.
    fn condition() -> impl Strategy<Value = Term> {
        let leaf = prop_oneof![
            (0_usize..2).prop_map(v),
            (2_usize..4, -1_i64..5).prop_map(|(at, value)| Term::le(v(at), n(value))),
            (2_usize..4, -1_i64..5).prop_map(|(at, value)| Term::eq(v(at), n(value))),
            Just(Term::lt(v(2), v(3))),
            (1_i64..9).prop_map(|a| Term::eq(Term::modulo(n(a), v(2)), n(1))),
        ];
        leaf.prop_recursive(2, 6, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                two.clone().prop_map(|(a, b)| Term::and([a, b])),
                two.prop_map(|(a, b)| Term::or([a, b])),
                inner.prop_map(Term::not),
            ]
        })
    }

    fn change() -> impl Strategy<Value = (usize, Term)> {
        prop_oneof![
            (0_usize..2, condition()).prop_map(|(at, term)| (at, term)),
            (2_usize..4, prop_oneof![Just(-1_i64), Just(1), Just(2)]).prop_map(|(at, by)| plus(at, by)),
            (2_usize..4, 0_i64..4).prop_map(|(at, value)| (at, n(value))),
            (2_usize..4).prop_map(|at| (at, Term::floor_div(v(5 - at), v(at)))),
        ]
    }

    fn any_class() -> impl Strategy<Value = Class> {
        let changes = || {
            prop::collection::vec(change(), 0..3).prop_map(|mut all| {
                all.sort_by_key(|(at, _)| *at);
                all.dedup_by_key(|(at, _)| *at);
                all
            })
        };
        (prop::collection::vec(condition(), 0..3), changes(), changes(), any::<bool>()).prop_map(
            |(mut guards, effect, answer, argument)| {
                // Counters stay within bounds, so that the search ends.
                guards.extend([2, 3].map(|at| Term::and([Term::le(n(-4), v(at)), Term::le(v(at), n(6))])));
                if argument {
                    guards.push(Term::and([
                        Term::le(v(2), p(0)),
                        Term::lt(p(0), v(3)),
                        Term::not(Term::eq(p(0), n(2))),
                    ]));
                }
                class(usize::from(argument), &guards, &effect, &[&answer])
            },
        )
    }

    fn truth(term: &Term, state: &[i64], params: &[i64]) -> bool {
        term.value(state, params) == Ok(1)
    }

    fn assigned(changes: &[Assign], state: &[i64], params: &[i64]) -> Option<Vec<i64>> {
        let mut after = state.to_vec();
        for change in changes {
            after[change.var] = change.term.value(state, params).ok()?;
        }
        Some(after)
    }

    /// As the semantics are told, without a word of the encoding.
    fn allowed(system: &System, class: &Class, state: &[i64], params: &[i64]) -> Option<Vec<i64>> {
        let fine = state[4] == 0 && class.guards.iter().all(|guard| truth(&guard.term, state, params));
        let mid = fine.then(|| assigned(&class.effect, state, params))??;
        system.invariants.iter().all(|invariant| truth(&invariant.term, &mid, &[])).then_some(mid)
    }

    fn arguments(class: &Class) -> Vec<Vec<i64>> {
        if class.params.is_empty() { vec![vec![]] } else { (-20..20).map(|value| vec![value]).collect() }
    }

    fn explored(system: &System) -> HashMap<Vec<i64>, usize> {
        let mut depth = HashMap::from([(system.initial(), 0)]);
        let mut queue = VecDeque::from([system.initial()]);
        while let Some(state) = queue.pop_front() {
            let next = depth[&state] + 1;
            for class in &system.classes {
                for params in arguments(class) {
                    let Some(mid) = allowed(system, class, &state, &params) else { continue };
                    for outcome in &class.outcomes {
                        let after = assigned(&outcome.changes, &mid, &params).unwrap_or_else(|| {
                            let mut faulted = mid.clone();
                            faulted[4] = 1;
                            faulted
                        });
                        if !depth.contains_key(&after) {
                            depth.insert(after.clone(), next);
                            queue.push_back(after);
                        }
                    }
                }
            }
        }
        depth
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::with_cases(25) })]

        #[test]
        fn both_find_the_same(classes in prop::collection::vec(any_class(), 1..4), invariant in condition(),
                              with_invariant in any::<bool>(), goal in condition()) {
            let bool = (VarType::Bool, 0);
            let int = (VarType::Int, 0);
            let invariants = if with_invariant { vec![invariant] } else { vec![] };
            let mut system = system(&[bool, bool, int, (VarType::Int, 1), bool], classes, invariants);
            system.fault = Some(4);
            let states = explored(&system);
            let all: Vec<usize> = (0..system.classes.len()).collect();
            let is_stuck = |state: &[i64]| system.classes.iter().all(|class| {
                arguments(class).iter().all(|params| allowed(&system, class, state, params).is_none())
            });
            let least = |test: &dyn Fn(&[i64]) -> bool| {
                states.iter().filter(|(state, _)| test(state)).map(|(_, depth)| *depth).min()
            };
            let of_call = Term::and([goal.clone(), Term::lt(v(2), n(3))]);
            let questions = [
                (least(&|state| truth(&goal, state, &[])), Goal::State(goal.clone())),
                (least(&|state| truth(&of_call, state, &[])), Goal::Call(vec![(0, of_call.clone())])),
                (least(&is_stuck), Goal::Stuck { state: Term::TRUE, classes: all }),
            ];
            for (expected, goal) in questions {
                match (expected, reach(&system, &goal, &limits(3_000))) {
                    (None, Found::Never { invariant, k, .. }) => {
                        for state in states.keys() {
                            prop_assert!(truth(&invariant, state, &[]), "{state:?} is outside of the invariant");
                        }
                        prop_assert_eq!(recheck(&system, &goal, &invariant, k), Ok(()));
                    }
                    (Some(depth), Found::Reached { steps, minimal: true, .. }) => prop_assert_eq!(depth, steps.len()),
                    // Division by a variable is beyond the solver's decision procedures.
                    (_, Found::Unknown { why, .. }) if why.contains("nonlinear") => {}
                    (expected, found) => prop_assert!(false, "{goal:?}: {expected:?}, and {found:?}"),
                }
            }
        }
    }
}
