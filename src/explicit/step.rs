//! What can follow a state: every class with every value of its parameters, and every outcome.

use super::graph::Stop;
use super::program::Program;
use crate::model::{Assign, Kind, NoValue, System};
use std::time::Instant;

/// Values of one parameter in one state; more are not visited one by one.
const MAX_VALUES: i64 = 4_096;
/// How often the clock is read.
const CLOCK: u64 = 8_192;

/// A system made for quick steps.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// Of the values of a parameter only some are tried: for walks.
    pub(super) few_values: bool,
    pub(super) classes: Vec<Class>,
    invariants: Vec<Program>,
    fault: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Class {
    is_call: bool,
    witnessed: bool,
    /// A constant guard denies every call.
    never: bool,
    params: Vec<Bounds>,
    guards: Vec<Program>,
    /// Those of the guards that read no parameter, where there are any.
    early: Vec<Program>,
    effect: Vec<(usize, Program)>,
    affected: Vec<usize>,
    outcomes: Vec<Outcome>,
}

#[derive(Debug)]
struct Bounds {
    lower: Vec<Program>,
    upper: Vec<Program>,
}

#[derive(Debug)]
struct Outcome {
    witnessed: bool,
    changes: Vec<(usize, Program)>,
}

/// Memory that steps reuse.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Calls with parameters that were tried, and until when they are.
    tried: u64,
    deadline: Option<Instant>,
    stack: Vec<i64>,
    params: Vec<i64>,
    mid: Vec<i64>,
    after: Vec<i64>,
}

/// Hears of a step: class, parameters, outcome, and the state after it. `false` ends the visit.
pub(super) type Hear<'h> = &'h mut dyn FnMut(usize, &[i64], usize, &[i64]) -> Result<bool, Stop>;

