//! Goals among the states: the first hit in the order of the search has the shortest run.

use super::graph::{Graph, Stop};
use super::program::Program;
use super::step::{Scratch, large};
use crate::model::{Goal, NoValue, Step, System, Term, critical};
use std::time::Instant;

/// Combinations of values of a call's parameters that are tried in one state.
const MAX_CANDIDATES: usize = 20_000;

/// What the states say of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Found(Hit),
    /// Every reachable state was visited, and none is one.
    Absent,
    /// None was found so far.
    Open(Stop),
}

/// A way to a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub steps: Vec<Step>,
    /// The number of the state at their end.
    pub state: usize,
    /// For [`Goal::Call`]: the class of the call after the steps, and its parameters.
    pub class: Option<(usize, Vec<i64>)>,
}

/// A goal made for quick tests.
pub(super) enum Test {
    State(Program),
    Call(Vec<CallTest>),
    Stuck(Program, Vec<usize>),
}

/// A condition on calls of a class.
pub(super) struct CallTest {
    class: usize,
    program: Program,
    /// For each parameter the points around which the condition changes.
    points: Vec<Vec<Program>>,
    /// Values around these points stand for all.
    exact: bool,
    /// It holds of allowed calls only, and these are within the bounds.
    within: bool,
}

impl CallTest {
    fn new(system: &System, class: usize, term: &Term) -> Self {
        let params = system.classes.get(class).map_or(0, |class| class.params.len());
        let mut exact = true;
        let points = (0..params).map(|param| {
            let Some(points) = critical(term, param) else {
                exact = false;
                return Vec::new();
            };
            // What depends on a later parameter is not known yet.
            let later = |term: &Term| term.any(&|part| matches!(part, Term::Param(at) if *at != param));
            exact &= !points.iter().any(later);
            points.iter().filter(|term| !later(term)).map(Program::new).collect()
        });
        let points = points.collect();
        let parts = |term: &Term| match term {
            Term::And(all) => all.to_vec(),
            other => vec![other.clone()],
        };
        let own = parts(term);
        let within = params > 0
            && system
                .classes
                .get(class)
                .is_some_and(|class| parts(&system.allowed(class, None)).iter().all(|part| own.contains(part)));
        Self { class, program: Program::new(term), points, exact, within }
    }

    /// Values to try in a state, and whether they stand for all.
    fn candidates(&self, state: &[i64], stack: &mut Vec<i64>) -> (Vec<Vec<i64>>, bool) {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        let mut whole = self.exact;
        for points in &self.points {
            let mut values = vec![1, 0];
            for point in points {
                match point.value(state, &[], stack) {
                    Ok(value) => {
                        let around = [-1, 0, 1, 2].map(|by| value.checked_add(by));
                        // An argument may be larger than any number of the model.
                        whole &= around.iter().all(Option::is_some);
                        values.extend(around.into_iter().flatten());
                    }
                    Err(NoValue::TooLarge) => whole = false,
                    // Then the comparison has no value either.
                    Err(NoValue::Undefined) => {}
                }
            }
            values.sort_unstable();
            values.dedup();
            if all.len().saturating_mul(values.len()) > MAX_CANDIDATES {
                whole = false;
                values.truncate(1);
            }
            all = all
                .into_iter()
                .flat_map(|params| {
                    values.iter().map(move |value| params.iter().copied().chain([*value]).collect::<Vec<i64>>())
                })
                .collect();
        }
        (all, whole)
    }
}

impl Test {
    pub(super) fn new(system: &System, goal: &Goal) -> Self {
        match goal {
            Goal::State(term) => Self::State(Program::new(term)),
            Goal::Call(calls) => Self::Call(
                calls
                    .iter()
                    .filter(|(_, term)| *term != Term::FALSE)
                    .map(|(class, term)| CallTest::new(system, *class, term))
                    .collect(),
            ),
            Goal::Stuck { state, classes } => Self::Stuck(Program::new(state), classes.clone()),
        }
    }
}

