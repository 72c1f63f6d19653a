//! YAML in, a tree with exact places out, every problem reported.
//! Knows YAML and nothing of policies, tests or expressions.

mod errors;
mod events;
mod node;
mod positions;
mod resolve;
mod tree;

use crate::text::{Code, Diagnostic, FileId, Span, sort_diagnostics};

pub use node::{Entry, Kind, Node, Scalar, Style, Value};

/// Files beyond this size are not read.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Collections inside each other.
pub const MAX_DEPTH: usize = 64;
/// Nodes that all aliases of a file together may unfold into.
pub const MAX_COPIED_NODES: usize = 50_000;
/// Problems reported for one file; nobody reads more.
const MAX_DIAGNOSTICS: usize = 1000;

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// `None` if the file is empty or not well-formed.
    pub root: Option<Node>,
    /// In the order of the file.
    pub comments: Vec<Comment>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From the `#` to the end of the line.
    pub span: Span,
    /// What stands behind the `#`, without white space around it.
    pub text: String,
    /// Whether nothing but white space stands before it on its line.
    pub own_line: bool,
}

/// Reads one YAML document; `text` is the whole file.
#[must_use]
pub fn read(text: &str, file: FileId) -> Document {
    if text.len() > MAX_BYTES {
        return Document { diagnostics: vec![too_large(text.len(), file)], ..Document::default() };
    }
    let mut report = Report::default();
    report_line_separators(text, file, &mut report);
    let tape = events::record(text, file, &mut report);
    let root = tree::build(&tape, &mut report);
    let mut diagnostics = report.diagnostics;
    sort_diagnostics(&mut diagnostics);
    Document { root: root.filter(|_| tape.complete), comments: tape.comments, diagnostics }
}

fn too_large(len: usize, file: FileId) -> Diagnostic {
    let message = format!("the file has {len} bytes, more than the limit of {MAX_BYTES}");
    Diagnostic::new(Code::PX0010, Span::new(file, 0, 0), message).help("split the file")
}

/// Whole file, as YAML 1.1 would end even a comment there and read what follows as content.
fn report_line_separators(text: &str, file: FileId, report: &mut Report) {
    if text.is_ascii() {
        return;
    }
    for (at, found) in text.match_indices(['\u{85}', '\u{2028}', '\u{2029}']) {
        let (name, escape) = match found {
            "\u{85}" => ("U+0085 (next line)", "\\N"),
            "\u{2028}" => ("U+2028 (line separator)", "\\L"),
            _ => ("U+2029 (paragraph separator)", "\\P"),
        };
        let message = format!("the character {name} means different things to different YAML readers");
        let span = Span::new(file, at, at + found.len());
        report.push(
            Diagnostic::new(Code::PX0003, span, message)
                .note("YAML 1.1 reads a line break here, YAML 1.2 an ordinary character")
                .help(format!("remove it, or write it as `{escape}` in a double-quoted text")),
        );
    }
}

/// Collects problems up to the limit.
#[derive(Default)]
struct Report {
    diagnostics: Vec<Diagnostic>,
}

impl Report {
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests;
