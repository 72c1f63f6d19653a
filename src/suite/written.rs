//! The parts of a test file.

use crate::eval::Decision;
use crate::ir::Value;
use crate::policy::Text;
use crate::recording::Record;
use crate::text::Span;

/// A test file.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The policy's path, from the folder of the test file; left out: `policy.yaml`.
    pub policy: Option<Text>,
    pub tests: Vec<Test>,
}

/// Calls in the order in which one session makes them.
#[derive(Clone, Debug)]
pub struct Test {
    pub name: Text,
    pub calls: Vec<TestCall>,
    /// What some variables must be at the end.
    pub state: Vec<StateValue>,
}

/// One call and what is expected of it.
#[derive(Clone, Debug)]
pub struct TestCall {
    pub record: Record,
    pub expect: Option<Expect>,
    /// Names that must be among those that the denial gives; empty: any.
    pub by: Vec<Text>,
    /// Must be part of the denial's reason.
    pub reason: Option<Text>,
}

/// A verdict and where it is written.
#[derive(Clone, Copy, Debug)]
pub struct Expect {
    pub decision: Decision,
    pub span: Span,
}

/// The value that a variable must have at the end.
#[derive(Clone, Debug)]
pub struct StateValue {
    pub variable: Text,
    pub value: Value,
    pub span: Span,
}

impl TestCall {
    /// Whether the call says anything about its verdict.
    #[must_use]
    pub fn expects(&self) -> bool {
        self.expect.is_some() || self.expects_denial()
    }

    /// Whether only a denial will do.
    #[must_use]
    pub fn expects_denial(&self) -> bool {
        !self.by.is_empty()
            || self.reason.is_some()
            || self.expect.is_some_and(|expect| expect.decision == Decision::Deny)
    }
}
