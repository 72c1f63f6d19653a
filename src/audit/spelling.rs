//! How a record is spelled: JSON in which no character is invisible, so that a log can be looked at in a
//! terminal. Knows nothing of what is written.

use crate::text::is_invisible;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Appends one value.
pub(super) fn write(value: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible)).map_err(io::Error::from)
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // DEL is the one such character in ASCII that JSON lets pass.
        if fragment.is_ascii() && memchr::memchr(0x7f, fragment.as_bytes()).is_none() {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_invisible) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut tail = tail.chars();
            for unit in tail.next().unwrap_or_default().encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = tail.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, parse};

    #[test]
    fn nothing_is_invisible_and_nothing_is_lost() {
        let text = "a\u{1b}[2K\u{7f}\u{9b}é\u{202e}\u{e0041}z\n\u{feff}";
        let mut out = Vec::new();
        write(&text, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown, r#""a\u001b[2K\u007f\u009bé\u202e\udb40\udc41z\n\ufeff""#);
        assert_eq!(parse(shown.as_bytes()).unwrap(), Json::String(text.to_owned()));
    }
}
