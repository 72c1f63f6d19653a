//! A trace in the Informal Trace Format (apalache.informal.systems/docs/adr/015adr-trace.html), which other model
//! checkers' tools read: one state a step, the action in `mbt::actionTaken`, its arguments in `mbt::nondetPicks`.

use crate::text::{Diagnostic, Trace};
use serde_json::{Map, Value, json};

/// The trace of a finding; no states if it has none.
#[must_use]
pub fn document(diagnostic: &Diagnostic) -> Value {
    let states = diagnostic.trace.as_ref().map(|trace| states(trace)).unwrap_or_default();
    let vars: Vec<String> = match &diagnostic.trace {
        Some(trace) => {
            let own = trace.initial.keys().cloned();
            own.chain(["mbt::actionTaken", "mbt::nondetPicks"].map(str::to_owned)).collect()
        }
        None => Vec::new(),
    };
    json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache.informal.systems/docs/adr/015adr-trace.html",
            "source": "praxiom",
            "description": format!("{}: {}", diagnostic.code, diagnostic.message),
        },
        "vars": vars,
        "states": states,
    })
}

fn states(trace: &Trace) -> Vec<Value> {
    let mut states = vec![state(0, &trace.initial, "init", &Value::Object(Map::new()), None)];
    for (at, row) in trace.rows.iter().enumerate() {
        let action = if row.answers.is_some() { format!("{} answers", row.tool) } else { row.tool.clone() };
        states.push(state(at + 1, &row.state, &action, &row.arguments, row.result.as_ref()));
    }
    states
}

fn state(
    index: usize,
    variables: &Map<String, Value>,
    action: &str,
    arguments: &Value,
    result: Option<&Value>,
) -> Value {
    let mut out = Map::new();
    out.insert("#meta".to_owned(), json!({"index": index}));
    for (name, value) in variables {
        out.insert(name.clone(), itf(value));
    }
    out.insert("mbt::actionTaken".to_owned(), action.into());
    let mut picks = Map::new();
    if let Value::Object(arguments) = arguments {
        for (name, value) in arguments {
            picks.insert(name.clone(), itf(value));
        }
    }
    if let Some(result) = result {
        picks.insert("result".to_owned(), itf(result));
    }
    out.insert("mbt::nondetPicks".to_owned(), picks.into());
    out.into()
}

/// Whole numbers are big integers; an object is a record, a list a sequence.
fn itf(value: &Value) -> Value {
    match value {
        Value::Number(number) if !number.as_str().contains(['.', 'e', 'E']) => json!({"#bigint": number.as_str()}),
        Value::Number(number) => number.as_str().into(),
        Value::Array(items) => items.iter().map(itf).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), itf(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
