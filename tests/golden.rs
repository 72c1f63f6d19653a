//! What the binary prints, as a user sees it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use insta_cmd::assert_cmd_snapshot;
use std::fmt::Write;
use std::fs;
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

/// The files of the transcripts, by the names that they have there.
const FILES: [(&str, &str); 8] = [
    ("readme.yaml", "tests/fixtures/readme.yaml"),
    ("demo.yaml", "policies/demo/policy.yaml"),
    ("stuck.yaml", "tests/fixtures/faults/16-secret-answer-locks-everything.bad.yaml"),
    ("quote.yaml", "tests/fixtures/faults/10-quote-not-required.bad.yaml"),
    ("counter.yaml", "tests/fixtures/faults/07-counter-off-by-one.bad.yaml"),
    ("old.yaml", "tests/fixtures/replay/old.yaml"),
    ("new.yaml", "tests/fixtures/replay/new.yaml"),
    ("silence.yaml", "tests/fixtures/check/silence.yaml"),
];

/// What the model checker shows, line for line as in a shell: `check POLICY … > FILE` and `cat FILE` work too.
const TRANSCRIPTS: [(&str, &[&str]); 10] = [
    ("deadlock", &["check stuck.yaml"]),
    ("broken_check", &["check quote.yaml"]),
    ("answers", &["check demo.yaml --stats"]),
    (
        "diff",
        &["diff old.yaml new.yaml", "diff old.yaml new.yaml --no-new-access --format short", "diff old.yaml old.yaml"],
    ),
    ("graph", &["graph readme.yaml --format mermaid"]),
    ("itf", &["check counter.yaml --format itf"]),
    (
        "certificate",
        &["check demo.yaml --proof proof.json", "verify proof.json demo.yaml", "verify proof.json readme.yaml"],
    ),
    ("baseline", &["check stuck.yaml --format json > baseline.json", "check stuck.yaml --accept baseline.json"]),
    (
        "saved_test",
        &["check stuck.yaml --format short --save-test tests", "cat tests/stuck-px4001-1.test.yaml", "test tests"],
    ),
    (
        "stages_and_silences",
        &["check silence.yaml", "check silence.yaml --stage lint", "check demo.yaml --stage lint --format json"],
    ),
];

/// Runs the lines in a folder with all the files.
fn transcript(name: &str, lines: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, path) in FILES {
        fs::copy(root.join(path), folder.join(name)).unwrap();
    }
    let mut told = String::new();
    for line in lines {
        let (line, into) = line.split_once(" > ").map_or((*line, None), |(line, into)| (line, Some(into)));
        if let Some(path) = line.strip_prefix("cat ") {
            let _ = writeln!(told, "$ {line}\n{}", fs::read_to_string(folder.join(path)).unwrap());
            continue;
        }
        let args: Vec<&str> = line.split(' ').collect();
        let output = praxiom(&args).current_dir(&folder).output().unwrap();
        let mut out = String::from_utf8(output.stdout).unwrap();
        if let Some(into) = into {
            fs::write(folder.join(into), std::mem::take(&mut out)).unwrap();
        }
        let err = String::from_utf8(output.stderr).unwrap();
        let _ = writeln!(told, "$ praxiom {line}\n{out}{err}[exit {}]\n", output.status.code().unwrap());
    }
    told
}

#[test]
fn what_the_model_checker_shows() {
    for (name, lines) in TRANSCRIPTS {
        insta::assert_snapshot!(name, transcript(name, lines));
    }
}

/// A question that no solver answers is neither a proof nor a fault, and the time limit holds. What else the time is
/// enough for depends on the machine.
#[test]
fn three_verdicts_have_three_exit_codes() {
    let exit = |policy: &str| praxiom(&["check", policy]).output().unwrap().status.code();
    assert_eq!((exit("readme.yaml"), exit("faults/07-counter-off-by-one.bad.yaml")), (Some(0), Some(1)));
    for (more, code) in [(vec![], 3), (vec!["--allow-unknown"], 0)] {
        let before = std::time::Instant::now();
        let mut command = praxiom(&["check", "check/cubes.yaml", "--time-limit", "2s"]);
        let output = command.args(more).output().unwrap();
        // Much more would mean that the limit does not hold.
        assert!(before.elapsed().as_secs() < 15, "{:?}", before.elapsed());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        let found = text.split("\n\n").find(|found| found.contains("`invariant-decides:hard`")).unwrap();
        for part in [
            "warning[PX4017]: ",
            "not all states were visited in time; the solver: ",
            " states visited, among them all that up to ",
            "help: give it more time with `--time-limit`",
        ] {
            assert!(found.contains(part), "{part}: {text}");
        }
        assert!(text.trim_end().ends_with(" undecided)"), "{text}");
    }
}
