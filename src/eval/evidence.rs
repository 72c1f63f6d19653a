//! How the rules of a call were evaluated: each with its value and those of its sub-expressions.
//! Listens to the one evaluator and decides nothing.

use super::call::{Answer, Call};
use super::decide::outcome;
use super::observe::changes;
use super::run::{Env, Trace, Val};
use super::session::Session;
use super::verdict::{Failure, Rule};
use crate::ir::{Context, Expr, ExprKind, ListId, Value};
use crate::text::Span;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

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
        outcome
            .failures
            .iter()
            .any(|failure| matches!(failure, Failure::Evaluation { rule: failed, .. } if *failed == rule))
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
    texts: HashMap<Context, Arc<str>>,
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
            // The texts of a call are long and read often: each is kept once.
            let value = match (&expr.kind, value) {
                (ExprKind::Context(context), Val::Str(text)) => {
                    Value::Str(Arc::clone(self.texts.entry(*context).or_insert_with(|| Arc::from(*text))))
                }
                _ => value.to_value(),
            };
            rule.steps.push(Step { span: expr.span, value, found });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Policy;
    use crate::json;
    use crate::text::FileId;

    const POLICY: &str = r#"
default: deny
patterns: {words: [b, abc, x], names: [ann, bob]}
state: {n: {type: int, init: 0}, seen: {type: bool, init: false}}
invariants: [{name: small, expr: n <= 1}]
actions:
  - name: send
    match: mail__send
    args: {to: str, body: str}
    requires: ["member(to, names)", "not matches(body, words)"]
    effect: {n: n + 1}
    on_result: {seen: "seen or matches(result, words)"}
"#;

    fn found(rules: &[RuleEvidence]) -> Vec<Found> {
        rules.iter().flat_map(|rule| &rule.steps).filter_map(|step| step.found.clone()).collect()
    }

    #[test]
    fn a_trace_holds_every_rule_with_its_value_and_all_that_was_found() {
        let policy = Policy::compile(POLICY, FileId(0)).policy.unwrap();
        let session = policy.session();
        let arguments = json::parse(br#"{"to": "bob", "body": "abc"}"#).unwrap();
        let call = Call { tool: "mail__send", upstream: "mail", arguments: &arguments };
        let trace = session.trace(&call);
        let values: Vec<String> =
            trace.iter().map(|rule| rule.value.as_ref().map_or("none".to_owned(), ToString::to_string)).collect();
        assert_eq!(values, ["True", "False", "1", "True"]);
        assert_eq!(
            found(&trace),
            [
                Found { list: ListId(1), text: 1, at: 0..3, all: vec![1] },
                Found { list: ListId(0), text: 1, at: 0..3, all: vec![0, 1] },
            ]
        );
        let failing = session.evidence(&call);
        assert_eq!(failing.iter().map(|rule| rule.rule).collect::<Vec<_>>(), [Rule::Guard { action: 0, guard: 1 }]);
        let answer = json::parse(br#""x""#).unwrap();
        let answered = session.trace_answer(&call, Answer::Result(&answer));
        assert_eq!(answered.len(), 1);
        assert_eq!(found(&answered), [Found { list: ListId(0), text: 2, at: 0..1, all: vec![2] }]);
        assert_eq!(session.state(), policy.session().state());
    }

    #[test]
    fn a_rule_that_stops_has_no_value() {
        let policy = "actions: [{name: a, match: t, args: {n: int}, requires: 1 // n == 1}]";
        let session = Policy::compile(policy, FileId(0)).policy.unwrap().session();
        let arguments = json::parse(br#"{"n": 0}"#).unwrap();
        let trace = session.trace(&Call { tool: "t", upstream: "", arguments: &arguments });
        assert!(matches!(trace.as_slice(), [rule] if rule.value.is_none() && rule.denies()), "{trace:?}");
    }
}
