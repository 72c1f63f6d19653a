//! Counters that no rule tells apart beyond a bound are held there: an unbounded count becomes finite, and what can
//! happen stays the same.

use super::system::System;
use super::term::Term;

/// The system with such counters held; `terms` are what is asked about it beside its own rules.
#[must_use]
pub fn cap(system: &System, terms: &[&Term]) -> System {
    let mut capped = system.clone();
    for var in 0..system.vars.len() {
        if system.vars.get(var).is_some_and(|found| found.ty == super::VarType::Int)
            && let Some(bound) = bound(system, terms, var)
        {
            hold(&mut capped, var, bound);
        }
    }
    capped
}

#[derive(Clone, Copy)]
enum Bound {
    Above(i64),
    Below(i64),
}

/// Which way a counter goes, and what it is compared with.
#[derive(Default)]
struct Look {
    /// Smallest and largest step of any assignment.
    steps: Option<(i64, i64)>,
    thresholds: Vec<i64>,
    resets: Vec<i64>,
}

/// Where the variable can be held; `None` if it must not be.
fn bound(system: &System, terms: &[&Term], var: usize) -> Option<Bound> {
    let mut look = Look::default();
    let all = system.classes.iter().flat_map(|class| {
        let params = class.params.iter().flat_map(|param| param.lower.iter().chain(&param.upper));
        class.guards.iter().map(|guard| &guard.term).chain(params).chain(&class.marks)
    });
    let invariants = system.invariants.iter().map(|invariant| &invariant.term);
    for term in all.chain(invariants).chain(&system.watched).chain(terms.iter().copied()) {
        look.read(term, var)?;
    }
    let assigns = system
        .classes
        .iter()
        .flat_map(|class| class.effect.iter().chain(class.outcomes.iter().flat_map(|outcome| &outcome.changes)));
    for assign in assigns {
        if assign.var == var { look.assigned(&assign.term, var)? } else { look.read(&assign.term, var)? }
    }
    let init = system.vars.get(var)?.init;
    let (least, most) = look.steps.unwrap_or((0, 0));
    if least >= 0 && most > 0 {
        let top = look.thresholds.iter().copied().max().map_or(init, |most| most.saturating_add(1));
        Some(Bound::Above(top.max(init)))
    } else if most <= 0 && least < 0 {
        let low = look.thresholds.iter().copied().min().map_or(init, |least| least.saturating_sub(1));
        Some(Bound::Below(low.min(init)))
    } else {
        None
    }
}

impl Look {
    /// A term that reads the variable may only compare it with constants.
    fn read(&mut self, term: &Term, var: usize) -> Option<()> {
        if !term.reads(var) {
            return Some(());
        }
        if let Term::Eq(two) | Term::Lt(two) | Term::Le(two) = term {
            let [a, b] = &**two;
            let compared = match (a, b) {
                (side, Term::Int(constant)) | (Term::Int(constant), side) => {
                    offset(side, var).map(|shift| (shift, *constant))
                }
                _ => None,
            };
            if let Some((shift, constant)) = compared {
                let threshold = constant.checked_sub(shift)?;
                // `k <= v` and `v < k` tell k - 1 from k, `v <= k` tells k from k + 1.
                self.thresholds.extend([threshold.checked_sub(1)?, threshold.checked_add(1)?]);
                return Some(());
            }
        }
        // A number that is passed on is not only compared.
        if matches!(term, Term::Var(_)) {
            return None;
        }
        term.children().iter().try_for_each(|child| self.read(child, var))
    }

    /// A new value: the old one and a constant step, or a constant.
    fn assigned(&mut self, term: &Term, var: usize) -> Option<()> {
        match term {
            Term::Int(value) => {
                self.resets.push(*value);
                Some(())
            }
            Term::Ite(three) => {
                let [condition, a, b] = &**three;
                self.read(condition, var)?;
                self.assigned(a, var)?;
                self.assigned(b, var)
            }
            _ => {
                let (low, high) = self.step(term, var)?;
                let (least, most) = self.steps.unwrap_or((low, high));
                self.steps = Some((least.min(low), most.max(high)));
                Some(())
            }
        }
    }

    /// The range of what a term adds to the variable.
    fn step(&mut self, term: &Term, var: usize) -> Option<(i64, i64)> {
        match term {
            Term::Var(at) if *at == var => Some((0, 0)),
            Term::Add(two) => {
                let [a, b] = &**two;
                let (own, other) = if a.reads(var) { (a, b) } else { (b, a) };
                let (low, high) = self.step(own, var)?;
                let (least, most) = self.range(other, var)?;
                Some((low.checked_add(least)?, high.checked_add(most)?))
            }
            Term::Sub(two) => {
                let [a, b] = &**two;
                let (low, high) = self.step(a, var)?;
                let (least, most) = self.range(b, var)?;
                Some((low.checked_sub(most)?, high.checked_sub(least)?))
            }
            Term::Ite(three) => {
                let [condition, a, b] = &**three;
                self.read(condition, var)?;
                let (a, b) = (self.step(a, var)?, self.step(b, var)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            _ => None,
        }
    }

    /// The range of a term of constants and choices.
    fn range(&mut self, term: &Term, var: usize) -> Option<(i64, i64)> {
        match term {
            Term::Int(value) => Some((*value, *value)),
            Term::Ite(three) => {
                let [condition, a, b] = &**three;
                self.read(condition, var)?;
                let (a, b) = (self.range(a, var)?, self.range(b, var)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            _ => None,
        }
    }
}

/// `c`, where the term is `v + c`.
fn offset(term: &Term, var: usize) -> Option<i64> {
    match term {
        Term::Var(at) if *at == var => Some(0),
        Term::Add(two) => match &**two {
            [side, Term::Int(by)] | [Term::Int(by), side] => offset(side, var)?.checked_add(*by),
            _ => None,
        },
        Term::Sub(two) => match &**two {
            [side, Term::Int(by)] => offset(side, var)?.checked_sub(*by),
            _ => None,
        },
        _ => None,
    }
}

fn hold(system: &mut System, var: usize, bound: Bound) {
    let held = |term: &Term| match (bound, term) {
        (_, Term::Var(at)) if *at == var => term.clone(),
        (Bound::Above(top), _) => Term::ite(Term::le(term.clone(), Term::Int(top)), term.clone(), Term::Int(top)),
        (Bound::Below(low), _) => Term::ite(Term::le(Term::Int(low), term.clone()), term.clone(), Term::Int(low)),
    };
    if let Some(found) = system.vars.get_mut(var) {
        found.capped = true;
    }
    let late = system.late.iter_mut().flat_map(|late| &mut late.outcome.changes);
    for assign in late.filter(|assign| assign.var == var) {
        assign.term = held(&assign.term);
    }
    for class in &mut system.classes {
        let outcomes = class.outcomes.iter_mut().flat_map(|outcome| &mut outcome.changes);
        for assign in class.effect.iter_mut().chain(outcomes).filter(|assign| assign.var == var) {
            assign.term = held(&assign.term);
        }
    }
}
