//! Text and diagnostics: where things stand in a file and how a problem is described.
//! Knows nothing of YAML, expressions or policies.

pub mod code;
mod credential;
pub mod diagnostic;
pub mod source;
pub mod span;
pub mod suggest;
pub mod trace;
mod visible;

pub use code::{Code, Severity};
pub use credential::is_secret_key;
pub use diagnostic::{Diagnostic, Label, limit_diagnostics, sort_diagnostics};
pub use source::{LineColumn, Source, Sources};
pub use span::{FileId, Span};
pub use trace::{Row, Trace, Verdict};
pub use visible::{is_invisible, visible};

/// `1 state`, `2 states`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
