//! The distinct classes of the calls of one shape: a decision tree over the atoms that still matter, pruned where
//! no call goes. Knows nothing of how a call is made.

use super::atom::{Atom, Subject};
use super::joint::{Given, Joint};
use super::lower::{Atoms, atom_of};
use super::pool::{Pool, place};
use super::rules::{Key, Rules, first};
use super::shape::Shape;
use crate::model::Term;
use std::collections::HashMap;
use std::sync::Arc;

/// Classes of one tool, and ends of the tree that are looked at for them.
const MAX_CLASSES: usize = 4_096;
const MAX_LEAVES: usize = 20_000;
/// Ends of one class for which a call is looked for.
const MAX_TRIES: usize = 8;

/// Calls that all rules treat alike.
#[derive(Debug)]
pub(super) struct Found<W> {
    pub(super) rules: Rules,
    pub(super) given: Given,
    pub(super) witness: Option<W>,
    tries: usize,
}

pub(super) struct Space<'s> {
    pub(super) shape: &'s Shape,
    pub(super) atoms: &'s Atoms,
    pub(super) pool: &'s Pool,
    pub(super) joint: &'s Joint<'s>,
    /// The values that each number atom takes.
    pub(super) numbers: &'s [Vec<i64>],
    pub(super) sides: usize,
    /// Atoms of the answer are decided, else those of the call.
    pub(super) answer: bool,
}

impl Space<'_> {
    fn next(&self, rules: &Rules) -> Option<usize> {
        rules.first(&|term| self.open(term))
    }

    fn open(&self, term: &Term) -> Option<usize> {
        let at = atom_of(term)?;
        (self.atoms.get(at)?.of_answer() == self.answer).then_some(at)
    }

    fn domain(&self, at: usize) -> Vec<i64> {
        match self.atoms.get(at) {
            Some(Atom::Value(subject)) => self.texts(*subject),
            Some(Atom::Number(arg)) => self.numbers.get(*arg).cloned().unwrap_or_default(),
            _ => vec![0, 1],
        }
    }

    fn texts(&self, subject: Subject) -> Vec<i64> {
        let place = place(subject, |at| self.shape.args.get(at).map(|arg| Arc::clone(&arg.name)));
        let texts = place.and_then(|place| self.pool.of(&place)).unwrap_or_default();
        texts.iter().filter_map(|at| i64::try_from(*at).ok()).collect()
    }

    fn value(&self, at: usize, value: i64) -> Term {
        match self.atoms.get(at) {
            Some(Atom::Value(_) | Atom::Number(_)) => Term::Int(value),
            _ => Term::Bool(value != 0),
        }
    }

    fn decide(&self, rules: &Rules, at: usize, value: i64) -> Rules {
        let value = self.value(at, value);
        rules.map(&|term| (atom_of(term) == Some(at)).then(|| value.clone()))
    }
}

/// Looks for a real call, or answer, with these values.
pub(super) type Witness<'w, W> = &'w mut dyn FnMut(&Given) -> Option<W>;

pub(super) struct Walk<'w, W> {
    space: &'w Space<'w>,
    witness: Witness<'w, W>,
    known: HashMap<Key, usize>,
    pub(super) found: Vec<Found<W>>,
    leaves: usize,
    pruned: bool,
    pub(super) complete: bool,
}

impl<'w, W> Walk<'w, W> {
    pub(super) fn run(space: &'w Space<'w>, rules: &Rules, witness: Witness<'w, W>) -> Self {
        let mut walk =
            Walk { space, witness, known: HashMap::new(), found: Vec::new(), leaves: 0, pruned: false, complete: true };
        let mut given: Given = vec![None; space.atoms.0.len()];
        walk.walk(rules.clone(), &mut given);
        if walk.pruned {
            walk.complement(rules);
        }
        walk
    }

