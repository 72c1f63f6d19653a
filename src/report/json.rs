//! Findings as one JSON document, the shape that tools rely on.

pub mod test_run;

use crate::text::{Diagnostic, Source, Sources, Span};
use serde_json::{Value, json};

/// What is said of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    pub path: String,
    /// `sha256:…`, where the policy compiled.
    pub digest: Option<String>,
    pub errors: usize,
}

/// `{"version": 1, "files": […], "diagnostics": […]}`.
#[must_use]
pub fn document(files: &[FileReport], diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|file| {
            // States, transitions and engine are filled in by the model checker.
            let policy = file
                .digest
                .as_ref()
                .map(|digest| json!({"states": null, "transitions": null, "engine": null, "digest": digest}));
            let verdict = if file.errors > 0 { "findings" } else { "ok" };
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
        "verdict": null,
        "trace": null,
    })
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
