//! Diagnostics as text: one renderer a file. Knows nothing of how they were found.

pub mod graph;
pub mod human;
pub mod itf;
pub mod json;
pub mod junit;
pub mod short;
mod trace;

use crate::text::{Diagnostic, Severity};

/// How many errors and warnings there are.
#[must_use]
pub fn count(diagnostics: &[Diagnostic]) -> (usize, usize) {
    let of = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    (of(Severity::Error), of(Severity::Warning))
}

/// `2 errors, 1 warning`; `None` if there are neither.
#[must_use]
pub fn tally(diagnostics: &[Diagnostic]) -> Option<String> {
    let plural = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let (errors, warnings) = count(diagnostics);
    let parts: Vec<String> = [plural(errors, "error"), plural(warnings, "warning")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
