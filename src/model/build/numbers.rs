//! Whole-number arguments: the values that stand for all, where rules compare with constants alone, and otherwise
//! the bounds outside of which every side denies. Knows nothing of texts.

use super::rules::Rules;
use crate::model::system::after;
use crate::model::{Invariant, Term};
use std::collections::BTreeMap;

/// Values that may stand for one argument.
const MAX_VALUES: usize = 64;
/// Facts that follow from two others.
const MAX_SUMS: usize = 16;
/// Bounds of one argument on one side.
const MAX_BOUNDS: usize = 4;

/// A sum of multiples of terms and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Affine {
    parts: BTreeMap<Term, i64>,
    constant: i64,
}

impl Affine {
    /// `None` where a coefficient is too large.
    fn of(term: &Term) -> Option<Self> {
        Some(match term {
            Term::Int(value) => Self { constant: *value, ..Self::default() },
            Term::Neg(inner) => Self::of(inner)?.scaled(-1)?,
            Term::Add(two) => {
                let [a, b] = &**two;
                Self::of(a)?.plus(&Self::of(b)?)?
            }
            Term::Sub(two) => {
                let [a, b] = &**two;
                Self::of(a)?.plus(&Self::of(b)?.scaled(-1)?)?
            }
            Term::Mul(two) => {
                let [a, b] = &**two;
                let (a, b) = (Self::of(a)?, Self::of(b)?);
                match (a.parts.is_empty(), b.parts.is_empty()) {
                    (true, _) => b.scaled(a.constant)?,
                    (_, true) => a.scaled(b.constant)?,
                    _ => Self::one(term),
                }
            }
            other => Self::one(other),
        })
    }

    fn one(term: &Term) -> Self {
        Self { parts: BTreeMap::from([(term.clone(), 1)]), constant: 0 }
    }

    fn scaled(mut self, by: i64) -> Option<Self> {
        for factor in self.parts.values_mut() {
            *factor = factor.checked_mul(by)?;
        }
        self.parts.retain(|_, factor| *factor != 0);
        self.constant = self.constant.checked_mul(by)?;
        Some(self)
    }

    fn plus(mut self, other: &Self) -> Option<Self> {
        for (term, factor) in &other.parts {
            let slot = self.parts.entry(term.clone()).or_insert(0);
            *slot = slot.checked_add(*factor)?;
        }
        self.parts.retain(|_, factor| *factor != 0);
        self.constant = self.constant.checked_add(other.constant)?;
        Some(self)
    }

    /// As a term, what is added before what is taken away.
    fn term(&self) -> Term {
        let (added, taken): (Vec<_>, Vec<_>) = self.parts.iter().partition(|(_, factor)| **factor > 0);
        let times = |term: &Term, factor: i64| Term::mul(Term::Int(factor), term.clone());
        let mut sum: Option<Term> = None;
        for (term, factor) in added {
            let part = times(term, *factor);
            sum = Some(sum.map_or(part.clone(), |sum| Term::add(sum, part)));
        }
        let mut constant = Some(self.constant);
        let mut sum = sum.unwrap_or_else(|| Term::Int(constant.take().unwrap_or(0)));
        for (term, factor) in taken {
            sum = match factor.checked_neg() {
                Some(factor) => Term::sub(sum, times(term, factor)),
                None => Term::add(sum, times(term, *factor)),
            };
        }
        match constant {
            Some(constant) if constant < 0 && constant != i64::MIN => Term::sub(sum, Term::Int(-constant)),
            Some(constant) => Term::add(sum, Term::Int(constant)),
            None => sum,
        }
    }
}

/// The values that stand for every value of the argument; `None` where it is more than compared with constants.
pub(super) fn representatives(rules: &Rules, param: usize) -> Option<Vec<i64>> {
    let mut borders = Vec::new();
    for term in rules.terms() {
        if !regional(term, param, &mut borders) {
            return None;
        }
    }
    let mut values = vec![0, 1];
    for border in borders {
        // An argument may be larger than any number of the model.
        values.extend([border.checked_sub(1)?, border, border.checked_add(1)?]);
    }
    values.sort_unstable();
    values.dedup();
    // Plain numbers first.
    values.sort_by_key(|value| (*value < 0, value.unsigned_abs()));
    if let Some(one) = values.iter().position(|value| *value == 1) {
        values.remove(one);
        values.insert(0, 1);
    }
    (values.len() <= MAX_VALUES).then_some(values)
}

