//! What `praxiom test` found, as one JSON document.

use super::{file_name, finding, place};
use crate::suite::{Coverage, FileRun, Item, Kind, Tally};
use crate::text::{Diagnostic, Sources};
use serde_json::{Map, Value, json};

/// `{"version": 1, "files": […], "diagnostics": […]}`. `coverage`: by the policy's path; a policy with
/// several test files has one coverage, that of all of them.
#[must_use]
pub fn document(
    files: &[FileRun],
    coverage: &[(String, Coverage)],
    diagnostics: &[Diagnostic],
    sources: &Sources,
) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|file| {
            let tests: Vec<Value> = file
                .tests
                .iter()
                .map(|test| {
                    let failures: Vec<&str> = test.failures.iter().map(|failure| failure.message.as_str()).collect();
                    json!({"name": test.name, "passed": test.passed(), "failures": failures})
                })
                .collect();
            let covered = coverage.iter().find(|(path, _)| Some(path) == file.policy.as_ref());
            let covered = covered.map(|(_, found)| covered_by(found, sources));
            json!({"path": file.path, "policy": file.policy, "tests": tests, "coverage": covered})
        })
        .collect();
    let diagnostics: Vec<Value> = diagnostics.iter().map(|diagnostic| finding(diagnostic, sources)).collect();
    json!({"version": 1, "files": files, "diagnostics": diagnostics})
}

fn covered_by(coverage: &Coverage, sources: &Sources) -> Value {
    let items = coverage.items();
    let mut shown = Map::new();
    shown.insert("percent".to_owned(), json!(f64::from(Tally::of(&items, None).per_mille()) / 10.0));
    for kind in Kind::ALL {
        let tally = Tally::of(&items, Some(kind));
        shown.insert(kind.plural().to_owned(), json!({"covered": tally.covered, "total": tally.total}));
    }
    let uncovered: Vec<Value> = items.iter().filter_map(|item| uncovered_item(item, sources)).collect();
    shown.insert("uncovered".to_owned(), Value::Array(uncovered));
    Value::Object(shown)
}

fn uncovered_item(item: &Item, sources: &Sources) -> Option<Value> {
    let missing = item.missing.as_ref()?;
    Some(json!({
        "kind": item.kind.as_str(),
        "name": item.name,
        "text": item.text,
        "missing": missing,
        "file": file_name(item.span, sources),
        "span": place(item.span, sources),
    }))
}
