//! Terms over a state and the whole-number arguments of a call. One kind of value, `i64`: a truth value is
//! 0 or 1, a text is its number in the system's table. Meaning as in the evaluator: left to right, and an
//! error is never absorbed from the right.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A term. Build it with the functions of this module, which simplify and keep the meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Term {
    Bool(bool),
    /// A whole number, or a text by its number.
    Int(i64),
    /// A state variable of the system.
    Var(usize),
    /// A whole-number argument of the class.
    Param(usize),
    Not(Arc<Term>),
    And(Arc<[Term]>),
    Or(Arc<[Term]>),
    /// Condition, then, else.
    Ite(Arc<[Term; 3]>),
    /// Of two values of one type.
    Eq(Arc<[Term; 2]>),
    Lt(Arc<[Term; 2]>),
    Le(Arc<[Term; 2]>),
    Add(Arc<[Term; 2]>),
    Sub(Arc<[Term; 2]>),
    Mul(Arc<[Term; 2]>),
    /// Python's floor division.
    FloorDiv(Arc<[Term; 2]>),
    Mod(Arc<[Term; 2]>),
    Neg(Arc<Term>),
    /// Whether a text is one of these, in rising order.
    In(Arc<Term>, Arc<[i64]>),
}

/// Why a term has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoValue {
    /// A division by zero: the call is denied, or the session is faulted.
    Undefined,
    /// A number beyond 64 bits: nothing is known.
    TooLarge,
}

use Term as T;

/// Values of variables and arguments to put in their place; `None` leaves the variable.
pub type Replace<'r> = &'r dyn Fn(&Term) -> Option<Term>;

#[expect(clippy::should_implement_trait, reason = "they build terms of two owned terms and simplify")]
impl Term {
    pub const TRUE: Self = Self::Bool(true);
    pub const FALSE: Self = Self::Bool(false);

    #[must_use]
    pub fn not(inner: Self) -> Self {
        match inner {
            T::Bool(value) => T::Bool(!value),
            T::Not(inner) => (*inner).clone(),
            other => T::Not(other.into()),
        }
    }

    /// Left to right; `false` ends it, and removes what stands before it if that always has a value.
    #[must_use]
    pub fn and(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(operands, false)
    }

    #[must_use]
    pub fn or(operands: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(operands, true)
    }

