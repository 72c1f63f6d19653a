//! What tests exercise of a policy: guards and invariants both ways, effects that change something,
//! patterns that are found, actions that match.

mod item;

use super::values;
use crate::eval::{Decision, Failure, Observation, Policy, Rule, RuleEvidence, Verdict};
use crate::ir::{Assignment, ExprKind, ListId, Value, VarId};
use crate::policy::Default;
use crate::text::Span;
use std::collections::{HashMap, HashSet};

pub use item::{Item, Kind, Tally};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sight {
    Held,
    Denied,
    Ran,
    Changed,
}

/// What tests of one policy have exercised so far.
#[derive(Clone, Debug)]
pub struct Coverage {
    policy: Policy,
    /// Where the policy's file begins.
    start: Span,
    rules: HashSet<(Rule, Sight)>,
    texts: HashSet<(ListId, usize)>,
    actions: HashSet<u32>,
    default: bool,
}

impl Coverage {
    #[must_use]
    pub fn new(policy: Policy, start: Span) -> Self {
        let (rules, texts, actions) = (HashSet::new(), HashSet::new(), HashSet::new());
        Self { policy, start, rules, texts, actions, default: false }
    }

    #[must_use]
    pub fn start(&self) -> Span {
        self.start
    }

    /// Takes in a decision; `before` is the state that it was made in.
    pub(super) fn decided(&mut self, before: &[Value], verdict: &Verdict, trace: &[RuleEvidence]) {
        self.actions.extend(&verdict.actions);
        self.default |= verdict.failures.contains(&Failure::Default);
        self.conditions(trace);
        if verdict.decision == Decision::Allow {
            self.assignments(before, trace);
        }
    }

    /// Takes in an answer's effects; `before` is the state before them.
    pub(super) fn observed(&mut self, before: &[Value], observation: &Observation, trace: &[RuleEvidence]) {
        self.conditions(trace);
        // An answer cannot be refused, but it shows that the invariant can be broken.
        self.rules.extend(observation.violated.iter().map(|at| (Rule::Invariant(*at), Sight::Denied)));
        if observation.fault.is_none() {
            self.assignments(before, trace);
        }
    }

    fn conditions(&mut self, trace: &[RuleEvidence]) {
        for evidence in trace {
            for found in evidence.steps.iter().filter_map(|step| step.found.as_ref()) {
                self.texts.extend(found.all.iter().map(|text| (found.list, *text)));
            }
            if matches!(evidence.rule, Rule::Guard { .. } | Rule::Invariant(_)) {
                let sight = if evidence.denies() { Sight::Denied } else { Sight::Held };
                self.rules.insert((evidence.rule, sight));
            }
        }
    }

    /// Effects that were committed, compared with what earlier ones of the call left.
    fn assignments(&mut self, before: &[Value], trace: &[RuleEvidence]) {
        let policy = self.policy.clone();
        let mut newer: HashMap<VarId, &Value> = HashMap::new();
        for evidence in trace {
            let (Some(assignment), Some(value)) = (assignment(&policy, evidence.rule), &evidence.value) else {
                continue;
            };
            self.rules.insert((evidence.rule, Sight::Ran));
            let id = assignment.variable;
            let old = newer.insert(id, value).or_else(|| before.get(id.0 as usize));
            if old.is_some_and(|old| old != value) {
                self.rules.insert((evidence.rule, Sight::Changed));
            }
        }
    }

    /// Everything that counts, in the order of kinds and of the file.
    #[must_use]
    pub fn items(&self) -> Vec<Item> {
        let typed = self.policy.typed();
        let mut items = Vec::new();
        for (action, found) in typed.actions.iter().enumerate() {
            for guard in 0..found.guards.len() {
                self.both_ways(Kind::Guard, Rule::Guard { action, guard }, &mut items);
            }
        }
        for at in 0..typed.invariants.len() {
            self.both_ways(Kind::Invariant, Rule::Invariant(at), &mut items);
        }
        for (action, found) in typed.actions.iter().enumerate() {
            let effects = (0..found.effect.len()).map(|assignment| Rule::Effect { action, assignment });
            let on_result = (0..found.on_result.len()).map(|assignment| Rule::OnResult { action, assignment });
            items.extend(effects.chain(on_result).filter_map(|rule| self.effect(rule)));
        }
        for (id, list) in (0..).zip(&typed.lists) {
            let Some(name) = &list.name else { continue };
            items.extend(list.texts.iter().enumerate().map(|(at, (text, span))| Item {
                kind: Kind::Pattern,
                name: format!("pattern list `{name}`"),
                text: Some(text.to_string()),
                span: *span,
                missing: (!self.texts.contains(&(ListId(id), at))).then(|| "never found".to_owned()),
            }));
        }
        items.extend((0..).zip(&typed.actions).map(|(at, action)| Item {
            kind: Kind::Action,
            name: format!("action `{}`", action.name),
            text: None,
            span: action.span.at_start(),
            missing: (!self.actions.contains(&at)).then(|| "never matched".to_owned()),
        }));
        items.extend(self.default());
        items
    }

    fn both_ways(&self, kind: Kind, rule: Rule, items: &mut Vec<Item>) {
        let Some(expr) = self.policy.expression(rule) else { return };
        for (sight, never) in [(Sight::Held, "never held"), (Sight::Denied, "never denied")] {
            // A rule that is written to always deny cannot hold.
            if let ExprKind::Bool(value) = expr.kind
                && value != (sight == Sight::Held)
            {
                continue;
            }
            items.push(Item {
                kind,
                name: values::name(&self.policy, rule),
                text: None,
                span: expr.span,
                missing: (!self.rules.contains(&(rule, sight))).then(|| never.to_owned()),
            });
        }
    }

    fn effect(&self, rule: Rule) -> Option<Item> {
        let assignment = assignment(&self.policy, rule)?;
        let missing = if self.rules.contains(&(rule, Sight::Changed)) {
            None
        } else if self.rules.contains(&(rule, Sight::Ran)) {
            Some("never changed its variable".to_owned())
        } else {
            Some("never ran".to_owned())
        };
        let name = values::name(&self.policy, rule);
        Some(Item { kind: Kind::Effect, name, text: None, span: assignment.name_span, missing })
    }

    fn default(&self) -> Option<Item> {
        let typed = self.policy.typed();
        let covers_all = |text: &str| !text.is_empty() && text.chars().all(|c| c == '*');
        let mut globs = typed.actions.iter().flat_map(|action| &action.globs);
        if typed.default == Default::Allow || globs.any(|(glob, _)| covers_all(glob.text())) {
            return None;
        }
        let missing = (!self.default).then(|| "never denied a call".to_owned());
        Some(Item { kind: Kind::Default, name: "`default: deny`".to_owned(), text: None, span: self.start, missing })
    }
}

fn assignment(policy: &Policy, rule: Rule) -> Option<&Assignment> {
    let actions = &policy.typed().actions;
    match rule {
        Rule::Effect { action, assignment } => actions.get(action)?.effect.get(assignment),
        Rule::OnResult { action, assignment } => actions.get(action)?.on_result.get(assignment),
        Rule::Guard { .. } | Rule::Invariant(_) => None,
    }
}
