//! Which rules keep calls from being allowed in a state, tool by tool, and which earlier call made them do so.

use super::confirm::value;
use super::plan::is_ban;
use crate::eval::{Call, Failure, Policy, Rule, Session};
use crate::ir::{Expr, ExprKind, Type};
use crate::model::{Class, Kind, Step, System};
use crate::text::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Tools that the same rules deny.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocked {
    pub(super) tools: Vec<String>,
    pub(super) by: BTreeSet<By>,
}

/// What denies a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    Rule(Rule),
    Default,
    Fault(Rule),
    Argument,
}

impl By {
    fn of(failure: &Failure) -> Self {
        match failure {
            Failure::Argument { .. } => Self::Argument,
            Failure::Evaluation { rule, .. } => Self::Rule(*rule),
            Failure::Guard { action, guard } => Self::Rule(Rule::Guard { action: *action, guard: *guard }),
            Failure::Invariant(at) => Self::Rule(Rule::Invariant(*at)),
            Failure::Default => Self::Default,
            Failure::Faulted { rule, .. } => Self::Fault(*rule),
        }
    }
}

/// Who denies each call class of the tools, as the evaluator says in this state. `Err` names a call that is allowed.
pub(super) fn blocked(
    policy: &Policy,
    system: &System,
    state: &[i64],
    session: &Session,
    wanted: &dyn Fn(&Class) -> bool,
) -> Result<Vec<Blocked>, String> {
    let mut found: Vec<Blocked> = Vec::new();
    for (at, tool) in system.tools.iter().enumerate() {
        let mut common: Option<BTreeSet<By>> = None;
        let mut all: BTreeSet<By> = BTreeSet::new();
        for class in system.classes.iter().filter(|class| class.tool() == Some(at) && class.witnessed && wanted(class))
        {
            let params = some_params(class, state);
            let arguments = class.arguments(&params);
            let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &arguments };
            let verdict = session.clone().check(&call);
            if verdict.decision.permits() {
                return Err(format!("`{}` is allowed", tool.name));
            }
            let by: BTreeSet<By> = verdict.failures.iter().map(By::of).collect();
            all.extend(&by);
            common = Some(match common {
                None => by,
                Some(common) => common.intersection(&by).copied().collect(),
            });
        }
        let Some(common) = common else { continue };
        let by = if common.is_empty() { all } else { essential(policy, common) };
        match found.iter_mut().find(|group| group.by == by) {
            Some(group) => group.tools.push(tool.name.clone()),
            None => found.push(Blocked { tools: vec![tool.name.clone()], by }),
        }
    }
    Ok(found)
}

/// A declared ban says it all.
fn essential(policy: &Policy, by: BTreeSet<By>) -> BTreeSet<By> {
    let ban = by.iter().find(|by| match by {
        By::Rule(rule @ Rule::Guard { .. }) => {
            policy.expression(*rule).is_some_and(|expr| matches!(expr.kind, ExprKind::Bool(false)))
        }
        _ => false,
    });
    match ban {
        Some(ban) => BTreeSet::from([*ban]),
        None => by,
    }
}

/// Values of the parameters within their bounds, as far as these are known.
pub(super) fn some_params(class: &Class, state: &[i64]) -> Vec<i64> {
    let mut params = Vec::with_capacity(class.params.len());
    for param in &class.params {
        let bound =
            |terms: &[crate::model::Term]| terms.iter().filter_map(|term| term.value(state, &params).ok()).collect();
        let lower: Vec<i64> = bound(&param.lower);
        let upper: Vec<i64> = bound(&param.upper);
        let low = lower.into_iter().max();
        params.push(low.or_else(|| upper.into_iter().min()).unwrap_or(1));
    }
    params
}

/// Whether some call of the class is allowed in the model's state.
pub(super) fn is_open(system: &System, class: &Class, state: &[i64]) -> bool {
    matches!(class.kind, Kind::Call { .. }) && value(&system.allowed(class, None), state, &some_params(class, state))
}

/// `guard 'a'`, `invariant 'b'`.
pub(super) fn shown(policy: &Policy, by: By) -> String {
    let typed = policy.typed();
    match by {
        By::Default => "`default: deny`, as no action covers it".to_owned(),
        By::Argument => "arguments that fit no call".to_owned(),
        By::Fault(rule) => format!("the fault in {}", rule_name(policy, rule)),
        By::Rule(Rule::Guard { action, .. }) if typed.actions.get(action).is_some_and(is_ban) => {
            format!("the ban '{}'", typed.actions.get(action).map_or("", |action| &action.name))
        }
        By::Rule(rule) => rule_name(policy, rule),
    }
}