/// Whether the argument occurs only where it is compared with a constant; collects those.
fn regional(term: &Term, param: usize, borders: &mut Vec<i64>) -> bool {
    let is_it = |term: &Term| matches!(term, Term::Param(at) if *at == param);
    if let Term::Eq(two) | Term::Lt(two) | Term::Le(two) = term
        && term.any(&is_it)
    {
        let [a, b] = &**two;
        let difference = || Affine::of(a)?.plus(&Affine::of(b)?.scaled(-1)?);
        let Some(difference) = difference() else { return false };
        let Some(factor) = difference.parts.get(&Term::Param(param)).copied() else {
            // It cancels out, or stands within another term.
            return difference.parts.keys().all(|term| !term.any(&is_it));
        };
        if difference.parts.len() != 1 {
            return false;
        }
        // The sign changes between the two whole numbers around the zero.
        let zero = i128::from(difference.constant).checked_neg().map(|c| c.div_euclid(i128::from(factor)));
        let Some(zero) = zero.and_then(|zero| i64::try_from(zero).ok()) else { return false };
        let Some(next) = zero.checked_add(1) else { return false };
        borders.extend([zero, next]);
        return true;
    }
    !is_it(term) && term.children().iter().all(|child| regional(child, param, borders))
}

/// Lower and upper bounds of the parameter: outside of one, every side denies the call.
pub(super) fn bounds(rules: &Rules, invariants: &[Invariant], param: usize, sides: usize) -> (Vec<Term>, Vec<Term>) {
    let mut of_sides = (0..sides).map(|side| side_bounds(rules, invariants, param, side));
    let Some(first) = of_sides.next() else { return (Vec::new(), Vec::new()) };
    of_sides.fold(first, |(lower, upper), (other_lower, other_upper)| {
        (both(&lower, &other_lower, true), both(&upper, &other_upper, false))
    })
}

/// The bounds that hold for both sides: of each pair the weaker one, which for lower bounds is the `smaller`.
fn both(left: &[Term], right: &[Term], smaller: bool) -> Vec<Term> {
    let mut all = Vec::new();
    for a in left {
        for b in right {
            let (first, second) = if smaller { (a, b) } else { (b, a) };
            let bound = match (a, b) {
                _ if a == b => a.clone(),
                _ => Term::ite(Term::lt(a.clone(), b.clone()), first.clone(), second.clone()),
            };
            push(&mut all, bound);
        }
    }
    all
}

fn push(all: &mut Vec<Term>, bound: Term) {
    if !all.contains(&bound) && all.len() < MAX_BOUNDS {
        all.push(bound);
    }
}

fn side_bounds(rules: &Rules, invariants: &[Invariant], param: usize, side: usize) -> (Vec<Term>, Vec<Term>) {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let mut values: Vec<(usize, &Term)> = Vec::new();
    for assign in rules.effect.iter().filter(|assign| assign.side == side) {
        values.retain(|(var, _)| *var != assign.var);
        values.push((assign.var, &assign.term));
    }
    let guards = rules.guards.iter().filter(|guard| guard.side == side).map(|guard| guard.term.clone());
    let invariants = invariants.iter().filter(|invariant| invariant.side == side);
    let must: Vec<Term> = guards.chain(invariants.map(|invariant| after(&invariant.term, &values))).collect();
    let mut all: Vec<Affine> = Vec::new();
    for term in &must {
        facts(term, true, &mut |left, right, slack| {
            let difference = || {
                let slack = Affine { constant: slack, ..Affine::default() };
                Affine::of(left)?.plus(&slack)?.plus(&Affine::of(right)?.scaled(-1)?)
            };
            all.extend(difference().filter(|fact| fact.parts.keys().all(Term::is_total)));
        });
    }
    let later = |fact: &Affine| fact.parts.keys().filter_map(number).filter(|at| *at > param).max();
    while let Some(other) = all.iter().filter_map(later).max() {
        all = without(&all, other);
    }
    for fact in all {
        bound(fact, param, &mut lower, &mut upper);
    }
    (lower, upper)
}

