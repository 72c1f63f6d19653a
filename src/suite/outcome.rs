//! What became of test files, as data for the renderers.

use crate::text::Diagnostic;

/// One test file after its run.
#[derive(Clone, Debug)]
pub struct FileRun {
    /// As found or as the user named it.
    pub path: String,
    /// Path of the policy under test; `None` where the test file could not be read that far.
    pub policy: Option<String>,
    /// The selected tests; empty if the file is rejected.
    pub tests: Vec<TestRun>,
    /// What stopped the file from being run at all: it or its policy has errors.
    pub rejected: Option<&'static str>,
}

/// One test after its run.
#[derive(Clone, Debug)]
pub struct TestRun {
    pub name: String,
    /// Empty iff the test passed.
    pub failures: Vec<Diagnostic>,
}

impl TestRun {
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl FileRun {
    /// How many of its tests passed and how many failed.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let passed = self.tests.iter().filter(|test| test.passed()).count();
        (passed, self.tests.len() - passed)
    }
}
