//! Which of the methods is asked when, and for how long. Every proof is checked again before it is given.

use super::bmc::{Bmc, Progress};
use super::clock::Clock;
use super::recheck::confirm;
use super::target::Target;
use super::tidy::tidy;
use super::transition::{Transition, transitions};
use super::{facts, induction, spacer};
use crate::model::{Goal, Step, System, Term};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use z3::Config;

/// What a question may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time. A solver may overrun it inside of one query; a child process is ended.
    pub time: Duration,
    /// Memory of the process that solves; held where that is a child process.
    pub memory_mb: u32,
    /// The longest trace that is searched for, in steps.
    pub depth: usize,
}

/// The answer to a [`Goal`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// No reachable state is one. The invariant, over the system's variables, has passed [`recheck`] with `k`.
    Never {
        invariant: Term,
        k: usize,
        /// The method, for a person: `Spacer`, `induction`, `k-induction, k = 3`.
        how: String,
    },
    Reached {
        steps: Vec<Step>,
        /// For [`Goal::Call`]: the class of the call after the steps, and its parameters.
        class: Option<(usize, Vec<i64>)>,
        /// Whether every shorter trace has been refuted.
        minimal: bool,
    },
    Unknown {
        /// For a person, without figures that change from run to run.
        why: String,
        /// Up to this number of steps it is not reached.
        depth: Option<usize>,
    },
}

/// Searches for the goal, or for a proof that it is never reached, in this process.
#[must_use]
pub fn reach(system: &System, goal: &Goal, limits: &Limits) -> Found {
    // A context of its own: an answer must not depend on what was asked before.
    z3::with_z3_config(&Config::new(), || search(system, goal, limits))
}

fn search(system: &System, goal: &Goal, limits: &Limits) -> Found {
    let clock = Clock::new(limits.time);
    let prepared = transitions(system).and_then(|steps| Ok((steps, Target::new(system, goal, clock)?)));
    let (transitions, target) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return Found::Unknown { why, depth: None },
    };
    let mut search = Search {
        system,
        transitions: &transitions,
        target: &target,
        limits,
        clock,
        bmc: Bmc::new(system, &transitions, &target),
        bmc_stopped: None,
        reasons: Vec::new(),
    };
    let found = search.run();
    let depth = search.bmc.refuted().checked_sub(1);
    match found {
        Ok(Some(found)) => found,
        Ok(None) => Found::Unknown { why: search.why(), depth },
        Err(why) => Found::Unknown { why, depth },
    }
}

/// Whether the invariant proves that the goal is never reached: it holds at the start, every step keeps it, and
/// it excludes the goal. With `k` above 1 the goal's absence from k states in a row helps to exclude it. The
/// error says which of these fails.
pub fn recheck(system: &System, goal: &Goal, invariant: &Term, k: usize) -> Result<(), String> {
    z3::with_z3_config(&Config::new(), || {
        let clock = Clock::new(RECHECK);
        let transitions = transitions(system)?;
        let target = Target::new(system, goal, clock)?;
        confirm(system, &transitions, &target, (invariant, k), clock)
    })
}

/// How long that was differs from run to run.
pub(super) const LATE: &str = "no answer in its share of the time";

/// A proof that takes longer to check than this is none.
const RECHECK: Duration = Duration::from_secs(10);

/// Invariants of more conjuncts are left as they are.
const MANY: usize = 24;

