//! The reachable states, in the order of breadth-first search, with how each is reached and what follows it.

use super::step::{Machine, Scratch};
use crate::model::{Step, System};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::fmt;
use std::hash::BuildHasher;
use std::time::Instant;

/// Bounds of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: usize,
    /// Distinct pairs of a state and one that follows it.
    pub edges: usize,
    pub deadline: Instant,
}

impl Limits {
    /// As many states and edges as the design allows, until the deadline.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { states: 2_000_000, edges: 60_000_000, deadline }
    }
}

/// Why not every state was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    States(usize),
    Edges(usize),
    Time,
    /// A number left 64 bits.
    Overflow,
    /// The whole-number arguments of this class have no bounds, or too many values, in some state.
    Unbounded(usize),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(states) => write!(f, "more than {states} states"),
            Self::Edges(edges) => write!(f, "more than {edges} transitions"),
            Self::Time => f.write_str("not all states were visited in time"),
            Self::Overflow => f.write_str("a number grows beyond 64 bits"),
            Self::Unbounded(_) => f.write_str("a whole-number argument is not bounded by guards on both sides"),
        }
    }
}

/// How a state was reached first.
#[derive(Clone, Copy, Debug)]
struct Origin {
    parent: u32,
    class: u32,
    outcome: u32,
    /// Where the parameters stand, if the class has any.
    params: u32,
}

/// States by number; 0 is the initial one.
#[derive(Debug)]
pub struct Graph {
    pub(super) machine: Machine,
    width: usize,
    states: Vec<i64>,
    origins: Vec<Origin>,
    depths: Vec<u32>,
    params: Vec<i64>,
    /// The distinct states that follow each state, one after the other, and where those of a state begin.
    pub(super) following: Vec<u32>,
    pub(super) starts: Vec<usize>,
    transitions: u64,
    /// For each state that was visited the classes of which a call is allowed, one bit each; and words of a state.
    open: Vec<u64>,
    words: usize,
    /// Whether classes without a witness take part.
    pub(super) all: bool,
    stopped: Option<Stop>,
    /// When a search among the states gives up.
    pub(super) deadline: Instant,
}

/// How often the clock is read and progress told.
const INTERVAL: usize = 4_096;

impl Graph {
    /// Visits the states within the limits. `use_unwitnessed`: calls take part of which no example is known.
    /// `progress` hears how many states there are so far.
    #[must_use]
    pub fn explore(system: &System, limits: &Limits, use_unwitnessed: bool, progress: &mut dyn FnMut(usize)) -> Self {
        let mut graph = Self {
            machine: Machine::new(system),
            width: system.vars.len(),
            states: system.initial(),
            origins: vec![Origin { parent: 0, class: 0, outcome: 0, params: 0 }],
            depths: vec![0],
            params: Vec::new(),
            following: Vec::new(),
            starts: vec![0],
            transitions: 0,
            open: Vec::new(),
            words: system.classes.len().div_ceil(64).max(1),
            all: use_unwitnessed,
            stopped: None,
            deadline: limits.deadline,
        };
        if let Err(stop) = graph.run(limits, progress) {
            graph.stopped = Some(stop);
        }
        graph
    }

