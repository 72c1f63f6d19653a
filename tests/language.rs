//! The language through the binary: decisions, rejections, recorded verdicts of the original, globs,
//! and whole traces of attacks.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use praxiom::eval::Policy;
use praxiom::json;
use praxiom::lint::{lint, silence};
use praxiom::replay::{Recorded, read, replay};
use praxiom::text::{FileId, Sources};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs the binary on a policy with `input` on standard input: exit code and standard output.
fn praxiom(id: &str, policy: &str, args: &[&str], input: &str) -> (i32, String) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("language-{id}.yaml"));
    fs::write(&path, policy).unwrap();
    let args = args.iter().map(|arg| if *arg == "POLICY" { path.to_str().unwrap() } else { arg });
    let mut child = Command::new(env!("CARGO_BIN_EXE_praxiom"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{id}: {errors}");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

/// One call a line; arguments are spelled as in the fixture, since their spelling matters.
fn lines(calls: &Value) -> String {
    let mut out = String::new();
    for call in calls.as_array().unwrap() {
        let mut call = call.as_object().unwrap().clone();
        let arguments = call.remove("arguments").unwrap();
        let rest = Value::Object(call).to_string();
        let rest = rest.strip_suffix('}').unwrap();
        writeln!(out, "{rest}, \"arguments\": {}}}", arguments.as_str().unwrap()).unwrap();
    }
    out
}

#[test]
fn decisions_and_rejections() {
    let rows: Value = serde_json::from_str(&fixture("language.json")).unwrap();
    let mut wrong = Vec::new();
    for row in rows.as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let policy = row["policy"].as_str().unwrap();
        let title = &row["title"];
        if let Some(codes) = row.get("rejected") {
            let (exit, out) = praxiom(id, policy, &["check", "POLICY", "--format", "json", "--stage", "types"], "");
            let report: Value = serde_json::from_str(&out).unwrap();
            let errors = report["diagnostics"].as_array().unwrap().iter().filter(|d| d["severity"] == "error");
            let mut found: Vec<&str> = errors.map(|d| d["code"].as_str().unwrap()).collect();
            found.sort_unstable();
            found.dedup();
            if exit != 1 || serde_json::json!(found) != *codes {
                wrong.push(format!("{id} {title}: exit {exit}, {found:?} instead of {codes}"));
            }
            continue;
        }
        let args = ["replay", "--policy", "POLICY", "--format", "json", "-"];
        let (exit, out) = praxiom(id, policy, &args, &lines(&row["calls"]));
        let Ok(report) = serde_json::from_str::<Value>(&out) else {
            wrong.push(format!("{id} {title}: exit {exit}, no report"));
            continue;
        };
        let Some(verdicts) = report["verdicts"].as_array() else {
            wrong.push(format!("{id} {title}: exit {exit}, {out}"));
            continue;
        };
        let found: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["verdict"]).collect();
        if exit != 0 || serde_json::json!(found) != row["verdicts"] {
            wrong.push(format!("{id} {title}: exit {exit}, {found:?} instead of {}", row["verdicts"]));
        }
        let last = verdicts.last();
        if let (Some(state), Some(last)) = (row.get("state"), last)
            && last["state"] != *state
        {
            wrong.push(format!("{id} {title}: state {} instead of {state}", last["state"]));
        }
        if let (Some(failed), Some(last)) = (row.get("failed"), last) {
            let names: Vec<&Value> = last["failed"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
            if serde_json::json!(names) != *failed {
                wrong.push(format!("{id} {title}: failed {names:?} instead of {failed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A policy with calls and what the original said; the calls keep the spelling of large numbers.
#[derive(serde::Deserialize)]
struct Recording {
    id: String,
    policy: String,
    calls: Box<serde_json::value::RawValue>,
    expect: Value,
}

#[test]
fn verdicts_of_the_original() {
    let mut wrong = Vec::new();
    for line in fixture("oracle.jsonl").lines() {
        let row: Recording = serde_json::from_str(line).unwrap();
        let id = &row.id;
        let compiled = Policy::compile(&row.policy, FileId(0));
        let Some(policy) = compiled.policy else {
            if row.expect.get("rejected").is_none() {
                wrong.push(format!("{id}: rejected: {:?}", compiled.diagnostics));
            }
            continue;
        };
        let calls = read(row.calls.get().as_bytes()).unwrap();
        let expected = row.expect["verdicts"].as_array().unwrap_or_else(|| panic!("{id}: must be rejected"));
        for (at, (found, expected)) in replay(&policy, &calls, 0).iter().zip(expected).enumerate() {
            let found: Value = serde_json::from_str(&serde_json::to_string(found).unwrap()).unwrap();
            let allowed = found["verdict"] == "allow" || found["verdict"] == "pass";
            let names: Vec<&Value> = found["failed"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
            let all_named = expected["violated"].as_array().unwrap().iter().all(|name| names.contains(&name));
            if expected["allowed"] != allowed || found["state"] != expected["state"] || !all_named {
                wrong.push(format!("{id}, call {at}: {found} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reasons_are_worded_as_in_the_original() {
    let policy = "patterns: {p: [x]}\nstate: {tainted: {type: bool, init: true}, n: {type: int, init: 1}, s: {type: str, init: \"it's\"}}\n\
        invariants: [{name: cap, expr: n <= 1}]\ndefault: deny\nactions:\n\
        - {name: a, match: s__a, requires: [not tainted, n < 1], effect: {n: n + 1}}\n\
        - {name: b, match: s__b, args: {p: str, q: int}}\n\
        - {name: d, match: s__d, args: {x: int}, requires: 100 // x <= 10}\n\
        - {name: r, match: s__r, args: {x: int}, on_result: {n: 1 // x}}\n";
    let calls = "{\"tool\": \"s__a\"}\n{\"tool\": \"s__b\", \"arguments\": {\"p\": null}}\n{\"tool\": \"s__c\"}\n\
        {\"tool\": \"s__d\", \"arguments\": {\"x\": 0}}\n{\"tool\": \"s__r\", \"arguments\": {\"x\": 0}, \"result\": \"\"}\n\
        {\"tool\": \"s__c\"}\n{\"tool\": \"s__c\", \"arguments\": 3}\n";
    let (_, out) = praxiom("reasons", policy, &["replay", "--policy", "POLICY", "--format", "json", "-"], calls);
    let report: Value = serde_json::from_str(&out).unwrap();
    let reasons: Vec<&str> =
        report["verdicts"].as_array().unwrap().iter().map(|row| row["reason"].as_str().unwrap_or("-")).collect();
    assert_eq!(
        reasons,
        [
            "violates invariant 'cap' (n <= 1); fails guard 'a#1', 'a#2' [state: tainted=True, n=1, s=\"it's\"]",
            "action 'b' requires 'p' to be str, got NoneType; action 'b' requires argument 'q', which the call omits",
            "no policy action covers 's__c' and the policy default is deny",
            "cannot evaluate 100 // x <= 10 of 'd': division by zero",
            "-",
            "the session is faulted: on_result of 'r' could not be evaluated (division by zero)",
            "malformed call: `arguments` is no object",
        ]
    );
}

/// Digests are kept in audit logs and proofs: they must outlive a version.
#[test]
fn a_digest_is_of_the_meaning_and_stays() {
    let digest = |text: &str| Policy::compile(text, FileId(0)).policy.unwrap().digest().to_owned();
    let readme = fixture("readme.yaml");
    assert_eq!(digest(&readme), "sha256:2683c1efaf0d0af2b199b419620073b9c655395d3d5d33dcfa44f12699250588");
    assert_eq!(
        digest(&fixture("agentdojo/banking.core.yaml")),
        "sha256:4f89477ce508a4202103ef1f101f07660b31702442b48f82410d035fdd3e46b9"
    );
    let plain =
        "state: {n: {type: int, init: 0}}\ninvariants: [{name: i, expr: n < 3}]\nactions: [{name: a, match: s__a}]\n";
    let mut all = vec![digest(plain)];
    for (from, to) in [
        ("n < 3", "n < 3, reason: x"),
        ("n < 3", "n < 3, hint: x"),
        ("s__a", "s__a, reason: x"),
        ("s__a", "s__a, hint: x"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, always: n < 3}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, always: n < 3, reason: x}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, never: {call: s__b}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, never: {call: s__b, when: n > 1}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, never: {call: s__b}, after: {call: s__c}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, at_most: 1, of: {call: s__b}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, at_most: 2, of: {call: s__b}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, before: {call: s__b}, requires: {call: s__c}}]"),
        ("s__a}]", "s__a}]\nchecks: [{name: c, possible: {call: s__b}}]"),
        ("s__a}]", "s__a}]\nterminal: [{when: n > 1, blocks: s__b}]"),
        ("s__a}]", "s__a}]\nterminal: [{when: n > 1, blocks: s__b, reason: x}]"),
        ("s__a}]", "s__a}]\nterminal: [{name: t, when: n > 1, blocks: s__b}]"),
    ] {
        let changed = digest(&plain.replacen(from, to, 1));
        assert!(!all.contains(&changed), "{to}");
        all.push(changed);
    }
    // How it is written is no matter.
    let spelled = |check: &str| digest(&format!("{plain}checks:\n  - {{name: c, {check}}}\n"));
    assert_eq!(
        spelled("at_most: 16, of: {call: s__b, when: n>1}, reason: ' x '"),
        spelled("reason: x, of: {when: (n > 1), call: [s__b]}, at_most: 0x10")
    );
}

#[test]
fn a_use_in_a_check_is_a_use_and_can_be_silenced() {
    let policy = "default: deny\npatterns: {keys: [k], rest: [r]}\nstate:\n\
        \x20 n: {type: int, init: 0}\n  m: {type: int, init: 0}\nactions:\n\
        \x20 - {name: a, match: s__a, effect: {n: n + 1, m: m + 1}}\n\
        checks:\n  - name: c\n    never:\n      call: s__b\n\
        \x20     when: # praxiom: allow(PX3007) all of them\n\
        \x20       'matches(call.text, keys) or\n\
        \x20       contains(call.text, \"\")'\n\
        terminal:\n  - {when: 'n > 1 or startswith(\"x\", \"\")', blocks: s__a}\n";
    let compiled = Policy::compile(policy, FileId(0));
    let file = compiled.file.unwrap();
    let mut sources = Sources::default();
    let id = sources.add("policy.yaml", policy);
    let found = lint(&file, &compiled.policy.unwrap(), None);
    let left = silence(&file.comments, &file.expression_spans(), sources.get(id).unwrap(), found, &|_| true);
    let codes: Vec<&str> = left.iter().map(|found| found.code.id()).collect();
    assert_eq!(codes, ["PX3003", "PX3005", "PX3007"], "{left:?}");
}

#[test]
fn globs_have_the_meaning_of_fnmatch() {
    for (glob, tool, expected) in [
        ("fs__*", "fs__read_file", true),
        ("fs__*", "fs__a__b", true),
        ("fs__*", "fs__", true),
        ("fs__*", "FS__read", false),
        ("*", "any__tool", true),
        ("**", "any__tool", true),
        ("fs__read?", "fs__read", false),
        ("fs__[rw]*", "fs__write", true),
        ("fs__[!r]*", "fs__write", true),
        ("fs__[read]", "fs__[read]", false),
        ("fs__read", "fs__read_file", false),
        ("gh__*delete*", "gh__repo.delete/all", true),
        ("fs__*", "hub__fs__x", false),
    ] {
        let policy = format!("default: deny\nactions:\n  - {{name: a, match: '{glob}'}}\n");
        let policy = Policy::compile(&policy, FileId(0)).policy.unwrap();
        let call = json::parse(format!("{{\"tool\": \"{tool}\"}}").as_bytes()).unwrap();
        let calls = read(serde_json::to_string(&[call]).unwrap().as_bytes()).unwrap();
        let rows = replay(&policy, &calls, 0);
        assert_eq!(rows[0].verdict == "allow", expected, "{glob} {tool}");
    }
}

/// The calls of a trace, all of them or those of one origin.
fn calls_of(trace: &Value, origin: Option<&str>) -> Vec<Recorded> {
    let wanted = |call: &&Value| origin.is_none_or(|origin| call["origin"] == origin);
    let calls: Vec<&Value> = trace["calls"].as_array().unwrap().iter().filter(wanted).collect();
    read(serde_json::to_string(&calls).unwrap().as_bytes()).unwrap()
}

#[test]
fn attacks_of_agentdojo_are_judged_as_recorded() {
    let expected: Value = serde_json::from_str(&fixture("agentdojo/expected.json")).unwrap();
    for suite in ["banking", "slack", "travel"] {
        let policy = Policy::compile(&fixture(&format!("agentdojo/{suite}.core.yaml")), FileId(0)).policy.unwrap();
        let traces: Value = serde_json::from_str(&fixture(&format!("agentdojo/{suite}.json"))).unwrap();
        let mut solved = 0;
        for trace in traces.as_array().unwrap() {
            let rows = replay(&policy, &calls_of(trace, None), 0);
            let wanted = expected[suite]["traces"].as_array().unwrap().iter().find(|t| t["id"] == trace["id"]).unwrap();
            let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict).collect();
            assert_eq!(serde_json::json!(verdicts), wanted["verdicts"], "{}", trace["id"]);
            if trace["kind"] == "attack" {
                let calls = trace["calls"].as_array().unwrap();
                let blocked = calls.iter().zip(&verdicts).any(|(call, v)| call["essential"] == true && *v == "deny");
                let benign = replay(&policy, &calls_of(trace, Some("user")), 0).iter().all(|row| row.verdict != "deny");
                assert_eq!(serde_json::json!(blocked && benign), wanted["solved"], "{}", trace["id"]);
                solved += usize::from(blocked && benign);
            }
        }
        assert_eq!(serde_json::json!(solved), expected[suite]["counts"]["solved"], "{suite}");
    }
}
