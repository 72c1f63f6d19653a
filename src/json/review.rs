//! Writes JSON for people who review it in a diff. Knows nothing of what is reviewed.

use super::write::{Style, write, write_escape};
use super::{Json, Number};
use crate::text::is_invisible;
use std::fmt::Write;

/// Appends a value over several lines: two spaces of indent, keys in code point order, numbers as they
/// were sent. Characters that show nothing or turn the writing round are escaped, so that no reviewer
/// misses them; it is the same value all the same. No line end at the end.
pub fn write_review(json: &Json, out: &mut String) {
    write::<Review>(json, true, out);
}

struct Review;

impl Style for Review {
    const COMMA: &'static str = ",";
    const COLON: &'static str = ": ";

    fn number(number: &Number, out: &mut String) {
        out.push_str(&number.spelling());
    }

    fn string(text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            if matches!(c, '"' | '\\' | '\0'..='\u{1f}') {
                write_escape(c, out);
            } else if is_invisible(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            } else {
                out.push(c);
            }
        }
        out.push('"');
    }

    fn line(depth: usize, out: &mut String) {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_reviewer_sees_every_character() {
        let text = r#"{"b":[1E5,-0,[],{}],"a":{"\u202e":"\u200b\u00e9\udb40\udc41\n\u007f"}}"#;
        let mut out = String::new();
        write_review(&parse(text.as_bytes()).unwrap(), &mut out);
        let wanted = "{\n  \"a\": {\n    \"\\u202e\": \"\\u200b\u{e9}\\udb40\\udc41\\n\\u007f\"\n  },\n  \"b\": [\n    1E5,\n    -0,\n    [],\n    {}\n  ]\n}";
        assert_eq!(out, wanted);
    }
}
