//! Files that no one should hand to a tool: the binary says what is wrong with them and ends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/readme.yaml");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn praxiom(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_praxiom")).args(args).stdin(Stdio::null()).output().unwrap()
}

/// The exit code is 1 for a finding, 2 where the command could not run.
fn refused(args: &[&str]) {
    let output = praxiom(args);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {:?}\n{told}", output.status);
    assert!(!told.contains("panicked"), "{args:?}: {told}");
    assert!(!told.is_empty() || !output.stdout.is_empty(), "{args:?}: says nothing");
    // A person reads this: not megabytes, and no control characters out of the file.
    assert!(told.len() < 200_000, "{args:?}: {} bytes", told.len());
    assert!(!told.contains(['\0', '\u{7}', '\u{1b}']), "{args:?}: {told:?}");
}

/// Neither a policy to check nor one to decide by.
fn refused_as_policy(path: &str) {
    for format in ["human", "json"] {
        refused(&["check", "--format", format, path]);
    }
    let calls = file("one.jsonl", br#"{"tool": "fs__read_file"}"#);
    refused(&["replay", "--policy", path, &calls]);
}

/// The path of a new file.
fn file(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(FOLDER).join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Every line is a call that the gateway would refuse, and the replay says so.
fn malformed(path: &str, lines: usize) {
    let output = praxiom(&["replay", "--policy", POLICY, "--format", "json", path]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{path}: {told}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.len(), lines, "{path}");
    assert!(verdicts.iter().all(|row| row["verdict"] == "malformed"), "{path}");
}

/// Bytes without meaning, the same on every run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A policy whose only guard is the expression.
fn guarded(expr: &str) -> Vec<u8> {
    format!("actions:\n  - name: a\n    match: x\n    requires: >-\n      {expr}\n").into_bytes()
}

/// `text` again and again, written piece by piece.
fn huge(name: &str, text: &str, bytes: usize) -> String {
    let path = Path::new(FOLDER).join(name);
    let mut out = File::create(&path).unwrap();
    let piece = text.repeat(1 << 16);
    for _ in 0..bytes.div_ceil(piece.len()) {
        out.write_all(piece.as_bytes()).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

const HUGE: usize = 100 << 20;

#[test]
fn what_is_no_text_is_no_policy() {
    refused_as_policy(&file("noise.yaml", &noise(10_000)));
    refused_as_policy(&file("latin1.yaml", b"default: deny\nactions:\n  - name: caf\xe9\n    match: x\n"));
    refused_as_policy(&file("nul.yaml", b"default: deny\0\nactions:\n  - name: \0\n    match: x\n"));
    refused_as_policy(&file("nuls.yaml", &[0; 4096]));
    refused_as_policy(&file("empty.yaml", b""));
    refused_as_policy(&file("utf16.yaml", b"\xff\xfed\0e\0f\0a\0u\0l\0t\0:\0 \0d\0e\0n\0y\0"));
    refused_as_policy(&file("escape.yaml", b"default: \"\x1b[31mdeny\x07\"\nactions: \x1b\n"));
    refused_as_policy(FOLDER);
    refused_as_policy(&format!("{FOLDER}/there/is/no/such.yaml"));
    refused_as_policy("");
}

#[test]
fn a_policy_cut_anywhere_is_refused_or_whole() {
    let text = fs::read(POLICY).unwrap();
    for length in (0..text.len()).step_by(31) {
        let path = file("cut.yaml", &text[..length]);
        let output = praxiom(&["check", &path]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)) && !told.contains("panicked"), "{length}: {told}");
    }
}

#[test]
fn a_policy_beyond_every_size_is_refused() {
    refused_as_policy(&huge("huge.yaml", "- [a, b]\n", HUGE));
    let sparse = Path::new(FOLDER).join("sparse.yaml");
    File::create(&sparse).unwrap().set_len(HUGE as u64).unwrap();
    refused_as_policy(sparse.to_str().unwrap());
    // Below the limit of bytes: all of it is read.
    refused_as_policy(&huge("items.yaml", "- [a, b]\n", 1 << 19));
    refused_as_policy(&huge("keys.yaml", "a: b\n", 1 << 19));
    refused_as_policy(&huge("tabs.yaml", "\t", 1 << 19));
    refused_as_policy(&huge("colons.yaml", ": ", 1 << 19));
    refused_as_policy(&huge("quotes.yaml", "\"", 1 << 19));
    refused_as_policy(&huge("anchors.yaml", "- &a *a\n", 1 << 19));
    refused_as_policy(&huge("bars.yaml", "- |\n", 1 << 19));
    refused_as_policy(&huge("comments.yaml", "#\n", 1 << 19));
    refused_as_policy(&huge("ambiguous.yaml", "- 010\n", 1 << 19));
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    let brackets =
        |open: &str, inner: &str, close: &str, times: usize| open.repeat(times) + inner + &close.repeat(times);
    refused_as_policy(&file("parens.yaml", &guarded(&brackets("(", "true", ")", 50_000))));
    refused_as_policy(&file("open.yaml", &guarded(&"(".repeat(50_000))));
    refused_as_policy(&file("nots.yaml", &guarded(&("not ".repeat(50_000) + "true"))));
    refused_as_policy(&file("calls.yaml", &guarded(&brackets("implies(true, ", "true", ")", 50_000))));
    refused_as_policy(&file("ifs.yaml", &guarded(&("1 if 2 else ".repeat(50_000) + "3"))));
    refused_as_policy(&file("mixed.yaml", &guarded(&"([{".repeat(50_000))));
    refused_as_policy(&file("closed.yaml", &guarded(&")".repeat(50_000))));
    refused_as_policy(&file("flow.yaml", brackets("[", "", "]", 100_000).as_bytes()));
    refused_as_policy(&file("flow-open.yaml", "[".repeat(100_000).as_bytes()));
    refused_as_policy(&file("maps.yaml", "{a: ".repeat(100_000).as_bytes()));
    refused_as_policy(&file("dashes.yaml", "- ".repeat(100_000).as_bytes()));
    let deeper: String = (0..1_500).map(|depth| " ".repeat(depth) + "a:\n").collect();
    refused_as_policy(&file("block.yaml", deeper.as_bytes()));
}

#[test]
fn doubling_aliases_are_refused() {
    let doubling: Vec<String> =
        (1..30).map(|level| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1)).collect();
    let bomb = "a0: &a0 [x, x]\n".to_owned() + &doubling.concat();
    refused_as_policy(&file("bomb.yaml", bomb.as_bytes()));
    let doubling: Vec<String> =
        (1..30).map(|level| format!("a{level}: &a{level} {{<<: [*a{0}, *a{0}], x{level}: 1}}\n", level - 1)).collect();
    let merges = "a0: &a0 {x0: 1}\n".to_owned() + &doubling.concat();
    refused_as_policy(&file("merges.yaml", merges.as_bytes()));
}

#[test]
fn long_texts_are_shown_in_part() {
    let long = "x".repeat(200_000);
    refused_as_policy(&file("name.yaml", &guarded(&long)));
    refused_as_policy(&file("text.yaml", &guarded(&format!("'{long}'"))));
    refused_as_policy(&file("unclosed.yaml", &guarded(&format!("'{long}"))));
    refused_as_policy(&file("digits.yaml", &guarded(&("9".repeat(200_000) + " == 1"))));
    refused_as_policy(&file("default.yaml", format!("default: {long}\n").as_bytes()));
    refused_as_policy(&file("key.yaml", format!("{long}: 1\n").as_bytes()));
    refused_as_policy(&file("quotes.yaml", &guarded(&"'a' ".repeat(50_000))));
    refused_as_policy(&file("strangers.yaml", &guarded(&"é$ ".repeat(50_000))));
    refused_as_policy(&file("operators.yaml", &guarded(&"a && ".repeat(50_000))));
    refused_as_policy(&file(
        "guards.yaml",
        &[guarded("a"), b"    effect:\n".to_vec(), "      ? é\n      : )\n".repeat(20_000).into_bytes()].concat(),
    ));
    refused_as_policy(&file(
        "list.yaml",
        &[b"actions:\n  - name: a\n    match: x\n    requires:\n".to_vec(), "    - )\n".repeat(100_000).into_bytes()]
            .concat(),
    ));
}

#[test]
fn calls_that_cannot_be_read_are_malformed() {
    let unreadable = |path: &str| refused(&["replay", "--policy", POLICY, path]);
    unreadable(FOLDER);
    unreadable(&format!("{FOLDER}/there/is/no/such.json"));
    unreadable(&file("calls.json", br#"{"calls": 3}"#));
    unreadable(&file("calls.json", br#"[{"tool": "a"}] {"tool": "b"}"#));
    unreadable(&huge("huge.json", " ", 257 << 20));
    unreadable(&file("deep.json", "[".repeat(100_000).as_bytes()));
    unreadable(&file("cut.json", br#"{"calls": [{"tool": "a"}"#));
    unreadable(&huge("deeper.json", "[", HUGE));
    unreadable(&huge("many.json", "[],", 16 << 20));
    // Many entries in few bytes, none of them a call.
    malformed(&file("many.jsonl", "1\n".repeat(50_000).as_bytes()), 50_000);
    malformed(&file("some.json", format!("[{}0]", "[],".repeat(50_000)).as_bytes()), 50_001);

    malformed(&file("none.jsonl", b""), 0);
    malformed(
        &file(
            "noise.jsonl",
            &[b"x", noise(10_000).as_slice()].concat().iter().map(|byte| byte | 0x80).collect::<Vec<_>>(),
        ),
        1,
    );
    malformed(&file("cut.jsonl", br#"{"tool": "fs__read_file", "arguments": {"#), 1);
    malformed(&file("latin1.jsonl", b"{\"tool\": \"caf\xe9\"}\n"), 1);
    malformed(&file("nul.jsonl", b"\0\n\0\0"), 2);
    malformed(
        &file("deep-call.jsonl", (r#"{"tool": "a", "arguments": {"a": "#.to_owned() + &"[".repeat(100_000)).as_bytes()),
        1,
    );
    malformed(
        &file("digits.jsonl", format!(r#"{{"tool": "a", "arguments": {{"n": {}}}}}"#, "9".repeat(200_000)).as_bytes()),
        1,
    );
}
