//! Best-first search for the shortest text that some globs match and others do not.
//! Knows nothing of shortcuts for simple globs.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::TooLarge;
use super::machine::{Letter, Machine, machines};
use crate::ir::glob::Glob;

/// States a search may reach.
const STATES: usize = 20_000;
/// Words a search may compute, so that many letters or long globs cannot make each state dear.
const WORK: usize = 1 << 24;

/// One position of each positive, then the set of positions of each negative: a positive only has to match in
/// one way, so its ways are tried apart, while a negative must fail in all of them at once.
type State = Rc<[u64]>;

struct Node {
    state: State,
    /// The node this one was reached from, and by which letter.
    from: Option<(usize, usize)>,
    cost: Cost,
}

/// What a text costs: its length first, then how odd its letters are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    length: usize,
    oddness: u32,
}

/// The order in which nodes are looked at: by the least length a match can still have, then by oddness, and of
/// equals the longest text, which is nearest to its end, and then the first found.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Promise {
    length: usize,
    oddness: u32,
    longest: Reverse<usize>,
    index: usize,
}

struct Search {
    letters: Vec<Letter>,
    positive: Vec<Machine>,
    negative: Vec<Machine>,
    nodes: Vec<Node>,
    known: HashMap<State, usize>,
    queue: BinaryHeap<Reverse<Promise>>,
}

pub(super) fn shortest(positive: &[&Glob], negative: &[&Glob]) -> Result<Option<String>, TooLarge> {
    let (letters, mut machines) = machines(&[positive, negative].concat())?;
    let negative = machines.split_off(positive.len());
    let search = Search {
        letters,
        positive: machines,
        negative,
        nodes: Vec::new(),
        known: HashMap::new(),
        queue: BinaryHeap::new(),
    };
    search.run()
}

impl Search {
    fn run(mut self) -> Result<Option<String>, TooLarge> {
        let mut start = vec![0; self.positive.len()];
        for machine in &self.negative {
            let Some(words) = machine.start() else { return Ok(None) };
            start.extend(words);
        }
        let state_size = 1 + self.positive.len() + self.negative.iter().map(Machine::words).sum::<usize>();
        let mut work = 0;
        self.reach(start, None, Cost { length: 0, oddness: 0 })?;
        while let Some(Reverse(next)) = self.queue.pop() {
            let index = next.index;
            let Some(Cost { length, oddness }) = self.nodes.get(index).map(|node| node.cost) else { continue };
            if (length, oddness) != (next.longest.0, next.oddness) {
                // Reached more cheaply since, and looked at then.
                continue;
            }
            if self.accepts(index) {
                return Ok(Some(self.text(index)));
            }
            for letter in 0..self.letters.len() {
                let states = self.follow(index, letter)?;
                work += state_size * states.len().max(1);
                if work > WORK {
                    return Err(TooLarge);
                }
                let odd = self.letters.get(letter).map_or(0, |letter| letter.oddness);
                let cost = Cost { length: length + 1, oddness: oddness.saturating_add(odd) };
                for state in states {
                    self.reach(state, Some((index, letter)), cost)?;
                }
            }
        }
        Ok(None)
    }

    /// Notes a state, or a cheaper text for it.
    fn reach(&mut self, state: Vec<u64>, from: Option<(usize, usize)>, cost: Cost) -> Result<(), TooLarge> {
        let remaining = self.positive.iter().zip(&state).map(|(machine, position)| machine.remaining(*position));
        let length = cost.length + remaining.max().unwrap_or(0);
        let state: State = state.into();
        let index = match self.known.entry(state) {
            Entry::Vacant(_) if self.nodes.len() >= STATES => return Err(TooLarge),
            Entry::Vacant(entry) => {
                self.nodes.push(Node { state: Rc::clone(entry.key()), from, cost });
                *entry.insert(self.nodes.len() - 1)
            }
            Entry::Occupied(entry) => match self.nodes.get_mut(*entry.get()) {
                Some(node) if cost < node.cost => {
                    (node.from, node.cost) = (from, cost);
                    *entry.get()
                }
                _ => return Ok(()),
            },
        };
        self.queue.push(Reverse(Promise { length, oddness: cost.oddness, longest: Reverse(cost.length), index }));
        Ok(())
    }

    /// The states a letter leads to, all of which may still turn out well.
    fn follow(&self, index: usize, letter: usize) -> Result<Vec<Vec<u64>>, TooLarge> {
        let (positions, mut sets) = self.parts(index);
        let mut states = vec![Vec::with_capacity(positions.len() + sets.len())];
        for (machine, position) in self.positive.iter().zip(positions) {
            let mut ways = machine.follow(*position, letter);
            let Some(way) = ways.next() else { return Ok(Vec::new()) };
            let mut forks = Vec::new();
            for other in ways {
                forks.extend(states.iter().map(|state| [state.as_slice(), &[other]].concat()));
            }
            for state in &mut states {
                state.push(way);
            }
            states.append(&mut forks);
            if states.len() > STATES {
                return Err(TooLarge);
            }
        }
        for machine in &self.negative {
            let (words, rest) = sets.split_at_checked(machine.words()).unwrap_or_default();
            let Some(next) = machine.follow_all(words, letter) else { return Ok(Vec::new()) };
            for state in &mut states {
                state.extend_from_slice(&next);
            }
            sets = rest;
        }
        Ok(states)
    }

    /// The positions of the positives, and the sets of positions of the negatives.
    fn parts(&self, index: usize) -> (&[u64], &[u64]) {
        let state = self.nodes.get(index).map(|node| &*node.state).unwrap_or_default();
        state.split_at_checked(self.positive.len()).unwrap_or_default()
    }

    fn accepts(&self, index: usize) -> bool {
        let (positions, mut sets) = self.parts(index);
        let matched = self.positive.iter().zip(positions).all(|(machine, position)| machine.accepts_at(*position));
        matched
            && !self.negative.iter().any(|machine| {
                let (words, rest) = sets.split_at_checked(machine.words()).unwrap_or_default();
                sets = rest;
                machine.accepts(words)
            })
    }

    fn text(&self, index: usize) -> String {
        let came = |index: usize| self.nodes.get(index).and_then(|node| node.from);
        let steps = std::iter::successors(came(index), |(from, _)| came(*from));
        let mut chars: Vec<char> = steps.filter_map(|(_, letter)| Some(self.letters.get(letter)?.char)).collect();
        chars.reverse();
        chars.into_iter().collect()
    }
}
