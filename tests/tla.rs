//! Reachable states against an outside yardstick: models of the TLA+ examples, written as policies, have as many
//! states and steps as TLC counts. A file's header says how many; each of its checks holds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const FOLDER: &str = "tests/fixtures/tla";

fn files() -> Vec<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.into_iter().map(|name| format!("{FOLDER}/{name}")).collect()
}

/// States, transitions and deadlock, as the header has them: `# states: 13 transitions: 24 deadlock: no`.
fn promised(path: &str) -> (u64, u64, bool) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let header = text.lines().find(|line| line.starts_with("# states: ")).unwrap();
    match header.split(' ').collect::<Vec<_>>()[..] {
        ["#", "states:", states, "transitions:", transitions, "deadlock:", deadlock @ ("yes" | "no")] => {
            (states.parse().unwrap(), transitions.parse().unwrap(), deadlock == "yes")
        }
        _ => panic!("{path}: {header}"),
    }
}

fn check(paths: &[String]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    command.args(["check", "--format", "json", "--stage", "model", "--time-limit", "120s"]).args(paths);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    // Models that come to an end by design are deadlocks, so errors.
    assert_eq!(output.status.code(), Some(1), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn states_and_steps_are_those_that_tlc_counts() {
    let paths = files();
    assert!(paths.len() >= 10, "{paths:?}");
    let document = check(&paths);
    let mut wrong = Vec::new();
    for path in &paths {
        let (states, transitions, deadlock) = promised(path);
        let file = document["files"].as_array().unwrap().iter().find(|file| file["path"] == **path).unwrap();
        let policy = &file["policy"];
        let found = json!([policy["states"], policy["transitions"], policy["engine"]]);
        let wanted = json!([states, transitions, "explicit"]);
        let of_file = document["diagnostics"].as_array().unwrap().iter().filter(|row| row["file"] == **path);
        let errors: Vec<_> = of_file.filter(|row| row["severity"] == "error").collect();
        let codes: Vec<_> = errors.iter().map(|row| row["code"].as_str().unwrap()).collect();
        let told: Vec<_> = errors.iter().map(|row| row["message"].as_str().unwrap()).collect();
        let expected: &[&str] = if deadlock { &["PX4001"] } else { &[] };
        if found != wanted || codes != expected || file["verdict"] == "undecided" {
            wrong.push(format!("{path}: {found}, not {wanted}; {}, {codes:?} {told:?}", file["verdict"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
