//! "For some parameters" without the parameters, exactly, where each occurs linearly with coefficient 1 or -1.
//! After Cooper (1972): a truth value that changes only at certain points is sought at those points. Knows no
//! solver.

use crate::model::Term;
use std::sync::Arc;

/// More copies of a condition than this are left to the solver.
const MAX_COPIES: usize = 256;
/// A condition of more nodes than this is left to the solver.
const MAX_NODES: usize = 100_000;

/// A term over the state alone that is true exactly where the total term is true for some values of the
/// parameters. `None` where a parameter occurs in another way, or too often.
pub(super) fn exists(term: &Term, params: usize) -> Option<Term> {
    let mut term = term.clone();
    // The later ones are bounded by the earlier ones.
    for param in (0..params).rev() {
        term = without(&term, param)?;
    }
    Some(term)
}

fn without(term: &Term, param: usize) -> Option<Term> {
    if !mentions(term, param) {
        return Some(term.clone());
    }
    if let Term::Or(all) = term {
        let each: Option<Vec<Term>> = all.iter().map(|one| without(one, param)).collect();
        return each.map(Term::or);
    }
    // What does not speak of the parameter stays outside, once.
    if let Term::And(all) = term {
        let (inside, outside): (Vec<_>, Vec<_>) = all.iter().cloned().partition(|one| mentions(one, param));
        if !outside.is_empty() {
            return Some(Term::and(outside.into_iter().chain([without(&Term::and(inside), param)?])));
        }
    }
    let mut points = Vec::new();
    collect(term, param, true, &mut points)?;
    collect_size(term, points.len())?;
    let below = at_minus_infinity(term, param)?;
    let at = |point: &Term| term.replace(&|leaf| (*leaf == Term::Param(param)).then(|| point.clone()));
    Some(Term::or([below].into_iter().chain(points.iter().map(at))))
}

fn collect_size(term: &Term, copies: usize) -> Option<()> {
    let mut left = MAX_NODES / (copies + 1);
    (copies <= MAX_COPIES && fits(term, &mut left)).then_some(())
}

fn fits(term: &Term, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    term.children().iter().all(|child| fits(child, left))
}

fn mentions(term: &Term, param: usize) -> bool {
    term.any(&|leaf| *leaf == Term::Param(param))
}

/// Where the term can become true as the parameter grows; `positive` is false under a negation.
fn collect(term: &Term, param: usize, positive: bool, points: &mut Vec<Term>) -> Option<()> {
    if !mentions(term, param) {
        return Some(());
    }
    match term {
        Term::Not(inner) => collect(inner, param, !positive, points)?,
        Term::And(all) | Term::Or(all) => {
            for one in all.iter() {
                collect(one, param, positive, points)?;
            }
        }
        Term::Ite(three) => {
            let [condition, then, other] = &**three;
            collect(condition, param, true, points)?;
            collect(condition, param, false, points)?;
            collect(then, param, positive, points)?;
            collect(other, param, positive, points)?;
        }
        Term::Eq(_) | Term::Lt(_) | Term::Le(_) => {
            let Atom { relation, bound } = atom(term, param)?;
            let next = Term::add(bound.clone(), Term::Int(1));
            let start = match (relation, positive) {
                (Relation::Equal | Relation::AtLeast, true) => Some(bound),
                (Relation::Equal | Relation::AtMost, false) => Some(next),
                (Relation::AtMost, true) | (Relation::AtLeast, false) => None,
            };
            if let Some(start) = start
                && !points.contains(&start)
            {
                points.push(start);
            }
        }
        _ => return None,
    }
    Some(())
}

/// The term for a parameter below all points.
fn at_minus_infinity(term: &Term, param: usize) -> Option<Term> {
    if !mentions(term, param) {
        return Some(term.clone());
    }
    let go = |term: &Term| at_minus_infinity(term, param);
    Some(match term {
        Term::Not(inner) => Term::not(go(inner)?),
        Term::And(all) => Term::and(all.iter().map(go).collect::<Option<Vec<_>>>()?),
        Term::Or(all) => Term::or(all.iter().map(go).collect::<Option<Vec<_>>>()?),
        Term::Ite(three) => {
            let [condition, then, other] = &**three;
            Term::ite(go(condition)?, go(then)?, go(other)?)
        }
        _ => Term::Bool(atom(term, param)?.relation == Relation::AtMost),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    AtMost,
    AtLeast,
}

/// The parameter stands in this relation to the bound.
struct Atom {
    relation: Relation,
    bound: Term,
}

fn atom(term: &Term, param: usize) -> Option<Atom> {
    let (Term::Eq(two) | Term::Lt(two) | Term::Le(two)) = term else { return None };
    let [a, b] = &**two;
    // c * parameter + rest: what stands left, less what stands right.
    let (left, left_rest) = linear(a, param)?;
    let (right, right_rest) = linear(b, param)?;
    let strict = matches!(term, Term::Lt(_));
    let equal = matches!(term, Term::Eq(_));
    let one = Term::Int(1);
    Some(match left.checked_sub(right)? {
        1 => {
            let bound = Term::sub(right_rest, left_rest);
            let bound = if strict { Term::sub(bound, one) } else { bound };
            Atom { relation: if equal { Relation::Equal } else { Relation::AtMost }, bound }
        }
        -1 => {
            let bound = Term::sub(left_rest, right_rest);
            let bound = if strict { Term::add(bound, one) } else { bound };
            Atom { relation: if equal { Relation::Equal } else { Relation::AtLeast }, bound }
        }
        _ => return None,
    })
}

/// The coefficient of the parameter, and the rest.
fn linear(term: &Term, param: usize) -> Option<(i64, Term)> {
    if !mentions(term, param) {
        return Some((0, term.clone()));
    }
    let both = |two: &Arc<[Term; 2]>| {
        let [a, b] = &**two;
        Some((linear(a, param)?, linear(b, param)?))
    };
    Some(match term {
        Term::Param(_) => (1, Term::Int(0)),
        Term::Add(two) => {
            let ((a, a_rest), (b, b_rest)) = both(two)?;
            (a.checked_add(b)?, Term::add(a_rest, b_rest))
        }
        Term::Sub(two) => {
            let ((a, a_rest), (b, b_rest)) = both(two)?;
            (a.checked_sub(b)?, Term::sub(a_rest, b_rest))
        }
        Term::Mul(two) => {
            let [a, b] = &**two;
            let ((Term::Int(by), inner) | (inner, Term::Int(by))) = (a, b) else { return None };
            let (coefficient, rest) = linear(inner, param)?;
            (coefficient.checked_mul(*by)?, Term::mul(rest, Term::Int(*by)))
        }
        Term::Neg(inner) => {
            let (coefficient, rest) = linear(inner, param)?;
            (coefficient.checked_neg()?, Term::neg(rest))
        }
        _ => return None,
    })
}
