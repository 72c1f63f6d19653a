//! Findings as one JSON document, the shape that tools rely on.

pub mod test_run;

use crate::text::{Diagnostic, Row, Source, Sources, Span, Verdict};
use serde_json::{Value, json};

/// What is said of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    pub path: String,
    /// `sha256:…`, where the policy compiled.
    pub digest: Option<String>,
    pub errors: usize,
    /// Questions that were neither proved nor refuted.
    pub undecided: usize,
    /// What the model checker explored; `None` where it did not run.
    pub model: Option<Explored>,
}

/// How far a policy's states are known.
#[derive(Clone, Copy, Debug)]
pub struct Explored {
    /// Distinct reachable states and allowed transitions; `None` where they were not all visited.
    pub counts: Option<(usize, u64)>,
    /// `explicit` or `symbolic`.
    pub engine: &'static str,
}

/// `{"version": 1, "files": […], "diagnostics": […]}`.
#[must_use]
pub fn document(files: &[FileReport], diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|file| {
            let counts = file.model.and_then(|model| model.counts);
            let policy = file.digest.as_ref().map(|digest| {
                json!({
                    "states": counts.map(|(states, _)| states),
                    "transitions": counts.map(|(_, transitions)| transitions),
                    "engine": file.model.map(|model| model.engine),
                    "digest": digest,
                })
            });
            let verdict = match (file.errors, file.undecided) {
                (0, 0) => "ok",
                (0, _) => "undecided",
                _ => "findings",
            };
            json!({"path": file.path, "verdict": verdict, "policy": policy})
        })
        .collect();
    let diagnostics: Vec<Value> = diagnostics.iter().map(|diagnostic| finding(diagnostic, sources)).collect();
    json!({"version": 1, "files": files, "diagnostics": diagnostics})
}

/// One finding with its labels.
#[must_use]
pub fn finding(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let mut labels = vec![label(&diagnostic.primary, true, sources)];
    labels.extend(diagnostic.secondary.iter().map(|secondary| label(secondary, false, sources)));
    let reason = (!diagnostic.notes.is_empty()).then(|| diagnostic.notes.join("; "));
    json!({
        "code": diagnostic.code.id(),
        "name": diagnostic.code.name(),
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "reason": reason,
        "file": file_name(diagnostic.primary.span, sources),
        "span": place(diagnostic.primary.span, sources),
        "labels": labels,
        "verdict": diagnostic.verdict.map(Verdict::as_str),
        "trace": diagnostic.trace.as_ref().map(|trace| trace.rows.iter().map(row).collect::<Vec<_>>()),
    })
}

fn row(row: &Row) -> Value {
    let changed: serde_json::Map<String, Value> =
        row.changed.iter().map(|(name, _, new)| (name.clone(), new.clone())).collect();
    let mut shown = json!({
        "tool": row.tool,
        "upstream": row.upstream,
        "arguments": row.arguments,
        "result": row.result,
        "verdict": row.verdict,
        "changed": changed,
        "state": row.state,
    });
    // Only where calls overlap: the row is the late answer to this call, from 1.
    if let (Some(call), Value::Object(shown)) = (row.answers, &mut shown) {
        shown.insert("answers".to_owned(), call.into());
    }
    shown
}

fn label(label: &crate::text::Label, primary: bool, sources: &Sources) -> Value {
    json!({
        "file": file_name(label.span, sources),
        "span": place(label.span, sources),
        "message": label.message,
        "primary": primary,
    })
}

pub(super) fn file_name(span: Span, sources: &Sources) -> &str {
    sources.get(span.file).map_or("?", Source::name)
}

pub(super) fn place(span: Span, sources: &Sources) -> Value {
    let point = |offset: u32| {
        let offset = offset as usize;
        let place = sources.get(span.file).map(|source| source.line_column(offset));
        let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
        json!({"line": line, "column": column, "offset": offset})
    };
    json!({"start": point(span.start), "end": point(span.end)})
}
