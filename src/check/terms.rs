//! Conditions over one class of calls: which rule fails, which of them decides alone.

use crate::model::{Class, Guard, Label, System, Term, after};

/// The conditions under which a call of a class is allowed, one by one.
pub(super) struct Conditions {
    /// Each guard, true where it holds and has a value.
    pub(super) guards: Vec<(Option<Label>, Term)>,
    /// Each invariant of the system after the effect; true where the call cannot break it.
    pub(super) invariants: Vec<Term>,
    /// The session is not faulted, and every part of the effect has a value.
    pub(super) rest: Term,
}

impl Conditions {
    pub(super) fn of(system: &System, class: &Class) -> Self {
        let holds = |term: &Term| Term::and([term.has_value(), term.guarded()]);
        let effect = class.committed();
        let alive = system.fault.map_or(Term::TRUE, |fault| Term::not(Term::Var(fault)));
        let parts = class.effect.iter().map(|assign| assign.term.has_value());
        Self {
            guards: class.guards.iter().map(|Guard { label, term, .. }| (*label, holds(term))).collect(),
            invariants: system
                .invariants
                .iter()
                .enumerate()
                .map(
                    |(at, invariant)| {
                        if system.asks(class, at) { holds(&after(&invariant.term, &effect)) } else { Term::TRUE }
                    },
                )
                .collect(),
            rest: Term::and(std::iter::once(alive).chain(parts)),
        }
    }

    /// All guards but one.
    pub(super) fn guards_but(&self, left_out: Option<usize>) -> Term {
        let others = self.guards.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        Term::and(others.map(|(_, (_, term))| term.clone()))
    }

    /// All invariants but one.
    pub(super) fn invariants_but(&self, left_out: Option<usize>) -> Term {
        let others = self.invariants.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        Term::and(others.map(|(_, term)| term.clone()))
    }
}

/// All invariants hold and have a value in the state.
pub(super) fn safe(system: &System) -> Term {
    Term::and(system.invariants.iter().map(|invariant| {
        let term = &invariant.term;
        Term::and([term.has_value(), term.guarded()])
    }))
}

/// The term holds and has a value.
pub(super) fn holds(term: &Term) -> Term {
    Term::and([term.has_value(), term.guarded()])
}
