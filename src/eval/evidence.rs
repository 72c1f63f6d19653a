//! How the rules of a call were evaluated: each with its value and those of its sub-expressions.
//! Listens to the one evaluator and decides nothing.

use super::call::{Answer, Call};
use super::decide::outcome;
use super::observe::changes;
use super::run::{Env, Trace, Val};
use super::session::Session;
use super::verdict::{Failure, Rule};
use crate::ir::{Expr, ExprKind, ListId, Value};
use crate::text::Span;
use std::ops::Range;

/// One rule and its evaluation.
#[derive(Clone, Debug)]
pub struct RuleEvidence {
    pub rule: Rule,
    /// `None` if the rule has no value, e.g. for a division by zero.
    pub value: Option<Value>,
    /// Every sub-expression that was evaluated, operands before their operator.
    pub steps: Vec<Step>,
}

impl RuleEvidence {
    /// Whether the rule denies the call: it does not hold, or it has no value.
    #[must_use]
    pub fn denies(&self) -> bool {
        match self.rule {
            Rule::Guard { .. } | Rule::Invariant(_) => self.value != Some(Value::Bool(true)),
            Rule::Effect { .. } => self.value.is_none(),
            Rule::OnResult { .. } => false,
        }
    }
}

/// A sub-expression and its value.
#[derive(Clone, Debug)]
pub struct Step {
    pub span: Span,
    pub value: Value,
    /// What was found, for `matches` and `member`.
    pub found: Option<Found>,
}

/// A text of a list that occurs in a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub list: ListId,
    /// Index of the text in the list.
    pub text: usize,
    /// Bytes of the subject.
    pub at: Range<usize>,
    /// Indices of all texts of the list that occur, in the list's order.
    pub all: Vec<usize>,
}

pub(super) fn failing(session: &Session, call: &Call<'_>) -> Vec<RuleEvidence> {
    let mut rules = trace(session, call);
    rules.retain(RuleEvidence::denies);
    rules
}

pub(super) fn trace(session: &Session, call: &Call<'_>) -> Vec<RuleEvidence> {
    if session.fault.is_some() {
        return Vec::new();
    }
    let actions = session.policy.0.matching(call.tool);
    let mut recorder = Recorder::default();
    let outcome = outcome(session, call, &actions, &mut recorder, &mut Recorder::begin);
    let without_value = |rule: Rule| {
        outcome.failures.iter().any(|failure| matches!(failure, Failure::Evaluation { rule: failed, .. } if *failed == rule))
    };
    recorder.finish(without_value)
}

pub(super) fn trace_answer(session: &Session, call: &Call<'_>, answer: Answer<'_>) -> Vec<RuleEvidence> {
    let actions = session.policy.0.matching(call.tool);
    let mut recorder = Recorder::default();
    let fault = changes(session, call, answer, &actions, &mut recorder, &mut Recorder::begin).err();
    recorder.finish(|rule| fault.is_some_and(|fault| fault.rule == rule))
}

#[derive(Default)]
struct Recorder {
    rules: Vec<RuleEvidence>,
    found: Option<Found>,
}

impl Recorder {
    fn begin(&mut self, rule: Rule) {
        self.found = None;
        self.rules.push(RuleEvidence { rule, value: None, steps: Vec::new() });
    }

    /// The last step of a rule is the rule itself, unless it stopped before.
    fn finish(mut self, without_value: impl Fn(Rule) -> bool) -> Vec<RuleEvidence> {
        for evidence in &mut self.rules {
            if !without_value(evidence.rule) {
                evidence.value = evidence.steps.last().map(|step| step.value.clone());
            }
        }
        self.rules
    }
}

impl Trace for Recorder {
    const ON: bool = true;

    fn value(&mut self, expr: &Expr, value: &Val<'_>) {
        let found = self.found.take();
        if let Some(rule) = self.rules.last_mut() {
            rule.steps.push(Step { span: expr.span, value: value.to_value(), found });
        }
    }

    fn found(&mut self, expr: &Expr, list: ListId, env: &Env<'_>, subject: &str) {
        self.found = if matches!(expr.kind, ExprKind::Member(..)) {
            let texts = env.program.typed.list(list).map(|list| list.texts.as_slice()).unwrap_or_default();
            let equal = texts.iter().enumerate().filter(|(_, (text, _))| **text == *subject).map(|(at, _)| at);
            let all: Vec<usize> = equal.collect();
            all.first().copied().map(|text| Found { list, text, at: 0..subject.len(), all })
        } else {
            let found = env.program.find(list, subject);
            found.map(|(text, at)| Found { list, text, at, all: env.program.find_all(list, subject) })
        };
    }
}
