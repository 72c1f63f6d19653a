//! One line a finding, as an editor's problem matcher reads it: `file:line:col: severity[CODE]: message`.

use crate::text::{Diagnostic, Sources};

#[must_use]
pub fn line(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let span = diagnostic.primary.span;
    let (name, line, column) = match sources.get(span.file) {
        Some(source) => {
            let place = source.line_column(span.start as usize);
            (source.name(), place.line, place.column)
        }
        None => ("?", 1, 1),
    };
    let message = diagnostic.message.replace(['\n', '\r'], " ");
    format!("{name}:{line}:{column}: {}[{}]: {message}", diagnostic.severity.as_str(), diagnostic.code)
}
