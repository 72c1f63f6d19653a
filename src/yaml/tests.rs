//! The reader as a whole: problems and their places, aliases, merges, odd files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn raw(text: &str, span: Span) -> &str {
    text.get(span.range()).expect("a span on character boundaries")
}

/// Codes with the text of their place.
fn problems(text: &str) -> Vec<(Code, String)> {
    let document = read(text, FileId(0));
    let place = |found: &Diagnostic| raw(text, found.primary.span).to_owned();
    document.diagnostics.iter().map(|found| (found.code, place(found))).collect()
}

fn good(text: &str) -> Node {
    let document = read(text, FileId(0));
    assert_eq!(document.diagnostics, [], "{text:?}");
    document.root.unwrap_or_else(|| panic!("{text:?} has no root"))
}

/// The tree in one line.
fn show(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => match scalar.kind {
            Kind::Text => format!("{:?}", scalar.text),
            Kind::Null => "null".to_owned(),
            Kind::Bool(_) | Kind::Int | Kind::Float => scalar.text.clone(),
        },
        Value::Sequence(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Mapping(entries) => {
            let entries = entries.iter().map(|entry| format!("{}: {}", entry.key_text(), show(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn well_formed_files() {
    let cases = [
        ("a: 1\nb: [x, 'y', {c: true}]\n", "{a: 1, b: [\"x\", \"y\", {c: true}]}"),
        ("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n", "{a: 1, b: \"x\\ny\\n\"}"),
        ("a: 1\rb:\r  - c\r", "{a: 1, b: [\"c\"]}"),
        ("%YAML 1.2\n---\na: 1\n...\n# end\n", "{a: 1}"),
        ("a: |\n  x", "{a: \"x\"}"),
        ("a: |+\n  x\n\n", "{a: \"x\\n\\n\"}"),
        ("a:\nb: ~\n? c\n", "{a: null, b: null, c: null}"),
        ("- - a\n  - b\n-\n", "[[\"a\", \"b\"], null]"),
        ("[a: 1, b]", "[{a: 1}, \"b\"]"),
        ("a: &x [1, 2]\nb: *x\n", "{a: [1, 2], b: [1, 2]}"),
        ("a: &x 1\nb: &x 2\nc: *x\n", "{a: 1, b: 2, c: 2}"),
        ("text", "\"text\""),
        ("a: 'no'\n\"on\": \"010\"\n", "{a: \"no\", on: \"010\"}"),
    ];
    for (text, expected) in cases {
        assert_eq!(show(&good(text)), expected, "{text:?}");
    }
    for text in ["", "\n \n", "# only a comment\n", "\u{feff}", "\u{feff}# c\r\n"] {
        let document = read(text, FileId(0));
        assert!(document.root.is_none() && document.diagnostics.is_empty(), "{text:?}");
    }
}

/// As `PyYAML` 6.0.3 reads them, key order included.
#[test]
fn merge_keys() {
    let head = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\n";
    let cases = [
        ("c: {<<: *a, y: 5}", "{x: 1, y: 5}"),
        ("c: {y: 5, <<: *a}", "{x: 1, y: 5}"),
        ("c: {<<: [*a, *b], w: 0}", "{y: 2, z: 4, x: 1, w: 0}"),
        ("c: {w: 0, <<: [*b, *a]}", "{x: 1, y: 3, z: 4, w: 0}"),
        ("d: &d {<<: *a, q: 6}\nc: {<<: *d}", "{x: 1, y: 2, q: 6}"),
        ("c: {<<: {n: 1}}", "{n: 1}"),
        ("c: {<<: [], n: 1}", "{n: 1}"),
        ("c: {'<<': 1}", "{<<: 1}"),
    ];
    for (text, expected) in cases {
        let root = good(&format!("{head}{text}\n"));
        assert_eq!(show(root.get("c").expect("c")), expected, "{text}");
    }
    for (text, place) in [("~", "~"), ("1", "1"), ("[*a, 7]", "7"), ("*s", "*s"), ("[*s]", "*s")] {
        let text = format!("a: &a {{x: 1}}\ns: &s text\nc:\n  <<: {text}\n");
        assert_eq!(problems(&text), [(Code::PX0011, place.to_owned())], "{text}");
    }
}

#[test]
fn problems_and_their_places() {
    let deep = format!("{}x", "[".repeat(65));
    let cases: &[(&str, &[(Code, &str)])] = &[
        ("a: 1\nb: {c: 1, c: 2}\n'a': 2\n", &[(Code::PX0002, "c"), (Code::PX0002, "'a'")]),
        ("x: &x {a: 1}\ny: {<<: *x, <<: *x}\n", &[(Code::PX0002, "<<")]),
        ("&k key: 1\n*k : 2\n", &[(Code::PX0002, "*k")]),
        ("no: 010\n- x: y", &[(Code::PX0003, "no"), (Code::PX0003, "010"), (Code::PX0001, "-")]),
        ("a: \"x\u{2028}y\" # \u{85}\n", &[(Code::PX0003, "\u{2028}"), (Code::PX0003, "\u{85}")]),
        ("a: <<\n", &[(Code::PX0003, "<<")]),
        ("a: *b\nb: [*c]\n", &[(Code::PX0008, "*b"), (Code::PX0008, "*c")]),
        ("a: &a [*a]\nb: *a\n", &[(Code::PX0008, "*a")]),
        (&deep, &[(Code::PX0005, "[")]),
        ("a:\n\tb: 1\n", &[(Code::PX0006, "\t")]),
        ("a:\n  - b\n \t- c\n", &[(Code::PX0006, "\t")]),
        ("a: b\n\tc\n", &[(Code::PX0006, "\t")]),
        ("a: |\n\tb\n", &[(Code::PX0006, "\t")]),
        ("\ta: b\n", &[(Code::PX0006, "\t")]),
        ("a: 1\n---\nb: 2\n---\nc: @\n", &[(Code::PX0007, "---")]),
        ("a: 1\n...\nb: 2\n", &[(Code::PX0007, "")]),
        (
            "a: !!str no\nb: ! x\nc: !<tag:y> [1]\n",
            &[(Code::PX0009, "!!str"), (Code::PX0009, "!"), (Code::PX0009, "!<tag:y>")],
        ),
        ("a: !x!y z\n", &[(Code::PX0009, "!x!y")]),
        ("? [a]\n: 1\nb: {{c: 1}: 2}\n", &[(Code::PX0001, "[a]"), (Code::PX0001, "{c: 1}")]),
        ("a: b: c\n", &[(Code::PX0001, ":")]),
        ("a: @x\n", &[(Code::PX0001, "@")]),
        ("a: %x\n", &[(Code::PX0001, "%")]),
        ("a: `x`\n", &[(Code::PX0001, "`")]),
        ("a: *\n", &[(Code::PX0001, "*")]),
        ("a: & b\n", &[(Code::PX0001, "&")]),
        ("a: {x\nb: 1\n", &[(Code::PX0001, "{")]),
        ("a: [x\nb: 1\n", &[(Code::PX0001, "[")]),
        ("a: [x, 'y': z: w]\n", &[(Code::PX0001, ":")]),
        ("a: [x] y\n", &[(Code::PX0001, "y")]),
        ("a: 'it's'\n", &[(Code::PX0001, "s")]),
        ("a: 'x\nb: 1\n", &[(Code::PX0001, "'")]),
        ("a: \"ok \\\\ \\q\"\n", &[(Code::PX0001, "\\q")]),
        ("a: \"\\ud800\"\n", &[(Code::PX0001, "\\ud800")]),
        ("a: \"\\x4\"\n", &[(Code::PX0001, "\\x4")]),
        ("a: x\0y\n", &[(Code::PX0001, "\0")]),
        ("a:\n  b: 1\n c: 2\n", &[(Code::PX0001, "c")]),
        ("- a\nb: 1\n", &[(Code::PX0001, "b")]),
        ("a: 1\nb \nc: 1\n", &[(Code::PX0001, "b")]),
        ("a: }\n", &[(Code::PX0001, "}")]),
        ("a: {b: 1, b: 2, c: 3 d: 4}\n", &[(Code::PX0002, "b"), (Code::PX0001, ":")]),
        ("a: x\n  # c\n\"b\": \u{feff}1\n", &[(Code::PX0001, "\u{feff}")]),
        ("%FOO\na: 1\n", &[(Code::PX0001, "a")]),
        ("a: [-x, ${B}/c, d]\n", &[(Code::PX0001, "${")]),
        ("a: {b: x${B}}\n", &[(Code::PX0001, "${")]),
    ];
    for (text, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(code, place)| (*code, (*place).to_owned())).collect();
        assert_eq!(problems(text), expected, "{text:?}");
    }
}

#[test]
fn words_of_a_duplicate_an_alias_and_an_ambiguity() {
    let one = |text: &str| read(text, FileId(0)).diagnostics.remove(0);
    let duplicate = one("key: 1\nkey: 2\n");
    assert_eq!(duplicate.message, "the key `key` stands twice in one mapping");
    assert_eq!(duplicate.secondary[0].span.range(), 0..3);
    assert_eq!(duplicate.secondary[0].message, "first here");
    assert_eq!(one("a: &tools 1\nb: *tool\n").help.as_deref(), Some("did you mean `*tools`?"));
    let ambiguous = one("a: no\n");
    assert_eq!(ambiguous.help.as_deref(), Some("quote it: \"no\"; for the boolean write `false`"));
    assert_eq!(ambiguous.notes, ["YAML 1.1 reads the boolean false, YAML 1.2 the text `no`"]);
}

#[test]
fn the_first_of_two_keys_and_the_first_document_are_kept() {
    for text in ["a: 1\na: 2\n", "a: 1\n---\nb: 2\n"] {
        assert_eq!(show(&read(text, FileId(0)).root.expect("a root")), "{a: 1}");
    }
    assert!(read("a: 1\nb: ]\n", FileId(0)).root.is_none());
}

#[test]
fn comments_are_listed_in_order() {
    let text = "# one\na: |  # two\n  # no comment\nb:\n  # three \n  - x#y # four\n";
    let comments = read(text, FileId(0)).comments;
    let found: Vec<_> = comments.iter().map(|comment| (comment.text.as_str(), comment.own_line)).collect();
    assert_eq!(found, [("one", true), ("two", false), ("three", true), ("four", false)]);
    assert!(comments.iter().all(|comment| raw(text, comment.span).starts_with('#')));
}

#[test]
fn spans_of_collections() {
    let text = "a:\n  - b\n  - {c: 1}  # x\n\nd: [1, e: 2 ]\n";
    let root = good(text);
    let of = |node: &Node| raw(text, node.span);
    assert_eq!(of(&root), text.trim_end());
    assert_eq!(of(root.get("a").unwrap()), "- b\n  - {c: 1}");
    assert_eq!(of(root.get("d").unwrap()), "[1, e: 2 ]");
    assert_eq!(of(&root.get("d").unwrap().as_sequence().unwrap()[1]), "e: 2");
    let alias = "a: &a x\nb: *a\n";
    assert_eq!(good(alias).get("b").unwrap().span.range(), 6..7);
}

#[test]
fn descriptions() {
    let root = good("[[], {}, text, 3, true, null, '3']");
    let found: Vec<_> = root.as_sequence().unwrap().iter().map(Node::describe).collect();
    assert_eq!(found, ["a list", "a mapping", "a text", "the number 3", "`true`", "nothing (null)", "a text"]);
}

#[test]
fn hostile_files_are_refused_quickly() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..=200 {
        let below = level - 1;
        if level <= 30 {
            writeln!(bomb, "a{level}: &a{level} [*a{below}, *a{below}]").unwrap();
        }
        writeln!(chain, "a{level}: &a{level} [*a{below}]").unwrap();
    }
    let cases = [
        (bomb, Code::PX0004),
        (chain, Code::PX0005),
        ("[".repeat(100_000), Code::PX0005),
        ("- ".repeat(100_000), Code::PX0005),
        ("{a: ".repeat(100_000), Code::PX0005),
        (format!("a: &a [{}]\nb: [{}]", "x, ".repeat(1000), "*a, ".repeat(1000)), Code::PX0004),
        (format!("a: [{}]", "no, ".repeat(100_000)), Code::PX0003),
        (" ".repeat(MAX_BYTES + 1), Code::PX0010),
        ("#\n".repeat(100_000) + "a: ]", Code::PX0001),
        ("\n".repeat(100_000) + "a: 'x\n" + &"\n".repeat(100_000), Code::PX0001),
        ("a: 1\n".repeat(20_000), Code::PX0002),
    ];
    for (text, code) in cases {
        let start = Instant::now();
        let document = read(&text, FileId(0));
        let head: String = text.chars().take(40).collect();
        assert!(document.diagnostics.iter().any(|found| found.code == code), "{head}");
        assert!(document.diagnostics.len() <= MAX_DIAGNOSTICS);
        assert!(start.elapsed() < Duration::from_secs(2), "{head}: {:?}", start.elapsed());
    }
}

#[test]
fn honest_anchors_are_no_bomb() {
    let text = format!("a: &a {{x: 1, y: [2, 3]}}\nb:\n{}", "  - *a\n".repeat(2000));
    assert_eq!(good(&text).get("b").unwrap().as_sequence().unwrap().len(), 2000);
}

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Text(String),
    Int(i64),
    Bool(bool),
    List(Vec<Tree>),
    Map(BTreeMap<String, Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        "[ -~é😀\n]{0,12}".prop_map(Tree::Text),
        any::<i64>().prop_map(Tree::Int),
        any::<bool>().prop_map(Tree::Bool)
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::List),
            prop::collection::btree_map("[a-zA-Z '#:-]{0,6}", inner, 0..5).prop_map(Tree::Map),
        ]
    })
}

