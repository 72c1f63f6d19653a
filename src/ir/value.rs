//! Values of state variables and of expressions.

use super::int::Int;
use super::types::Type;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A value that a state variable can hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Bool(bool),
    Int(Int),
    Str(Arc<str>),
}

impl Value {
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Str(_) => Type::Str,
        }
    }
}

/// As Python writes it, which is how reasons spell state: `True`, `7`, `'text'`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => value.fmt(f),
            Self::Str(text) => python_repr(text, f),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => value.serialize(serializer),
            Self::Str(text) => serializer.serialize_str(text),
        }
    }
}

/// Python's `repr` of a text: single quotes unless it holds some and no double ones.
fn python_repr(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write;
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if is_printable(c) => f.write_char(c)?,
            c => match c as u32 {
                code @ 0..=0xff => write!(f, "\\x{code:02x}")?,
                code @ 0x100..=0xffff => write!(f, "\\u{code:04x}")?,
                code => write!(f, "\\U{code:08x}")?,
            },
        }
    }
    f.write_char(quote)
}

/// `str.isprintable`, by the general category of a character.
fn is_printable(c: char) -> bool {
    use GeneralCategory as G;
    c == ' '
        || !matches!(
            c.general_category(),
            G::Control
                | G::Format
                | G::Surrogate
                | G::PrivateUse
                | G::Unassigned
                | G::LineSeparator
                | G::ParagraphSeparator
                | G::SpaceSeparator
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_spelled_as_in_python() {
        for (text, spelled) in [
            ("x", "'x'"),
            ("it's", "\"it's\""),
            ("e\u{301} हिन्दी ❤\u{fe0f}", "'e\u{301} हिन्दी ❤\u{fe0f}'"),
            ("'\"", "'\\'\"'"),
            ("a\\\n\u{1}é\u{a0}\u{200b}", "'a\\\\\\n\\x01é\\xa0\\u200b'"),
        ] {
            assert_eq!(Value::Str(text.into()).to_string(), spelled);
        }
    }
}
