//! The strings inside JSON, for rules that look at text rather than at its spelling.
//! Knows nothing of what those rules are.

use super::Json;
use std::borrow::Cow;

/// How often a string that is itself JSON is opened. Escaping doubles the backslashes of each level, so
/// that no honest text comes near.
const MAX_UNFOLDING: usize = 64;

/// Appends every string of a value, one a line and decoded: depth first, keys in code point order,
/// each member's name before its value. Numbers, booleans and null are left out. A string with a
/// line end in it spans lines.
pub fn strings(json: &Json, out: &mut String) {
    let mut lines = Lines::new(out);
    each(json, &mut |text| lines.push(text));
}

/// Appends pieces with a line end between two of them.
pub(super) struct Lines<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        Self { out, first: true }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.start().push_str(text);
    }

    /// Where to write the next piece.
    pub(super) fn start(&mut self) -> &mut String {
        if !self.first {
            self.out.push('\n');
        }
        self.first = false;
        self.out
    }
}

/// Pushes every string of a value, unfolded.
pub(super) fn push_all_unfolded(json: &Json, lines: &mut Lines) {
    each(json, &mut |text| push_unfolded(text, lines));
}

/// Pushes a text and, where it begins as an object, array or string in JSON, every string literal in
/// it, decoded and unfolded in turn.
///
/// Whoever wrote the text may wish to hide a string from a rule. So a key that stands twice, an odd
/// number, deep nesting, half a surrogate pair or an end that is missing hides nothing.
pub(super) fn push_unfolded(text: &str, lines: &mut Lines) {
    unfold(text, MAX_UNFOLDING, lines);
}

fn unfold(text: &str, depth: usize, lines: &mut Lines) {
    lines.push(text);
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if depth == 0 || !start.starts_with(['{', '[', '"']) {
        return;
    }
    let mut rest = start;
    while let Some((_, literal)) = rest.split_once('"') {
        let length = literal_length(literal);
        unfold(&decode(literal.get(..length).unwrap_or(literal)), depth - 1, lines);
        rest = literal.get(length + 1..).unwrap_or("");
    }
}

/// Bytes before the quote that closes a literal, or to the end.
fn literal_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The text of a literal; what is no escape stays as it is.
fn decode(literal: &str) -> Cow<'_, str> {
    let Some(first) = literal.find('\\') else { return Cow::Borrowed(literal) };
    let (plain, mut rest) = literal.split_at(first);
    let mut out = plain.to_owned();
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let (decoded, length) = escape(tail);
        out.push(decoded);
        rest = tail.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that the escape at the start of `tail` stands for, and its length in bytes.
fn escape(tail: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = tail.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let simple = match tail.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
        Some(b'u') => {
            let Some(first) = unit(0) else { return ('\\', 1) };
            if let Some(c) = char::from_u32(first) {
                return (c, 6);
            }
            let second = unit(6).filter(|second| (0xDC00..0xE000).contains(second) && first < 0xDC00);
            let pair = second.and_then(|second| char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)));
            return pair.map_or((char::REPLACEMENT_CHARACTER, 6), |c| (c, 12));
        }
        _ => return ('\\', 1),
    };
    (simple, 2)
}

/// The recursion is as deep as the value, which the reader bounds.
fn each(json: &Json, visit: &mut dyn FnMut(&str)) {
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
        Json::String(text) => visit(text),
        Json::Array(items) => items.iter().for_each(|item| each(item, visit)),
        Json::Object(object) => object.each(true, |name, value| {
            visit(name);
            each(value, visit);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn strings_come_sorted_decoded_and_named() {
        for (text, wanted) in [
            (r#"{"b":["x",1,{"d":"\u00e9\n"}],"a":"C:\\s","":""}"#, "\n\na\nC:\\s\nb\nx\nd\né\n"),
            (r#"["","",""]"#, "\n\n"),
            ("[1,null,true,[]]", ""),
            (r#""one""#, "one"),
        ] {
            let mut out = String::new();
            strings(&parse(text.as_bytes()).unwrap(), &mut out);
            assert_eq!(out, wanted, "{text}");
        }
    }

    fn unfolded(text: &str) -> String {
        let mut out = String::new();
        push_unfolded(text, &mut Lines::new(&mut out));
        out
    }

    #[test]
    fn text_that_is_json_is_unfolded() {
        assert_eq!(unfolded("12"), "12");
        assert_eq!(unfolded("[not"), "[not");
        assert_eq!(unfolded(r#" {"k":"[\"v\\n\"]"}"#), " {\"k\":\"[\\\"v\\\\n\\\"]\"}\nk\n[\"v\\n\"]\nv\n");
        let mut text = r"C:\secret".to_owned();
        for _ in 0..12 {
            text = serde_json::to_string(&[text]).unwrap();
        }
        assert!(unfolded(&text).ends_with("\nC:\\secret"));
    }

    #[test]
    fn nothing_hides_a_string() {
        for text in [
            r#"{"k":"C:\\secret","a":1,"a":2}"#,
            r#"{"a":NaN,"k":"C:\\secret"}"#,
            r#"{"a":1e400,"k":"C:\\secret"}"#,
            r#"{"a":"\ud800","k":"C:\\secret"}"#,
            "\u{feff} {\"k\":\"C:\\\\secret\"}",
            r#"["C:\\secret", "cut"#,
            r#"["C:\\secret"#,
            &format!("{}\"C:\\\\secret\"{}", "[".repeat(200), "]".repeat(200)),
            r#"["\u0043:\u005csecret"]"#,
        ] {
            assert!(unfolded(text).lines().any(|line| line == r"C:\secret"), "{text}: {}", unfolded(text));
        }
        assert_eq!(unfolded(r#""\ud83d\ude00\ud83d\q\u12"#).lines().last(), Some("😀\u{fffd}\\q\\u12"));
    }

    #[test]
    fn unfolding_is_bounded() {
        // Quotes and backslashes spelled as `\u00xx` grow by a few bytes a level, not twofold.
        let mut text = "\"x\"".to_owned();
        for _ in 0..300 {
            text = format!("\"{}\"", text.replace('\\', r"\u005c").replace('"', r"\u0022"));
            if text.len() > 100_000 {
                break;
            }
        }
        assert!(unfolded(&text).len() <= text.len() * (MAX_UNFOLDING + 1) + MAX_UNFOLDING);
    }
}
