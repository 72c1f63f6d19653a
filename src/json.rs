//! JSON as it was sent: key order and number spelling kept, doubtful texts refused, Python's
//! spelling written. Knows nothing of policies, calls or transports.

mod embed;
mod malformed;
mod number;
mod object;
mod python;
mod read;
mod result;
mod review;
mod scan;
mod text;
mod value;
mod write;

pub use embed::size;
pub use malformed::{Malformed, Reason};
pub use number::Number;
pub use object::Object;
pub use python::{write_compact, write_python};
pub use read::{MAX_DEPTH, MAX_DIGITS, parse, parse_lenient};
pub use result::{error_strings, error_text, result_strings, result_text};
pub use review::write_review;
pub use text::strings;

/// One JSON value.
///
/// Equality is that of the spelling: `1` and `1.0` differ, and so do objects whose keys were sent
/// in another order. What a policy holds for equal is decided elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    Object(Object),
}

impl Json {
    /// The name of the type Python's `json.loads` gives this value.
    #[must_use]
    pub fn python_type(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Number(number) if number.is_integer() => "int",
            Self::Number(_) => "float",
            Self::String(_) => "str",
            Self::Array(_) => "list",
            Self::Object(_) => "dict",
        }
    }

    /// The text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if this is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The member of this name, if this is an object that has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object().and_then(|object| object.get(name))
    }

    /// The items, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_as_python_names_them() {
        for (text, name) in [
            ("null", "NoneType"),
            ("true", "bool"),
            ("-1", "int"),
            ("1.0", "float"),
            ("1e2", "float"),
            ("\"\"", "str"),
            ("[]", "list"),
            ("{}", "dict"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().python_type(), name, "{text}");
        }
    }
}
