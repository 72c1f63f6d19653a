//! Reasons in words: the original's wording, frozen, since people search their logs for it.

use super::verdict::{Failed, FailedKind, Failure, Rule};
use crate::ir::{Policy, Value};
use std::fmt::Write;
use std::sync::Arc;

/// Whether text values of the state are spelled out; they may be copies of what a call carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    Shown,
    /// `s=***`.
    Hidden,
}

/// `[state: tainted=True, n=1, s='x']`, or `[state: <no state>]`.
#[must_use]
pub fn state_text(policy: &Policy, state: &[Value]) -> String {
    format!("[state: {}]", variables_text(policy, state, Texts::Shown))
}

/// `tainted=True, n=1, s='x'`, or `<no state>`.
#[must_use]
pub fn variables_text(policy: &Policy, state: &[Value], texts: Texts) -> String {
    let mut out = String::new();
    for (at, (var, value)) in policy.state.iter().zip(state).enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let _ = match (texts, value) {
            (Texts::Hidden, Value::Str(_)) => write!(out, "{separator}{}=***", var.name),
            _ => write!(out, "{separator}{}={value}", var.name),
        };
    }
    if policy.state.is_empty() {
        out.push_str("<no state>");
    }
    out
}

pub(super) fn reason(policy: &Policy, state: &[Value], tool: &str, failures: &[Failure], texts: Texts) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut invariants: Vec<String> = Vec::new();
    let mut guards: Vec<String> = Vec::new();
    for failure in failures {
        match failure {
            Failure::Argument { action, argument, found } => {
                parts.push(bad_argument(policy, *action, *argument, *found));
            }
            Failure::Evaluation { rule, reason } => {
                let (text, owner) = rule_text(policy, *rule);
                parts.push(format!("cannot evaluate {text} of '{owner}': {reason}"));
            }
            Failure::Default => {
                parts.push(format!("no policy action covers '{tool}' and the policy default is deny"));
            }
            Failure::Faulted { rule, reason } => {
                let (_, owner) = rule_text(policy, *rule);
                parts.push(format!("the session is faulted: on_result of '{owner}' could not be evaluated ({reason})"));
            }
            Failure::Invariant(at) => {
                if let Some(invariant) = policy.invariants.get(*at) {
                    invariants.push(format!("invariant '{}' ({})", invariant.name, invariant.text));
                }
            }
            Failure::Guard { action, guard } => guards.push(format!("'{}'", guard_label(policy, *action, *guard))),
        }
    }
    let judged = !invariants.is_empty() || !guards.is_empty();
    if !invariants.is_empty() {
        parts.push(format!("violates {}", invariants.join(", ")));
    }
    if !guards.is_empty() {
        parts.push(format!("fails guard {}", guards.join(", ")));
    }
    let mut out = parts.join("; ");
    if judged {
        let _ = write!(out, " [state: {}]", variables_text(policy, state, texts));
    }
    out
}

fn bad_argument(policy: &Policy, action: usize, argument: crate::ir::ArgId, found: Option<&str>) -> String {
    let Some(action) = policy.actions.get(action) else { return String::new() };
    let Some(declared) = action.arg(argument) else { return String::new() };
    match found {
        None => format!("action '{}' requires argument '{}', which the call omits", action.name, declared.name),
        Some(found) => {
            format!("action '{}' requires '{}' to be {}, got {found}", action.name, declared.name, declared.ty)
        }
    }
}

fn guard_label(policy: &Policy, action: usize, guard: usize) -> Arc<str> {
    let guard = policy.actions.get(action).and_then(|action| action.guards.get(guard));
    guard.map_or_else(|| Arc::from(""), |guard| Arc::clone(&guard.label))
}

/// A rule's text and the name that owns it.
fn rule_text(policy: &Policy, rule: Rule) -> (Arc<str>, Arc<str>) {
    let nothing = || (Arc::from(""), Arc::from(""));
    match rule {
        Rule::Guard { action, guard } => {
            let guard = policy.actions.get(action).and_then(|action| action.guards.get(guard));
            guard.map_or_else(nothing, |guard| (Arc::clone(&guard.text), Arc::clone(&guard.label)))
        }
        Rule::Effect { action, assignment } | Rule::OnResult { action, assignment } => {
            let Some(owner) = policy.actions.get(action) else { return nothing() };
            let list = if matches!(rule, Rule::Effect { .. }) { &owner.effect } else { &owner.on_result };
            list.get(assignment).map_or_else(nothing, |found| (Arc::clone(&found.text), Arc::clone(&owner.name)))
        }
        Rule::Invariant(at) => policy
            .invariants
            .get(at)
            .map_or_else(nothing, |invariant| (Arc::clone(&invariant.text), Arc::clone(&invariant.name))),
    }
}

pub(super) fn name(policy: &Policy, failure: &Failure) -> Failed {
    let failed = |kind, name| Failed { kind, name };
    match failure {
        Failure::Argument { action, argument, .. } => {
            let declared = policy.actions.get(*action).and_then(|action| action.arg(*argument));
            failed(FailedKind::Argument, declared.map_or_else(|| Arc::from(""), |arg| Arc::clone(&arg.name)))
        }
        Failure::Evaluation { rule, .. } | Failure::Faulted { rule, .. } => {
            failed(FailedKind::Evaluation, rule_text(policy, *rule).1)
        }
        Failure::Guard { action, guard } => failed(FailedKind::Guard, guard_label(policy, *action, *guard)),
        Failure::Invariant(at) => {
            let invariant = policy.invariants.get(*at);
            failed(FailedKind::Invariant, invariant.map_or_else(|| Arc::from(""), |found| Arc::clone(&found.name)))
        }
        Failure::Default => failed(FailedKind::Default, Arc::from("default")),
    }
}
