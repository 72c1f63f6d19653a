//! Text literals: quotes and escapes.

/// What is wrong with a literal, as byte ranges of the literal itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// Length of the literal that starts `text` with a quote, closing quote included.
/// `Err` holds the length up to the line end or the end when no quote closes it.
pub(crate) fn scan(text: &str) -> Result<usize, usize> {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else { return Err(0) };
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                // An escaped line end does not end the literal for the scan; decoding refuses it.
                chars.next();
            }
            '\n' | '\r' => return Err(at),
            _ if c == quote => return Ok(at + c.len_utf8()),
            _ => {}
        }
    }
    Err(text.len())
}

const KNOWN: &str = r#"the escapes are \\ \' \" \n \r \t \xHH \uHHHH \UHHHHHHHH; for a backslash itself write \\"#;

/// The text between the quotes with its escapes resolved; flaws leave their spelling in the text.
pub(crate) fn decode(literal: &str) -> (String, Vec<Flaw>) {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
    let mut out = String::with_capacity(inner.len());
    let mut flaws = Vec::new();
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let start = 1 + inner.len() - tail.len();
        let escape = tail.chars().nth(1);
        let (length, value) = match escape {
            Some('\\') => (2, Ok('\\')),
            Some('\'') => (2, Ok('\'')),
            Some('"') => (2, Ok('"')),
            Some('n') => (2, Ok('\n')),
            Some('r') => (2, Ok('\r')),
            Some('t') => (2, Ok('\t')),
            Some('x') => hex(tail, 2),
            Some('u') => hex(tail, 4),
            Some('U') => hex(tail, 8),
            Some(c) => (1 + c.len_utf8(), Err(format!("`\\{}` is not an escape", c.escape_debug()))),
            None => (1, Err("the text ends with a lone backslash".to_owned())),
        };
        match value {
            Ok(c) => out.push(c),
            Err(message) => {
                out.push_str(tail.get(..length).unwrap_or(""));
                flaws.push(Flaw { start, end: start + length, message, help: KNOWN });
            }
        }
        rest = tail.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    (out, flaws)
}

/// `\x`, `\u` or `\U` at the start of `tail`: its length in bytes and its character.
fn hex(tail: &str, digits: usize) -> (usize, Result<char, String>) {
    let spelled: String = tail.chars().skip(2).take(digits).take_while(char::is_ascii_hexdigit).collect();
    let length = 2 + spelled.len();
    let escape = tail.get(..length).unwrap_or("");
    if spelled.len() < digits {
        return (length, Err(format!("`{escape}` needs {digits} hexadecimal digits")));
    }
    let value = u32::from_str_radix(&spelled, 16).unwrap_or(u32::MAX);
    let found = char::from_u32(value).ok_or_else(|| {
        if (0xD800..0xE000).contains(&value) {
            format!("`{escape}` is half of a surrogate pair, which is no character")
        } else {
            format!("`{escape}` is beyond the last character, U+10FFFF")
        }
    });
    (length, found)
}

/// The shortest literal in double quotes that means `text`.
pub(crate) fn quote(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Controls, and the line ends and marks that an editor hides.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(decode(r#""a\x41\u00e9\U0001F600\\\"\n""#), ("aAé😀\\\"\n".to_owned(), vec![]));
        for bad in [r#""\d""#, r#""\ud800""#, r#""\x4""#, r#""\U00110000""#, r#""\é""#, "\"\\\n\""] {
            assert_eq!(decode(bad).1.len(), 1, "{bad}");
        }
        assert_eq!(decode(r#""a\qb""#).1[0].start, 2);
    }

    #[test]
    fn quoting_is_undone_by_decoding() {
        let text = "a\"b\\c\n\u{0}é\u{2028}'";
        assert_eq!(decode(&quote(text)), (text.to_owned(), vec![]));
    }
}
