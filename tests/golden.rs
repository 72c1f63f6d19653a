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

#[test]
fn the_shipped_policies_have_no_warning_and_cover_their_servers() {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    for (policy, tools) in [
        ("filesystem", vec!["fs=filesystem/fs.tools.json"]),
        ("github", vec!["github=github/github.tools.json"]),
        ("etherscan", vec![]),
        ("demo", vec![]),
        ("mixed", vec!["fs=mixed/fs.tools.json", "github=mixed/github.tools.json"]),
    ] {
        let path = format!("{policy}/policy.yaml");
        let mut args = vec!["check", "--strict", &path];
        args.extend(tools.iter().flat_map(|tools| ["--tools", tools]));
        let output = praxiom(&args).current_dir(&policies).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{policy}: {text}");
        // Every question of the model checker was answered too.
        let told = text.strip_prefix(&format!("{path}: no findings (")).unwrap_or_else(|| panic!("{text}"));
        assert!(told.ends_with(" questions)\n") && told.contains(" states, "), "{text}");
    }
}

#[test]
fn the_version_names_the_solver() {
    let output = praxiom(&["--version"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    let solver = if cfg!(feature = "smt") { "(Z3 5." } else { "(built without a solver)" };
    assert!(text.starts_with("praxiom ") && text.contains(solver), "{text}");
}

#[test]
fn a_recording_for_a_person() {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    let mut command = praxiom(&["replay", "--policy", "filesystem/policy.yaml", "filesystem/session.jsonl"]);
    assert_cmd_snapshot!(command.current_dir(policies));
}

#[test]
fn two_policies_compared() {
    assert_cmd_snapshot!(praxiom(&[
        "replay",
        "--policy",
        "replay/new.yaml",
        "--against",
        "replay/old.yaml",
        "replay/calls.jsonl"
    ]));
}

#[test]
fn failures_of_the_tool_itself() {
    assert_cmd_snapshot!("missing", praxiom(&["check", "nowhere.yaml"]));
    assert_cmd_snapshot!("not_utf8", praxiom(&["check", "check/latin1.yaml"]));
    assert_cmd_snapshot!("swapped", praxiom(&["check", "check/servers.yaml"]));
    assert_cmd_snapshot!("unknown_code", praxiom(&["explain", "PX2033"]));
}

#[test]
fn lints_and_their_silences() {
    assert_cmd_snapshot!(praxiom(&["check", "check/lints.yaml", "--tools", "db=check/db.tools.json"]));
}
