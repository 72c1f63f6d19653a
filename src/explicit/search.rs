//! Goals among the states: the first hit in the order of the search has the shortest run.

use super::graph::{Graph, Stop};
use super::program::Program;
use super::step::{Scratch, large};
use crate::model::{Goal, Step, System};

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
    Call(Vec<(usize, Program)>),
    Stuck(Program, Vec<usize>),
}

impl Test {
    pub(super) fn new(goal: &Goal) -> Self {
        match goal {
            Goal::State(term) => Self::State(Program::new(term)),
            Goal::Call(calls) => Self::Call(
                calls
                    .iter()
                    .map(|(class, term)| (*class, Program::new(term)))
                    .filter(|(_, program)| program.constant() != Some(0))
                    .collect(),
            ),
            Goal::Stuck { state, classes } => Self::Stuck(Program::new(state), classes.clone()),
        }
    }
}

impl Graph {
    /// Asks for each goal. A goal about calls counts only calls that take part in this graph.
    #[must_use]
    pub fn search(&self, _system: &System, goals: &[Goal]) -> Vec<Found> {
        let tests: Vec<Test> = goals.iter().map(Test::new).collect();
        let mut found: Vec<Option<Found>> = goals.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..goals.len()).collect();
        let mut scratch = Scratch::default();
        let mut doubts: Vec<Option<Stop>> = vec![None; goals.len()];
        for number in 0..self.states() {
            if open.is_empty() {
                break;
            }
            let state = self.state(number);
            let safe = self.machine.is_safe(state, &mut scratch);
            open.retain(|at| {
                let Some(test) = tests.get(*at) else { return false };
                let hit = safe.and_then(|safe| self.test(test, state, safe, &mut scratch));
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
        let miss = |doubt: Option<Stop>| match self.stopped().or(doubt) {
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
        state: &[i64],
        safe: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Option<(usize, Vec<i64>)>>, Stop> {
        let mut stack = Vec::new();
        match test {
            Test::State(term) => Ok(term.holds(state, &[], &mut stack).map_err(large)?.then_some(None)),
            Test::Call(calls) => {
                let mut doubt = None;
                for (class, term) in calls {
                    if !self.all && !self.machine.is_witnessed(*class) {
                        continue;
                    }
                    if !self.machine.has_params(*class) {
                        if term.holds(state, &[], &mut stack).map_err(large)? {
                            return Ok(Some(Some((*class, Vec::new()))));
                        }
                        continue;
                    }
                    let Some(combinations) = self.machine.combinations(*class, state, scratch)? else {
                        doubt = Some(Stop::Unbounded(*class));
                        continue;
                    };
                    for params in combinations {
                        if term.holds(state, &params, &mut stack).map_err(large)? {
                            return Ok(Some(Some((*class, params))));
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
                    if self.machine.is_open(*class, state, safe, scratch)? {
                        return Ok(None);
                    }
                }
                Ok(Some(None))
            }
        }
    }
}
