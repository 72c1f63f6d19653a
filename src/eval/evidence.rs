//! Why a call is denied: the rules that fail, with the values that their sub-expressions had.

use super::call::Call;
use super::decide::outcome;
use super::run::{Env, Trace, Val};
use super::session::Session;
use super::verdict::{Failure, Rule};
use crate::ir::{Expr, ListId, Value};
use crate::text::Span;
use std::ops::Range;

/// One failing rule and its evaluation.
#[derive(Clone, Debug)]
pub struct RuleEvidence {
    pub rule: Rule,
    /// Every sub-expression that was evaluated, operands before their operator.
    pub steps: Vec<Step>,
}

/// A sub-expression and its value.
#[derive(Clone, Debug)]
pub struct Step {
    pub span: Span,
    pub value: Value,
    /// Where a text of the list was found, for `matches`.
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
}

pub(super) fn collect(session: &Session, call: &Call<'_>) -> Vec<RuleEvidence> {
    if session.fault.is_some() {
        return Vec::new();
    }
    let actions = session.policy.0.matching(call.tool);
    let mut recorder = Recorder::default();
    let outcome = outcome(session, call, &actions, &mut recorder, &mut |recorder, rule| recorder.begin(rule));
    let failing: Vec<Rule> = outcome
        .failures
        .iter()
        .filter_map(|failure| match failure {
            Failure::Guard { action, guard } => Some(Rule::Guard { action: *action, guard: *guard }),
            Failure::Invariant(at) => Some(Rule::Invariant(*at)),
            Failure::Evaluation { rule, .. } => Some(*rule),
            Failure::Argument { .. } | Failure::Default | Failure::Faulted { .. } => None,
        })
        .collect();
    recorder.rules.retain(|evidence| failing.contains(&evidence.rule));
    recorder.rules
}

#[derive(Default)]
struct Recorder {
    rules: Vec<RuleEvidence>,
    found: Option<Found>,
}

impl Recorder {
    fn begin(&mut self, rule: Rule) {
        self.found = None;
        self.rules.push(RuleEvidence { rule, steps: Vec::new() });
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

    fn found(&mut self, _: &Expr, list: ListId, env: &Env<'_>, subject: &str) {
        self.found = env.program.find(list, subject).map(|(text, at)| Found { list, text, at });
    }
}