fn foreign(tree: &Tree) -> serde_yaml::Value {
    match tree {
        Tree::Text(text) => text.as_str().into(),
        Tree::Int(number) => (*number).into(),
        Tree::Bool(value) => (*value).into(),
        Tree::List(items) => items.iter().map(foreign).collect::<Vec<_>>().into(),
        Tree::Map(map) => {
            let entries = map.iter().map(|(key, value)| (key.as_str().into(), foreign(value)));
            serde_yaml::Value::Mapping(entries.collect())
        }
    }
}

/// The writer leaves some texts bare that YAML 1.1 reads otherwise; their text is still the same.
fn same(node: &Node, tree: &Tree) -> bool {
    match (&node.value, tree) {
        (Value::Scalar(scalar), Tree::Text(text)) => scalar.text == *text && scalar.kind == Kind::Text,
        (Value::Scalar(scalar), Tree::Int(number)) => scalar.kind == Kind::Int && scalar.text == number.to_string(),
        (Value::Scalar(scalar), Tree::Bool(value)) => scalar.kind == Kind::Bool(*value),
        (Value::Sequence(items), Tree::List(list)) => {
            items.len() == list.len() && items.iter().zip(list).all(|(item, tree)| same(item, tree))
        }
        (Value::Mapping(entries), Tree::Map(map)) => {
            let equal = |(entry, (key, value)): (&Entry, (&String, &Tree))| {
                entry.key_text() == key && same(&entry.value, value)
            };
            entries.len() == map.len() && entries.iter().zip(map).all(equal)
        }
        _ => false,
    }
}

