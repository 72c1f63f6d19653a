//! PX3007 and PX3008: conditions that have the same value on every call.

use crate::eval::{Policy, Value};
use crate::ir::{Expr, ExprKind};
use crate::syntax::ast::{CompareOp, ProductOp};
use crate::text::{Code, Diagnostic};

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let typed = policy.typed();
    let guards = typed.actions.iter().flat_map(|action| action.guards.iter().map(|guard| (&guard.expr, "guard")));
    let invariants = typed.invariants.iter().map(|invariant| (&invariant.expr, "invariant"));
    for (expr, what) in guards.chain(invariants) {
        let Some(constant) = constant(policy, expr) else { continue };
        let literal = matches!(expr.kind, ExprKind::Bool(_));
        let (message, note, help) = match constant {
            // A declared ban.
            Constant::Is(false) if literal => continue,
            Constant::Is(true) => (
                format!("this {what} always holds"),
                "it looks like protection and refuses nothing",
                if what == "guard" {
                    "remove it, or compare with something that changes: state, an argument, `call.text`"
                } else {
                    "remove it, or let it read a state variable that effects change"
                },
            ),
            Constant::Is(false) => (
                format!("this {what} never holds"),
                "every call of the action is denied",
                "if that is meant, write `requires: false`, which says so",
            ),
            Constant::Error => (
                format!("this {what} can never be evaluated"),
                "every call of the action is denied, since a rule without a value denies",
                "mend the expression; a division by zero has no value",
            ),
        };
        found.push(Diagnostic::new(Code::PX3008, expr.span, message).note(note).help(help));
    }
    for expr in typed.expressions() {
        expr.walk(&mut |node| {
            let (ExprKind::Contains(pair) | ExprKind::StartsWith(pair) | ExprKind::EndsWith(pair)) = &node.kind else {
                return;
            };
            let [_, needle] = pair.as_ref();
            if matches!(&needle.kind, ExprKind::Str(text) if text.is_empty()) {
                let function = node.builtin().map_or("", crate::ir::Builtin::name);
                found.push(
                    Diagnostic::new(Code::PX3007, node.span, format!("`{function}` of the empty text is always true"))
                        .help("write the text to look for; to ask whether a text is empty write `s == \"\"`"),
                );
            }
        });
    }
}

enum Constant {
    Is(bool),
    /// Evaluation fails whatever the call.
    Error,
}

/// The value of a condition that does not depend on the call or the state.
fn constant(policy: &Policy, expr: &Expr) -> Option<Constant> {
    match policy.constant(expr) {
        Some(Ok(Value::Bool(value))) => return Some(Constant::Is(value)),
        Some(Ok(_)) => return None,
        Some(Err(_)) => return Some(Constant::Error),
        None => {}
    }
    let known = |expr: &Expr| match constant(policy, expr) {
        Some(Constant::Is(value)) => Some(value),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Not(inner) => known(inner).map(|value| Constant::Is(!value)),
        ExprKind::And(all) => decided_by(all, false, known),
        ExprKind::Or(all) => decided_by(all, true, known),
        ExprKind::Implies(pair) => {
            let [a, b] = pair.as_ref();
            let holds = known(a) == Some(false) || (known(b) == Some(true) && is_total(a));
            holds.then_some(Constant::Is(true))
        }
        ExprKind::Compare(first, rest) => match &**rest {
            [(op, right)] if first.same(right) && is_total(first) => {
                Some(Constant::Is(matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// `and` is false by one operand, `or` true by one, if nothing before it can fail.
fn decided_by(all: &[Expr], absorbing: bool, known: impl Fn(&Expr) -> Option<bool>) -> Option<Constant> {
    for operand in all {
        match known(operand) {
            Some(value) if value == absorbing => return Some(Constant::Is(absorbing)),
            _ if !is_total(operand) => return None,
            _ => {}
        }
    }
    None
}

/// Whether evaluation cannot fail, numbers of absurd length aside.
fn is_total(expr: &Expr) -> bool {
    !expr.any(&|node| match &node.kind {
        ExprKind::Product(_, rest) => rest.iter().any(|(op, _)| *op != ProductOp::Mul),
        _ => false,
    })
}
