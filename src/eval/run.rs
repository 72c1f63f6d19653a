//! Evaluation of one expression, left to right; an error is never absorbed from the right.

use super::call::Facts;
use super::policy::Program;
use super::verdict::Undefined;
use crate::ir::{Context, Expr, ExprKind, Int, IntError, ListId, Value, VarId};
use crate::syntax::ast::{CompareOp, ProductOp, SumOp};
use crate::text::Span;

/// A value in flight; texts are borrowed from the call, the state or the policy.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Val<'v> {
    Bool(bool),
    Int(Int),
    Str(&'v str),
}

impl Val<'_> {
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(value.clone()),
            Self::Str(text) => Value::Str((*text).into()),
        }
    }
}

/// Why an expression has no value, and at which operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EvalError {
    pub(super) reason: Undefined,
    pub(super) span: Span,
}

/// What an expression is evaluated in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Env<'v> {
    pub(super) program: &'v Program,
    pub(super) state: &'v [Value],
    /// Values that stand before the state's: what earlier effects gave.
    pub(super) overlay: &'v [(VarId, Value)],
    pub(super) args: &'v [Val<'v>],
    pub(super) facts: &'v Facts<'v>,
}

/// Listens to the evaluation. The silent one costs nothing.
pub(super) trait Trace {
    /// Whether anything is recorded at all.
    const ON: bool;
    fn value(&mut self, expr: &Expr, value: &Val<'_>);
    fn found(&mut self, expr: &Expr, list: ListId, env: &Env<'_>, subject: &str);
}

pub(super) struct Silent;

impl Trace for Silent {
    const ON: bool = false;

    fn value(&mut self, _: &Expr, _: &Val<'_>) {}
    fn found(&mut self, _: &Expr, _: ListId, _: &Env<'_>, _: &str) {}
}

pub(super) fn run<'v, T: Trace>(expr: &'v Expr, env: &Env<'v>, trace: &mut T) -> Result<Val<'v>, EvalError> {
    let value = match &expr.kind {
        ExprKind::Bool(value) => Val::Bool(*value),
        ExprKind::Int(value) => Val::Int(value.clone()),
        ExprKind::Str(text) => Val::Str(text),
        ExprKind::State(id) => env.variable(*id).ok_or(internal(expr))?,
        // Lowering gives only slots that the action declares, and the call was checked against them.
        ExprKind::Arg(id) => env.args.get(id.0 as usize).cloned().ok_or(internal(expr))?,
        ExprKind::Context(context) => Val::Str(env.facts.text(*context)),
        ExprKind::Not(inner) => Val::Bool(!condition(inner, env, trace)?),
        ExprKind::Neg(inner) => Val::Int(number(inner, env, trace)?.neg().map_err(at(expr))?),
        ExprKind::And(all) => {
            let mut value = true;
            for operand in all {
                if !condition(operand, env, trace)? {
                    value = false;
                    break;
                }
            }
            Val::Bool(value)
        }
        ExprKind::Or(all) => {
            let mut value = false;
            for operand in all {
                if condition(operand, env, trace)? {
                    value = true;
                    break;
                }
            }
            Val::Bool(value)
        }
        ExprKind::Implies(pair) => {
            let [a, b] = pair.as_ref();
            Val::Bool(!condition(a, env, trace)? || condition(b, env, trace)?)
        }
        ExprKind::Ite(three) => {
            let [c, a, b] = three.as_ref();
            if condition(c, env, trace)? { run(a, env, trace)? } else { run(b, env, trace)? }
        }
        ExprKind::Compare(first, rest) => {
            let mut left = run(first, env, trace)?;
            let mut value = true;
            for (op, operand) in rest {
                let right = run(operand, env, trace)?;
                if !compare(*op, &left, &right).ok_or(internal(expr))? {
                    value = false;
                    break;
                }
                left = right;
            }
            Val::Bool(value)
        }
        ExprKind::Sum(first, rest) => {
            let mut total = number(first, env, trace)?;
            for (op, operand) in rest {
                let right = number(operand, env, trace)?;
                total = match op {
                    SumOp::Add => total.add(&right),
                    SumOp::Sub => total.sub(&right),
                }
                .map_err(at(expr))?;
            }
            Val::Int(total)
        }
        ExprKind::Product(first, rest) => {
            let mut total = number(first, env, trace)?;
            for (op, operand) in rest {
                let right = number(operand, env, trace)?;
                total = match op {
                    ProductOp::Mul => total.mul(&right),
                    ProductOp::FloorDiv => total.floor_div(&right),
                    ProductOp::Mod => total.modulo(&right),
                }
                .map_err(at(expr))?;
            }
            Val::Int(total)
        }
        ExprKind::StartsWith(pair) => texts(pair, env, trace, |s, p| s.starts_with(p))?,
        ExprKind::EndsWith(pair) => texts(pair, env, trace, |s, p| s.ends_with(p))?,
        ExprKind::Contains(pair) => texts(pair, env, trace, contains)?,
        ExprKind::Matches(subject, list) => {
            let (subject, found) = if let ExprKind::Context(context) = subject.kind {
                let found = env.matches_context(context, *list);
                // Where an earlier search has answered, the text itself is not needed again.
                (if T::ON { env.facts.text(context) } else { "" }, found)
            } else {
                let subject = text(subject, env, trace)?;
                (subject, env.program.matches(*list, subject))
            };
            if found && T::ON {
                trace.found(expr, *list, env, subject);
            }
            Val::Bool(found)
        }
        ExprKind::Member(subject, list) => {
            let subject = text(subject, env, trace)?;
            let found = env.program.member(*list, subject);
            if found && T::ON {
                trace.found(expr, *list, env, subject);
            }
            Val::Bool(found)
        }
    };
    trace.value(expr, &value);
    Ok(value)
}

impl<'v> Env<'v> {
    fn variable(&self, id: VarId) -> Option<Val<'v>> {
        let newer = self.overlay.iter().find(|(variable, _)| *variable == id).map(|(_, value)| value);
        Some(match newer.or_else(|| self.state.get(id.0 as usize))? {
            Value::Bool(value) => Val::Bool(*value),
            Value::Int(value) => Val::Int(value.clone()),
            Value::Str(text) => Val::Str(text),
        })
    }

    fn matches_context(&self, context: Context, list: ListId) -> bool {
        self.facts.search(context, list, |text| self.program.matches(list, text))
    }
}

fn at(expr: &Expr) -> impl Fn(IntError) -> EvalError {
    let span = expr.span;
    move |error| EvalError { reason: error.into(), span }
}

/// Lowering has made sure that this does not happen. If it does, the call is denied.
fn internal(expr: &Expr) -> EvalError {
    EvalError { reason: Undefined::Internal, span: expr.span }
}

fn condition<'v, T: Trace>(expr: &'v Expr, env: &Env<'v>, trace: &mut T) -> Result<bool, EvalError> {
    match run(expr, env, trace)? {
        Val::Bool(value) => Ok(value),
        Val::Int(_) | Val::Str(_) => Err(internal(expr)),
    }
}

fn number<'v, T: Trace>(expr: &'v Expr, env: &Env<'v>, trace: &mut T) -> Result<Int, EvalError> {
    match run(expr, env, trace)? {
        Val::Int(value) => Ok(value),
        Val::Bool(_) | Val::Str(_) => Err(internal(expr)),
    }
}

fn text<'v, T: Trace>(expr: &'v Expr, env: &Env<'v>, trace: &mut T) -> Result<&'v str, EvalError> {
    match run(expr, env, trace)? {
        Val::Str(text) => Ok(text),
        Val::Bool(_) | Val::Int(_) => Err(internal(expr)),
    }
}

fn texts<'v, T: Trace>(
    pair: &'v [Expr; 2],
    env: &Env<'v>,
    trace: &mut T,
    test: fn(&str, &str) -> bool,
) -> Result<Val<'v>, EvalError> {
    let [subject, needle] = pair;
    let subject = text(subject, env, trace)?;
    let needle = text(needle, env, trace)?;
    Ok(Val::Bool(test(subject, needle)))
}

fn contains(text: &str, needle: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some()
}

/// `None`: the two have no such relation.
fn compare(op: CompareOp, left: &Val<'_>, right: &Val<'_>) -> Option<bool> {
    Some(match (op, left, right) {
        (CompareOp::Eq, _, _) => left == right,
        (CompareOp::Ne, _, _) => left != right,
        (CompareOp::Lt, Val::Int(a), Val::Int(b)) => a < b,
        (CompareOp::Le, Val::Int(a), Val::Int(b)) => a <= b,
        (CompareOp::Gt, Val::Int(a), Val::Int(b)) => a > b,
        (CompareOp::Ge, Val::Int(a), Val::Int(b)) => a >= b,
        _ => return None,
    })
}
