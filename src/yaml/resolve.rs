//! What an unquoted scalar is under YAML 1.1 (as `PyYAML` reads it) and under the YAML 1.2 core schema.
//! Where the two differ, the scalar is ambiguous. Knows nothing of places.

use super::node::Kind;

/// The two readings of an ambiguous scalar, as a message names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ambiguity {
    pub(super) old: String,
    pub(super) new: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Reading {
    Null,
    Bool(bool),
    /// `None` where the value does not fit or the reader fails on it.
    Int(Option<i128>),
    Float,
    BaseSixty,
    Date,
    Special,
    Text,
}

pub(super) fn resolve(text: &str) -> Result<Kind, Ambiguity> {
    // Most scalars are names: no word that means something else is longer than `false`.
    if text.len() > 5 && text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Ok(Kind::Text);
    }
    let (old, new) = (yaml_1_1(text), core(text));
    if old != new {
        return Err(Ambiguity { old: old.describe(text), new: new.describe(text) });
    }
    Ok(match new {
        Reading::Null => Kind::Null,
        Reading::Bool(value) => Kind::Bool(value),
        Reading::Int(_) => Kind::Int,
        Reading::Float => Kind::Float,
        Reading::BaseSixty | Reading::Date | Reading::Special | Reading::Text => Kind::Text,
    })
}

impl Reading {
    fn describe(&self, text: &str) -> String {
        match self {
            Self::Null => "nothing (null)".to_owned(),
            Self::Bool(value) => format!("the boolean {value}"),
            Self::Int(Some(value)) => format!("the number {value}"),
            Self::Int(None) | Self::Float => "a number".to_owned(),
            Self::BaseSixty => "a number in base 60".to_owned(),
            Self::Date => "a date".to_owned(),
            Self::Special => format!("the special value `{text}`"),
            Self::Text => format!("the text `{text}`"),
        }
    }
}

fn null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn core(text: &str) -> Reading {
    let (negative, digits) = unsigned(text);
    match text {
        _ if null(text) => Reading::Null,
        "true" | "True" | "TRUE" => Reading::Bool(true),
        "false" | "False" | "FALSE" => Reading::Bool(false),
        _ if all(digits, |byte| byte.is_ascii_digit()) => integer(negative, digits, 10),
        _ => {
            if let Some(octal) = text.strip_prefix("0o").filter(|rest| all(rest, |byte| matches!(byte, b'0'..=b'7'))) {
                return integer(false, octal, 8);
            }
            if let Some(hex) = text.strip_prefix("0x").filter(|rest| all(rest, |byte| byte.is_ascii_hexdigit())) {
                return integer(false, hex, 16);
            }
            if infinity_or_nan(text) || core_float(digits) { Reading::Float } else { Reading::Text }
        }
    }
}

fn core_float(digits: &str) -> bool {
    let mut cursor = Cursor(digits);
    let whole = cursor.skip(|byte| byte.is_ascii_digit());
    let fraction = if cursor.eat(b".") { cursor.skip(|byte| byte.is_ascii_digit()) } else { 0 };
    whole + fraction > 0 && cursor.exponent(false) && cursor.0.is_empty()
}

fn yaml_1_1(text: &str) -> Reading {
    match text {
        _ if null(text) => Reading::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Reading::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Reading::Bool(false),
        "=" | "<<" => Reading::Special,
        _ if old_float(text) => {
            if text.contains('_') {
                // Only this version lets a `_` stand in a number, so the value does not matter.
                return Reading::Int(None);
            }
            Reading::Float
        }
        _ if base_sixty(text) => Reading::BaseSixty,
        _ if date(text) => Reading::Date,
        _ => old_int(text),
    }
}

fn old_int(text: &str) -> Reading {
    let (negative, digits) = unsigned(text);
    let underscored = |digits: &str, digit: fn(u8) -> bool| all(digits, |byte| byte == b'_' || digit(byte));
    let value = |digits: &str, radix| integer(negative, &digits.replace('_', ""), radix);
    if let Some(binary) = digits.strip_prefix("0b") {
        if underscored(binary, |byte| matches!(byte, b'0' | b'1')) { value(binary, 2) } else { Reading::Text }
    } else if let Some(hex) = digits.strip_prefix("0x") {
        if underscored(hex, |byte| byte.is_ascii_hexdigit()) { value(hex, 16) } else { Reading::Text }
    } else if digits.starts_with('_') {
        Reading::Text
    } else if digits.starts_with('0') {
        match underscored(digits, |byte| matches!(byte, b'0'..=b'7')).then(|| value(digits, 8)) {
            // Too large to compare, and surely not the number that the same digits are in base 10.
            Some(Reading::Int(None)) => Reading::Float,
            Some(found) => found,
            None => Reading::Text,
        }
    } else if underscored(digits, |byte| byte.is_ascii_digit()) {
        value(digits, 10)
    } else {
        Reading::Text
    }
}

