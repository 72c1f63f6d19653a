//! Deciding a log again.

use crate::gateway::{Gateway, POLICY, Sent, folder, options};
use praxiom::audit::{LogArguments, Options};
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit code and standard output of `praxiom replay`.
pub(crate) fn replay(policy: &Path, log: &Path, format: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    let output =
        command.arg("replay").arg("--policy").arg(policy).args(["--format", format]).arg(log).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() != Some(2) && !told.contains("panicked"), "{told}");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn summary(policy: &Path, log: &Path) -> (i32, Value) {
    let (code, text) = replay(policy, log, "json");
    (code, serde_json::from_str(&text).unwrap())
}

fn files(name: &str, policy: &str) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    fs::write(folder.join("policy.yaml"), policy).unwrap();
    (folder.join("policy.yaml"), folder.join("log"))
}

#[derive(Clone, Debug)]
enum Step {
    Call {
        principal: usize,
        tool: usize,
    },
    /// An answer to one of the calls that wait.
    Answer {
        which: prop::sample::Index,
        answer: usize,
    },
    Restart,
}

const TOOLS: [(&str, &str); 5] = [
    ("fs__read", r#"{"path": "/w"}"#),
    ("fs__note", r#"{"say": "one", "n": 123456789012345678901234567890}"#),
    ("fs__note", r#"{"say": 2}"#),
    ("hub__post", r#"{"text": "\u001b\u00e9"}"#),
    ("fs__other", "{}"),
];

const ANSWERS: [Result<&str, &str>; 5] = [
    Ok(r#"{"content": [{"type": "text", "text": "PRIVATE"}]}"#),
    Ok(r#""long again""#),
    Ok(r#"{"content": [], "isError": true}"#),
    Err(r#"{"code": -1, "message": "long", "data": [1E2]}"#),
    Err(r#"{"content": [], "message": "PRIVATE"}"#),
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..2_usize, 0..TOOLS.len()).prop_map(|(principal, tool)| Step::Call { principal, tool }),
        5 => (any::<prop::sample::Index>(), 0..ANSWERS.len())
            .prop_map(|(which, answer)| Step::Answer { which, answer }),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..40)
}

/// Runs the steps and says how many calls were decided.
fn run(steps: &[Step], log: &Path, options: Options) -> u64 {
    let mut gateway = Gateway::new(POLICY, Some(log), options);
    let mut waiting: Vec<Sent> = Vec::new();
    let mut decided = 0;
    for step in steps {
        match step {
            Step::Call { principal, tool } => {
                let (tool, arguments) = TOOLS[*tool];
                waiting.extend(gateway.call(["ann", "bob"][*principal], tool, arguments));
                decided += 1;
            }
            Step::Answer { which, answer } if !waiting.is_empty() => {
                let sent = waiting.remove(which.index(waiting.len()));
                gateway.answer(&sent, ANSWERS[*answer]);
            }
            Step::Answer { .. } => {}
            Step::Restart => {
                drop(gateway);
                waiting.clear();
                gateway = Gateway::new(POLICY, Some(log), options);
            }
        }
    }
    decided
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interleaved_sessions_come_to_what_is_on_record(steps in steps(), dry_run: bool) {
        let (policy, log) = files("agreement", POLICY);
        let decided = run(&steps, &log, Options { dry_run, ..options(LogArguments::Full) });
        let (code, document) = summary(&policy, &log);
        let told = &document["summary"];
        prop_assert_eq!(code, 0, "{}", document);
        prop_assert_eq!(&told["agreed"], decided);
        prop_assert_eq!(document["verdicts"].as_array().unwrap().len() as u64, decided);
        prop_assert_eq!([&told["differed"], &told["resumed"], &told["answers"]["unknown"]], [0, 0, 0]);
    }

    #[test]
    fn what_is_redacted_never_agrees(steps in steps()) {
        let (policy, log) = files("redacted-replay", POLICY);
        let decided = run(&steps, &log, options(LogArguments::None));
        let (code, document) = summary(&policy, &log);
        prop_assert_eq!(code, if decided > 0 { 3 } else { 0 }, "{}", document);
        prop_assert_eq!([&document["summary"]["agreed"], &document["summary"]["unknown"]["redacted"]], [0, decided]);
    }
}

#[test]
fn a_verdict_that_was_changed_differs_and_so_does_an_answer() {
    let (policy, log) = files("changed", POLICY);
    let mut gateway = Gateway::new(POLICY, Some(&log), options(LogArguments::Full));
    let read = gateway.call("me", "fs__read", "{}").unwrap();
    gateway.answer(&read, Ok(r#""PRIVATE""#));
    assert!(gateway.call("me", "hub__post", "{}").is_none());
    let whole = fs::read_to_string(&log).unwrap();
    assert_eq!(replay(&policy, &log, "human").0, 0);
    // Last lines only: the chain is not what finds these.
    let changed = |from: &str, to: &str, lines: usize| {
        let text: String = whole.split_inclusive('\n').take(lines).collect();
        let at = text.rfind(from).unwrap();
        fs::write(&log, format!("{}{to}{}", &text[..at], &text[at + from.len()..])).unwrap();
        replay(&policy, &log, "human")
    };
    let (code, text) = changed(r#""deny""#, r#""allow""#, 4);
    assert_eq!(code, 1);
    assert!(text.starts_with("line 4: allow → deny  hub__post\n    now: fails guard 'publish'"), "{text}");
    assert!(
        text.ends_with(
            "2 decisions: 1 agreed, 1 differed\nanswers that rules look at: 1 agreed, 0 differed, 0 unknown\n"
        ),
        "{text}"
    );
    let (code, text) = changed(r#""name":"publish""#, r#""name":"other""#, 4);
    assert_eq!((code, text.contains("failed: recorded other, now publish")), (1, true), "{text}");
    let (code, text) = changed(r#""after":{"tainted":true"#, r#""after":{"tainted":false"#, 3);
    assert_eq!(code, 1);
    assert!(text.contains("line 3: answer  fs__read") && text.contains("state: recorded"), "{text}");
    let (code, text) = changed(r#""changed":true"#, r#""changed":"yes""#, 3);
    assert_eq!(code, 1);
    assert!(text.contains("line 3: the record cannot be read: `changed` is missing or no boolean"), "{text}");
}

#[test]
fn what_stays_unknown_is_no_agreement_and_no_difference() {
    let (policy, log) = files("unknown", POLICY);
    let mut gateway = Gateway::new(POLICY, Some(&log), options(LogArguments::Redacted));
    gateway.call("me", "fs__read", r#"{"token": "x"}"#);
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    let output = command.args(["replay", "--policy"]).arg(&policy).arg(&log).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().lines().next(),
        Some("1 decisions: 0 agreed, 0 differed, 1 unknown: redacted")
    );
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`serve --log-arguments full`"), "{told}");
}

#[test]
fn another_policy_is_said_and_only_verdicts_count() {
    let (policy, log) =
        files("other", &POLICY.replace("requires: not tainted", "requires: not (tainted and reads > 0)"));
    let mut gateway = Gateway::new(POLICY, Some(&log), options(LogArguments::Full));
    let read = gateway.call("me", "fs__read", "{}").unwrap();
    gateway.answer(&read, Ok(r#""PRIVATE""#));
    gateway.call("me", "hub__post", "{}");
    let (code, document) = summary(&policy, &log);
    assert_eq!((code, &document["summary"]["agreed"]), (0, &2.into()), "{document}");
    assert_eq!(document["summary"]["other_policies"][0], gateway.policy.digest());
    fs::write(&policy, POLICY.replace("requires: not tainted", "requires: 'true'")).unwrap();
    let (code, document) = summary(&policy, &log);
    assert_eq!((code, &document["verdicts"][1]["differs"]), (1, &serde_json::json!(["verdict"])), "{document}");
    assert_eq!(document["verdicts"][1]["recorded"]["verdict"], "deny");
    assert_eq!(document["verdicts"][1]["verdict"], "allow");
}

#[test]
fn after_a_gap_the_recorded_state_goes_on() {
    let (policy, log) = files("gap", POLICY);
    let mut gateway = Gateway::new(POLICY, Some(&log), options(LogArguments::Full));
    for _ in 0..3 {
        gateway.call("me", "fs__read", "{}");
    }
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&log, [lines[0], lines[1], lines[3]].concat()).unwrap();
    let (code, document) = summary(&policy, &log);
    let told = &document["summary"];
    assert_eq!((code, &document["chain_problems"]), (1, &1.into()), "{document}");
    assert_eq!([&told["agreed"], &told["differed"], &told["resumed"]], [2, 0, 1], "{document}");
    // A log whose first record was torn is a log still.
    let torn = log.with_extension("torn");
    fs::write(&torn, "{\"seq\":1,\"ti").unwrap();
    Gateway::new(POLICY, Some(&torn), options(LogArguments::Full)).call("me", "fs__read", "{}");
    let (code, document) = summary(&policy, &torn);
    assert_eq!((code, &document["summary"]["agreed"]), (0, &1.into()), "{document}");
    // A rotated file begins in the middle.
    fs::write(&log, text).unwrap();
    fs::rename(&log, log.with_extension("1")).unwrap();
    gateway.audit.reopen().unwrap();
    gateway.call("me", "fs__read", "{}");
    let (code, document) = summary(&policy, &log);
    assert_eq!((code, &document["summary"]["agreed"], &document["summary"]["resumed"]), (0, &1.into(), &1.into()));
}
