//! One test through the evaluator: every expectation that is not met. Decides nothing itself.

use super::coverage::Coverage;
use super::failure::{Decided, quoted};
use super::written::{StateValue, Test};
use crate::eval::{Policy, Session};
use crate::ir::Value;
use crate::syntax::print::quoted as quoted_text;
use crate::text::{Code, Diagnostic};

/// Most changes of one variable that a message lists.
const MAX_CHANGES: usize = 6;

/// A variable's new value, by the call (from 1) that gave it.
struct Change {
    call: usize,
    variable: usize,
    value: Value,
}

/// Runs a test in a session of its own; empty iff it passed. `coverage` takes in what was evaluated.
#[must_use]
pub fn run(test: &Test, policy: &Policy, mut coverage: Option<&mut Coverage>) -> Vec<Diagnostic> {
    let mut session = policy.session();
    let mut history: Vec<Change> = Vec::new();
    let mut failures = Vec::new();
    for (number, call) in (1..).zip(&test.calls) {
        let record = &call.record;
        let before = session.state().to_vec();
        let trace = session.trace(&record.call());
        let verdict = session.check(&record.call());
        if let Some(coverage) = coverage.as_deref_mut() {
            coverage.decided(&before, &verdict, &trace);
        }
        let decided = Decided { test, number, call, policy, verdict: &verdict, trace: &trace };
        failures.extend(decided.failures());
        if verdict.decision.permits()
            && let Some(answer) = record.answer()
        {
            let before = session.state().to_vec();
            let trace = session.trace_answer(&record.call(), answer);
            let observation = session.observe(&record.call(), answer);
            if let Some(coverage) = coverage.as_deref_mut() {
                coverage.observed(&before, &observation, &trace);
            }
        }
        let changed = session.state().iter().zip(&before).enumerate().filter(|(_, (new, old))| new != old);
        history.extend(changed.map(|(variable, (value, _))| Change { call: number, variable, value: value.clone() }));
    }
    failures.extend(test.state.iter().filter_map(|expected| wrong_state(test, expected, &session, &history)));
    failures
}

fn wrong_state(test: &Test, expected: &StateValue, session: &Session, history: &[Change]) -> Option<Diagnostic> {
    let name = &expected.variable.text;
    let found = session.value(name)?;
    if *found == expected.value {
        return None;
    }
    let message = format!(
        "`{name}` is {} at the end of {}, but {} is expected",
        as_written(found),
        quoted(&test.name.text),
        as_written(&expected.value)
    );
    let id = session.policy().typed().var_named(name)?;
    let changes: Vec<&Change> = history.iter().filter(|change| change.variable == id.0 as usize).collect();
    let told: Vec<String> = changes
        .iter()
        .rev()
        .take(MAX_CHANGES)
        .rev()
        .map(|change| {
            let tool = test.calls.get(change.call - 1).map_or("", |call| &call.record.tool);
            format!("call {} ({}) made it {}", change.call, tool.escape_debug(), as_written(&change.value))
        })
        .collect();
    let note = match changes.len().checked_sub(MAX_CHANGES) {
        _ if told.is_empty() => "no call of this test changed it".to_owned(),
        Some(earlier @ 1..) => format!("after {earlier} earlier changes {}", told.join(", ")),
        _ => told.join(", "),
    };
    Some(
        Diagnostic::new(Code::PX5001, expected.span, message)
            .label(format!("it is {}", as_written(found)))
            .note(note)
            .help("if the policy is right, correct the expected value"),
    )
}

/// A value as a test file spells it.
fn as_written(value: &Value) -> String {
    match value {
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(value) => format!("`{value}`"),
        Value::Str(text) => format!("`{}`", super::values::cut(&quoted_text(text))),
    }
}
