//! All that is asked of one kind of call, as terms. Knows nothing of which calls there are.

use crate::model::term::Replace;
use crate::model::{Assign, Guard, Term};

#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) guards: Vec<Guard>,
    pub(super) effect: Vec<Assign>,
    /// What the answer assigns, over the state after the effect.
    pub(super) results: Vec<Assign>,
    pub(super) marks: Vec<Term>,
}

/// What tells classes of one shape apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([Vec<Term>; 4]);

impl Rules {
    pub(super) fn map(&self, with: Replace<'_>) -> Self {
        let assigns = |all: &[Assign]| -> Vec<Assign> {
            all.iter()
                .map(|one| Assign { term: one.term.replace(with), alone: one.alone.replace(with), ..one.clone() })
                .collect()
        };
        Self {
            guards: self.guards.iter().map(|one| Guard { term: one.term.replace(with), ..one.clone() }).collect(),
            effect: assigns(&self.effect),
            results: assigns(&self.results),
            marks: self.marks.iter().map(|term| term.replace(with)).collect(),
        }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> {
        let guards = self.guards.iter().map(|guard| &guard.term);
        let assigns = self.effect.iter().chain(&self.results).flat_map(|assign| [&assign.term, &assign.alone]);
        guards.chain(&self.marks).chain(assigns)
    }

    pub(super) fn key(&self) -> Key {
        let assigns = |all: &[Assign]| all.iter().flat_map(|one| [one.term.clone(), one.alone.clone()]).collect();
        Key([
            self.guards.iter().map(|guard| guard.term.clone()).collect(),
            assigns(&self.effect),
            assigns(&self.results),
            self.marks.clone(),
        ])
    }

    fn refusals(&self, side: usize) -> impl Iterator<Item = &Guard> {
        self.guards.iter().filter(move |guard| guard.side == side && guard.term == Term::FALSE)
    }

    /// Whether every side denies it in every state, and no single rule is what decides.
    pub(super) fn is_denied_twice(&self, sides: usize) -> bool {
        let named = |side: usize| self.refusals(side).filter(|guard| guard.label.is_some()).count();
        let otherwise = |side: usize| self.refusals(side).any(|guard| guard.label.is_none());
        (0..sides).all(|side| named(side) > 1 || otherwise(side)) && (0..sides).any(|side| named(side) > 1)
    }

    /// What a side denies in every state has no effect on it, and no answer comes.
    pub(super) fn without_effect(mut self, sides: usize) -> Self {
        for side in 0..sides {
            if self.refusals(side).next().is_some() {
                self.effect.retain(|assign| assign.side != side);
                self.results.clear();
            }
        }
        self
    }

    /// The first leaf that satisfies the test, as the rules stand.
    pub(super) fn first(&self, test: &dyn Fn(&Term) -> Option<usize>) -> Option<usize> {
        self.terms().find_map(|term| first(term, test))
    }
}

pub(super) fn first(term: &Term, test: &dyn Fn(&Term) -> Option<usize>) -> Option<usize> {
    test(term).or_else(|| term.children().iter().find_map(|child| first(child, test)))
}
