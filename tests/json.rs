//! The JSON reader and writer against Python and against `serde_json`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use praxiom::json::{self, Reason};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A number in one of its spellings.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|value| value.to_string()),
        Just("-0".to_owned()),
        r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
        r"-?[1-9]\.[0-9]{0,3}[1-9]e-?[0-9]",
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
        (-1e20..1e20).prop_map(|value: f64| format!("{value:?}")),
        (-1e-3..1e-3).prop_map(|value: f64| format!("{value:?}")),
    ]
}

/// A string, each of its characters raw or escaped.
fn string() -> impl Strategy<Value = String> {
    let character = prop_oneof![any::<char>(), prop::char::range('\0', '\u{7f}'), prop::char::range('a', 'c')];
    vec((character, 0..6u8), 0..40).prop_map(|characters| {
        let mut text = String::from("\"");
        for (character, how) in characters {
            match serde_json::to_string(&character).unwrap() {
                _ if how == 0 => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write!(text, "\\u{unit:04X}").unwrap();
                    }
                }
                quoted => text.push_str(quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap()),
            }
        }
        text + "\""
    })
}

/// A JSON text without equal keys in one object.
fn document() -> impl Strategy<Value = String> {
    let words = prop_oneof![Just("null"), Just("true"), Just("false"), Just("[]"), Just("{ }")];
    let leaf = prop_oneof![number(), string(), words.prop_map(str::to_owned)];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r")];
        prop_oneof![
            (vec(inner.clone(), 0..8), space())
                .prop_map(|(items, space)| format!("[{space}{}]", items.join(&format!(",{space}")))),
            (vec((string(), inner), 0..20), space()).prop_map(|(members, space)| {
                let mut seen = HashSet::new();
                let members: Vec<String> = members
                    .into_iter()
                    .filter(|(name, _)| seen.insert(serde_json::from_str::<String>(name).unwrap()))
                    .map(|(name, value)| format!("{name}{space}:{value}{space}"))
                    .collect();
                format!("{{{space}{}}}", members.join(","))
            }),
        ]
    })
}

fn python(json: &json::Json, sort_keys: bool) -> String {
    let mut out = String::new();
    json::write_python(json, sort_keys, &mut out);
    out
}

#[test]
fn python_writes_the_same() {
    const SCRIPT: &str = "import json, sys\n\
        texts = json.load(sys.stdin.buffer)\n\
        compact = lambda t: json.dumps(json.loads(t), sort_keys=True, ensure_ascii=False, separators=(',', ':'))\n\
        json.dump([[json.dumps(json.loads(t), sort_keys=s, ensure_ascii=False) for s in (False, True)] + [compact(t)] for t in texts], sys.stdout)";
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("skipped: needs python3");
        return;
    };
    let mut runner = TestRunner::deterministic();
    let mut texts: Vec<String> = (0..400).map(|_| document().new_tree(&mut runner).unwrap().current()).collect();
    texts.extend((0..2000).map(|_| number().new_tree(&mut runner).unwrap().current()));
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&texts).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let wanted: Vec<[String; 3]> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(texts.len(), wanted.len());
    for (text, [as_sent, sorted, compact]) in texts.iter().zip(&wanted) {
        let json = json::parse(text.as_bytes()).unwrap();
        assert_eq!(&python(&json, false), as_sent, "{text}");
        assert_eq!(&python(&json, true), sorted, "{text}");
        let mut out = String::new();
        json::write_compact(&json, &mut out);
        assert_eq!(&out, compact, "{text}");
        // For review it looks different and is the same value.
        out.clear();
        json::write_review(&json, &mut out);
        assert_eq!(&python(&json::parse(out.as_bytes()).unwrap(), true), sorted, "{text}");
    }
}

/// Holds our verdict on a text against that of `serde_json`.
fn agrees(bytes: &[u8]) -> Result<(), TestCaseError> {
    let ours = json::parse(bytes);
    let theirs = serde_json::from_slice::<serde_json::Value>(bytes);
    match (&ours, &theirs) {
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
        // What is no float is kept as text by them, and refused by us, but for integers.
        (Ok(_), Err(error)) => prop_assert!(error.to_string().starts_with("number out of range"), "{error}"),
        (Err(fault), Ok(_)) => {
            prop_assert!(
                matches!(fault.reason, Reason::DuplicateKey(_) | Reason::TooLong | Reason::TooLarge | Reason::Depth),
                "{fault}"
            );
        }
    }
    match &ours {
        Ok(json) => {
            let written = python(json, true);
            let again = json::parse(written.as_bytes()).unwrap();
            prop_assert_eq!(python(&again, true), written);
            json::strings(json, &mut String::new());
            for answer in [json::result_text, json::result_strings, json::error_text, json::error_strings] {
                answer(json);
            }
        }
        Err(fault) => prop_assert!(fault.offset <= bytes.len()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn documents_are_read_as_serde_json_reads_them(text in document()) {
        prop_assert!(json::parse(text.as_bytes()).is_ok());
        agrees(text.as_bytes())?;
    }

    #[test]
    fn mutants_are_judged_as_serde_json_judges_them(
        text in document(),
        edits in vec((any::<prop::sample::Index>(), 0..3u8, prop_oneof![
            prop::sample::select(br#"{}[]",:\ud8cD-+.eE019 ntf"#.to_vec()), any::<u8>(),
        ]), 1..4),
    ) {
        let mut bytes = text.into_bytes();
        for (place, how, byte) in edits {
            let place = place.index(bytes.len() + 1);
            if how > 0 && place < bytes.len() {
                bytes.remove(place);
            }
            if how < 2 {
                bytes.insert(place, byte);
            }
        }
        agrees(&bytes)?;
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200)) {
        agrees(&bytes)?;
    }

    #[test]
    fn no_pieces_of_json_make_it_panic(pieces in vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\":", "\\", "\\u", "\\ud800", "\\udc00", "00", "1", "-", ".5",
        "e9", "e400", "null", "tru", "NaN", "Infinity", " ", "\n", "é", "\u{1f600}", "\0",
    ]), 0..30)) {
        agrees(pieces.concat().as_bytes())?;
    }
}