    /// `absorbing`: false for `and`, true for `or`.
    fn junction(operands: impl IntoIterator<Item = Self>, absorbing: bool) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for operand in operands {
            let nested: Vec<Self> = match operand {
                T::And(inner) if !absorbing => inner.to_vec(),
                T::Or(inner) if absorbing => inner.to_vec(),
                other => vec![other],
            };
            for one in nested {
                if one == T::Bool(!absorbing) || kept.contains(&one) {
                    continue;
                }
                let ends = one == T::Bool(absorbing) || kept.iter().any(|other| *other == Self::not(one.clone()));
                if ends {
                    if kept.iter().all(Self::is_total) && one.is_total() {
                        return T::Bool(absorbing);
                    }
                    kept.push(T::Bool(absorbing));
                    return Self::joined(kept, absorbing);
                }
                kept.push(one);
            }
        }
        Self::joined(kept, absorbing)
    }

    fn joined(mut kept: Vec<Self>, absorbing: bool) -> Self {
        match kept.len() {
            0 => T::Bool(!absorbing),
            1 => kept.swap_remove(0),
            _ if absorbing => T::Or(kept.into()),
            _ => T::And(kept.into()),
        }
    }

    #[must_use]
    pub fn implies(a: Self, b: Self) -> Self {
        Self::or([Self::not(a), b])
    }

    #[must_use]
    pub fn ite(condition: Self, then: Self, other: Self) -> Self {
        match (&condition, &then, &other) {
            (T::Bool(true), _, _) => return then,
            (T::Bool(false), _, _) => return other,
            (_, T::Bool(true), T::Bool(false)) => return condition,
            (_, T::Bool(false), T::Bool(true)) => return Self::not(condition),
            (_, a, b) if a == b && condition.is_total() => return then,
            _ => {}
        }
        T::Ite(Arc::new([condition, then, other]))
    }

    #[must_use]
    pub fn eq(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(a), T::Int(b)) => return T::Bool(a == b),
            (T::Bool(a), T::Bool(b)) => return T::Bool(a == b),
            (T::Bool(true), _) => return b,
            (_, T::Bool(true)) => return a,
            (T::Bool(false), _) => return Self::not(b),
            (_, T::Bool(false)) => return Self::not(a),
            _ if a == b && a.is_total() => return T::TRUE,
            _ => {}
        }
        T::Eq(Arc::new([a, b]))
    }

    #[must_use]
    pub fn lt(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(a), T::Int(b)) => T::Bool(a < b),
            _ if a == b && a.is_total() => T::FALSE,
            _ => T::Lt(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn le(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(a), T::Int(b)) => T::Bool(a <= b),
            _ if a == b && a.is_total() => T::TRUE,
            _ => T::Le(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn add(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(x), T::Int(y)) => x.checked_add(*y).map_or_else(|| T::Add(Arc::new([a, b])), T::Int),
            (T::Int(0), _) => b,
            (_, T::Int(0)) => a,
            (T::Add(_) | T::Sub(_), T::Int(y)) => Self::shifted(&a, *y).unwrap_or_else(|| T::Add(Arc::new([a, b]))),
            _ => T::Add(Arc::new([a, b])),
        }
    }

    /// A sum that ends in a constant, and one more constant: one sum of both.
    fn shifted(sum: &Self, by: i64) -> Option<Self> {
        let (rest, constant) = match sum {
            T::Add(two) => {
                let [rest, constant] = &**two;
                let T::Int(constant) = constant else { return None };
                (rest, *constant)
            }
            T::Sub(two) => {
                let [rest, constant] = &**two;
                let T::Int(constant) = constant else { return None };
                (rest, constant.checked_neg()?)
            }
            _ => return None,
        };
        Some(match constant.checked_add(by)? {
            0 => rest.clone(),
            positive @ 1.. => T::Add(Arc::new([rest.clone(), T::Int(positive)])),
            negative => T::Sub(Arc::new([rest.clone(), T::Int(negative.checked_neg()?)])),
        })
    }

    #[must_use]
    pub fn sub(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(x), T::Int(y)) => x.checked_sub(*y).map_or_else(|| T::Sub(Arc::new([a, b])), T::Int),
            (_, T::Int(0)) => a,
            (T::Add(_) | T::Sub(_), T::Int(y)) => {
                let shifted = y.checked_neg().and_then(|by| Self::shifted(&a, by));
                shifted.unwrap_or_else(|| T::Sub(Arc::new([a, b])))
            }
            _ => T::Sub(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn mul(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(x), T::Int(y)) => x.checked_mul(*y).map_or_else(|| T::Mul(Arc::new([a, b])), T::Int),
            (T::Int(1), _) => b,
            (_, T::Int(1)) => a,
            _ => T::Mul(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn floor_div(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(x), T::Int(y)) if *y != 0 => {
                floor_div(*x, *y).map_or_else(|| T::FloorDiv(Arc::new([a, b])), T::Int)
            }
            (_, T::Int(1)) => a,
            _ => T::FloorDiv(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn modulo(a: Self, b: Self) -> Self {
        match (&a, &b) {
            (T::Int(x), T::Int(y)) if *y != 0 => modulo(*x, *y).map_or_else(|| T::Mod(Arc::new([a, b])), T::Int),
            _ => T::Mod(Arc::new([a, b])),
        }
    }

    #[must_use]
    pub fn neg(a: Self) -> Self {
        match &a {
            T::Int(x) => x.checked_neg().map_or_else(|| T::Neg(a.into()), T::Int),
            _ => T::Neg(a.into()),
        }
    }

    /// Whether the text is one of `texts`.
    #[must_use]
    pub fn is_in(a: Self, mut texts: Vec<i64>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        match &a {
            T::Int(text) => T::Bool(texts.binary_search(text).is_ok()),
            _ if texts.is_empty() && a.is_total() => T::FALSE,
            _ => T::In(a.into(), texts.into()),
        }
    }

    /// The operands, left to right.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match self {
            T::Bool(_) | T::Int(_) | T::Var(_) | T::Param(_) => &[],
            T::Not(inner) | T::Neg(inner) | T::In(inner, _) => std::slice::from_ref(inner),
            T::And(all) | T::Or(all) => all,
            T::Ite(three) => &three[..],
            T::Eq(two)
            | T::Lt(two)
            | T::Le(two)
            | T::Add(two)
            | T::Sub(two)
            | T::Mul(two)
            | T::FloorDiv(two)
            | T::Mod(two) => &two[..],
        }
    }

    /// Whether any part satisfies the test.
    #[must_use]
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self) || self.children().iter().any(|child| child.any(test))
    }

    /// Whether it has a value in every state; numbers beyond 64 bits aside.
    #[must_use]
    pub fn is_total(&self) -> bool {
        !self.any(&|term| match term {
            T::FloorDiv(two) | T::Mod(two) => !divides(two),
            _ => false,
        })
    }

    #[must_use]
    pub fn reads(&self, variable: usize) -> bool {
        self.any(&|term| matches!(term, T::Var(at) if *at == variable))
    }

    #[must_use]
    pub fn has_params(&self) -> bool {
        self.any(&|term| matches!(term, T::Param(_)))
    }

    /// The term with leaves replaced, simplified again.
    #[must_use]
    pub fn replace(&self, with: Replace<'_>) -> Self {
        if let Some(new) = with(self) {
            return new;
        }
        let go = |term: &Self| term.replace(with);
        match self {
            T::Bool(_) | T::Int(_) | T::Var(_) | T::Param(_) => self.clone(),
            T::Not(inner) => Self::not(go(inner)),
            T::Neg(inner) => Self::neg(go(inner)),
            T::In(inner, texts) => Self::is_in(go(inner), texts.to_vec()),
            T::And(all) => Self::and(all.iter().map(go)),
            T::Or(all) => Self::or(all.iter().map(go)),
            T::Ite(three) => {
                let [c, a, b] = &**three;
                Self::ite(go(c), go(a), go(b))
            }
            T::Eq(two) => pair(two, go, Self::eq),
            T::Lt(two) => pair(two, go, Self::lt),
            T::Le(two) => pair(two, go, Self::le),
            T::Add(two) => pair(two, go, Self::add),
            T::Sub(two) => pair(two, go, Self::sub),
            T::Mul(two) => pair(two, go, Self::mul),
            T::FloorDiv(two) => pair(two, go, Self::floor_div),
            T::Mod(two) => pair(two, go, Self::modulo),
        }
    }

    /// A term that is true exactly where this one has a value; it is itself total.
    #[must_use]
    pub fn has_value(&self) -> Self {
        if self.is_total() {
            return T::TRUE;
        }
        match self {
            T::And(all) => Self::in_turn(all, true),
            T::Or(all) => Self::in_turn(all, false),
            T::Ite(three) => {
                let [c, a, b] = &**three;
                Self::and([c.has_value(), Self::ite(c.guarded(), a.has_value(), b.has_value())])
            }
            T::FloorDiv(two) | T::Mod(two) => {
                let [a, b] = &**two;
                Self::and([a.has_value(), b.has_value(), Self::not(Self::eq(b.guarded(), T::Int(0)))])
            }
            _ => Self::and(self.children().iter().map(Self::has_value)),
        }
    }

    /// Each operand has a value, as long as those before it are `go_on`.
    fn in_turn(all: &[Self], go_on: bool) -> Self {
        let mut whole = T::TRUE;
        for operand in all.iter().rev() {
            let stops = if go_on { Self::not(operand.guarded()) } else { operand.guarded() };
            whole = Self::and([operand.has_value(), Self::or([stops, whole])]);
        }
        whole
    }

    /// The term with every division made total (by zero it gives zero): for use where `has_value` has been asked.
    #[must_use]
    pub fn guarded(&self) -> Self {
        if self.is_total() {
            return self.clone();
        }
        self.replace(&|term| match term {
            T::FloorDiv(two) | T::Mod(two) if !divides(two) => {
                let [a, b] = &**two;
                let (a, b) = (a.guarded(), b.guarded());
                let divisor = Self::ite(Self::eq(b.clone(), T::Int(0)), T::Int(1), b.clone());
                let value = match term {
                    // A division by a term is left as it is: no simplification of ours makes it partial again.
                    T::FloorDiv(_) => T::FloorDiv(Arc::new([a, divisor])),
                    _ => T::Mod(Arc::new([a, divisor])),
                };
                Some(Self::ite(Self::eq(b, T::Int(0)), T::Int(0), value))
            }
            _ => None,
        })
    }

    /// The value in a state; `params` are the arguments. Slots that do not exist have no value.
    pub fn value(&self, state: &[i64], params: &[i64]) -> Result<i64, NoValue> {
        let go = |term: &Self| term.value(state, params);
        let large = NoValue::TooLarge;
        Ok(match self {
            T::Bool(value) => i64::from(*value),
            T::Int(value) => *value,
            T::Var(at) => *state.get(*at).ok_or(NoValue::Undefined)?,
            T::Param(at) => *params.get(*at).ok_or(NoValue::Undefined)?,
            T::Not(inner) => 1 - go(inner)?,
            T::Neg(inner) => go(inner)?.checked_neg().ok_or(large)?,
            T::In(inner, texts) => i64::from(texts.binary_search(&go(inner)?).is_ok()),
            T::And(all) => {
                for operand in all.iter() {
                    if go(operand)? == 0 {
                        return Ok(0);
                    }
                }
                1
            }
            T::Or(all) => {
                for operand in all.iter() {
                    if go(operand)? != 0 {
                        return Ok(1);
                    }
                }
                0
            }
            T::Ite(three) => {
                let [c, a, b] = &**three;
                if go(c)? != 0 { go(a)? } else { go(b)? }
            }
            T::Eq(two) | T::Lt(two) | T::Le(two) => {
                let [a, b] = &**two;
                let (a, b) = (go(a)?, go(b)?);
                i64::from(match self {
                    T::Eq(_) => a == b,
                    T::Lt(_) => a < b,
                    _ => a <= b,
                })
            }
            T::Add(two) | T::Sub(two) | T::Mul(two) | T::FloorDiv(two) | T::Mod(two) => {
                let [a, b] = &**two;
                let (a, b) = (go(a)?, go(b)?);
                let value = match self {
                    T::Add(_) => a.checked_add(b),
                    T::Sub(_) => a.checked_sub(b),
                    T::Mul(_) => a.checked_mul(b),
                    _ if b == 0 => return Err(NoValue::Undefined),
                    T::FloorDiv(_) => floor_div(a, b),
                    _ => modulo(a, b),
                };
                value.ok_or(large)?
            }
        })
    }
}

