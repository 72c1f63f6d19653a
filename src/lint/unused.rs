//! PX3003, PX3004, PX3005: pattern lists and state variables that decide nothing.

use crate::ir::{ExprKind, ListId, Policy, VarId};
use crate::text::{Code, Diagnostic};
use std::collections::HashSet;

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let mut lists: HashSet<ListId> = HashSet::new();
    let mut read: HashSet<VarId> = HashSet::new();
    let mut read_by_itself: HashSet<VarId> = HashSet::new();
    let mut assigned: HashSet<VarId> = HashSet::new();
    for expr in policy.expressions() {
        expr.walk(&mut |node| {
            if let ExprKind::Matches(_, list) | ExprKind::Member(_, list) = node.kind {
                lists.insert(list);
            }
        });
    }
    let conditions = policy.invariants.iter().map(|invariant| &invariant.expr);
    let guards = policy.actions.iter().flat_map(|action| action.guards.iter().map(|guard| &guard.expr));
    for expr in conditions.chain(guards).chain(policy.claims()) {
        expr.walk(&mut |node| {
            if let ExprKind::State(id) = node.kind {
                read.insert(id);
            }
        });
    }
    for assignment in policy.actions.iter().flat_map(|action| action.effect.iter().chain(&action.on_result)) {
        assigned.insert(assignment.variable);
        assignment.expr.walk(&mut |node| {
            if let ExprKind::State(id) = node.kind {
                // `n: n + 1` alone decides nothing.
                if id == assignment.variable { &mut read_by_itself } else { &mut read }.insert(id);
            }
        });
    }
    for (id, list) in (0..).map(ListId).zip(&policy.lists) {
        if let (Some(name), false) = (&list.name, lists.contains(&id)) {
            found.push(
                Diagnostic::new(Code::PX3003, list.span, format!("the pattern list `{name}` is never used"))
                    .note("a rule that was meant to use it protects nothing")
                    .help(format!("write `matches(call.text, {name})` in a rule, or remove the list")),
            );
        }
    }
    for (id, var) in (0..).map(VarId).zip(&policy.state) {
        if read.contains(&id) {
            continue;
        }
        let name = &var.name;
        if assigned.contains(&id) {
            let how = if read_by_itself.contains(&id) { "only to compute itself" } else { "by no rule" };
            found.push(
                Diagnostic::new(Code::PX3005, var.span, format!("`{name}` is assigned, but read {how}"))
                    .note("what it remembers changes no decision")
                    .help(format!("let a guard or an invariant read `{name}`, or remove it")),
            );
        } else {
            found.push(
                Diagnostic::new(Code::PX3004, var.span, format!("the state variable `{name}` is never used"))
                    .help(format!("assign it in an `effect` and read it in a guard, or remove `{name}`")),
            );
        }
    }
}
