//! A run of calls that shows a finding, as data: renderers decide how it looks. Every trace has been replayed
//! by the evaluator before it is shown.

use serde_json::{Map, Value};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no run that shows the contrary.
    Proved,
    /// A run shows it.
    Refuted,
    /// Neither was found.
    Unknown,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Unknown => "unknown",
        }
    }
}

/// Calls from the initial state on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub rows: Vec<Row>,
    /// Whether no shorter run shows the same.
    pub shortest: bool,
    /// The state before the first call.
    pub initial: Map<String, Value>,
    /// What holds at the end, for a person, e.g. `fs__write_file`: denied by guard `a`.
    pub end: Vec<String>,
    /// A run like this one that does not end so.
    pub near_miss: Option<String>,
}

/// One call and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub tool: String,
    pub upstream: String,
    pub arguments: Value,
    /// The answer, where it arrived and matters.
    pub result: Option<Value>,
    /// The call (from 1) whose answer arrives only now; the row is no call of its own.
    pub answers: Option<usize>,
    /// `allow`, `deny` or `pass`.
    pub verdict: &'static str,
    /// Why it was denied.
    pub reason: Option<String>,
    /// Each variable that changed: its name, its value before and after.
    pub changed: Vec<(String, Value, Value)>,
    /// Every variable afterwards.
    pub state: Map<String, Value>,
}