fn pair(two: &[Term; 2], go: impl Fn(&Term) -> Term, make: fn(Term, Term) -> Term) -> Term {
    let [a, b] = two;
    make(go(a), go(b))
}

/// Whether the second term is a number other than zero.
fn divides(two: &[Term; 2]) -> bool {
    let [_, divisor] = two;
    matches!(divisor, T::Int(divisor) if *divisor != 0)
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    if a.checked_rem(b)? != 0 && (a < 0) != (b < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn modulo(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    if rest != 0 && (rest < 0) != (b < 0) { rest.checked_add(b) } else { Some(rest) }
}

/// How messages and certificates name the leaves of a term.
pub trait Names {
    fn var(&self, at: usize) -> String;
    fn param(&self, at: usize) -> String;
    /// A constant that is compared with a text, or nothing if the term beside it is no text.
    fn text(&self, beside: &Term, at: i64) -> Option<String>;
}

/// A term in the policy language, for people.
#[derive(Debug)]
pub struct Shown<'t, N>(pub &'t Term, pub &'t N);

impl<N: Names> fmt::Display for Shown<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, self.1, 0, f)
    }
}

/// Binding strength of the printed operators, weakest first.
fn strength(term: &Term) -> u8 {
    match term {
        T::Or(_) => 1,
        T::And(_) => 2,
        T::Not(inner) if matches!(**inner, T::Eq(_) | T::Lt(_) | T::Le(_)) => 4,
        T::Not(_) => 3,
        T::Eq(_) | T::Lt(_) | T::Le(_) => 4,
        T::Add(_) | T::Sub(_) => 5,
        T::Mul(_) | T::FloorDiv(_) | T::Mod(_) => 6,
        T::Neg(_) => 7,
        _ => 9,
    }
}

