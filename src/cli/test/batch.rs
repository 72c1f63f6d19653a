//! All test files of one run, their policies and what became of them.

use crate::cli::error::ToolError;
use crate::cli::files::{read_text, shown};
use crate::cli::load::compile;
use crate::eval::Policy;
use crate::ir::Glob;
use crate::suite::{self, Coverage, FileRun, Suite, TestRun};
use crate::text::{Code, Diagnostic, Sources, Span, sort_diagnostics, visible};
use crate::yaml::MAX_BYTES;
use std::fs;
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub(super) struct Batch {
    filter: Option<Glob>,
    with_coverage: bool,
    pub(super) sources: Sources,
    policies: Vec<Tested>,
    pub(super) files: Vec<FileRun>,
    /// By the policy's path, in the order in which the policies were met.
    pub(super) coverage: Vec<(String, Coverage)>,
    /// Findings that are no failure of a test.
    pub(super) others: Vec<Diagnostic>,
}

/// A policy that test files name; it is read once.
#[derive(Debug)]
struct Tested {
    /// The file itself, however it is spelled.
    real: PathBuf,
    shown: String,
    /// `None`: it has errors.
    policy: Option<Policy>,
}

impl Batch {
    pub(super) fn new(filter: Option<Glob>, with_coverage: bool) -> Self {
        Self {
            filter,
            with_coverage,
            sources: Sources::default(),
            policies: Vec::new(),
            files: Vec::new(),
            coverage: Vec::new(),
            others: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, path: &str) -> Result<(), ToolError> {
        let text = read_text(path, MAX_BYTES)?;
        let file = self.sources.add(shown(path), text.as_str());
        let (suite, diagnostics) = suite::decode(&text, file);
        let broken = diagnostics.iter().any(Diagnostic::is_error);
        self.others.extend(diagnostics);
        let Some(suite) = suite else {
            self.reject(path, None, "the test file has errors");
            return Ok(());
        };
        let selected = suite.tests.iter().any(|test| self.selects(&test.name.text));
        if !broken && !selected {
            return Ok(());
        }
        let (shown_policy, policy) = match self.policy(path, &suite) {
            Ok(found) => found,
            // Where the test file is broken, the policy's path may be what is wrong with it.
            Err(ToolError::NoPolicy { .. }) if broken => {
                self.reject(path, None, "the test file has errors");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Some(policy) = policy else {
            self.reject(path, Some(shown_policy), "the policy has errors");
            return Ok(());
        };
        let unknown = suite::resolve(&suite, &policy);
        let broken = broken || unknown.iter().any(Diagnostic::is_error);
        self.others.extend(unknown);
        if broken {
            self.reject(path, Some(shown_policy), "the test file has errors");
            return Ok(());
        }
        let mut coverage = self.coverage.iter_mut().find(|(policy, _)| *policy == shown_policy).map(|(_, found)| found);
        let filter = self.filter.as_ref();
        let tests = suite.tests.iter().filter(|test| filter.is_none_or(|filter| filter.matches(&test.name.text)));
        let tests = tests
            .map(|test| TestRun {
                name: test.name.text.clone(),
                failures: suite::run(test, &policy, coverage.as_deref_mut()),
            })
            .collect();
        self.files.push(FileRun { path: shown(path), policy: Some(shown_policy), tests, rejected: None });
        Ok(())
    }

    fn selects(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(name))
    }

    fn reject(&mut self, path: &str, policy: Option<String>, why: &'static str) {
        self.files.push(FileRun { path: shown(path), policy, tests: Vec::new(), rejected: Some(why) });
    }

    /// The policy of a test file, with the path that reports name it by.
    fn policy(&mut self, test: &str, suite: &Suite) -> Result<(String, Option<Policy>), ToolError> {
        let written = suite.policy.as_ref().map_or("policy.yaml", |policy| policy.text.as_str());
        let folder = if test == "-" { None } else { Path::new(test).parent() };
        let path = folder.unwrap_or(Path::new("")).join(written);
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let short = without_detours(&path);
        // Behind a link `a/..` is not where `a` stands.
        let path = if fs::canonicalize(&short).is_ok_and(|found| found == real) { short } else { path };
        let name = path.display().to_string();
        if let Some(known) = self.policies.iter().find(|known| known.real == real) {
            return Ok((known.shown.clone(), known.policy.clone()));
        }
        let compiled = compile(&name, &mut self.sources).map_err(|error| match error {
            ToolError::Missing { path } => ToolError::NoPolicy { path, test: shown(test) },
            other => other,
        })?;
        let policy = compiled.policy;
        if let Some(policy) = &policy {
            if self.with_coverage {
                let start = compiled.file.map(|file| file.span.at_start()).unwrap_or_default();
                self.coverage.push((name.clone(), Coverage::new(policy.clone(), start)));
            }
        } else {
            self.others.extend(compiled.diagnostics.into_iter().filter(Diagnostic::is_error));
        }
        self.policies.push(Tested { real, shown: name.clone(), policy: policy.clone() });
        Ok((name, policy))
    }

    /// No test ran and nothing else explains it.
    pub(super) fn ran_nothing(&self) -> bool {
        !self.others.iter().any(Diagnostic::is_error) && self.files.iter().all(|file| file.tests.is_empty())
    }

    /// The complaint points into the command line, since no file is to blame.
    pub(super) fn no_tests(&mut self, paths: &[String], filter: Option<&str>) {
        let mut line = String::from("praxiom test");
        let mut blamed = 0..line.len();
        for (at, path) in paths.iter().enumerate() {
            line.push(' ');
            let start = line.len();
            line.push_str(&visible(path));
            blamed = if at == 0 { start..line.len() } else { blamed.start..line.len() };
        }
        let (message, help) = if let Some(filter) = filter {
            line.push_str(" --filter ");
            let start = line.len();
            line.push_str(&visible(filter));
            blamed = start..line.len();
            let filter = visible(filter);
            (format!("no test is named like `{filter}`"), "the glob must match the whole name, e.g. `*secret*`")
        } else {
            ("there is no test here".to_owned(), "test files end in `.test.yaml` and stand next to their policy")
        };
        let file = self.sources.add("<command line>", line);
        let span = Span::new(file, blamed.start, blamed.end);
        self.others.push(Diagnostic::new(Code::PX5003, span, message).help(help));
    }

    /// Every finding of the run, in the order in which the files were read.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let failures = self.files.iter().flat_map(|file| &file.tests).flat_map(|test| &test.failures);
        let mut all: Vec<Diagnostic> = self.others.iter().chain(failures).cloned().collect();
        sort_diagnostics(&mut all);
        all
    }
}

/// `a/b.yaml` for `a/x/../b.yaml`.
fn without_detours(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        let detour =
            part == Component::ParentDir && matches!(short.components().next_back(), Some(Component::Normal(_)));
        if detour {
            short.pop();
        } else {
            short.push(part);
        }
    }
    short
}
