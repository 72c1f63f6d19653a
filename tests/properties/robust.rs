//! No input makes the compiler or the replay panic, and every complaint is about a place in the file.

use super::large;
use praxiom::eval::{Call, Policy};
use praxiom::json::Json;
use praxiom::replay;
use praxiom::report::{human, json, short};
use praxiom::text::{Diagnostic, FileId, Sources};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const POLICIES: [&str; 7] = [
    include_str!("../../policies/etherscan/policy.yaml"),
    include_str!("../../policies/filesystem/policy.yaml"),
    include_str!("../../policies/github/policy.yaml"),
    include_str!("../../policies/mixed/policy.yaml"),
    include_str!("../fixtures/readme.yaml"),
    include_str!("../fixtures/check/checks.yaml"),
    include_str!("../fixtures/agentdojo/banking.core.yaml"),
];

/// One call a line, or in a list.
const CALLS: [&str; 2] = [
    r#"{"tool": "fs__read_file", "arguments": {"path": "/home/me/.ssh/id_rsa"}, "result": "\u00e9"}
{"tool": "fs__write_file", "upstream": "fs", "arguments": {"n": [1.5e3, -0, {"k": null}]}, "result": null}

{"tool": "web__search", "result": {"message": "no", "code": 3, "data": []}, "is_error": true}"#,
    r#"{"calls": [{"tool": "fs__read_file"}, {"tool": "fs__read_file", "result": {"content": [{"type": "text", "text": "x"}]}}]}"#,
];

fn compiles_or_says_why(text: &str) -> Result<(), TestCaseError> {
    let compiled = Policy::compile(text, FileId(0));
    let errors = compiled.diagnostics.iter().any(Diagnostic::is_error);
    prop_assert_eq!(compiled.policy.is_some(), !errors);
    let mut sources = Sources::default();
    sources.add("policy.yaml", text);
    for found in &compiled.diagnostics {
        for label in std::iter::once(&found.primary).chain(&found.secondary) {
            prop_assert_eq!(label.span.file, FileId(0));
            prop_assert!(text.get(label.span.range()).is_some(), "{found:?}");
        }
        prop_assert!(short::line(found, &sources).contains(found.code.id()));
        prop_assert!(human::render(found, &sources, false).contains(found.code.id()));
    }
    let _ = json::document(&[], &compiled.diagnostics, &sources);
    Ok(())
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Edit {
    Delete(Index, usize),
    Double(Index, usize),
    Insert(Index, &'static str),
    Cut(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let piece = select(vec![
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        "- ",
        "#",
        " #",
        "\n",
        "\n  ",
        "\t",
        "\r",
        "&a ",
        "*a",
        "<<: ",
        "!!str ",
        "|\n",
        ">-\n",
        "---\n",
        "?",
        "\\",
        "(",
        ")",
        "not ",
        " and ",
        "//0",
        "\u{85}",
        "\u{2028}",
        "é",
        "\u{1f600}",
        "\0",
        "matches(",
        ", ",
        "999999999999999999999",
        "~",
        "null",
        "010",
        "if",
        "else",
    ]);
    prop_oneof![
        2 => (any::<Index>(), 1..20usize).prop_map(|(at, length)| Edit::Delete(at, length)),
        2 => (any::<Index>(), 1..60usize).prop_map(|(at, length)| Edit::Double(at, length)),
        4 => (any::<Index>(), piece).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ]
}

fn edited(text: &str, edits: Vec<Edit>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for edit in edits {
        let place = |at: Index| at.index(bytes.len() + 1);
        match edit {
            Edit::Delete(at, length) => {
                let start = place(at);
                bytes.drain(start..(start + length).min(bytes.len()));
            }
            Edit::Double(at, length) => {
                let start = place(at);
                let again = bytes[start..(start + length).min(bytes.len())].to_vec();
                bytes.splice(start..start, again);
            }
            Edit::Insert(at, piece) => {
                let start = place(at);
                bytes.splice(start..start, piece.bytes());
            }
            Edit::Cut(at) => bytes.truncate(place(at)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn replays(bytes: &[u8]) {
    if let Ok(calls) = replay::read(bytes) {
        let policy = Policy::compile(POLICIES[4], FileId(0)).policy.unwrap();
        assert_eq!(replay::replay(&policy, &calls, 0).len(), calls.len());
    }
}

#[test]
fn a_large_policy_compiles() {
    let compiled = Policy::compile(&large::policy(200, 50, 20), FileId(0));
    assert_eq!(compiled.diagnostics, []);
    let tool = large::tool(30);
    let call = Call { tool: &tool, upstream: "", arguments: &Json::Null };
    assert_eq!(compiled.policy.unwrap().session().check(&call).actions, [90, 91, 92]);
}

proptest! {
    #[test]
    fn no_text_makes_compiling_panic(text in any::<String>()) {
        compiles_or_says_why(&text)?;
    }

    #[test]
    fn no_edit_of_a_policy_makes_compiling_panic(text in select(POLICIES.to_vec()), edits in vec(edit(), 1..6)) {
        compiles_or_says_why(&edited(text, edits))?;
    }

    #[test]
    fn no_bytes_make_replay_panic(bytes in vec(any::<u8>(), 0..200)) {
        replays(&bytes);
    }

    #[test]
    fn no_edit_of_a_recording_makes_replay_panic(text in select(CALLS.to_vec()), edits in vec(edit(), 1..6)) {
        replays(edited(text, edits).as_bytes());
    }
}