fn show<N: Names>(term: &Term, names: &N, outer: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let own = strength(term);
    if own < outer {
        f.write_str("(")?;
    }
    let infix = |two: &[Term; 2], op: &str, f: &mut fmt::Formatter<'_>| {
        let [a, b] = two;
        side(a, b, names, own, f)?;
        write!(f, " {op} ")?;
        side(b, a, names, own + 1, f)
    };
    match term {
        T::Bool(value) => write!(f, "{value}")?,
        T::Int(value) => write!(f, "{value}")?,
        T::Var(at) => f.write_str(&names.var(*at))?,
        T::Param(at) => f.write_str(&names.param(*at))?,
        T::Not(inner) => match &**inner {
            T::Eq(two) => infix(two, "!=", f)?,
            T::Lt(two) => infix(two, ">=", f)?,
            T::Le(two) => infix(two, ">", f)?,
            other => {
                f.write_str("not ")?;
                show(other, names, own, f)?;
            }
        },
        T::And(all) | T::Or(all) => {
            for (at, one) in all.iter().enumerate() {
                if at > 0 {
                    f.write_str(if own == 1 { " or " } else { " and " })?;
                }
                show(one, names, own + 1, f)?;
            }
        }
        T::Ite(three) => {
            f.write_str("ite(")?;
            for (at, one) in three.iter().enumerate() {
                if at > 0 {
                    f.write_str(", ")?;
                }
                show(one, names, 0, f)?;
            }
            f.write_str(")")?;
        }
        T::Eq(two) => infix(two, "==", f)?,
        T::Lt(two) => infix(two, "<", f)?,
        T::Le(two) => infix(two, "<=", f)?,
        T::Add(two) => infix(two, "+", f)?,
        T::Sub(two) => infix(two, "-", f)?,
        T::Mul(two) => infix(two, "*", f)?,
        T::FloorDiv(two) => infix(two, "//", f)?,
        T::Mod(two) => infix(two, "%", f)?,
        T::Neg(inner) => {
            f.write_str("-")?;
            show(inner, names, own, f)?;
        }
        T::In(inner, texts) => {
            f.write_str("member(")?;
            show(inner, names, 0, f)?;
            f.write_str(", [")?;
            for (at, text) in texts.iter().enumerate() {
                let separator = if at > 0 { ", " } else { "" };
                let shown = names.text(inner, *text).unwrap_or_else(|| text.to_string());
                write!(f, "{separator}{shown}")?;
            }
            f.write_str("])")?;
        }
    }
    if own < outer {
        f.write_str(")")?;
    }
    Ok(())
}

/// One side of an operator; a number beside a text is a text.
fn side<N: Names>(term: &Term, beside: &Term, names: &N, outer: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let T::Int(value) = term
        && let Some(text) = names.text(beside, *value)
    {
        return f.write_str(&text);
    }
    show(term, names, outer, f)
}
