//! The one writer of JSON text. Knows nothing of how numbers are spelled or who reads the text.

use super::scan::plain_prefix;
use super::{Json, Number};

/// What tells one spelling from another.
pub(super) trait Style {
    const COMMA: &'static str;
    const COLON: &'static str;

    fn number(number: &Number, out: &mut String);

    fn string(text: &str, out: &mut String) {
        write_string(text, out);
    }

    /// Between two brackets or separators of the lines at this depth.
    fn line(_depth: usize, _out: &mut String) {}
}

/// Appends a value. The recursion is as deep as the value, which the reader bounds.
pub(super) fn write<S: Style>(json: &Json, sort_keys: bool, out: &mut String) {
    value::<S>(json, sort_keys, 0, out);
}

fn value<S: Style>(json: &Json, sort_keys: bool, depth: usize, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => S::number(number, out),
        Json::String(text) => S::string(text, out),
        Json::Array(items) if items.is_empty() => out.push_str("[]"),
        Json::Array(items) => {
            out.push('[');
            let mut separator = "";
            for item in items {
                out.push_str(separator);
                S::line(depth + 1, out);
                value::<S>(item, sort_keys, depth + 1, out);
                separator = S::COMMA;
            }
            S::line(depth, out);
            out.push(']');
        }
        Json::Object(object) if object.is_empty() => out.push_str("{}"),
        Json::Object(object) => {
            out.push('{');
            let mut separator = "";
            object.each(sort_keys, |name, member| {
                out.push_str(separator);
                S::line(depth + 1, out);
                S::string(name, out);
                out.push_str(S::COLON);
                value::<S>(member, sort_keys, depth + 1, out);
                separator = S::COMMA;
            });
            S::line(depth, out);
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    loop {
        // Stops before an ASCII byte or at the end, so this is a character boundary.
        let (plain, special) = rest.split_at_checked(plain_prefix(rest.as_bytes())).unwrap_or_default();
        out.push_str(plain);
        let mut special = special.chars();
        let Some(next) = special.next() else { break };
        write_escape(next, out);
        rest = special.as_str();
    }
    out.push('"');
}

pub(super) fn write_escape(special: char, out: &mut String) {
    match special {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        control => {
            let code = u32::from(control);
            out.push_str("\\u00");
            out.extend([code >> 4, code & 0xf].into_iter().filter_map(|digit| char::from_digit(digit, 16)));
        }
    }
}
