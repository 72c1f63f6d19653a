//! Numbers by their spelling. Knows nothing of the reader that found it.

/// A number as it was sent: the spelling obeys JSON's grammar, its float value is finite unless it
/// is an integer, and an integer has at most [`MAX_DIGITS`](super::MAX_DIGITS) digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    spelling: Box<str>,
    integer: bool,
}

impl Number {
    /// `integer` says that the spelling has no `.`, `e` or `E`.
    pub(super) fn new(spelling: &str, integer: bool) -> Self {
        Self { spelling: spelling.into(), integer }
    }

    /// The digits as they were sent, for example `-0`, `1E5` or `0.10`.
    #[must_use]
    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    /// Whether Python reads an `int`: no `.`, `e` or `E`. `1e2` and `1.0` are floats.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.integer
    }

    /// The nearest `f64`; infinite for an integer beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        // Every spelling of JSON's grammar is one of Rust's.
        self.spelling.parse().unwrap_or(f64::NAN)
    }
}
