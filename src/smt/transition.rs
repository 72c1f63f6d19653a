//! What one step does, as terms: each class with each of its outcomes. Knows no solver.

use crate::model::system::after;
use crate::model::{Class, Outcome, System, Term};

/// One way from a state to the next. All terms are total, over the state before and the class's parameters.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) class: usize,
    pub(super) outcome: usize,
    /// How many parameters the class has.
    pub(super) params: usize,
    pub(super) guard: Term,
    /// The variables that change.
    pub(super) next: Vec<(usize, Term)>,
    /// Whether a real call and a real answer are known for it.
    pub(super) witnessed: bool,
}

/// The term is true and has a value.
pub(super) fn holds(term: &Term) -> Term {
    Term::and([term.has_value(), term.guarded()])
}

/// Every step that changes something. Steps that change nothing lead nowhere new.
pub(super) fn transitions(system: &System) -> Result<Vec<Transition>, String> {
    let mut all = Vec::new();
    for (at, class) in system.classes.iter().enumerate() {
        let allowed = system.allowed(class, None);
        if allowed == Term::FALSE {
            continue;
        }
        for (number, outcome) in class.outcomes.iter().enumerate() {
            let mut push = |guard: Term, next: Vec<(usize, Term)>| {
                let changes = |(var, term): &(usize, Term)| *term != Term::Var(*var);
                let next: Vec<_> = next.into_iter().filter(changes).collect();
                if guard != Term::FALSE && !next.is_empty() {
                    let witnessed = class.witnessed && outcome.witnessed;
                    let params = class.params.len();
                    all.push(Transition { class: at, outcome: number, params, guard, next, witnessed });
                }
            };
            let Steps { fine, next, faulted } = steps(system, class, outcome)?;
            push(Term::and([allowed.clone(), fine.clone()]), next);
            if let Some(faulted) = faulted {
                push(Term::and([allowed.clone(), Term::not(fine)]), faulted);
            }
        }
    }
    Ok(all)
}

struct Steps {
    /// Whether the outcome's changes have a value.
    fine: Term,
    next: Vec<(usize, Term)>,
    /// Where it leads if they do not.
    faulted: Option<Vec<(usize, Term)>>,
}

fn steps(system: &System, class: &Class, outcome: &Outcome) -> Result<Steps, String> {
    let effect = class.committed();
    let mid: Vec<(usize, Term)> = effect.iter().map(|(var, term)| (*var, term.guarded())).collect();
    let mid_refs: Vec<(usize, &Term)> = mid.iter().map(|(var, term)| (*var, term)).collect();
    let over_mid = |term: &Term| after(term, &mid_refs);
    let fine = Term::and(outcome.changes.iter().map(|change| over_mid(&change.term.has_value())));
    let mut next = mid.clone();
    for (var, term) in outcome.committed() {
        let new = over_mid(&term.guarded());
        match next.iter_mut().find(|(other, _)| *other == var) {
            Some((_, old)) => *old = new,
            None => next.push((var, new)),
        }
    }
    if fine == Term::TRUE {
        return Ok(Steps { fine, next, faulted: None });
    }
    let fault = system.fault.ok_or("a result can fail to be evaluated, and the model has no variable for it")?;
    let mut faulted = mid;
    faulted.retain(|(var, _)| *var != fault);
    faulted.push((fault, Term::TRUE));
    Ok(Steps { fine, next, faulted: Some(faulted) })
}
