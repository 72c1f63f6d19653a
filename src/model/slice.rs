//! The part of a system that a question can depend on: variables outside of its cone of influence stay as they are at
//! first, and calls that change nothing inside are left out. What can happen inside stays the same.

use super::system::{Class, Goal, Guard, System, after};
use super::term::Term;
use std::collections::BTreeSet;

/// The system cut to what the goal depends on; `None` if that is all of it. Variables and classes keep their places.
#[must_use]
pub fn slice(system: &System, goal: &Goal) -> Option<System> {
    let cone = Cone::of(system, goal);
    if cone.vars.len() == system.vars.len() {
        return None;
    }
    let mut sliced = system.clone();
    for (at, class) in sliced.classes.iter_mut().enumerate() {
        if !cone.classes.contains(&at) {
            class.guards = vec![Guard { label: None, side: 0, term: Term::FALSE }];
        }
        // A value that may be missing matters even where the variable does not.
        let keep = |var: usize, term: &Term| cone.vars.contains(&var) || !term.is_total();
        class.effect.retain(|assign| keep(assign.var, &assign.term));
        for outcome in &mut class.outcomes {
            outcome.changes.retain(|change| keep(change.var, &change.term));
        }
    }
    Some(sliced)
}

#[derive(Debug, Default)]
struct Cone {
    vars: BTreeSet<usize>,
    /// Classes that change a variable inside, or that the goal asks to be denied.
    classes: BTreeSet<usize>,
}

impl Cone {
    fn of(system: &System, goal: &Goal) -> Self {
        let mut cone = Self::default();
        cone.vars.extend(system.fault);
        match goal {
            Goal::State(term) => cone.read(term),
            Goal::Call(calls) => calls.iter().for_each(|(_, term)| cone.read(term)),
            Goal::Stuck { state, classes } => {
                cone.read(state);
                for at in classes {
                    if let Some(class) = system.classes.get(*at) {
                        cone.take(system, *at, class);
                    }
                }
            }
        }
        // A broken invariant denies every call.
        for (invariant, fragile) in system.invariants.iter().zip(&system.fragile) {
            if *fragile {
                cone.read(&invariant.term);
            }
        }
        loop {
            let before = (cone.vars.len(), cone.classes.len());
            for (at, class) in system.classes.iter().enumerate() {
                let assigns = class.effect.iter().chain(class.outcomes.iter().flat_map(|outcome| &outcome.changes));
                let matters = assigns.into_iter().any(|assign| {
                    assign.term != Term::Var(assign.var) && (cone.vars.contains(&assign.var) || !assign.term.is_total())
                });
                if matters {
                    cone.take(system, at, class);
                }
            }
            if (cone.vars.len(), cone.classes.len()) == before {
                return cone;
            }
        }
    }

    /// Everything that decides whether calls of the class are allowed, and what they do inside.
    fn take(&mut self, system: &System, at: usize, class: &Class) {
        self.classes.insert(at);
        for guard in &class.guards {
            self.read(&guard.term);
        }
        for bound in class.params.iter().flat_map(|param| param.lower.iter().chain(&param.upper)) {
            self.read(bound);
        }
        let effect = class.committed();
        for invariant in class.affected.iter().filter_map(|at| system.invariants.get(*at)) {
            self.read(&invariant.term);
            self.read(&after(&invariant.term, &effect));
        }
        let changes = class.outcomes.iter().flat_map(|outcome| &outcome.changes);
        for assign in class.effect.iter().chain(changes) {
            if self.vars.contains(&assign.var) || !assign.term.is_total() {
                self.read(&assign.term);
            }
        }
    }

    fn read(&mut self, term: &Term) {
        match term {
            Term::Var(at) => {
                self.vars.insert(*at);
            }
            other => other.children().iter().for_each(|child| self.read(child)),
        }
    }
}