    fn walk(&mut self, mut rules: Rules, given: &mut Given) {
        if !self.complete {
            return;
        }
        if !self.space.answer {
            if rules.is_denied_twice(self.space.sides) {
                self.pruned = true;
                return;
            }
            rules = rules.without_effect(self.space.sides);
        }
        let Some(at) = self.space.next(&rules) else {
            self.leaf(rules, given);
            return;
        };
        for value in self.space.domain(at) {
            set(given, at, Some(value));
            if self.space.joint.is_possible(given, at) {
                self.walk(self.space.decide(&rules, at, value), given);
            }
        }
        set(given, at, None);
    }

    fn leaf(&mut self, rules: Rules, given: &Given) {
        self.leaves += 1;
        let key = rules.key();
        let at = if let Some(at) = self.known.get(&key) {
            *at
        } else {
            self.found.push(Found { rules, given: given.clone(), witness: None, tries: 0 });
            self.known.insert(key, self.found.len() - 1);
            self.found.len() - 1
        };
        if let Some(found) = self.found.get_mut(at)
            && found.witness.is_none()
            && found.tries < MAX_TRIES
        {
            found.tries += 1;
            found.witness = (self.witness)(given);
            if found.witness.is_some() {
                found.given.clone_from(given);
            }
        }
        if self.leaves >= MAX_LEAVES || self.found.len() >= MAX_CLASSES {
            self.complete = false;
        }
    }

    /// Calls that several rules refuse were left out. Of those, one for each value of a rule or a mark that no
    /// other call gives, so that no rule looks as if it never could be so.
    fn complement(&mut self, rules: &Rules) {
        let terms: Vec<Term> = rules.guards.iter().map(|guard| guard.term.clone()).chain(rules.marks.clone()).collect();
        for (at, term) in terms.iter().enumerate() {
            let mut values = Vec::new();
            let mut given: Given = vec![None; self.space.atoms.0.len()];
            let mut budget = MAX_LEAVES;
            self.values(term, &mut given, &mut values, &mut budget);
            if budget == 0 {
                self.complete = false;
            }
            for (value, mut given) in values {
                let gives = |found: &Found<W>| {
                    let guards = found.rules.guards.iter().map(|guard| &guard.term);
                    guards.chain(&found.rules.marks).nth(at) == Some(&value)
                };
                if self.found.iter().any(gives) {
                    continue;
                }
                let mut rules = rules.clone();
                for (at, value) in given.clone().iter().enumerate() {
                    if let Some(value) = value {
                        rules = self.space.decide(&rules, at, *value);
                    }
                }
                self.any(rules, &mut given);
            }
        }
    }

    /// The values that a term can have, each with a way to it.
    fn values(&self, term: &Term, given: &mut Given, found: &mut Vec<(Term, Given)>, budget: &mut usize) {
        if *budget == 0 {
            return;
        }
        let Some(at) = first(term, &|term| self.space.open(term)) else {
            *budget -= 1;
            if !found.iter().any(|(known, _)| known == term) {
                found.push((term.clone(), given.clone()));
            }
            return;
        };
        for value in self.space.domain(at) {
            set(given, at, Some(value));
            if self.space.joint.is_possible(given, at) {
                let value = self.space.value(at, value);
                let decided = term.replace(&|term| (atom_of(term) == Some(at)).then(|| value.clone()));
                self.values(&decided, given, found, budget);
            }
        }
        set(given, at, None);
    }

    /// One class of those that these values leave.
    fn any(&mut self, rules: Rules, given: &mut Given) -> bool {
        let rules = rules.without_effect(self.space.sides);
        let Some(at) = self.space.next(&rules) else {
            self.leaf(rules, given);
            return true;
        };
        for value in self.space.domain(at) {
            set(given, at, Some(value));
            let done = self.space.joint.is_possible(given, at) && self.any(self.space.decide(&rules, at, value), given);
            if done {
                return true;
            }
        }
        set(given, at, None);
        false
    }
}

fn set(given: &mut Given, at: usize, value: Option<i64>) {
    if let Some(slot) = given.get_mut(at) {
        *slot = value;
    }
}