/// A rule as messages name it.
pub(super) fn rule_name(policy: &Policy, rule: Rule) -> String {
    let typed = policy.typed();
    let action = |at: usize| typed.actions.get(at).map_or("?", |action| &*action.name);
    match rule {
        Rule::Guard { action: at, guard } => {
            let label = typed.actions.get(at).and_then(|action| action.guards.get(guard));
            format!("guard '{}'", label.map_or("?", |guard| &*guard.label))
        }
        Rule::Effect { action: at, .. } => format!("the effect of '{}'", action(at)),
        Rule::OnResult { action: at, .. } => format!("on_result of '{}'", action(at)),
        Rule::Invariant(at) => format!("invariant '{}'", typed.invariants.get(at).map_or("?", |found| &*found.name)),
    }
}

/// The groups in words: one line each.
pub(super) fn lines(policy: &Policy, groups: &[Blocked], for_ever: bool) -> Vec<String> {
    const MAX_TOOLS: usize = 6;
    let verb = if for_ever { "denied for ever by" } else { "denied by" };
    let line = |group: &Blocked| {
        let mut tools = group.tools.iter().take(MAX_TOOLS).cloned().collect::<Vec<_>>().join(", ");
        if group.tools.len() > MAX_TOOLS {
            let _ = write!(tools, " and {} more", group.tools.len() - MAX_TOOLS);
        }
        let by: Vec<String> = group.by.iter().map(|by| shown(policy, *by)).collect();
        format!("{tools}: {verb} {}", by.join(" and "))
    };
    groups.iter().map(line).collect()
}

/// The rule that denies most tools, bans and the default aside.
pub(super) fn main_rule(policy: &Policy, groups: &[Blocked]) -> Option<Rule> {
    let mut counts: Vec<(Rule, usize)> = Vec::new();
    for group in groups {
        for by in &group.by {
            let rule = match by {
                By::Rule(rule) | By::Fault(rule) => *rule,
                By::Default | By::Argument => continue,
            };
            let constant = policy.expression(rule).is_none_or(|expr| matches!(expr.kind, ExprKind::Bool(_)));
            if constant {
                continue;
            }
            match counts.iter_mut().find(|(known, _)| *known == rule) {
                Some((_, count)) => *count += group.tools.len(),
                None => counts.push((rule, group.tools.len())),
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(rule, _)| rule)
}

/// What kind of block the rules make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// A number has reached its bound.
    Exhausted,
    /// A flag or mode stands so.
    LockDown,
    Fault,
}

impl Nature {
    pub(super) fn of(policy: &Policy, groups: &[Blocked]) -> Self {
        let rules: Vec<By> = groups.iter().flat_map(|group| group.by.iter().copied()).collect();
        if rules.iter().any(|by| matches!(by, By::Fault(_))) {
            return Self::Fault;
        }
        let budget = |by: &By| match by {
            By::Rule(rule) => policy.expression(*rule).is_some_and(|expr| is_budget(policy, expr)),
            _ => true,
        };
        if rules.iter().all(budget) { Self::Exhausted } else { Self::LockDown }
    }

    pub(super) fn shown(self) -> &'static str {
        match self {
            Self::Exhausted => "a budget has run out",
            Self::LockDown => "a lock-down",
            Self::Fault => "a fault",
        }
    }
}

/// The condition reads numbers of the state and no other variable.
fn is_budget(policy: &Policy, expr: &Expr) -> bool {
    let mut numbers = false;
    let mut others = matches!(expr.kind, ExprKind::Bool(false));
    let typed = policy.typed();
    expr.walk(&mut |node| {
        if let ExprKind::State(id) = node.kind {
            match typed.var(id).map(|var| var.ty) {
                Some(Type::Int) => numbers = true,
                _ => others = true,
            }
        }
    });
    (numbers && !others) || matches!(expr.kind, ExprKind::Bool(false))
}

/// The last assignment on the way that changed a variable which the expression reads: its place, and words for it.
pub(super) fn cause(policy: &Policy, system: &System, steps: &[Step], expr: &Expr) -> Option<(Span, String)> {
    let wanted = super::confirm::reads(policy.typed(), expr);
    let mut state = system.initial();
    let mut states = vec![state.clone()];
    for step in steps {
        state = super::confirm::next(system, &state, step)?;
        states.push(state.clone());
    }
    for (at, step) in steps.iter().enumerate().rev() {
        let (before, after) = (states.get(at)?, states.get(at + 1)?);
        let class = system.classes.get(step.class)?;
        let outcome = class.outcomes.get(step.outcome)?;
        for assign in outcome.changes.iter().chain(&class.effect).rev() {
            let Some((_, id)) = system.vars.get(assign.var).and_then(|var| var.origin) else { continue };
            if !wanted.contains(&id) || before.get(assign.var) == after.get(assign.var) {
                continue;
            }
            let (Some(label), Some(var)) = (assign.label, policy.typed().var(id)) else { continue };
            let span = policy.expression(label.rule)?.span;
            let by = if matches!(label.rule, Rule::OnResult { .. }) { "the result of step" } else { "step" };
            return Some((span, format!("`{}` is set here by {by} {}", var.name, at + 1)));
        }
    }
    None
}