const GOOD: &str = "# c\nname: &n 'it''s'\nlist:\n  - |\n    x\n     y\n  - >-\n    a\n    b\n  - {k: \"v\\u00e9\", <<: {z: 1}}\nalias: *n\n? q\n: [1, 2.5, true, ~]\n";

proptest! {
    #[test]
    fn written_trees_read_back(tree in tree()) {
        let text = serde_yaml::to_string(&foreign(&tree)).unwrap();
        let document = read(&text, FileId(0));
        prop_assert!(document.diagnostics.iter().all(|found| found.code == Code::PX0003), "{text:?} {:?}", document.diagnostics);
        let root = document.root.unwrap();
        prop_assert!(same(&root, &tree), "{text:?} {root:?}");
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,40}", structured in "[-a-c:?!&*|>'\"\\\\#{}\\[\\], \t\n\r%@0-9<=~.\u{85}\u{feff}]{0,60}") {
        for text in [text, structured] {
            let document = read(&text, FileId(0));
            for found in &document.diagnostics {
                prop_assert!(text.get(found.primary.span.range()).is_some(), "{text:?} {found:?}");
            }
            prop_assert!(document.root.is_some() || !document.diagnostics.is_empty() || document.comments.len() <= text.len());
        }
    }
}

#[test]
fn no_truncation_makes_it_panic() {
    for (at, _) in GOOD.char_indices() {
        let document = read(GOOD.get(..at).unwrap(), FileId(0));
        assert!(document.root.is_none() || at > 3);
    }
    good(GOOD);
}