impl Graph {
    /// Asks for each goal. A goal about calls counts only calls that take part in this graph.
    #[must_use]
    pub fn search(&self, system: &System, goals: &[Goal]) -> Vec<Found> {
        let tests: Vec<Test> = goals.iter().map(|goal| Test::new(system, goal)).collect();
        let mut found: Vec<Option<Found>> = goals.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..goals.len()).collect();
        let mut scratch = Scratch::until(self.deadline);
        let mut doubts: Vec<Option<Stop>> = vec![None; goals.len()];
        let mut late = false;
        for number in 0..self.states() {
            if open.is_empty() {
                break;
            }
            if number % 32 == 31 && Instant::now() >= self.deadline {
                late = true;
                break;
            }
            let state = self.state(number);
            let safe = self.machine.is_safe(state, &mut scratch);
            open.retain(|at| {
                let Some(test) = tests.get(*at) else { return false };
                let hit = safe.and_then(|safe| self.test(test, Some(number), state, safe, &mut scratch));
                match hit {
                    Ok(Some(class)) => {
                        let class = class.filter(|_| matches!(test, Test::Call(_)));
                        if let Some(slot) = found.get_mut(*at) {
                            *slot = Some(Found::Found(Hit { steps: self.path(number), state: number, class }));
                        }
                        false
                    }
                    Ok(None) => true,
                    Err(stop) => {
                        if let Some(doubt) = doubts.get_mut(*at) {
                            *doubt = Some(stop);
                        }
                        true
                    }
                }
            });
        }
        let late = late.then_some(Stop::Time);
        let miss = |doubt: Option<Stop>| match self.stopped().or(late).or(doubt) {
            Some(stop) => Found::Open(stop),
            None => Found::Absent,
        };
        found.into_iter().zip(doubts).map(|(found, doubt)| found.unwrap_or_else(|| miss(doubt))).collect()
    }

    /// `Some`: the state is one, with the call where the goal is about calls.
    #[expect(clippy::type_complexity, reason = "a call and its parameters")]
    pub(super) fn test(
        &self,
        test: &Test,
        number: Option<usize>,
        state: &[i64],
        safe: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Option<(usize, Vec<i64>)>>, Stop> {
        let mut stack = Vec::new();
        match test {
            Test::State(term) => Ok(term.holds(state, &[], &mut stack).map_err(large)?.then_some(None)),
            Test::Call(calls) => {
                let mut doubt = None;
                for test in calls {
                    let (class, term) = (test.class, &test.program);
                    if !self.all && !self.machine.is_witnessed(class) {
                        continue;
                    }
                    if !self.machine.has_params(class) {
                        if term.holds(state, &[], &mut stack).map_err(large)? {
                            return Ok(Some(Some((class, Vec::new()))));
                        }
                        continue;
                    }
                    let (mut combinations, whole) = test.candidates(state, &mut stack);
                    if !whole {
                        match self.machine.combinations(class, state, scratch)? {
                            Some(within) if test.within => combinations = within,
                            more => {
                                doubt = Some(Stop::Unbounded(class));
                                combinations.extend(more.into_iter().flatten());
                            }
                        }
                    }
                    for params in combinations {
                        if term.holds(state, &params, &mut stack).map_err(large)? {
                            return Ok(Some(Some((class, params))));
                        }
                    }
                }
                doubt.map_or(Ok(None), Err)
            }
            Test::Stuck(term, classes) => {
                if !term.holds(state, &[], &mut stack).map_err(large)? {
                    return Ok(None);
                }
                for class in classes {
                    // Calls without a witness may not have taken part.
                    let known = number.filter(|_| self.all || self.machine.is_witnessed(*class));
                    match known.and_then(|number| self.is_open(number, *class)) {
                        Some(true) => return Ok(None),
                        Some(false) => continue,
                        None => {}
                    }
                    if self.machine.is_open(*class, state, safe, scratch)? {
                        return Ok(None);
                    }
                    // A walk has not tried every value.
                    if self.machine.few_values && self.machine.has_params(*class) {
                        return Err(Stop::Unbounded(*class));
                    }
                }
                Ok(Some(None))
            }
        }
    }
}