fn old_float(text: &str) -> bool {
    if infinity_or_nan(text) {
        return true;
    }
    let signed = text.starts_with(['+', '-']);
    let mut cursor = Cursor(unsigned(text).1);
    let starts_with_digit = cursor.starts_with_digit();
    cursor.skip(|byte| byte.is_ascii_digit() || byte == b'_' && starts_with_digit);
    let starts_well =
        if starts_with_digit { cursor.eat(b".") } else { !signed && cursor.eat(b".") && cursor.starts_with_digit() };
    cursor.skip(|byte| byte.is_ascii_digit() || byte == b'_');
    starts_well && cursor.exponent(true) && cursor.0.is_empty()
}

/// `12:30:45` and `190:20.5`.
fn base_sixty(text: &str) -> bool {
    let mut cursor = Cursor(unsigned(text).1);
    let leading_zero = cursor.0.starts_with('0');
    if !cursor.starts_with_digit() {
        return false;
    }
    cursor.skip(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut groups = 0;
    while cursor.eat(b":") {
        let group = cursor.0;
        let len = cursor.skip(|byte| byte.is_ascii_digit());
        let valid = len == 1 || len == 2 && group.starts_with(|c: char| ('0'..'6').contains(&c));
        if !valid {
            return false;
        }
        groups += 1;
    }
    // The integer form must not start with 0, the one with a fraction may.
    let fraction = cursor.eat(b".");
    if fraction {
        cursor.skip(|byte| byte.is_ascii_digit() || byte == b'_');
    }
    groups > 0 && (fraction || !leading_zero) && cursor.0.is_empty()
}

fn date(text: &str) -> bool {
    let mut cursor = Cursor(text);
    if !(cursor.digits(4..=4) && cursor.eat(b"-")) {
        return false;
    }
    let (month, month_ends) = (cursor.skip(|byte| byte.is_ascii_digit()), cursor.eat(b"-"));
    let day = cursor.skip(|byte| byte.is_ascii_digit());
    if !month_ends || !(1..=2).contains(&month) || !(1..=2).contains(&day) {
        return false;
    }
    if cursor.0.is_empty() {
        return month == 2 && day == 2;
    }
    let separated = cursor.eat(b"Tt") || cursor.skip(|byte| matches!(byte, b' ' | b'\t')) > 0;
    let time = separated
        && cursor.digits(1..=2)
        && cursor.eat(b":")
        && cursor.digits(2..=2)
        && cursor.eat(b":")
        && cursor.digits(2..=2);
    if !time {
        return false;
    }
    if cursor.eat(b".") {
        cursor.skip(|byte| byte.is_ascii_digit());
    }
    if cursor.0.is_empty() {
        return true;
    }
    cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
    let zone =
        cursor.eat(b"Z") || cursor.eat(b"+-") && cursor.digits(1..=2) && (!cursor.eat(b":") || cursor.digits(2..=2));
    zone && cursor.0.is_empty()
}

fn infinity_or_nan(text: &str) -> bool {
    matches!(text, ".nan" | ".NaN" | ".NAN") || matches!(unsigned(text).1, ".inf" | ".Inf" | ".INF")
}

fn unsigned(text: &str) -> (bool, &str) {
    (text.starts_with('-'), text.strip_prefix(['+', '-']).unwrap_or(text))
}

fn all(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(allowed)
}

fn integer(negative: bool, digits: &str, radix: u32) -> Reading {
    let value = i128::from_str_radix(digits, radix).ok();
    Reading::Int(value.map(|value| if negative { -value } else { value }))
}

struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn skip(&mut self, allowed: impl Fn(u8) -> bool) -> usize {
        let rest = self.0.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(&allowed));
        let skipped = self.0.len() - rest.len();
        self.0 = rest;
        skipped
    }

    fn eat(&mut self, any_of: &[u8]) -> bool {
        let rest = self.0.strip_prefix(|c: char| u8::try_from(c).is_ok_and(|byte| any_of.contains(&byte)));
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn digits(&mut self, count: std::ops::RangeInclusive<usize>) -> bool {
        count.contains(&self.skip(|byte| byte.is_ascii_digit()))
    }

    fn starts_with_digit(&self) -> bool {
        self.0.starts_with(|c: char| c.is_ascii_digit())
    }

    /// An optional exponent; false if there is a broken one.
    fn exponent(&mut self, needs_sign: bool) -> bool {
        !self.eat(b"eE") || ((self.eat(b"+-") || !needs_sign) && self.skip(|byte| byte.is_ascii_digit()) > 0)
    }
}

#[cfg(test)]
mod tests;