impl Scratch {
    /// For steps that give up at the deadline: one state may have millions.
    pub(super) fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    fn is_late(&mut self) -> bool {
        self.tried += 1;
        self.tried.is_multiple_of(CLOCK) && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Machine {
    pub(super) fn new(system: &System) -> Self {
        let assigns = |all: &[Assign]| all.iter().map(|one| (one.var, Program::new(&one.term))).collect();
        let classes = system.classes.iter().map(|class| Class {
            is_call: matches!(class.kind, Kind::Call { .. }),
            witnessed: class.witnessed,
            never: class.guards.iter().any(|guard| guard.term == crate::model::Term::FALSE),
            params: class
                .params
                .iter()
                .map(|param| Bounds {
                    lower: param.lower.iter().map(Program::new).collect(),
                    upper: param.upper.iter().map(Program::new).collect(),
                })
                .collect(),
            guards: class.guards.iter().map(|guard| Program::new(&guard.term)).collect(),
            early: class
                .guards
                .iter()
                .filter(|guard| !class.params.is_empty() && !guard.term.has_params())
                .map(|guard| Program::new(&guard.term))
                .collect(),
            effect: assigns(&class.effect),
            affected: class.affected.clone(),
            outcomes: class
                .outcomes
                .iter()
                .map(|outcome| Outcome { witnessed: outcome.witnessed, changes: assigns(&outcome.changes) })
                .collect(),
        });
        Self {
            few_values: false,
            classes: classes.collect(),
            invariants: system.invariants.iter().map(|invariant| Program::new(&invariant.term)).collect(),
            fault: system.fault,
        }
    }

    /// Whether all invariants hold.
    pub(super) fn is_safe(&self, state: &[i64], scratch: &mut Scratch) -> Result<bool, Stop> {
        for invariant in &self.invariants {
            if !invariant.holds(state, &[], &mut scratch.stack).map_err(large)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_faulted(&self, state: &[i64]) -> bool {
        self.fault.and_then(|fault| state.get(fault)).is_some_and(|value| *value != 0)
    }

    /// Calls `hear` for each step from the state, class by class.
    pub(super) fn steps(&self, state: &[i64], all: bool, scratch: &mut Scratch, hear: Hear<'_>) -> Result<(), Stop> {
        if self.is_faulted(state) {
            return Ok(());
        }
        let safe = self.is_safe(state, scratch)?;
        for index in 0..self.classes.len() {
            if !self.class_steps(index, state, safe, all, scratch, hear)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether some call of the class is allowed in the state.
    pub(super) fn is_open(&self, class: usize, state: &[i64], safe: bool, scratch: &mut Scratch) -> Result<bool, Stop> {
        if self.is_faulted(state) {
            return Ok(false);
        }
        let mut open = false;
        self.class_steps(class, state, safe, true, scratch, &mut |_, _, _, _| {
            open = true;
            Ok(false)
        })?;
        Ok(open)
    }

    /// `false`: the hearer has heard enough.
    fn class_steps(
        &self,
        index: usize,
        state: &[i64],
        safe: bool,
        all: bool,
        scratch: &mut Scratch,
        hear: Hear<'_>,
    ) -> Result<bool, Stop> {
        let Some(class) = self.classes.get(index) else { return Ok(true) };
        if class.never || (!all && !class.witnessed) {
            return Ok(true);
        }
        if class.params.is_empty() {
            return self.call(index, class, state, &[], safe, all, scratch, hear);
        }
        for guard in &class.early {
            if !guard.holds(state, &[], &mut scratch.stack).map_err(large)? {
                return Ok(true);
            }
        }
        let mut params = std::mem::take(&mut scratch.params);
        params.clear();
        let more = self.with_params(index, class, state, &mut params, safe, all, scratch, hear);
        scratch.params = params;
        more
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one enumeration")]
    fn with_params(
        &self,
        index: usize,
        class: &Class,
        state: &[i64],
        params: &mut Vec<i64>,
        safe: bool,
        all: bool,
        scratch: &mut Scratch,
        hear: Hear<'_>,
    ) -> Result<bool, Stop> {
        let Some(bounds) = class.params.get(params.len()) else {
            if scratch.is_late() {
                return Err(Stop::Time);
            }
            return self.call(index, class, state, params, safe, all, scratch, hear);
        };
        let (Some(low), Some(high)) = bounds.of(state, params, scratch)? else { return Err(Stop::Unbounded(index)) };
        if self.few_values {
            let mut some = vec![low, low.saturating_add(1), low.midpoint(high), high.saturating_sub(1), high];
            some.retain(|value| (low..=high).contains(value));
            some.dedup();
            return self.each_value(some, index, class, state, params, safe, all, scratch, hear);
        }
        if high.checked_sub(low).is_none_or(|width| width >= MAX_VALUES) {
            return Err(Stop::Unbounded(index));
        }
        self.each_value(low..=high, index, class, state, params, safe, all, scratch, hear)
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one enumeration")]
    fn each_value(
        &self,
        values: impl IntoIterator<Item = i64>,
        index: usize,
        class: &Class,
        state: &[i64],
        params: &mut Vec<i64>,
        safe: bool,
        all: bool,
        scratch: &mut Scratch,
        hear: Hear<'_>,
    ) -> Result<bool, Stop> {
        for value in values {
            params.push(value);
            let more = self.with_params(index, class, state, params, safe, all, scratch, hear);
            params.pop();
            if !more? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one enumeration")]
    fn call(
        &self,
        index: usize,
        class: &Class,
        state: &[i64],
        params: &[i64],
        safe: bool,
        all: bool,
        scratch: &mut Scratch,
        hear: Hear<'_>,
    ) -> Result<bool, Stop> {
        let Scratch { stack, mid, after, .. } = scratch;
        for guard in &class.guards {
            if !guard.holds(state, params, stack).map_err(large)? {
                return Ok(true);
            }
        }
        mid.clear();
        mid.extend_from_slice(state);
        for (var, program) in &class.effect {
            match program.value(state, params, stack) {
                Ok(value) => put(mid, *var, value),
                Err(NoValue::Undefined) => return Ok(true),
                Err(NoValue::TooLarge) => return Err(Stop::Overflow),
            }
        }
        if class.is_call {
            let hold = |at: usize, stack: &mut Vec<i64>| {
                let Some(invariant) = self.invariants.get(at) else { return Ok(true) };
                invariant.holds(mid, &[], stack).map_err(large)
            };
            if safe {
                for at in &class.affected {
                    if !hold(*at, stack)? {
                        return Ok(true);
                    }
                }
            } else {
                for at in 0..self.invariants.len() {
                    if !hold(at, stack)? {
                        return Ok(true);
                    }
                }
            }
        }
        for (which, outcome) in class.outcomes.iter().enumerate() {
            if !all && !outcome.witnessed {
                continue;
            }
            if outcome.changes.is_empty() {
                if !hear(index, params, which, mid)? {
                    return Ok(false);
                }
                continue;
            }
            after.clear();
            after.extend_from_slice(mid);
            let mut faulted = false;
            for (var, program) in &outcome.changes {
                match program.value(mid, params, stack) {
                    Ok(value) => put(after, *var, value),
                    Err(NoValue::Undefined) => faulted = true,
                    Err(NoValue::TooLarge) => return Err(Stop::Overflow),
                }
            }
            if faulted {
                after.clear();
                after.extend_from_slice(mid);
                if let Some(fault) = self.fault {
                    put(after, fault, 1);
                }
            }
            if !hear(index, params, which, after)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every combination of parameter values of a class in a state, allowed or not; `None` if they are not finite.
    pub(super) fn combinations(
        &self,
        class: usize,
        state: &[i64],
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<Vec<i64>>>, Stop> {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for bounds in self.classes.get(class).map(|class| class.params.as_slice()).unwrap_or_default() {
            let mut next = Vec::new();
            for params in all {
                let (Some(low), Some(high)) = bounds.of(state, &params, scratch)? else { return Ok(None) };
                if high.checked_sub(low).is_none_or(|width| width >= MAX_VALUES) || next.len() > 100_000 {
                    return Ok(None);
                }
                next.extend((low..=high).map(|value| params.iter().copied().chain([value]).collect::<Vec<i64>>()));
            }
            all = next;
        }
        Ok(Some(all))
    }

    pub(super) fn has_params(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|class| !class.params.is_empty())
    }

    /// How many parameters the class has.
    pub(super) fn params(&self, class: usize) -> usize {
        self.classes.get(class).map_or(0, |class| class.params.len())
    }

    pub(super) fn is_witnessed(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|class| class.witnessed)
    }
}

impl Bounds {
    fn of(&self, state: &[i64], params: &[i64], scratch: &mut Scratch) -> Result<(Option<i64>, Option<i64>), Stop> {
        let mut end = |programs: &[Program], better: fn(i64, i64) -> i64| {
            let mut best: Option<i64> = None;
            for program in programs {
                match program.value(state, params, &mut scratch.stack) {
                    Ok(value) => best = Some(best.map_or(value, |best| better(best, value))),
                    Err(NoValue::Undefined) => {}
                    Err(NoValue::TooLarge) => return Err(Stop::Overflow),
                }
            }
            Ok(best)
        };
        Ok((end(&self.lower, i64::max)?, end(&self.upper, i64::min)?))
    }
}

fn put(state: &mut [i64], var: usize, value: i64) {
    if let Some(slot) = state.get_mut(var) {
        *slot = value;
    }
}

pub(super) fn large(_: NoValue) -> Stop {
    Stop::Overflow
}
