//! YAML to JSON: the arguments and results of calls are written as YAML in a test file.

use crate::ir;
use crate::json::{self, Json, Object};
use crate::policy::Reader;
use crate::text::{Code, Diagnostic};
use crate::yaml::{Entry, Kind, Node, Scalar, Value};

/// The value as JSON; `None` where part of it has no JSON, which is reported.
pub(super) fn json(node: &Node, reader: &mut Reader) -> Option<Json> {
    match &node.value {
        Value::Scalar(scalar) => self::scalar(node, scalar, reader),
        Value::Sequence(items) => {
            // All are read before the first bad one counts: every problem is reported in one run.
            let items: Vec<Option<Json>> = items.iter().map(|item| json(item, reader)).collect();
            items.into_iter().collect::<Option<Vec<Json>>>().map(Json::Array)
        }
        Value::Mapping(entries) => object(entries, reader).map(Json::Object),
    }
}

fn object(entries: &[Entry], reader: &mut Reader) -> Option<Object> {
    let members: Vec<Option<(String, Json)>> = entries
        .iter()
        .map(|entry| {
            let key = reader.text(&entry.key, "a key of a JSON object");
            let value = json(&entry.value, reader);
            Some((key?.text, value?))
        })
        .collect();
    let members: Vec<(String, Json)> = members.into_iter().collect::<Option<_>>()?;
    match Object::try_from(members) {
        Ok(object) => Some(object),
        Err(second) => {
            if let Some(entry) = entries.get(second) {
                let message = format!("the key `{}` stands twice", entry.key_text().escape_debug());
                reader.report(Diagnostic::new(Code::PX1006, entry.key.span, message).help("remove one of them"));
            }
            None
        }
    }
}

fn scalar(node: &Node, scalar: &Scalar, reader: &mut Reader) -> Option<Json> {
    let number = match scalar.kind {
        Kind::Null => return Some(Json::Null),
        Kind::Bool(value) => return Some(Json::Bool(value)),
        Kind::Text => return Some(Json::String(scalar.text.clone())),
        Kind::Int => ir::int_literal(&scalar.text).map(|value| value.to_string()),
        Kind::Float => Some(spelled_as_json(&scalar.text)),
    };
    let read = number.and_then(|number| json::parse(number.as_bytes()).ok());
    if read.is_none() {
        let message = format!("{} is no number of JSON", node.describe());
        reader.report(
            Diagnostic::new(Code::PX1007, node.span, message)
                .help("JSON numbers are finite and whole ones have at most 4,300 digits; quote it if a text is meant"),
        );
    }
    read
}

/// A float of YAML in JSON's spelling: no `+` in front, a digit on both sides of the point.
fn spelled_as_json(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let trimmed = whole.trim_start_matches('0');
    // YAML's `1.` is a float, and must stay one.
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{sign}{}.{fraction}{exponent}", if trimmed.is_empty() { "0" } else { trimmed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::FileId;

    fn read(text: &str) -> Result<String, Vec<String>> {
        let document = crate::yaml::read(text, FileId(0));
        let mut reader = Reader { diagnostics: document.diagnostics };
        let json = document.root.and_then(|root| json(&root, &mut reader));
        let mut out = String::new();
        match json {
            Some(json) if reader.diagnostics.is_empty() => json::write_python(&json, false, &mut out),
            _ => return Err(reader.diagnostics.into_iter().map(|found| found.message).collect()),
        }
        Ok(out)
    }

    #[test]
    fn values_keep_their_kind_and_their_digits() {
        for (yaml, json) in [
            (
                "{a: 1, b: '1', c: true, d: null, e: [x, {}]}",
                r#"{"a": 1, "b": "1", "c": true, "d": null, "e": ["x", {}]}"#,
            ),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("+7", "7"),
            ("-7", "-7"),
            ("0x1f", "31"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("-00.5", "-0.5"),
            ("+1.5", "1.5"),
            ("1.", "1.0"),
            ("2.5e+3", "2500.0"),
        ] {
            assert_eq!(read(yaml).as_deref(), Ok(json), "{yaml}");
        }
    }

    #[test]
    fn every_value_without_json_is_reported() {
        let found = read("{a: .inf, b: [.nan], 1: x}").unwrap_err();
        assert_eq!(found.len(), 3, "{found:?}");
        let found = read(&format!("a: {}", "9".repeat(4301))).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
