//! Globs as bit-parallel automata over a small common alphabet. Knows nothing of searching.

use std::collections::{BTreeSet, HashMap};

use super::TooLarge;
use crate::ir::glob::Glob;
use crate::ir::glob::charset::{CharSet, oddness};

/// Upper bound on the table cells an alphabet and its machines may take.
const TABLE: usize = 1 << 23;

const BITS: usize = u64::BITS as usize;

/// A glob by its positions: position `p` has read the first `p` sets, the last position accepts.
#[derive(Debug)]
pub(super) struct Machine {
    last: usize,
    /// The positions at a `*`, which any character may keep.
    loops: Vec<u64>,
    /// For each letter, the positions from which it leads on by one.
    moves: Vec<Vec<u64>>,
}

/// Characters that stand for all: every set of every glob holds either all or none of those a letter stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub(super) char: char,
    pub(super) oddness: u32,
}

/// The machines of `globs`, and the letters they read, most natural first.
pub(super) fn machines(globs: &[&Glob]) -> Result<(Vec<Letter>, Vec<Machine>), TooLarge> {
    let flat: Vec<(Vec<CharSet>, Vec<usize>)> = globs.iter().map(|glob| flatten(glob)).collect();
    let sets: BTreeSet<&CharSet> = flat.iter().flat_map(|(sets, _)| sets).collect();
    let letters = letters(&sets)?;
    let cells: usize = flat.iter().map(|(sets, _)| sets.len() + 1).sum();
    if cells.saturating_mul(letters.len()) > TABLE {
        return Err(TooLarge);
    }
    let machines = flat.iter().map(|(sets, stars)| {
        let bits = |positions: &mut dyn Iterator<Item = usize>| {
            let mut words = vec![0_u64; sets.len() / BITS + 1];
            for position in positions {
                if let Some(word) = words.get_mut(position / BITS) {
                    *word |= 1 << (position % BITS);
                }
            }
            words
        };
        let holding = |char| (0..).zip(sets).filter(move |(_, set): &(_, &CharSet)| set.contains(char));
        let moves = letters.iter().map(|letter| bits(&mut holding(letter.char).map(|(position, _)| position)));
        Machine { last: sets.len(), loops: bits(&mut stars.iter().copied()), moves: moves.collect() }
    });
    let machines = machines.collect();
    Ok((letters, machines))
}

/// The sets in order, and the positions at which a `*` stands.
fn flatten(glob: &Glob) -> (Vec<CharSet>, Vec<usize>) {
    let mut sets = Vec::new();
    let mut stars = Vec::new();
    for (index, run) in glob.runs().enumerate() {
        if index > 0 {
            stars.push(sets.len());
        }
        sets.extend(run.all_sets());
    }
    (sets, stars)
}

fn letters(sets: &BTreeSet<&CharSet>) -> Result<Vec<Letter>, TooLarge> {
    let mut bounds: BTreeSet<u32> = sets.iter().flat_map(|set| set.boundaries()).collect();
    bounds.extend([0, u32::from(char::MAX) + 1]);
    if sets.len().saturating_mul(bounds.len()) > TABLE {
        return Err(TooLarge);
    }
    // Cells that belong to the same sets need only one letter.
    let mut best: HashMap<Vec<bool>, Letter> = HashMap::new();
    for (low, end) in bounds.iter().zip(bounds.iter().skip(1)) {
        let Some(char) = CharSet::between(*low, *end).sample() else { continue };
        let letter = Letter { char, oddness: oddness(char) };
        let membership = sets.iter().map(|set| set.contains(char)).collect();
        let kept = best.entry(membership).or_insert(letter);
        if (letter.oddness, letter.char) < (kept.oddness, kept.char) {
            *kept = letter;
        }
    }
    let mut letters: Vec<Letter> = best.into_values().collect();
    letters.sort_unstable_by_key(|letter| (letter.oddness, letter.char));
    Ok(letters)
}

impl Machine {
    /// Words that a set of positions takes.
    pub(super) fn words(&self) -> usize {
        self.loops.len()
    }

    pub(super) fn accepts_at(&self, position: u64) -> bool {
        usize::try_from(position) == Ok(self.last)
    }

    /// How many characters a match needs from a position on, at the least.
    pub(super) fn remaining(&self, position: u64) -> usize {
        usize::try_from(position).map_or(0, |position| self.last.saturating_sub(position))
    }

    /// Where `letter` leads from one position: to stay, to go on, neither or both.
    pub(super) fn follow(&self, position: u64, letter: usize) -> impl Iterator<Item = u64> + use<> {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        let onward = self.moves.get(letter).is_some_and(|moves| bit(moves, at));
        // Staying at a star is never better than standing at the next one.
        let stays = bit(&self.loops, at) && !(onward && bit(&self.loops, at + 1));
        stays.then_some(position).into_iter().chain(onward.then_some(position + 1))
    }

    /// Where `letter` leads from a set of positions. `None` once everything that may follow is matched.
    pub(super) fn follow_all(&self, positions: &[u64], letter: usize) -> Option<Vec<u64>> {
        let moves = self.moves.get(letter)?;
        let mut carry = 0;
        let mut next = Vec::with_capacity(positions.len());
        for ((word, moves), loops) in positions.iter().zip(moves).zip(&self.loops) {
            let onward = word & moves;
            next.push((onward << 1) | carry | (word & loops));
            carry = onward >> (BITS - 1);
        }
        self.settle(next)
    }

    /// The set that holds only the first position; `None` when that already matches everything.
    pub(super) fn start(&self) -> Option<Vec<u64>> {
        let mut words = vec![0; self.words()];
        if let Some(first) = words.first_mut() {
            *first = 1;
        }
        self.settle(words)
    }

    pub(super) fn accepts(&self, positions: &[u64]) -> bool {
        bit(positions, self.last)
    }

    /// Whatever an earlier position can match, the furthest star can match too, so the earlier ones go.
    fn settle(&self, mut words: Vec<u64>) -> Option<Vec<u64>> {
        let mut starred = words.iter().zip(&self.loops).map(|(word, loops)| word & loops).enumerate();
        if let Some((index, star)) = starred.rfind(|(_, word)| *word != 0) {
            let top = BITS - 1 - star.leading_zeros() as usize;
            if index * BITS + top == self.last {
                return None;
            }
            words.iter_mut().take(index).for_each(|word| *word = 0);
            if let Some(word) = words.get_mut(index) {
                *word = (*word >> top) << top;
            }
        }
        Some(words)
    }
}

fn bit(words: &[u64], at: usize) -> bool {
    words.get(at / BITS).is_some_and(|word| (word >> (at % BITS)) & 1 == 1)
}