struct Search<'s> {
    system: &'s System,
    transitions: &'s [Transition],
    target: &'s Target,
    limits: &'s Limits,
    clock: Clock,
    bmc: Bmc<'s>,
    /// Why the bounded search cannot go on.
    bmc_stopped: Option<String>,
    /// Why the others had no answer.
    reasons: Vec<String>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<Option<Found>, String> {
        if let Some(found) = self.bounded(4, self.clock.slice(10))? {
            return Ok(Some(found));
        }
        let facts = facts::facts(self.system, self.transitions, self.target, self.clock.slice(10))?;
        if let Some(found) = self.proved(&facts, 1, "induction", true) {
            return Ok(Some(found));
        }
        if let Some(found) = self.induction(&facts, (1, 3), self.clock.slice(10))? {
            return Ok(Some(found));
        }
        match spacer::ask(self.system, self.transitions, self.target, self.clock.slice(50))? {
            spacer::Answer::Invariant(invariant) => {
                if let Some(found) = self.proved(&invariant, 1, "Spacer", false) {
                    return Ok(Some(found));
                }
            }
            spacer::Answer::Reachable => return self.bounded(self.limits.depth, self.clock),
            spacer::Answer::Unknown(why) => self.reasons.push(why),
        }
        if let Some(found) = self.bounded(20, self.clock.slice(30))? {
            return Ok(Some(found));
        }
        if let Some(found) = self.induction(&facts, (4, 12), self.clock.slice(30))? {
            return Ok(Some(found));
        }
        self.bounded(self.limits.depth, self.clock)
    }

    fn bounded(&mut self, depth: usize, clock: Clock) -> Result<Option<Found>, String> {
        while self.bmc.refuted() <= depth.min(self.limits.depth) {
            if clock.is_over() {
                break;
            }
            match self.bmc.advance(clock)? {
                Progress::Deeper => self.bmc_stopped = None,
                Progress::Reached { steps, call, minimal } => {
                    return Ok(Some(Found::Reached { steps, class: call, minimal }));
                }
                Progress::Stopped(why) => {
                    self.bmc_stopped = Some(why);
                    break;
                }
            }
        }
        Ok(None)
    }

    fn induction(&mut self, facts: &Term, range: (usize, usize), clock: Clock) -> Result<Option<Found>, String> {
        // Without the base no step is of use.
        let most = range.1.min(self.bmc.refuted());
        let k = induction::step(self.system, self.transitions, self.target, facts, (range.0, most), clock)?;
        let (Some(k), Some(reached)) = (k, &self.target.state) else { return Ok(None) };
        Ok(match k {
            1 => self.proved(&Term::and([facts.clone(), Term::not(reached.clone())]), 1, "induction", false),
            _ => self.proved(facts, k, &format!("k-induction, k = {k}"), false),
        })
    }

    /// The proof, if plain queries confirm it. `guess`: that they do not is nothing to tell.
    fn proved(&mut self, invariant: &Term, k: usize, how: &str, guess: bool) -> Option<Found> {
        let clock = if guess { self.clock.slice(10) } else { self.clock };
        let invariant = tidy(invariant);
        match self.confirmed(&invariant, k, clock) {
            Ok(()) => Some(Found::Never { invariant: self.smaller(invariant, k), k, how: how.to_owned() }),
            Err(why) => {
                if !guess {
                    self.reasons.push(format!("the proof by {how} could not be confirmed: {why}"));
                }
                None
            }
        }
    }

    fn confirmed(&self, invariant: &Term, k: usize, clock: Clock) -> Result<(), String> {
        confirm(self.system, self.transitions, self.target, (invariant, k), clock)
    }

    /// Without the conjuncts that the proof does not need: a person reads it.
    fn smaller(&self, invariant: Term, k: usize) -> Term {
        let Term::And(all) = &invariant else { return invariant };
        if all.len() > MANY {
            return invariant;
        }
        let clock = self.clock.slice(10);
        let mut kept = all.to_vec();
        for one in all.iter().rev() {
            let rest = Term::and(kept.iter().filter(|other| *other != one).cloned());
            if !clock.is_over() && self.confirmed(&rest, k, clock).is_ok() {
                kept.retain(|other| other != one);
            }
        }
        Term::and(kept)
    }

    fn why(&self) -> String {
        if self.bmc.doubtful().is_some() {
            return "it is reached only through calls for which no real call was found".to_owned();
        }
        let mut all: Vec<String> = Vec::new();
        // The solver says in several ways that it was told to stop.
        let stopped = |why: &&String| !matches!(why.as_str(), "" | "ok" | "canceled" | "timeout" | "no answer in time");
        all.extend(self.bmc_stopped.iter().chain(&self.reasons).filter(stopped).cloned());
        if self.bmc.refuted() > self.limits.depth {
            all.push(format!("depth {} reached", self.limits.depth));
        } else if all.is_empty() {
            all.push(LATE.to_owned());
        }
        let terms = self.transitions.iter().flat_map(|one| one.next.iter().map(|(_, term)| term).chain([&one.guard]));
        if terms.chain(self.target.cases.iter().map(|case| &case.term)).any(|term| term.any(&is_nonlinear)) {
            all.push("it has nonlinear arithmetic".to_owned());
        }
        all.join("; ")
    }
}

/// Products of two terms, and divisions by one: no decision procedure covers them.
fn is_nonlinear(term: &Term) -> bool {
    match term {
        Term::Mul(two) => !two.iter().any(|side| matches!(side, Term::Int(_))),
        Term::FloorDiv(two) | Term::Mod(two) => !matches!(&**two, [_, Term::Int(_)]),
        _ => false,
    }
}

/// `2 s`, `250 ms`.
pub(super) fn shown(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}
