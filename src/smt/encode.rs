//! Terms as solver expressions: truth values are Bools; numbers, and texts by number, are Ints. It decides
//! nothing and asks nothing.

use crate::model::{System, Term, VarType};
use z3::ast::{Bool, Int};

/// The value of a variable or of a term.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(Bool),
    Int(Int),
}

/// Where the leaves of a term get their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) vars: &'p [Value],
    pub(super) params: &'p [Int],
}

impl Value {
    /// A constant of the variable's sort.
    fn named(name: String, ty: VarType) -> Self {
        match ty {
            VarType::Bool => Self::Bool(Bool::new_const(name)),
            VarType::Int | VarType::Text => Self::Int(Int::new_const(name)),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> Bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.iff(b),
            (a, b) => a.number().eq(b.number()),
        }
    }

    fn truth(&self) -> Bool {
        match self {
            Self::Bool(value) => value.clone(),
            Self::Int(value) => value.ne(Int::from_i64(0)),
        }
    }

    fn number(&self) -> Int {
        match self {
            Self::Bool(value) => value.ite(&Int::from_i64(1), &Int::from_i64(0)),
            Self::Int(value) => value.clone(),
        }
    }

    fn of_sort(&self, ty: VarType) -> Self {
        match ty {
            VarType::Bool => Self::Bool(self.truth()),
            VarType::Int | VarType::Text => Self::Int(self.number()),
        }
    }
}

/// One constant for each variable; `suffix` tells the states of a path apart.
pub(super) fn state(system: &System, suffix: &str) -> Vec<Value> {
    system.vars.iter().enumerate().map(|(at, var)| Value::named(format!("v{at}{suffix}"), var.ty)).collect()
}

/// The values of a state as numerals.
pub(super) fn numerals(system: &System, values: &[i64]) -> Vec<Value> {
    let of = |ty, value: i64| match ty {
        VarType::Bool => Value::Bool(Bool::from_bool(value != 0)),
        VarType::Int | VarType::Text => Value::Int(Int::from_i64(value)),
    };
    system.vars.iter().zip(values).map(|(var, value)| of(var.ty, *value)).collect()
}

/// One Int constant for each parameter.
pub(super) fn params(count: usize, suffix: &str) -> Vec<Int> {
    (0..count).map(|at| Int::new_const(format!("p{at}{suffix}"))).collect()
}

/// A term that is true or false. Divisions must have a value: see [`Term::has_value`].
pub(super) fn truth(term: &Term, place: Place<'_>) -> Result<Bool, String> {
    Ok(value(term, place)?.truth())
}

/// The value of a term that is assigned to a variable of this type.
pub(super) fn of_type(term: &Term, ty: VarType, place: Place<'_>) -> Result<Value, String> {
    Ok(value(term, place)?.of_sort(ty))
}

pub(super) fn value(term: &Term, place: Place<'_>) -> Result<Value, String> {
    let truth = |term: &Term| truth(term, place);
    let number = |term: &Term| value(term, place).map(|value| value.number());
    let both = |two: &[Term; 2]| {
        let [a, b] = two;
        Ok::<_, String>((number(a)?, number(b)?))
    };
    Ok(match term {
        Term::Bool(value) => Value::Bool(Bool::from_bool(*value)),
        Term::Int(value) => Value::Int(Int::from_i64(*value)),
        Term::Var(at) => place.vars.get(*at).cloned().ok_or_else(|| format!("the model has no variable {at}"))?,
        Term::Param(at) => {
            Value::Int(place.params.get(*at).cloned().ok_or_else(|| format!("the class has no parameter {at}"))?)
        }
        Term::Not(inner) => Value::Bool(truth(inner)?.not()),
        Term::And(all) => Value::Bool(and(&all.iter().map(truth).collect::<Result<Vec<_>, _>>()?)),
        Term::Or(all) => Value::Bool(or(&all.iter().map(truth).collect::<Result<Vec<_>, _>>()?)),
        Term::Ite(three) => {
            let [condition, then, other] = &**three;
            let condition = truth(condition)?;
            match (value(then, place)?, value(other, place)?) {
                (Value::Bool(a), Value::Bool(b)) => Value::Bool(condition.ite(&a, &b)),
                (a, b) => Value::Int(condition.ite(&a.number(), &b.number())),
            }
        }
        Term::Eq(two) => {
            let [a, b] = &**two;
            Value::Bool(value(a, place)?.equals(&value(b, place)?))
        }
        Term::Lt(two) => {
            let (a, b) = both(two)?;
            Value::Bool(a.lt(b))
        }
        Term::Le(two) => {
            let (a, b) = both(two)?;
            Value::Bool(a.le(b))
        }
        Term::Add(two) => {
            let (a, b) = both(two)?;
            Value::Int(Int::add(&[a, b]))
        }
        Term::Sub(two) => {
            let (a, b) = both(two)?;
            Value::Int(Int::sub(&[a, b]))
        }
        Term::Mul(two) => {
            let (a, b) = both(two)?;
            Value::Int(Int::mul(&[a, b]))
        }
        Term::Neg(inner) => Value::Int(number(inner)?.unary_minus()),
        Term::FloorDiv(two) => {
            let (a, b) = both(two)?;
            Value::Int(floor_div(&a, divisor(two), &b))
        }
        Term::Mod(two) => {
            let (a, b) = both(two)?;
            Value::Int(modulo(&a, divisor(two), &b))
        }
        Term::In(inner, texts) => {
            let inner = number(inner)?;
            Value::Bool(or(&texts.iter().map(|text| inner.eq(Int::from_i64(*text))).collect::<Vec<_>>()))
        }
    })
}

pub(super) fn and(all: &[Bool]) -> Bool {
    match all {
        [] => Bool::from_bool(true),
        [one] => one.clone(),
        _ => Bool::and(all),
    }
}

pub(super) fn or(all: &[Bool]) -> Bool {
    match all {
        [] => Bool::from_bool(false),
        [one] => one.clone(),
        _ => Bool::or(all),
    }
}

fn divisor(two: &[Term; 2]) -> &Term {
    let [_, divisor] = two;
    divisor
}

/// Python's floor division. The solver's `div` rounds so that the rest is not negative: for a positive divisor
/// that is the floor, and for a negative one both sides change their sign.
fn floor_div(a: &Int, literal: &Term, b: &Int) -> Int {
    let positive = || a.div(b);
    let negative = || a.unary_minus().div(b.unary_minus());
    match literal {
        Term::Int(by) if *by > 0 => positive(),
        Term::Int(by) if *by < 0 => negative(),
        _ => b.gt(Int::from_i64(0)).ite(&positive(), &negative()),
    }
}

/// The rest of the floor division; it has the sign of the divisor.
fn modulo(a: &Int, literal: &Term, b: &Int) -> Int {
    let positive = || a.modulo(b);
    let negative = || a.unary_minus().modulo(b.unary_minus()).unary_minus();
    match literal {
        Term::Int(by) if *by > 0 => positive(),
        Term::Int(by) if *by < 0 => negative(),
        _ => b.gt(Int::from_i64(0)).ite(&positive(), &negative()),
    }
}
