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

    /// What is possible after a state is possible from it. Later states first, until nothing changes.
    fn spread(&self, traps: &mut Traps) {
        let words = traps.words;
        let mut own: Vec<u64> = vec![0; words];
        let mut changed = true;
        while changed {
            changed = false;
            for state in (0..self.states()).rev() {
                let Some(before) = traps.possible.get(state * words..(state + 1) * words) else { continue };
                own.clear();
                own.extend_from_slice(before);
                let mut grown = false;
                for next in self.next(state) {
                    let start = *next as usize * words;
                    let theirs = traps.possible.get(start..start + words).unwrap_or_default();
                    for (own, theirs) in own.iter_mut().zip(theirs) {
                        grown |= *theirs & !*own != 0;
                        *own |= theirs;
                    }
                }
                if grown {
                    changed = true;
                    if let Some(slot) = traps.possible.get_mut(state * words..(state + 1) * words) {
                        slot.copy_from_slice(&own);
                    }
                }
            }
        }
    }
}
