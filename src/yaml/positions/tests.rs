//! Positions: every character of a decoded scalar is found at its own place in the file.

use std::fmt::Write;

use proptest::prelude::*;

use crate::text::{FileId, Span};
use crate::yaml::{Node, Scalar, Style, Value, read};

/// The first scalar whose key is `k`, or the root.
fn scalar(text: &str) -> (Node, Scalar) {
    let document = read(text, FileId(0));
    assert_eq!(document.diagnostics, [], "{text:?}");
    let root = document.root.expect("a root");
    let node = root.get("k").cloned().unwrap_or(root);
    let Value::Scalar(scalar) = node.value.clone() else { panic!("{text:?} is no scalar") };
    (node, scalar)
}

fn raw(text: &str, span: Span) -> &str {
    text.get(span.range()).expect("a span on character boundaries")
}

/// Every decoded character that is not written as an escape or a line break is found as it is.
fn assert_exact(text: &str) {
    let (node, scalar) = scalar(text);
    let mut reached = 0;
    for (at, c) in scalar.text.char_indices() {
        let span = scalar.span_of(node.span, at..at + c.len_utf8());
        let found = raw(text, span);
        let fits = found.chars().eq([c])
            || found.starts_with('\\') && scalar.style == Style::DoubleQuoted
            || found == "''" && scalar.style == Style::SingleQuoted
            || matches!(found, "\n" | "\r" | "\r\n") && matches!(c, ' ' | '\n');
        assert!(fits, "{c:?} of {:?} is {found:?} in {text:?}", scalar.text);
        assert!(span.start >= reached, "{text:?} goes back at {at}");
        reached = span.end;
    }
}

#[test]
fn ranges_across_styles() {
    let cases = [
        ("k: one two", "two", "two"),
        ("k: one\n  two\n\n  three # c", "two\nthree", "two\n\n  three"),
        ("k: 'it''s so'", "'s", "''s"),
        ("k: \"a\\tb \\x41\\u00e9\\U0001F600z\"", "é😀", "\\u00e9\\U0001F600"),
        ("k: \"\\ud83d\\ude00!\"", "😀", "\\ud83d\\ude00"),
        ("k: \"\\N\\L\\_x\"", "\u{2028}", "\\L"),
        ("k: \"a  \n   b\\\n   c\\\r\n\r\n   d\"", "a bc\nd", "a  \n   b\\\n   c\\\r\n\r\n   d"),
        ("k: |\n  one\n    two\n  three\n", "  two\nthree", "  two\n  three"),
        ("k: |2\n    x\n  y", "  x\ny", "  x\n  y"),
        ("k: |\r\n\r\n  one\r\n  two\r\n", "one\ntwo", "one\r\n  two"),
        ("k: >- # note\n  one\n  two\n\n  three\n   four\n  five\n\nnext: 1\n", "two\nthree", "two\n\n  three"),
        ("k: >+\n\n  a\n  b\n\n", "a b", "a\n  b"),
        ("k: &a |\n  a [ b\n", "[", "["),
        ("|\nroot\ntext\n", "text", "text"),
    ];
    for (text, part, expected) in cases {
        let (node, scalar) = scalar(text);
        let at = scalar.text.find(part).unwrap_or_else(|| panic!("{part:?} not in {:?}", scalar.text));
        let span = scalar.span_of(node.span, at..at + part.len());
        assert_eq!(raw(text, span), expected, "{text:?}");
        assert_exact(text);
    }
}

#[test]
fn spans_of_block_scalars_end_with_their_content() {
    let cases = [
        ("k: |\n  a\n  b\n\n\nn: 1\n", "a\n  b"),
        ("k: |+\n  a \n\n", "a "),
        ("k: >-\n\n  a\n   b", "a\n   b"),
        ("k: |-\n", "|-"),
        ("k: # c\n  |+2\n\n\nn: 1\n", "|+2"),
        ("k: \n", ""),
    ];
    for (text, expected) in cases {
        let document = read(text, FileId(0));
        let root = document.root.expect("a root");
        assert_eq!(raw(text, root.get("k").expect("k").span), expected, "{text:?}");
    }
}

#[test]
fn empty_ranges_and_ranges_past_the_end() {
    let (node, scalar) = scalar("k: \"a\\tb\"");
    let span = |range| scalar.span_of(node.span, range).range();
    assert_eq!(span(1..1), 5..5);
    assert_eq!(span(3..3), 8..8);
    assert_eq!(span(2..99), 7..8);
    assert_eq!(span(50..99), 8..8);
}

fn double_quoted(text: &str, escape_all: bool) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if escape_all && u32::from(c) < 0x100 => write!(out, "\\x{:02X}", u32::from(c)).unwrap(),
            c if escape_all => write!(out, "\\U{:08x}", u32::from(c)).unwrap(),
            c => out.push(c),
        }
    }
    out + "\""
}

fn block(header: &str, text: &str, break_with: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("   {line}")).collect();
    format!("k: {header}{break_with}{}{break_with}n: 1", lines.join(break_with))
}

proptest! {
    #[test]
    fn plain(text in "[a-zà-ÿ]([a-z()'\"é😀]| [a-z\"]){0,30}") {
        prop_assume!(!matches!(text.as_str(), "no" | "on" | "off" | "yes" | "null" | "true" | "false"));
        assert_exact(&format!("k: {text} # c\n"));
        let folded = text.replace(' ', " \n\n  ");
        assert_exact(&format!("k: {folded}\n"));
    }

    #[test]
    fn single_quoted(text in "[ -~é😀]{0,30}") {
        let quoted = format!("k: '{}'\n", text.replace('\'', "''"));
        prop_assert_eq!(&scalar(&quoted).1.text, &text);
        assert_exact(&quoted);
        assert_exact(&format!("k: 'x{}y'\n", text.replace('\'', "''").replace(' ', "\r\n\t ")));
    }

    #[test]
    fn double_quoted_text(text in "[ -~é😀\n]{0,30}", all in any::<bool>()) {
        let quoted = format!("k: {}\n", double_quoted(&text, all));
        prop_assert_eq!(&scalar(&quoted).1.text, &text);
        assert_exact(&quoted);
        assert_exact(&quoted.replace("\\n", "\\\n\n "));
    }

    #[test]
    fn block_scalars(first in "[!-~é]", rest in "([ -~é😀]{0,4}\n?){0,8}", header in "[|>][-+]?", crlf in any::<bool>()) {
        assert_exact(&block(&header, &format!("{first}{rest}"), if crlf { "\r\n" } else { "\n" }));
    }

    #[test]
    fn indented_block_scalars(text in "([ -~]{0,4}\n?){1,6}", header in "[|>]3[-+]?") {
        prop_assume!(!text.trim().is_empty());
        assert_exact(&block(&header, &text, "\n"));
    }
}
