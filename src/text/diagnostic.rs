//! One problem, as data: renderers and editors decide how it looks.

use super::code::{Code, Severity};
use super::span::Span;
use super::trace::{Trace, Verdict};
use super::visible::is_invisible;

/// A remark on a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

/// A problem with its code, one headline in the user's words, the exact place, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub primary: Label,
    pub secondary: Vec<Label>,
    /// Why it matters; one sentence or more.
    pub notes: Vec<String>,
    /// What to write or do instead.
    pub help: Option<String>,
    /// What the model checker is sure of; `None` for findings that need no model.
    pub verdict: Option<Verdict>,
    /// The calls that show it.
    pub trace: Option<Box<Trace>>,
}

impl Diagnostic {
    /// A problem of the code's own severity at `span`.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: shown(message),
            primary: Label { span, message: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            verdict: None,
            trace: None,
        }
    }

    /// The text beside the underlined place.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.primary.message = shown(message);
        self
    }

    /// A second place that belongs to the problem.
    #[must_use]
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.secondary.push(Label { span, message: shown(message) });
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(shown(note));
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shown(help));
        self
    }

    /// Help when there is some.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.map(shown).or(self.help);
        self
    }

    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = Some(verdict);
        self
    }

    /// Refuted, as these calls show.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.verdict = Some(Verdict::Refuted);
        self.trace = Some(Box::new(trace));
        self
    }

    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same as a warning, where the code's own severity is too much.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Longer remarks are cut: a name in them may be as long as the file.
const MAX_CHARS: usize = 1000;

/// A remark as it may be shown: names out of a file must not bring control characters to a terminal.
fn shown(remark: impl Into<String>) -> String {
    let remark = remark.into();
    let harmless = |c: char| c == '\n' || !is_invisible(c);
    if remark.len() <= MAX_CHARS && remark.chars().all(harmless) {
        return remark;
    }
    let mut out = String::new();
    for c in remark.chars().take(MAX_CHARS) {
        if harmless(c) { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
    if remark.chars().nth(MAX_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Findings of one file; nobody reads more.
const MAX_DIAGNOSTICS: usize = 1000;

/// Leaves at most a thousand findings, errors before the others.
pub fn limit_diagnostics(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() > MAX_DIAGNOSTICS {
        diagnostics.sort_by_key(|diagnostic| !diagnostic.is_error());
        diagnostics.truncate(MAX_DIAGNOSTICS);
    }
}

/// By file, place, then code: the order in which a person reads; exact repetitions are dropped.
pub fn sort_diagnostics(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| (a.primary.span, a.code, &a.message).cmp(&(b.primary.span, b.code, &b.message)));
    diagnostics.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_cut_and_hold_no_control_characters() {
        let found = Diagnostic::new(Code::PX1001, Span::default(), "é".repeat(5000)).help("a\nb\u{1b}[31m\0");
        assert_eq!(found.message.chars().count(), MAX_CHARS + 1);
        assert_eq!(found.help.as_deref(), Some("a\nb\\u{1b}[31m\\u{0}"));
    }
}
