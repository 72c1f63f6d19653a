//! `${VAR}`: strict, once, never rescanned.

use super::environment::{Environment, Lookup, is_variable_name};
use std::ops::Range;

/// Longer values are refused: they fit no command line and no header.
pub const MAX_EXPANDED_BYTES: usize = 1024 * 1024;

/// What became of a text.
#[derive(Clone, PartialEq, Eq)]
pub struct Expansion {
    /// The text with its variables; to be used only if there are no faults.
    pub value: String,
    /// The variables that it names, with the bytes of each `${VAR}`, in order.
    pub variables: Vec<(String, Range<usize>)>,
    pub faults: Vec<Fault>,
}

/// What is wrong with one `${…}`, and the bytes of the text that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub range: Range<usize>,
    pub kind: FaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A `${` without a `}`.
    Open,
    /// What stands between the braces cannot be a variable.
    BadName,
    /// The variable is not set.
    Unset(String),
    /// The variable is set to bytes that are not UTF-8.
    NotUtf8(String),
    /// With this variable the value grows over the limit.
    TooLong,
}

impl std::fmt::Debug for Expansion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expansion")
            .field("value", &"***")
            .field("variables", &self.variables)
            .field("faults", &self.faults)
            .finish()
    }
}

/// Replaces each `${VAR}` by the variable's value; `$${` stands for `${`, every other `$` for itself.
/// What a variable brings in is not looked at again.
#[must_use]
pub fn expand(text: &str, environment: &Environment) -> Expansion {
    expand_within(text, environment, MAX_EXPANDED_BYTES)
}

/// The same, with at most `limit` bytes in the value.
pub(super) fn expand_within(text: &str, environment: &Environment, limit: usize) -> Expansion {
    let mut out = Expansion { value: String::new(), variables: Vec::new(), faults: Vec::new() };
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let literal = rest.find('$').unwrap_or(rest.len());
        let (before, from) = rest.split_at(literal);
        out.value.push_str(before);
        at += literal;
        if from.starts_with("$${") {
            out.value.push_str("${");
            at += 3;
            continue;
        }
        let Some(inner) = from.strip_prefix("${") else {
            out.value.push_str(from.get(..1).unwrap_or(""));
            at += from.len().min(1);
            continue;
        };
        let Some(length) = inner.find('}') else {
            out.faults.push(Fault { range: at..text.len(), kind: FaultKind::Open });
            break;
        };
        let name = inner.get(..length).unwrap_or("");
        let range = at..at + 2 + length + 1;
        at = range.end;
        if !is_variable_name(name) {
            out.faults.push(Fault { range, kind: FaultKind::BadName });
            continue;
        }
        let kind = match environment.lookup(name) {
            Lookup::Set(value) if out.value.len() + value.len() <= limit => {
                out.value.push_str(value);
                out.variables.push((name.to_owned(), range));
                continue;
            }
            Lookup::Set(_) => FaultKind::TooLong,
            Lookup::NotUtf8 => FaultKind::NotUtf8(name.to_owned()),
            Lookup::Unset => FaultKind::Unset(name.to_owned()),
        };
        out.faults.push(Fault { range, kind });
        if out.faults.last().is_some_and(|fault| fault.kind == FaultKind::TooLong) {
            break;
        }
    }
    out
}

/// The bytes of a text that are no well-formed `${VAR}`.
pub(super) fn literal_ranges(text: &str) -> Vec<Range<usize>> {
    let expansion = expand_within(text, &Environment::default(), 0);
    let mut ranges = Vec::new();
    let mut at = 0;
    for fault in expansion.faults {
        if matches!(fault.kind, FaultKind::Unset(_)) {
            ranges.push(at..fault.range.start);
            at = fault.range.end;
        }
    }
    ranges.push(at..text.len());
    ranges.retain(|range| !range.is_empty());
    ranges
}
