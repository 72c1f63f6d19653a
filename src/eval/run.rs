//! Evaluation of one expression, left to right; an error is never absorbed from the right.

use super::call::Facts;
use super::policy::Program;
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
    pub(super) reason: IntError,
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
        ExprKind::State(id) => env.variable(*id),
        // Lowering gives only slots that the action declares, and the call was checked against them.
        ExprKind::Arg(id) => env.args.get(id.0 as usize).cloned().unwrap_or(Val::Bool(false)),
        ExprKind::Context(context) => Val::Str(env.facts.text(*context)),
        ExprKind::Not(inner) => Val::Bool(!run(inner, env, trace)?.is_true()),
        ExprKind::Neg(inner) => Val::Int(int(run(inner, env, trace)?).neg().map_err(at(expr))?),
        ExprKind::And(all) => {
            let mut value = true;
            for operand in all {
                if !run(operand, env, trace)?.is_true() {
                    value = false;
                    break;
                }
            }
            Val::Bool(value)
        }
        ExprKind::Or(all) => {
            let mut value = false;
            for operand in all {
                if run(operand, env, trace)?.is_true() {
                    value = true;
                    break;
                }
            }
            Val::Bool(value)
        }
        ExprKind::Implies(pair) => {
            let [a, b] = pair.as_ref();
            Val::Bool(!run(a, env, trace)?.is_true() || run(b, env, trace)?.is_true())
        }
        ExprKind::Ite(three) => {
            let [c, a, b] = three.as_ref();
            if run(c, env, trace)?.is_true() { run(a, env, trace)? } else { run(b, env, trace)? }
        }
        ExprKind::Compare(first, rest) => {
            let mut left = run(first, env, trace)?;
            let mut value = true;
            for (op, operand) in rest {
                let right = run(operand, env, trace)?;
                if !compare(*op, &left, &right) {
                    value = false;
                    break;
                }
                left = right;
            }
            Val::Bool(value)
        }
        ExprKind::Sum(first, rest) => {
            let mut total = int(run(first, env, trace)?);
            for (op, operand) in rest {
                let right = int(run(operand, env, trace)?);
                total = match op {
                    SumOp::Add => total.add(&right),
                    SumOp::Sub => total.sub(&right),
                }
                .map_err(at(expr))?;
            }
            Val::Int(total)
        }
        ExprKind::Product(first, rest) => {
            let mut total = int(run(first, env, trace)?);
            for (op, operand) in rest {
                let right = int(run(operand, env, trace)?);
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
            let found = if let ExprKind::Context(context) = subject.kind {
                env.matches_context(context, *list)
            } else {
                let subject = run(subject, env, trace)?;
                env.program.matches(*list, text(&subject))
            };
            if found && T::ON {
                let subject = match subject.kind {
                    ExprKind::Context(context) => Val::Str(env.facts.text(context)),
                    _ => run(subject, env, &mut Silent)?,
                };
                trace.found(expr, *list, env, text(&subject));
            }
            Val::Bool(found)
        }
        ExprKind::Member(subject, list) => {
            let subject = run(subject, env, trace)?;
            let found = env.program.member(*list, text(&subject));
            if found && T::ON {
                trace.found(expr, *list, env, text(&subject));
            }
            Val::Bool(found)
        }
    };
    trace.value(expr, &value);
    Ok(value)
}

impl<'v> Env<'v> {
    fn variable(&self, id: VarId) -> Val<'v> {
        let newer = self.overlay.iter().rev().find(|(variable, _)| *variable == id).map(|(_, value)| value);
        match newer.or_else(|| self.state.get(id.0 as usize)) {
            Some(Value::Bool(value)) => Val::Bool(*value),
            Some(Value::Int(value)) => Val::Int(value.clone()),
            Some(Value::Str(text)) => Val::Str(text),
            // Lowering gives only slots that the state has.
            None => Val::Bool(false),
        }
    }

    fn matches_context(&self, context: Context, list: ListId) -> bool {
        self.facts.search(context, list, |text| self.program.matches(list, text))
    }
}

fn at(expr: &Expr) -> impl Fn(IntError) -> EvalError {
    let span = expr.span;
    move |reason| EvalError { reason, span }
}

/// Lowering has typed the operand as int.
fn int(value: Val<'_>) -> Int {
    match value {
        Val::Int(value) => value,
        Val::Bool(_) | Val::Str(_) => Int::from(0),
    }
}

/// Lowering has typed the operand as str.
fn text<'v>(value: &Val<'v>) -> &'v str {
    match value {
        Val::Str(text) => text,
        Val::Bool(_) | Val::Int(_) => "",
    }
}

fn texts<'v, T: Trace>(
    pair: &'v [Expr; 2],
    env: &Env<'v>,
    trace: &mut T,
    test: fn(&str, &str) -> bool,
) -> Result<Val<'v>, EvalError> {
    let [subject, needle] = pair;
    let subject = run(subject, env, trace)?;
    let needle = run(needle, env, trace)?;
    Ok(Val::Bool(test(text(&subject), text(&needle))))
}

fn contains(text: &str, needle: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some()
}

fn compare(op: CompareOp, left: &Val<'_>, right: &Val<'_>) -> bool {
    match (op, left, right) {
        (CompareOp::Eq, _, _) => left == right,
        (CompareOp::Ne, _, _) => left != right,
        (CompareOp::Lt, Val::Int(a), Val::Int(b)) => a < b,
        (CompareOp::Le, Val::Int(a), Val::Int(b)) => a <= b,
        (CompareOp::Gt, Val::Int(a), Val::Int(b)) => a > b,
        (CompareOp::Ge, Val::Int(a), Val::Int(b)) => a >= b,
        // Lowering admits order on int alone.
        _ => false,
    }
}