fn number(term: &Term) -> Option<usize> {
    match term {
        Term::Param(at) => Some(*at),
        _ => None,
    }
}

/// What the facts, each `<= 0`, say without this parameter: its coefficients cancel out in sums of two.
fn without(all: &[Affine], param: usize) -> Vec<Affine> {
    let factor = |fact: &Affine| fact.parts.get(&Term::Param(param)).copied().unwrap_or(0);
    let mut rest: Vec<Affine> = all.iter().filter(|fact| factor(fact) == 0).cloned().collect();
    let mut sums = Vec::new();
    for above in all.iter().filter(|fact| factor(fact) > 0) {
        for below in all.iter().filter(|fact| factor(fact) < 0) {
            let sum = || {
                let above_times = above.clone().scaled(factor(below).checked_neg()?)?;
                above_times.plus(&below.clone().scaled(factor(above))?)
            };
            sums.extend(sum());
        }
    }
    sums.truncate(MAX_SUMS);
    rest.extend(sums);
    rest
}

/// Calls `found` for each `left + slack <= right` that must be so where the term is `wanted`.
fn facts(term: &Term, wanted: bool, found: &mut dyn FnMut(&Term, &Term, i64)) {
    match (term, wanted) {
        (Term::Not(inner), wanted) => facts(inner, !wanted, found),
        (Term::And(all), true) | (Term::Or(all), false) => all.iter().for_each(|one| facts(one, wanted, found)),
        (Term::Le(two), true) => {
            let [a, b] = &**two;
            found(a, b, 0);
        }
        (Term::Lt(two), true) => {
            let [a, b] = &**two;
            found(a, b, 1);
        }
        (Term::Le(two), false) => {
            let [a, b] = &**two;
            found(b, a, 1);
        }
        (Term::Lt(two), false) => {
            let [a, b] = &**two;
            found(b, a, 0);
        }
        (Term::Eq(two), true) => {
            let [a, b] = &**two;
            found(a, b, 0);
            found(b, a, 0);
        }
        _ => {}
    }
}

/// Adds the bound that a fact, `<= 0`, is.
fn bound(mut rest: Affine, param: usize, lower: &mut Vec<Term>, upper: &mut Vec<Term>) {
    let Some(factor) = rest.parts.remove(&Term::Param(param)) else { return };
    let later = |term: &Term| matches!(term, Term::Param(at) if *at >= param);
    if rest.parts.keys().any(|term| term.any(&later)) {
        return;
    }
    let Some(negated) = rest.clone().scaled(-1) else { return };
    match factor {
        1 => push(upper, negated.term()),
        -1 => push(lower, rest.term()),
        factor if factor > 1 => push(upper, Term::floor_div(negated.term(), Term::Int(factor))),
        factor if factor > i64::MIN => {
            // The quotient rounded up.
            push(lower, Term::neg(Term::floor_div(negated.term(), Term::Int(-factor))));
        }
        _ => {}
    }
}

/// The points around which the term's comparisons change as the parameter grows, over the state and the other
/// parameters; `None` where the parameter is more than compared.
pub(crate) fn critical(term: &Term, param: usize) -> Option<Vec<Term>> {
    let mut points = Vec::new();
    collect(term, param, &mut points)?;
    points.sort();
    points.dedup();
    Some(points)
}

fn collect(term: &Term, param: usize, points: &mut Vec<Term>) -> Option<()> {
    let is_it = |term: &Term| matches!(term, Term::Param(at) if *at == param);
    if !term.any(&is_it) {
        return Some(());
    }
    if let Term::Eq(two) | Term::Lt(two) | Term::Le(two) = term {
        let [a, b] = &**two;
        let mut difference = Affine::of(a)?.plus(&Affine::of(b)?.scaled(-1)?)?;
        let factor = difference.parts.remove(&Term::Param(param));
        if difference.parts.keys().any(|term| term.any(&is_it)) {
            return None;
        }
        if let Some(factor) = factor {
            let zero = Term::floor_div(difference.scaled(-1)?.term(), Term::Int(factor));
            points.push(zero);
        }
        return Some(());
    }
    if is_it(term) {
        return None;
    }
    term.children().iter().try_for_each(|child| collect(child, param, points))
}