    fn run(&mut self, limits: &Limits, progress: &mut dyn FnMut(usize)) -> Result<(), Stop> {
        let hasher = FixedState::with_seed(1);
        let mut known: HashTable<u32> = HashTable::new();
        let first = hasher.hash_one(self.state(0));
        known.insert_unique(first, 0, |_| first);
        let machine = std::mem::take(&mut self.machine);
        let mut scratch = Scratch::until(limits.deadline);
        let mut current: Vec<i64> = Vec::new();
        let mut outcome = Ok(());
        let mut at = 0;
        while at < self.depths.len() {
            if at % INTERVAL == INTERVAL - 1 {
                progress(self.depths.len());
            }
            current.clear();
            current.extend_from_slice(self.state(at));
            let begin = self.following.len();
            let depth = self.depths.get(at).copied().unwrap_or(0) + 1;
            let bits = self.open.len();
            self.open.resize(bits + self.words, 0);
            let all = self.all;
            let stepped = machine.steps(&current, all, &mut scratch, &mut |class, params, which, next| {
                self.transitions += 1;
                if let Some(word) = self.open.get_mut(bits + class / 64) {
                    *word |= 1 << (class % 64);
                }
                // One state may have thousands of steps.
                if self.transitions.is_multiple_of(INTERVAL as u64) && Instant::now() >= limits.deadline {
                    return Err(Stop::Time);
                }
                let hash = hasher.hash_one(next);
                let width = self.width;
                let states = &self.states;
                let same = |other: &u32| {
                    let start = *other as usize * width;
                    states.get(start..start + width) == Some(next)
                };
                let found = known.find(hash, same).copied();
                let number = if let Some(number) = found {
                    number
                } else {
                    if self.depths.len() >= limits.states {
                        return Err(Stop::States(limits.states));
                    }
                    let number = u32::try_from(self.depths.len()).map_err(|_| Stop::States(limits.states))?;
                    self.states.extend_from_slice(next);
                    let states = &self.states;
                    known.insert_unique(hash, number, |other| {
                        let start = *other as usize * width;
                        hasher.hash_one(states.get(start..start + width).unwrap_or_default())
                    });
                    let stored = u32::try_from(self.params.len()).map_err(|_| Stop::States(limits.states))?;
                    self.params.extend_from_slice(params);
                    self.origins.push(Origin {
                        parent: u32::try_from(at).unwrap_or(u32::MAX),
                        class: u32::try_from(class).unwrap_or(u32::MAX),
                        outcome: u32::try_from(which).unwrap_or(u32::MAX),
                        params: stored,
                    });
                    self.depths.push(depth);
                    number
                };
                self.following.push(number);
                Ok(true)
            });
            self.close(begin);
            if let Err(stop) = stepped {
                outcome = Err(stop);
                break;
            }
            if self.following.len() > limits.edges {
                outcome = Err(Stop::Edges(limits.edges));
                break;
            }
            at += 1;
        }
        self.machine = machine;
        progress(self.depths.len());
        outcome
    }

    /// Ends the list of the states that follow one: each is kept once.
    fn close(&mut self, begin: usize) {
        if let Some(own) = self.following.get_mut(begin..) {
            own.sort_unstable();
        }
        let mut end = begin;
        for at in begin..self.following.len() {
            let Some(number) = self.following.get(at).copied() else { break };
            if end == begin || self.following.get(end - 1) != Some(&number) {
                if let Some(slot) = self.following.get_mut(end) {
                    *slot = number;
                }
                end += 1;
            }
        }
        self.following.truncate(end);
        self.starts.push(end);
    }

    /// Lets searches among the states go on until then.
    pub fn search_until(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// How many states were found.
    #[must_use]
    pub fn states(&self) -> usize {
        self.depths.len()
    }

    /// Allowed steps: pairs of a state and a class with its parameters and outcome; those that change nothing too.
    #[must_use]
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// Whether every reachable state was visited.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.stopped.is_none()
    }

    /// What ended the exploration early.
    #[must_use]
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// The values of a state.
    #[must_use]
    pub fn state(&self, number: usize) -> &[i64] {
        self.states.get(number * self.width..(number + 1) * self.width).unwrap_or_default()
    }

    /// Steps from the initial state.
    #[must_use]
    pub fn depth(&self, number: usize) -> usize {
        self.depths.get(number).copied().unwrap_or(0) as usize
    }

    /// A shortest way to a state.
    #[must_use]
    pub fn path(&self, number: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = number;
        while at != 0 {
            let Some(origin) = self.origins.get(at) else { break };
            let class = origin.class as usize;
            let count = self.machine.params(class);
            let start = origin.params as usize;
            let params = self.params.get(start..start + count).unwrap_or_default().to_vec();
            steps.push(Step { class, outcome: origin.outcome as usize, params });
            at = origin.parent as usize;
        }
        steps.reverse();
        steps
    }

    /// Whether a call of the class is allowed in a state that was visited; `None` if it was not.
    pub(super) fn is_open(&self, number: usize, class: usize) -> Option<bool> {
        // The last state that was begun may not have been seen to its end.
        let whole = self.complete() || (number + 1) * self.words < self.open.len();
        let word = self.open.get(number * self.words + class / 64).filter(|_| whole)?;
        Some(word >> (class % 64) & 1 == 1)
    }

    /// The states that follow a state, each once.
    #[must_use]
    pub fn next(&self, number: usize) -> &[u32] {
        let (Some(start), Some(end)) = (self.starts.get(number), self.starts.get(number + 1)) else { return &[] };
        self.following.get(*start..*end).unwrap_or_default()
    }

    /// Every step from a state: class, parameters, outcome and the state after it.
    pub fn steps(&self, number: usize, mut hear: impl FnMut(Step, &[i64])) {
        let mut scratch = Scratch::default();
        // What stops here has stopped the exploration before.
        let _ = self.machine.steps(self.state(number), self.all, &mut scratch, &mut |class, params, outcome, after| {
            hear(Step { class, outcome, params: params.to_vec() }, after);
            Ok(true)
        });
    }
}
