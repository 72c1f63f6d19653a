//! States from which something can never happen again: backwards from where it can.

use super::graph::Graph;
use crate::model::System;

/// For each group of classes the states from which no call of the group is ever allowed again.
#[derive(Debug)]
pub struct Traps {
    /// Words of one state, one bit a group: a call of the group can still happen.
    words: usize,
    possible: Vec<u64>,
}

impl Traps {
    /// Whether no call of the group is allowed from this state on.
    #[must_use]
    pub fn is_trapped(&self, group: usize, state: usize) -> bool {
        let word = self.possible.get(state * self.words + group / 64);
        word.is_some_and(|word| word >> (group % 64) & 1 == 0)
    }
}

impl Graph {
    /// The traps of a complete graph.
    #[must_use]
    pub fn traps(&self, _system: &System, groups: &[Vec<usize>]) -> Traps {
        let words = groups.len().div_ceil(64).max(1);
        let mut traps = Traps { words, possible: vec![0; self.states() * words] };
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); self.machine.classes.len()];
        for (group, classes) in groups.iter().enumerate() {
            for class in classes {
                if let Some(groups) = of_class.get_mut(*class) {
                    groups.push(group);
                }
            }
        }
        for state in 0..self.states() {
            let Some(own) = traps.possible.get_mut(state * words..(state + 1) * words) else { break };
            for (class, groups) in of_class.iter().enumerate().filter(|(_, groups)| !groups.is_empty()) {
                if self.is_open(state, class) != Some(true) {
                    continue;
                }
                for group in groups {
                    if let Some(word) = own.get_mut(group / 64) {
                        *word |= 1 << (group % 64);
                    }
                }
            }
        }
        self.spread(&mut traps);
        traps
    }

    /// What is possible after a state is possible from it. States that reach each other are taken together, and those
    /// that follow them first, so that each is looked at once.
    fn spread(&self, traps: &mut Traps) {
        let mut search = Search { order: vec![0; self.states()], low: vec![0; self.states()], ..Search::default() };
        for root in 0..self.states() {
            if search.order.get(root) == Some(&0) {
                search.enter(root);
            }
            while let Some((state, edge)) = search.path.last_mut() {
                let state = *state;
                if let Some(next) = self.next(state).get(*edge) {
                    *edge += 1;
                    search.see(state, *next as usize);
                } else if let Some(together) = search.leave(state) {
                    self.unite(traps, &together);
                }
            }
        }
    }

    /// Gives each of the states what is possible from any of them, or after it.
    fn unite(&self, traps: &mut Traps, together: &[usize]) {
        let words = traps.words;
        let mut all: Vec<u64> = vec![0; words];
        for state in together {
            let after = self.next(*state).iter().map(|next| *next as usize);
            for state in std::iter::once(*state).chain(after) {
                let own = traps.possible.get(state * words..(state + 1) * words).unwrap_or_default();
                all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
            }
        }
        for state in together {
            if let Some(own) = traps.possible.get_mut(state * words..(state + 1) * words) {
                own.copy_from_slice(&all);
            }
        }
    }
}

/// The search for strongly connected states, Tarjan's.
#[derive(Default)]
struct Search {
    /// When a state was entered, from 1; 0 if it was not.
    order: Vec<u32>,
    /// The earliest state that is known to be reached from it; `u32::MAX` once its component is known.
    low: Vec<u32>,
    entered: u32,
    open: Vec<usize>,
    /// The way from the root, and the next edge of each state on it.
    path: Vec<(usize, usize)>,
}

impl Search {
    fn enter(&mut self, state: usize) {
        self.entered += 1;
        for of in [&mut self.order, &mut self.low] {
            if let Some(slot) = of.get_mut(state) {
                *slot = self.entered;
            }
        }
        self.open.push(state);
        self.path.push((state, 0));
    }

    fn see(&mut self, state: usize, next: usize) {
        match (self.order.get(next), self.low.get(next)) {
            (Some(0), _) => self.enter(next),
            (Some(order), Some(low)) if *low != u32::MAX => {
                let order = *order;
                self.lower(state, order);
            }
            _ => {}
        }
    }

    fn lower(&mut self, state: usize, order: u32) {
        if let Some(low) = self.low.get_mut(state) {
            *low = order.min(*low);
        }
    }

    /// The component of which the state was the first, if it was.
    fn leave(&mut self, state: usize) -> Option<Vec<usize>> {
        self.path.pop();
        let low = self.low.get(state).copied()?;
        if let Some((parent, _)) = self.path.last().copied() {
            self.lower(parent, low);
        }
        if self.order.get(state) != Some(&low) {
            return None;
        }
        let first = self.open.iter().rposition(|open| *open == state)?;
        let together = self.open.split_off(first);
        for state in &together {
            if let Some(low) = self.low.get_mut(*state) {
                *low = u32::MAX;
            }
        }
        Some(together)
    }
}
