//! `praxiom test` on the real binary: what people, CI servers and tools get to see.

#![allow(clippy::unwrap_used, clippy::string_slice)]

use insta_cmd::assert_cmd_snapshot;
use praxiom::eval::Policy;
use praxiom::suite;
use praxiom::text::{FileId, Sources, Span};
use std::fs;
use std::process::Command;

const FIXTURES: &str = "tests/fixtures/suite";

fn test(paths: &[&str], options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    command.arg("test").args(paths.iter().map(|path| format!("{FIXTURES}/{path}"))).args(options);
    command.env("NO_COLOR", "1");
    command
}

#[test]
fn the_policies_that_we_ship_pass() {
    let run = Command::new(env!("CARGO_BIN_EXE_praxiom")).args(["test", "policies"]).output().unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{told}");
    assert!(told.lines().any(|line| line.ends_with(" passed, 0 failed") && !line.starts_with("0 ")), "{told}");
}

#[test]
fn tests_that_pass() {
    assert_cmd_snapshot!(test(&["passing.test.yaml"], &[]));
}

#[test]
fn each_kind_of_failure_shows_the_values_that_decided() {
    assert_cmd_snapshot!(test(&["failing"], &[]));
}

#[test]
fn every_mistake_of_a_test_file_is_told_in_one_run() {
    assert_cmd_snapshot!(test(&["broken"], &[]));
}

#[test]
fn a_rejected_policy_runs_no_test() {
    assert_cmd_snapshot!(test(&["bad_policy", "passing.test.yaml"], &[]));
}

#[test]
fn a_missing_policy_stops_the_run() {
    assert_cmd_snapshot!(test(&["no_policy"], &[]));
}

#[test]
fn a_filter_selects_by_name() {
    assert_cmd_snapshot!(test(&["passing.test.yaml", "failing"], &["--filter", "*den[iy]*"]));
}

#[test]
fn a_filter_that_selects_nothing_is_an_error() {
    assert_cmd_snapshot!(test(&["passing.test.yaml"], &["--filter", "denial"]));
}

#[test]
fn a_folder_without_tests_is_an_error() {
    let mut command = test(&[], &[]);
    assert_cmd_snapshot!(command.arg("tests/fixtures/agentdojo"));
}

#[test]
fn coverage_lists_what_no_test_exercised() {
    assert_cmd_snapshot!(test(&["coverage"], &["--coverage"]));
}

#[test]
fn coverage_below_the_threshold_fails() {
    assert_cmd_snapshot!(test(&["coverage"], &["--coverage-threshold", "43"]));
    assert!(test(&["coverage"], &["--coverage-threshold", "42"]).status().unwrap().success());
}

#[test]
fn json_is_one_document() {
    assert_cmd_snapshot!(test(&["failing"], &["--format", "json", "--filter", "*surprise"]));
    assert_cmd_snapshot!(test(&["coverage"], &["--format", "json", "--coverage"]));
}

#[test]
fn junit_is_one_document() {
    assert_cmd_snapshot!(test(&["failing", "broken/empty.test.yaml"], &["--format", "junit"]));
}

/// The example of a code's page is held to what the page says of it.
#[test]
fn the_pages_of_the_test_codes_tell_the_truth() {
    let folder = std::env::temp_dir().join(format!("praxiom-suite-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for code in ["PX5001", "PX5002"] {
        let page = fs::read_to_string(format!("src/text/docs/{code}.md")).unwrap();
        for (heading, passes) in [("## Bad", false), ("## Good", true)] {
            let part = page.split(heading).nth(1).unwrap();
            let block = |fence: &str| part.split(fence).nth(1).unwrap().split("```").next().unwrap().to_owned();
            fs::write(folder.join("policy.yaml"), block("```yaml policy\n")).unwrap();
            fs::write(folder.join("policy.test.yaml"), block("```yaml test\n")).unwrap();
            let run = Command::new(env!("CARGO_BIN_EXE_praxiom"))
                .arg("test")
                .arg(&folder)
                .args(["--coverage-threshold", if code == "PX5002" { "100" } else { "0" }])
                .output()
                .unwrap();
            let told = String::from_utf8(run.stderr).unwrap();
            assert_eq!(run.status.success(), passes, "{code} {heading}: {told}");
            assert_eq!(told.contains(code), !passes, "{code} {heading}: {told}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_search_skips_what_nobody_here_wrote() {
    let folder = std::env::temp_dir().join(format!("praxiom-search-{}", std::process::id()));
    let body = "tests: [{name: t, calls: [{call: a__b, expect: deny}]}]\n";
    for place in ["", "sub", ".hidden", "target", "node_modules"] {
        fs::create_dir_all(folder.join(place)).unwrap();
        fs::write(folder.join(place).join("policy.yaml"), "default: deny\n").unwrap();
        fs::write(folder.join(place).join("policy.test.yaml"), body).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder, folder.join("sub/loop")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_praxiom")).arg("test").current_dir(&folder).output().unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert_eq!(told, "policy.test.yaml\n  ok      t\n\nsub/policy.test.yaml\n  ok      t\n\n2 passed, 0 failed\n");
    fs::remove_dir_all(&folder).unwrap();
}

/// A file that is being written is broken most of the time.
#[test]
fn no_half_written_file_is_a_panic() {
    let read = |path: &str| fs::read_to_string(format!("{FIXTURES}/{path}")).unwrap();
    let mut sources = Sources::default();
    let policy = read("policy.yaml");
    let file = sources.add("policy.yaml", policy.as_str());
    let policy = Policy::compile(&policy, file).policy.unwrap();
    for path in ["failing/failing.test.yaml", "passing.test.yaml", "broken/broken.test.yaml"] {
        let text = read(path);
        for end in 0..=text.len() {
            for part in [&text[..end], &text[end..]] {
                let file = FileId(1);
                let (Some(suite), _) = suite::decode(part, file) else { continue };
                let _ = suite::resolve(&suite, &policy);
                let mut coverage = suite::Coverage::new(policy.clone(), Span::new(file, 0, 0));
                for test in &suite.tests {
                    let _ = suite::run(test, &policy, Some(&mut coverage));
                }
                assert!(!coverage.items().is_empty());
            }
        }
    }
}
