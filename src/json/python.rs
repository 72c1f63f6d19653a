//! Writes JSON byte for byte as Python's `json.dumps(…, ensure_ascii=False)` writes what its
//! `json.loads` read. Knows nothing of what the text is for.

use std::fmt::Write;

use super::write::{Style, write};
use super::{Json, Number};

/// Appends the spelling that Python's `json.dumps(value, sort_keys=sort_keys, ensure_ascii=False)`
/// gives: separators `", "` and `": "`, integers exact, floats as Python's `repr`; keys in code
/// point order at every depth, or as sent.
pub fn write_python(json: &Json, sort_keys: bool, out: &mut String) {
    write::<Spaced>(json, sort_keys, out);
}

/// Appends the canonical spelling that digests are taken of: as [`write_python`] with sorted keys, but
/// with the separators `,` and `:`.
pub fn write_compact(json: &Json, out: &mut String) {
    write::<Compact>(json, true, out);
}

struct Spaced;

impl Style for Spaced {
    const COMMA: &'static str = ", ";
    const COLON: &'static str = ": ";

    fn number(number: &Number, out: &mut String) {
        write_number(number, out);
    }
}

struct Compact;

impl Style for Compact {
    const COMMA: &'static str = ",";
    const COLON: &'static str = ":";

    fn number(number: &Number, out: &mut String) {
        write_number(number, out);
    }
}

fn write_number(number: &Number, out: &mut String) {
    if !number.is_integer() {
        return write_float(number.to_f64(), out);
    }
    // JSON's grammar leaves an integer one spelling, but for zero.
    if let Some(value) = number.as_i64() {
        let _ = write!(out, "{value}");
        return;
    }
    let spelling = number.spelling();
    out.push_str(if spelling == "-0" { "0" } else { &spelling });
}

/// Shortest digits come from `zmij`; it differs from `repr` below 1e-4 and in short exponents.
fn write_float(value: f64, out: &mut String) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    if let Some((mantissa, exponent)) = text.split_once('e') {
        // `1e-7` is `1e-07` in Python, and `1.0e7` and `1e7` are `1e+07`.
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent.strip_prefix('+').unwrap_or(exponent)),
        };
        out.push_str(mantissa.strip_suffix(".0").unwrap_or(mantissa));
        out.push('e');
        out.push(sign);
        if digits.len() < 2 {
            out.push('0');
        }
        out.push_str(digits);
    } else if value != 0.0 && value.abs() < 1e-4 {
        // `0.0000125` is `1.25e-05` in Python. Longer runs of zeros have an exponent already.
        let (sign, digits) = text.split_once("0.0000").unwrap_or(("", text));
        let mut digits = digits.chars();
        out.push_str(sign);
        out.extend(digits.next());
        if !digits.as_str().is_empty() {
            out.push('.');
        }
        out.push_str(digits.as_str());
        out.push_str("e-05");
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn written(text: &str, sort_keys: bool) -> String {
        let mut out = String::new();
        write_python(&parse(text.as_bytes()).unwrap(), sort_keys, &mut out);
        out
    }

    #[test]
    fn numbers_are_spelled_as_cpython_spells_them() {
        let table: serde_json::Value = serde_json::from_str(include_str!("../../tests/fixtures/numbers.json")).unwrap();
        let rows = table["spelling"].as_array().unwrap();
        assert!(rows.len() >= 40);
        for row in rows {
            let (text, wanted) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
            assert_eq!(written(text, true), wanted, "{text}");
        }
        for (text, wanted) in [
            ("1.25e-5", "1.25e-05"),
            ("-0.00001", "-1e-05"),
            ("10.00005", "10.00005"),
            ("-10.00005", "-10.00005"),
            ("0.00009999999999999999", "9.999999999999999e-05"),
            ("1e100", "1e+100"),
            ("-1.5E-300", "-1.5e-300"),
            ("-0e5", "-0.0"),
        ] {
            assert_eq!(written(text, true), wanted, "{text}");
        }
    }

    #[test]
    fn strings_escape_what_python_escapes() {
        for (text, wanted) in [
            (r#""\u0000\u001f\u007f\u00e9\ud83d\ude00\/""#, "\"\\u0000\\u001f\u{7f}\u{e9}\u{1f600}/\""),
            (r#""\b\f\n\r\t\"\\""#, r#""\b\f\n\r\t\"\\""#),
            (r#""\u000b\u001B\u2028""#, "\"\\u000b\\u001b\u{2028}\""),
            (r#""""#, r#""""#),
        ] {
            assert_eq!(written(text, true), wanted, "{text}");
        }
        for length in 0..80 {
            let plain = "x".repeat(length);
            assert_eq!(written(&format!("\"{plain}\\n{plain}\\\"\""), true), format!("\"{plain}\\n{plain}\\\"\""));
        }
    }

    #[test]
    fn keys_are_sorted_by_code_point_at_every_depth_or_left_as_sent() {
        // U+FFFF sorts before U+10000, which UTF-16 would put first.
        let text = "{\"\u{10000}\":1,\"\u{ffff}\":{\"b\":[],\"a\":{}},\"Z\":[{\"y\":1,\"x\":2}],\"\":null}";
        assert_eq!(
            written(text, true),
            "{\"\": null, \"Z\": [{\"x\": 2, \"y\": 1}], \"\u{ffff}\": {\"a\": {}, \"b\": []}, \"\u{10000}\": 1}"
        );
        assert_eq!(
            written(text, false),
            "{\"\u{10000}\": 1, \"\u{ffff}\": {\"b\": [], \"a\": {}}, \"Z\": [{\"y\": 1, \"x\": 2}], \"\": null}"
        );
    }
}
