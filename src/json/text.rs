//! The strings inside JSON, for rules that look at text rather than at its spelling.
//! Knows nothing of what those rules are.

use super::{Json, parse};

/// How often a string that is itself JSON is opened.
const MAX_UNFOLDING: usize = 8;

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

/// Pushes every string of a value.
pub(super) fn push_strings(json: &Json, lines: &mut Lines) {
    each(json, &mut |text| lines.push(text));
}

/// Pushes a text and, where it is itself an object, array or string in JSON, every string of that,
/// unfolded in turn.
pub(super) fn push_unfolded(text: &str, lines: &mut Lines) {
    unfold(text, MAX_UNFOLDING, lines);
}

fn unfold(text: &str, depth: usize, lines: &mut Lines) {
    lines.push(text);
    if depth == 0 || !text.trim_start().starts_with(['{', '[', '"']) {
        return;
    }
    if let Ok(json) = parse(text.as_bytes()) {
        each(&json, &mut |inner| unfold(inner, depth - 1, lines));
    }
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

    #[test]
    fn text_that_is_json_is_unfolded_to_a_bounded_depth() {
        let unfolded = |text: &str| {
            let mut out = String::new();
            push_unfolded(text, &mut Lines::new(&mut out));
            out
        };
        assert_eq!(unfolded("12"), "12");
        assert_eq!(unfolded("[not"), "[not");
        assert_eq!(unfolded(r#" {"k":"[\"v\\n\"]"}"#), " {\"k\":\"[\\\"v\\\\n\\\"]\"}\nk\n[\"v\\n\"]\nv\n");
        let mut text = "deep".to_owned();
        for _ in 0..12 {
            text = serde_json::to_string(&text).unwrap();
        }
        assert_eq!(unfolded(&text).lines().count(), MAX_UNFOLDING + 1);
    }
}
