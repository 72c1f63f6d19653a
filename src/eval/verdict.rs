//! What was decided, as data.

use super::policy::Policy;
use super::reason::{self, Texts};
use crate::ir::{ArgId, Context, IntError, Value};
use std::fmt;
use std::sync::Arc;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    Allow,
    Deny,
    /// No action covers the tool, and the policy's default is allow.
    Pass,
}

impl Decision {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Pass => "pass",
        }
    }

    /// Whether the call may be forwarded.
    #[must_use]
    pub fn permits(self) -> bool {
        self != Self::Deny
    }
}

/// A rule of the policy, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    Guard { action: usize, guard: usize },
    Effect { action: usize, assignment: usize },
    OnResult { action: usize, assignment: usize },
    Invariant(usize),
}

/// One reason for a denial. The order of the variants is the order in which they are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A declared argument is missing (`found` is `None`) or has another type (its Python name).
    Argument {
        action: usize,
        argument: ArgId,
        found: Option<&'static str>,
    },
    /// A rule has no value.
    Evaluation {
        rule: Rule,
        reason: Undefined,
    },
    Guard {
        action: usize,
        guard: usize,
    },
    Invariant(usize),
    /// No action covers the tool, and the default is deny.
    Default,
    /// An earlier `on_result` could not be evaluated.
    Faulted {
        rule: Rule,
        reason: Undefined,
    },
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// A division by zero, or a number of too many digits.
    Number(IntError),
    /// It needs an argument that the call does not have as declared.
    Argument,
    /// A bug of ours; it denies like the others.
    Internal,
}

impl From<IntError> for Undefined {
    fn from(error: IntError) -> Self {
        Self::Number(error)
    }
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(error) => error.fmt(f),
            Self::Argument => f.write_str("an argument is missing or has another type"),
            Self::Internal => f.write_str("an internal error of praxiom"),
        }
    }
}

/// What kind of thing failed, as machine output names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedKind {
    Argument,
    Evaluation,
    Guard,
    Invariant,
    Default,
}

impl FailedKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Evaluation => "evaluation",
            Self::Guard => "guard",
            Self::Invariant => "invariant",
            Self::Default => "default",
        }
    }
}

/// A failing thing by name: an argument, a guard's label, an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub kind: FailedKind,
    pub name: Arc<str>,
}

/// The decision on one call.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub decision: Decision,
    /// Indices of the matching actions, in file order.
    pub actions: Vec<u32>,
    /// Everything that failed, in the order in which it is named; empty unless denied.
    pub failures: Vec<Failure>,
    pub(super) denied: Option<Denied>,
    pub(super) tool: String,
}

/// What a denial's reason is written from.
#[derive(Clone, Debug)]
pub(super) struct Denied {
    pub(super) policy: Policy,
    pub(super) state: Vec<Value>,
}

impl Verdict {
    /// Why the call was denied, in the wording of the original; `None` unless denied.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        self.reason_with(Texts::Shown)
    }

    /// The reason with or without the text values of the state.
    #[must_use]
    pub fn reason_with(&self, texts: Texts) -> Option<String> {
        let denied = self.denied.as_ref()?;
        Some(reason::reason(denied.policy.typed(), &denied.state, &self.tool, &self.failures, texts))
    }

    /// Everything that failed, by name.
    #[must_use]
    pub fn failed(&self) -> Vec<Failed> {
        let Some(denied) = &self.denied else { return Vec::new() };
        self.failures.iter().map(|failure| reason::name(denied.policy.typed(), failure)).collect()
    }
}

/// What an answer did to the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Whether a variable has another value now.
    pub changed: bool,
    /// An `on_result` could not be evaluated: nothing was committed, and every later call is denied.
    pub fault: Option<super::Fault>,
    /// Indices of the invariants that do not hold now.
    pub violated: Vec<usize>,
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
