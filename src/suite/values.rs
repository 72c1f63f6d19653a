//! The values that decided a rule, as remarks on the places of the policy where they were read.

use crate::eval::{Policy, Rule, RuleEvidence, Step};
use crate::ir::{Expr, ExprKind, Value};
use crate::text::{Diagnostic, Label, Span};
use std::collections::HashMap;

/// Most values that are shown for one rule.
const MAX_VALUES: usize = 6;
/// Characters of a text that are shown.
const MAX_CHARS: usize = 60;

/// Adds the rule's value and the names, context texts and text tests behind it.
pub(super) fn show(diagnostic: Diagnostic, policy: &Policy, evidence: &RuleEvidence) -> Diagnostic {
    let Some(expr) = policy.expression(evidence.rule) else { return diagnostic };
    let told = match &evidence.value {
        Some(value) => format!("is {}", cut(&value.to_string())),
        None => "has no value".to_owned(),
    };
    let mut diagnostic = at_rule(diagnostic, policy, evidence.rule, told);
    let readable = readable(expr, evidence.rule, policy);
    let mut seen: Vec<Label> = Vec::new();
    for step in &evidence.steps {
        let Some(what) = readable.get(&step.span) else { continue };
        // The rule's own value is told already.
        if step.span == expr.span && what.is_none() && step.found.is_none() {
            continue;
        }
        let label = Label { span: step.span, message: remark(what, step, policy) };
        if seen.len() < MAX_VALUES && !seen.contains(&label) {
            seen.push(label);
        }
    }
    diagnostic.secondary.extend(seen);
    diagnostic
}

/// Adds a remark on a rule as a whole.
pub(super) fn at_rule(diagnostic: Diagnostic, policy: &Policy, rule: Rule, told: impl AsRef<str>) -> Diagnostic {
    let Some(expr) = policy.expression(rule) else { return diagnostic };
    diagnostic.also(expr.span, format!("{} {}", name(policy, rule), told.as_ref()))
}

/// A rule as messages name it: guard `pay`, invariant `budget`, effect `n` of `pay`.
pub(super) fn name(policy: &Policy, rule: Rule) -> String {
    let typed = policy.typed();
    let action = |at: usize| typed.actions.get(at);
    match rule {
        Rule::Guard { action: at, guard } => {
            let label = action(at).and_then(|action| action.guards.get(guard)).map_or("", |guard| &*guard.label);
            format!("guard `{label}`")
        }
        Rule::Invariant(at) => {
            format!("invariant `{}`", typed.invariants.get(at).map_or("", |invariant| &*invariant.name))
        }
        Rule::Effect { action: at, assignment } | Rule::OnResult { action: at, assignment } => {
            let before = matches!(rule, Rule::Effect { .. });
            let owner = action(at);
            let list = owner.map(|action| if before { &action.effect } else { &action.on_result });
            let variable = list.and_then(|list| list.get(assignment)).and_then(|found| typed.var(found.variable));
            format!(
                "{} `{}` of `{}`",
                if before { "effect" } else { "on_result" },
                variable.map_or("", |variable| &*variable.name),
                owner.map_or("", |action| &*action.name)
            )
        }
    }
}

/// What a step is called; `None`: a test on texts, which is shown by its outcome alone.
type Name = Option<String>;

fn readable(expr: &Expr, rule: Rule, policy: &Policy) -> HashMap<Span, Name> {
    let owner = match rule {
        Rule::Guard { action, .. } | Rule::Effect { action, .. } | Rule::OnResult { action, .. } => {
            policy.typed().actions.get(action)
        }
        Rule::Invariant(_) => None,
    };
    let mut readable = HashMap::new();
    expr.walk(&mut |node| {
        let name = match &node.kind {
            ExprKind::State(id) => policy.typed().var(*id).map(|variable| variable.name.to_string()),
            ExprKind::Context(context) => Some(context.name().to_owned()),
            ExprKind::Arg(id) => owner.and_then(|action| action.arg(*id)).map(|argument| argument.name.to_string()),
            ExprKind::Matches(..)
            | ExprKind::Member(..)
            | ExprKind::StartsWith(_)
            | ExprKind::EndsWith(_)
            | ExprKind::Contains(_) => None,
            _ => return,
        };
        readable.insert(node.span, name);
    });
    readable
}

fn remark(name: &Name, step: &Step, policy: &Policy) -> String {
    let value = cut(&step.value.to_string());
    if let Some(name) = name {
        return format!("`{name}` = {value}");
    }
    let found = step.found.as_ref().and_then(|found| {
        let (text, _) = policy.typed().list(found.list)?.texts.get(found.text)?;
        Some(Value::Str(text.clone()).to_string())
    });
    match found {
        Some(text) => format!("{value}: finds {}", cut(&text)),
        None => value,
    }
}

/// A text that is short enough for a remark.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}
