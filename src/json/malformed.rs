//! Why a text is refused. Knows nothing of how the fault was found.

use thiserror::Error;

/// A text that is not JSON, or not JSON that has one meaning only.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason} at byte {offset}")]
pub struct Malformed {
    /// Bytes before the fault, counted from the start of the text.
    pub offset: usize,
    pub reason: Reason,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    #[error("no JSON value, only whitespace or nothing,")]
    Empty,
    #[error("invalid UTF-8")]
    Utf8,
    /// What was missing.
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("unexpected text after the JSON value")]
    Trailing,
    #[error("arrays and objects nested more than {} deep", super::MAX_DEPTH)]
    Depth,
    /// The key, decoded.
    #[error("duplicate key {0:?}")]
    DuplicateKey(String),
    #[error("raw control character in a string; write it as \\u00xx")]
    Control,
    #[error("invalid escape sequence in a string")]
    Escape,
    #[error("half of a surrogate pair in a string")]
    LoneSurrogate,
    /// `NaN`, `Infinity` or `-Infinity`.
    #[error("`{0}` is not a JSON number")]
    NotFinite(&'static str),
    #[error("number too large for a float")]
    TooLarge,
    #[error("integer of more than {} digits", super::MAX_DIGITS)]
    TooLong,
}
