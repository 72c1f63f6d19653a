//! Invariants as a person would write them: no negated comparison, numbers on the right. Knows no solver.

use crate::model::Term;

/// The same truth value in every state; the term has no division by zero.
pub(super) fn tidy(term: &Term) -> Term {
    match term {
        Term::Not(inner) => match &**inner {
            Term::Lt(two) => at_most(&two[1], &two[0]),
            Term::Le(two) => below(&two[1], &two[0]),
            Term::And(all) => Term::or(all.iter().map(|one| tidy(&Term::not(one.clone())))),
            Term::Or(all) => Term::and(all.iter().map(|one| tidy(&Term::not(one.clone())))),
            _ => term.clone(),
        },
        Term::And(all) => Term::and(all.iter().map(tidy)),
        Term::Or(all) => Term::or(all.iter().map(tidy)),
        Term::Lt(two) => below(&two[0], &two[1]),
        _ => term.clone(),
    }
}

fn at_most(a: &Term, b: &Term) -> Term {
    Term::le(a.clone(), b.clone())
}

/// `n < 5` as `n <= 4`, which is how limits are written.
fn below(a: &Term, b: &Term) -> Term {
    match (a, b) {
        (_, Term::Int(bound)) if *bound > i64::MIN => at_most(a, &Term::Int(bound - 1)),
        (Term::Int(bound), _) if *bound < i64::MAX => at_most(&Term::Int(bound + 1), b),
        _ => Term::lt(a.clone(), b.clone()),
    }
}
