//! Numbers by their spelling. Knows nothing of the reader that found it.

use std::borrow::Cow;

/// A number as it was sent: the spelling obeys JSON's grammar, an integer has at most
/// [`MAX_DIGITS`](super::MAX_DIGITS) digits, and the value of a float that was read strictly is finite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(Spelling);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Spelling {
    /// An integer that is spelled as its value is: a list of millions takes no more than it must.
    Small(i64),
    Integer(Box<str>),
    Float(Box<str>),
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Spelling::Small(value))
    }
}

impl Number {
    /// `integer` says that the spelling has no `.`, `e` or `E`.
    pub(super) fn new(spelling: &str, integer: bool) -> Self {
        Self(match spelling.parse() {
            // JSON has no leading zeros or `+`: only `-0` is spelled unlike its value.
            Ok(small) if integer && spelling != "-0" => Spelling::Small(small),
            _ if integer => Spelling::Integer(spelling.into()),
            _ => Spelling::Float(spelling.into()),
        })
    }

    /// The digits as they were sent, for example `-0`, `1E5` or `0.10`.
    #[must_use]
    pub fn spelling(&self) -> Cow<'_, str> {
        match &self.0 {
            Spelling::Small(value) => Cow::Owned(value.to_string()),
            Spelling::Integer(spelling) | Spelling::Float(spelling) => Cow::Borrowed(spelling),
        }
    }

    /// Whether Python reads an `int`: no `.`, `e` or `E`. `1e2` and `1.0` are floats.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        !matches!(self.0, Spelling::Float(_))
    }

    /// The value of an integer in the range of `i64`, spelled in the one plain way.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Spelling::Small(value) => Some(value),
            Spelling::Integer(_) | Spelling::Float(_) => None,
        }
    }

    /// The nearest `f64`; infinite for a number beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        // Every spelling of JSON's grammar is one of Rust's.
        self.spelling().parse().unwrap_or(f64::NAN)
    }
}
