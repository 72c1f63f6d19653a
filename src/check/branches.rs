//! Conditions of `ite` and `implies` inside rules, each with what must hold for it to be asked at all.

use crate::eval::{Policy, Rule};
use crate::ir::{Expr, ExprKind, Type};
use crate::text::Span;

/// A condition inside a rule.
pub(super) struct Condition {
    pub(super) rule: Rule,
    pub(super) span: Span,
    /// True where the condition is asked and true; where it is asked and false.
    pub(super) cases: [Expr; 2],
}

/// The conditions in guards, effects and invariants. Those of `on_result` speak of answers, of which any can come.
pub(super) fn conditions(policy: &Policy) -> Vec<Condition> {
    let typed = policy.typed();
    let mut found = Vec::new();
    for (action, rules) in typed.actions.iter().enumerate() {
        for (guard, rule) in rules.guards.iter().enumerate() {
            collect(policy, Rule::Guard { action, guard }, &rule.expr, &[], &mut found);
        }
        for (assignment, rule) in rules.effect.iter().enumerate() {
            collect(policy, Rule::Effect { action, assignment }, &rule.expr, &[], &mut found);
        }
    }
    for (at, invariant) in typed.invariants.iter().enumerate() {
        collect(policy, Rule::Invariant(at), &invariant.expr, &[], &mut found);
    }
    found
}

fn collect(policy: &Policy, rule: Rule, expr: &Expr, path: &[Expr], found: &mut Vec<Condition>) {
    let with = |more: Expr| path.iter().cloned().chain([more]).collect::<Vec<_>>();
    match &expr.kind {
        ExprKind::Ite(three) => {
            let [condition, then, other] = &**three;
            asked(policy, rule, condition, path, found);
            collect(policy, rule, condition, path, found);
            collect(policy, rule, then, &with(condition.clone()), found);
            collect(policy, rule, other, &with(not(condition)), found);
        }
        ExprKind::Implies(two) => {
            let [condition, then] = &**two;
            asked(policy, rule, condition, path, found);
            collect(policy, rule, condition, path, found);
            collect(policy, rule, then, &with(condition.clone()), found);
        }
        ExprKind::And(all) | ExprKind::Or(all) => {
            let goes_on = |operand: &Expr| match &expr.kind {
                ExprKind::And(_) => operand.clone(),
                _ => not(operand),
            };
            let mut path = path.to_vec();
            for operand in all {
                collect(policy, rule, operand, &path, found);
                path.push(goes_on(operand));
            }
        }
        _ => {
            for child in expr.children() {
                collect(policy, rule, child, path, found);
            }
        }
    }
}

fn asked(policy: &Policy, rule: Rule, condition: &Expr, path: &[Expr], found: &mut Vec<Condition>) {
    // Without a name in it the lints have told.
    if policy.constant(condition).is_some() {
        return;
    }
    let case = |last: Expr| {
        let all: Vec<Expr> = path.iter().cloned().chain([last]).collect();
        Expr { span: condition.span, ty: Type::Bool, kind: ExprKind::And(all.into()) }
    };
    found.push(Condition { rule, span: condition.span, cases: [case(condition.clone()), case(not(condition))] });
}

fn not(expr: &Expr) -> Expr {
    Expr { span: expr.span, ty: Type::Bool, kind: ExprKind::Not(Box::new(expr.clone())) }
}
