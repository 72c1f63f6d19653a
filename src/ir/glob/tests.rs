//! Holds globs against Python's `fnmatch` and against brute force over short texts.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

fn glob(text: &str) -> Glob {
    Glob::parse(text)
}

fn matching(text: &str, names: &[&str]) -> Vec<bool> {
    let glob = glob(text);
    names.iter().map(|name| glob.matches(name)).collect()
}

#[test]
fn plain_forms() {
    assert_eq!(matching("send_*", &["send_", "send_mail", "Send_mail", "resend_"]), [true, true, false, false]);
    assert_eq!(matching("*.pem", &[".pem", "a.pem", "a.pem.x"]), [true, true, false]);
    assert_eq!(matching("a?c", &["abc", "aéc", "a\nc", "ac", "abbc"]), [true, true, true, false, false]);
    assert_eq!(matching("", &["", "a"]), [true, false]);
    assert_eq!(matching("a*a", &["a", "aa", "aba", "abab"]), [false, true, true, false]);
    assert_eq!(matching("*/?[0-9]/*", &["x/a1/", "x/1/a/b2/c", "x/ab/c"]), [true, true, false]);
    assert_eq!(matching(r"a\*", &[r"a\b", "a*"]), [true, false]);
    assert_eq!(matching("[a", &["[a", "a"]), [true, false]);
}

#[test]
fn odd_classes() {
    assert_eq!(matching("[a-]", &["a", "-", "b"]), [true, true, false]);
    assert_eq!(matching("[--0]", &["-", ".", "0", "1"]), [true, true, true, false]);
    assert_eq!(matching("[a-c-e]", &["b", "-", "e", "d"]), [true, true, true, false]);
    assert_eq!(matching("[]-a]", &["]", "^", "a", "-"]), [true, true, true, false]);
    assert_eq!(matching("[!]]", &["]", "a"]), [false, true]);
    assert_eq!(matching("[^a]", &["^", "a", "b"]), [true, true, false]);
    assert_eq!(matching("[z-a]", &["z", "a", "b", ""]), [false; 4]);
    assert_eq!(matching("[!z-a]", &["z", "a", "\n", ""]), [true, true, true, false]);
    // Dropping `z-a` brings the `!` to the front, and Python then takes it for the negation.
    assert_eq!(matching("[z-a!b]", &["b", "c", "z"]), [false, true, true]);
    assert_eq!(matching("[z-a!-c]", &["-", "c", "b"]), [false, false, true]);
}

#[test]
fn literals_and_prefixes() {
    let literal = |text| glob(text).is_literal();
    assert_eq!(literal("a[b]c"), Some("abc".into()));
    assert_eq!(literal("[[]*"), None);
    assert_eq!(literal("[["), Some("[[".into()));
    assert_eq!(literal("a[ab]"), None);
    assert_eq!(literal(""), Some(String::new()));
    assert_eq!(glob("ab[c]d?e*").literal_prefix(), "abcd");
    assert_eq!(glob("*a").literal_prefix(), "");
    assert_eq!(glob("a[b]c").text(), "a[b]c");
    assert!(glob("a*[z-a]").is_empty() && !glob("a*[!z-a]").is_empty());
}

