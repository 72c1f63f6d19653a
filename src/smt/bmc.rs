//! Bounded search: is the target reachable in exactly 0, 1, 2, … steps? A target found so is a shortest one.

use super::clock::Clock;
use super::encode::{Place, Value, and, numerals, state, truth};
use super::path::{Hop, hop, is_true, numbers};
use super::target::Target;
use super::transition::Transition;
use super::walk::{arrives, walk};
use crate::model::{Step, System};
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver};

/// Arguments in a trace are kept within the first of these bounds that allows one: a person reads it.
const SMALL: [i64; 4] = [9, 100, 10_000, 1 << 53];

#[derive(Debug)]
pub(super) struct Bmc<'s> {
    system: &'s System,
    transitions: &'s [Transition],
    target: &'s Target,
    solver: Solver,
    states: Vec<Vec<Value>>,
    hops: Vec<Hop>,
    /// True: only steps for which a real call is known.
    witnessed: Bool,
    /// Depths below this one are refuted: by any steps, and by witnessed ones.
    refuted: usize,
    /// The least depth at which only a step that is not witnessed leads to the target.
    doubtful: Option<usize>,
}

/// A class, and the parameters of its call.
type Call = (usize, Vec<i64>);

#[derive(Debug)]
pub(super) enum Progress {
    Reached {
        steps: Vec<Step>,
        call: Option<Call>,
        minimal: bool,
    },
    /// The depth has been refuted.
    Deeper,
    /// The time is over, or the solver has no answer.
    Stopped(String),
}

impl<'s> Bmc<'s> {
    pub(super) fn new(system: &'s System, transitions: &'s [Transition], target: &'s Target) -> Self {
        let first = numerals(system, &system.initial());
        Self {
            system,
            transitions,
            target,
            solver: Solver::new(),
            states: vec![first],
            hops: Vec::new(),
            witnessed: Bool::new_const("witnessed"),
            refuted: 0,
            doubtful: None,
        }
    }

    /// How many depths are refuted: 3 says that 0, 1 and 2 steps do not reach it.
    pub(super) fn refuted(&self) -> usize {
        self.refuted
    }

    pub(super) fn doubtful(&self) -> Option<usize> {
        self.doubtful
    }

    /// Asks about the next depth.
    pub(super) fn advance(&mut self, clock: Clock) -> Result<Progress, String> {
        let depth = self.refuted;
        if depth > self.hops.len() {
            self.unroll()?;
        }
        let suffix = format!("@{depth}");
        let Some(last) = self.states.last() else { return Err("no state".to_owned()) };
        let goal = Bool::new_const(format!("goal{suffix}"));
        let really = Bool::new_const(format!("really{suffix}"));
        let reached = self.target.reached(last, &suffix)?;
        self.solver.assert(goal.implies(&reached));
        self.solver.assert(really.implies(&self.target.really_reached(last, &suffix)?));
        let assumed = [goal, really, self.witnessed.clone()];
        match self.ask(&assumed, clock) {
            SatResult::Sat => return self.trace(&assumed, clock),
            SatResult::Unknown => return Ok(Progress::Stopped(self.why(clock))),
            SatResult::Unsat => {}
        }
        if self.doubtful.is_none() && self.has_doubts() {
            let [goal, ..] = assumed;
            match self.ask(&[goal], clock) {
                SatResult::Sat => self.doubtful = Some(depth),
                SatResult::Unknown => return Ok(Progress::Stopped(self.why(clock))),
                SatResult::Unsat => self.solver.assert(reached.not()),
            }
        } else if self.doubtful.is_none() {
            self.solver.assert(reached.not());
        }
        self.refuted += 1;
        Ok(Progress::Deeper)
    }

    fn has_doubts(&self) -> bool {
        self.transitions.iter().any(|transition| !transition.witnessed)
            || self.target.cases.iter().any(|case| case.term != case.strict)
    }

    fn unroll(&mut self) -> Result<(), String> {
        let at = self.hops.len();
        let to = state(self.system, &format!("@{}", at + 1));
        let Some(from) = self.states.last() else { return Err("no state".to_owned()) };
        let hop = hop(self.system, self.transitions, from, &to, at)?;
        self.solver.assert(&hop.constraint);
        for (transition, taken) in self.transitions.iter().zip(&hop.taken) {
            if !transition.witnessed {
                self.solver.assert(self.witnessed.implies(taken.not()));
            }
        }
        self.hops.push(hop);
        self.states.push(to);
        Ok(())
    }

    fn ask(&self, assumed: &[Bool], clock: Clock) -> SatResult {
        if clock.is_over() {
            return SatResult::Unknown;
        }
        self.solver.set_params(&clock.params());
        self.solver.check_assumptions(assumed)
    }

    fn why(&self, clock: Clock) -> String {
        if clock.is_over() {
            return "no answer in time".to_owned();
        }
        self.solver.get_reason_unknown().unwrap_or_else(|| "no reason given".to_owned())
    }

    fn trace(&self, assumed: &[Bool], clock: Clock) -> Result<Progress, String> {
        let mut best = self.solver.get_model().and_then(|model| self.read(&model));
        let arguments = self.arguments();
        if !arguments.is_empty() {
            for bound in SMALL {
                let small: Vec<Bool> =
                    arguments.iter().map(|p| and(&[p.ge(Int::from_i64(0)), p.le(Int::from_i64(bound))])).collect();
                let all: Vec<Bool> = assumed.iter().cloned().chain(small).collect();
                if self.ask(&all, clock.slice(10)) == SatResult::Sat {
                    best = self.solver.get_model().and_then(|model| self.read(&model)).or(best);
                    break;
                }
            }
        }
        let Some((steps, call)) = best else {
            return Ok(Progress::Stopped("the trace needs a number beyond 64 bits".to_owned()));
        };
        let end = match walk(self.system, self.transitions, &steps) {
            Ok(end) => end,
            Err(why) => return Ok(Progress::Stopped(why)),
        };
        match arrives(self.target, &end, call.as_ref()) {
            Ok(true) => Ok(Progress::Reached { steps, call, minimal: self.doubtful.is_none() }),
            Ok(false) => Err("the solver's trace does not lead to its goal".to_owned()),
            Err(why) => Ok(Progress::Stopped(why)),
        }
    }

    /// Every whole-number argument of the path and of the target.
    fn arguments(&self) -> Vec<Int> {
        let suffix = format!("@{}", self.refuted);
        let of_target = (0..self.target.cases.len()).flat_map(|case| self.target.params(case, &suffix));
        let all = self.hops.iter().flat_map(|hop| hop.params.iter().flatten().cloned()).chain(of_target);
        let mut unique = std::collections::HashSet::new();
        all.filter(|argument| unique.insert(argument.clone())).collect()
    }

    fn read(&self, model: &Model) -> Option<(Vec<Step>, Option<Call>)> {
        let mut steps = Vec::new();
        for hop in &self.hops {
            let at = hop.taken.iter().position(|taken| is_true(model, taken))?;
            let transition = self.transitions.get(at)?;
            let params = numbers(model, hop.params.get(at)?)?;
            steps.push(Step { class: transition.class, outcome: transition.outcome, params });
        }
        let suffix = format!("@{}", self.refuted);
        let end = self.states.last()?;
        for (at, case) in self.target.cases.iter().enumerate() {
            let own = self.target.params(at, &suffix);
            let place = Place { vars: end, params: &own };
            if is_true(model, &truth(&case.strict, place).ok()?) {
                let call = match case.class {
                    Some(class) => Some((class, numbers(model, &own)?)),
                    None => None,
                };
                return Some((steps, call));
            }
        }
        None
    }
}
