//! What of arguments may be written: values of keys that look like credentials are blanked, long texts
//! lose their middle.

use crate::json::{Json, Object};
use crate::text::is_secret_key;
use serde::ser::{Serialize, Serializer};

/// Stands for a value that is not written.
pub(super) const BLANK: &str = "***";
/// Characters of a text that is not cut.
pub(super) const TEXT_WIDTH: usize = 48;

/// A text without its middle: what tells one path from another stands at both ends.
pub(super) fn shorten(text: &str, width: usize) -> Option<(&str, &str)> {
    // Fewer bytes than that are fewer characters.
    if text.len() <= width || text.chars().nth(width).is_none() {
        return None;
    }
    let head = (width - 1) * 2 / 3;
    let tail = width - 1 - head;
    let start = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().rev().nth(tail.saturating_sub(1)).map_or(0, |(at, _)| at);
    Some((text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default()))
}

/// Whether redaction would change the value.
pub(super) fn touches(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
        Json::String(text) => shorten(text, TEXT_WIDTH).is_some(),
        Json::Array(items) => items.iter().any(touches),
        Json::Object(object) => object.iter().any(|(name, value)| is_secret_key(name) || touches(value)),
    }
}

/// Writes a value as it may be shown.
pub(super) struct Redacted<'a>(pub(super) &'a Json);

impl Serialize for Redacted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::String(text) => match shorten(text, TEXT_WIDTH) {
                Some((head, tail)) => serializer.collect_str(&format_args!("{head}…{tail}")),
                None => serializer.serialize_str(text),
            },
            Json::Array(items) => serializer.collect_seq(items.iter().map(Redacted)),
            Json::Object(object) => serializer.collect_map(members(object)),
            plain => plain.serialize(serializer),
        }
    }
}

fn members(object: &Object) -> impl Iterator<Item = (&str, Shown<'_>)> {
    object.iter().map(|(name, value)| (name, if is_secret_key(name) { Shown::Blank } else { Shown::Value(value) }))
}

enum Shown<'a> {
    Blank,
    Value(&'a Json),
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Blank => serializer.serialize_str(BLANK),
            Self::Value(value) => Redacted(value).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn credentials_are_blank_and_long_texts_lose_their_middle() {
        for (text, shown) in [
            (r#"{"pwd":"x","Passphrase":"x"}"#, r#"{"pwd":"***","Passphrase":"***"}"#),
            (r#"{"path":"/w","n":1.50}"#, r#"{"path":"/w","n":1.50}"#),
            (
                r#"{"API-Key":"x","github_TOKEN":{"a":1},"k":[{"cookies":["x"]}]}"#,
                r#"{"API-Key":"***","github_TOKEN":"***","k":[{"cookies":"***"}]}"#,
            ),
            (
                r#"["0123456789012345678901234567890123456789012345678"]"#,
                r#"["0123456789012345678901234567890…3456789012345678"]"#,
            ),
            (
                r#""éééééééééééééééééééééééééééééééééééééééééééééééé""#,
                r#""éééééééééééééééééééééééééééééééééééééééééééééééé""#,
            ),
        ] {
            let json = parse(text.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&Redacted(&json)).unwrap(), shown);
            assert_eq!(touches(&json), text != shown, "{text}");
        }
    }
}
