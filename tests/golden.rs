//! What the binary prints, as a user sees it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use insta_cmd::assert_cmd_snapshot;
use std::path::Path;
use std::process::Command;

fn praxiom(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    command.args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).env_clear();
    command
}

#[test]
fn twelve_mistakes_for_a_person() {
    assert_cmd_snapshot!(praxiom(&["check", "check/twelve.yaml"]));
}

#[test]
fn twelve_mistakes_for_a_problem_matcher() {
    assert_cmd_snapshot!(praxiom(&["check", "check/twelve.yaml", "--format", "short"]));
}

#[test]
fn twelve_mistakes_as_json() {
    assert_cmd_snapshot!(praxiom(&["check", "check/twelve.yaml", "--format", "json"]));
}
