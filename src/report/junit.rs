//! What `praxiom test` found as `JUnit` XML, which CI servers read. Characters that XML cannot hold are
//! left out by the writer.

use super::human;
use crate::suite::FileRun;
use crate::text::{Diagnostic, Sources};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

/// One suite a file, one case a test. Each of `others`, findings that belong to no test, is a case in error
/// in a suite of their own; the errors of files that did not run are among them.
pub fn document(files: &[FileRun], others: &[Diagnostic], sources: &Sources) -> Result<String, SerializeError> {
    let mut report = Report::new("praxiom test");
    for file in files.iter().filter(|file| file.rejected.is_none()) {
        let mut suite = TestSuite::new(file.path.as_str());
        for test in &file.tests {
            suite.add_test_case(case(&test.name, &file.path, &test.failures, NonSuccessKind::Failure, sources));
        }
        report.add_test_suite(suite);
    }
    if !others.is_empty() {
        let mut suite = TestSuite::new("findings");
        for finding in others {
            let place = super::short::line(finding, sources);
            let only = std::slice::from_ref(finding);
            suite.add_test_case(case(&place, finding.code.id(), only, NonSuccessKind::Error, sources));
        }
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(name: &str, class: &str, failures: &[Diagnostic], kind: NonSuccessKind, sources: &Sources) -> TestCase {
    let Some(first) = failures.first() else { return classified(name, class, TestCaseStatus::success()) };
    let mut status = TestCaseStatus::non_success(kind);
    let shown: String = failures.iter().map(|failure| human::render(failure, sources, false)).collect();
    status.set_type(first.code.id()).set_message(first.message.as_str()).set_description(shown);
    classified(name, class, status)
}

fn classified(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}