#[test]
fn natural_witnesses() {
    let both = |left, right| overlap(&glob(left), &glob(right));
    assert_eq!(both("send_*", "*_mail").as_deref(), Some("send_mail"));
    assert_eq!(both("send_*", "read_*"), None);
    assert_eq!(both("*", "*").as_deref(), Some(""));
    assert_eq!(both("*?", "*").as_deref(), Some("a"));
    assert_eq!(both("*[!a-z]", "?").as_deref(), Some("_"));
    assert_eq!(both("a*b", "?*?*?").as_deref(), Some("aab"));
    assert_eq!(both("*[z-a]", "*"), None);
    assert_eq!(both("[\u{D7FF}-\u{E000}]", "[!\u{D7FF}]").as_deref(), Some("\u{E000}"));
    let without = |positive: &str, negative: &[&str]| {
        let negative: Vec<Glob> = negative.iter().map(|text| glob(text)).collect();
        combination_witness(&[&glob(positive)], &negative.iter().collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(without("read_*", &["read_", "read_?", "*secret*"]).as_deref(), Some("read_aa"));
    assert_eq!(without("?", &["[a-z]", "[0-9]"]).as_deref(), Some("_"));
    assert_eq!(without("*", &["?*", ""]), None);
    assert_eq!(combination_witness(&[], &[]), Ok(Some(String::new())));
    assert_eq!(combination_witness(&[], &[&glob("*")]), Ok(None));
}

#[test]
fn inclusion() {
    let wider = |wide, narrow| subsumes(&glob(wide), &glob(narrow));
    assert!(wider("send_*", "send_mail") && wider("*", "a*b") && wider("*a*", "*ba*") && wider("x", "[z-a]"));
    assert!(!wider("send_mail", "send_*") && !wider("a*b", "*") && !wider("*ba*", "*a*"));
    assert!(equivalent(&glob("**a?*"), &glob("*a*?")) && !equivalent(&glob("a*"), &glob("a?*")));
    assert!(covered_by(&glob("?"), &[glob("[a-m]"), glob("[!a-m]")]));
    assert!(covered_by(&glob("a*"), &[glob("a"), glob("?b*"), glob("a[!b]*")]));
    assert!(!covered_by(&glob("a*"), &[]) && !covered_by(&glob("a*"), &[glob("a?*")]));
}

#[test]
fn large_questions_end() {
    let wide = format!("*a{}", "?".repeat(40));
    let wider = format!("*b{}", "?".repeat(30));
    // A subset construction of these would not end; the positive side needs none.
    assert_eq!(overlap(&glob(&wide), &glob(&wider)).map(|text| text.len()), Some(41));
    assert!(subsumes(&glob("*??"), &glob(&wide)));
    assert!(combination_witness(&[&glob("*c*d")], &[&glob(&format!("{wide}*")), &glob(&wider)]).is_ok());
    let long = format!("*{}*", "a?".repeat(3_000));
    let other = format!("*{}*", "?b".repeat(3_000));
    let text = overlap(&glob(&long), &glob(&other)).unwrap();
    assert!(glob(&long).matches(&text) && glob(&other).matches(&text));
    let many: Vec<Glob> = (0..40).map(|index| glob(&format!("*{index}*x?????????[!{index}]*"))).collect();
    assert_eq!(combination_witness(&[&glob("*y??????")], &many.iter().collect::<Vec<_>>()).map(|_| ()), Ok(()));
    assert_eq!(combination_witness(&many.iter().collect::<Vec<_>>(), &[]), Err(TooLarge));
    assert!(!glob(&"[".repeat(100_000)).matches("["));
    assert!(!glob(&format!("[{}", "z-ay-a".repeat(20_000))).is_empty());
}

/// A pattern that is likely to have brackets in odd states.
fn odd_pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => r"[ab_!\[\]^*?\\é-]",
        4 => r"\[[ab_!\[^\\é-]{0,6}\]",
        2 => r"\[!?[ab]-[ab]([ab!_^-]{0,4})\]",
        1 => r"\[!?\]?[!-é]{1,5}\]",
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

#[test]
fn agrees_with_python() {
    const PAIRS: usize = 6_000;
    let script = "import sys, json, fnmatch, warnings\nwarnings.simplefilter('ignore')\n\
                  print(''.join('01'[bool(fnmatch.fnmatchcase(n, p))] for p, n in json.load(sys.stdin)))";
    let python = Command::new("python3").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else {
        println!("skipped: needs python3");
        return;
    };
    let mut runner = TestRunner::new(ProptestConfig::default());
    let strategy = (odd_pattern(), proptest::collection::vec(r"[ab_!\[\]^*?\\é.-]{0,4}", 2), any::<bool>());
    let mut pairs: Vec<(String, String)> = Vec::new();
    while pairs.len() < PAIRS {
        let (pattern, names, near) = strategy.new_tree(&mut runner).unwrap().current();
        if let Some(text) = overlap(&glob(&pattern), &glob("*")).filter(|_| near) {
            pairs.push((pattern.clone(), text));
        }
        pairs.extend(names.into_iter().map(|name| (pattern.clone(), name)));
    }
    python.stdin.take().unwrap().write_all(serde_json::to_string(&pairs).unwrap().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.trim().len(), pairs.len());
    for ((pattern, name), answer) in pairs.iter().zip(answers.chars()) {
        assert_eq!(glob(pattern).matches(name), answer == '1', "pattern {pattern:?}, name {name:?}");
    }
    assert!(answers.matches('1').count() > PAIRS / 10);
}

/// Patterns that cannot tell any characters but `a` and `b` apart, so that texts over `abc` stand for all.
fn small_pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![Just("a"), Just("b"), Just("?"), Just("*"), Just("[!a]"), Just("[ab]"), Just("[!ab]")];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn short_texts() -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..6 {
        let to = texts.len();
        for index in from..to {
            texts.extend(["a", "b", "c"].map(|letter| format!("{}{letter}", texts[index])));
        }
        from = to;
    }
    texts
}

proptest! {
    #[test]
    fn witnesses_are_shortest(
        positive in proptest::collection::vec(small_pattern(), 0..3),
        negative in proptest::collection::vec(small_pattern(), 0..4),
    ) {
        let (positive, negative): (Vec<Glob>, Vec<Glob>) =
            (positive.iter().map(|text| glob(text)).collect(), negative.iter().map(|text| glob(text)).collect());
        let fits = |text: &str| positive.iter().all(|g| g.matches(text)) && !negative.iter().any(|g| g.matches(text));
        let expected = short_texts().into_iter().find(|text| fits(text)).map(|text| text.len());
        let found = combination_witness(&positive.iter().collect::<Vec<_>>(), &negative.iter().collect::<Vec<_>>());
        let found = found.unwrap();
        prop_assert!(found.as_deref().is_none_or(fits), "{found:?}");
        prop_assert_eq!(found.map(|text| text.len()).filter(|length| *length <= 6), expected);
    }

    #[test]
    fn pairs_agree_with_brute_force(left in small_pattern(), right in small_pattern()) {
        let (left, right) = (glob(&left), glob(&right));
        let texts = short_texts();
        let witness = overlap(&left, &right);
        let some_text = overlap::common_text(&left, &right);
        prop_assert_eq!(witness.is_some(), some_text.is_some());
        for text in witness.iter().chain(&some_text) {
            prop_assert!(left.matches(text) && right.matches(text), "{text}");
        }
        let shared = texts.iter().find(|text| left.matches(text) && right.matches(text));
        prop_assert!(shared.is_none_or(|text| witness.is_some_and(|witness| witness.len() <= text.len())));
        // Five pieces are told apart by texts of six characters.
        prop_assert_eq!(subsumes(&left, &right), texts.iter().all(|t| left.matches(t) || !right.matches(t)));
    }
}
