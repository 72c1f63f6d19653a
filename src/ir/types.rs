//! The types of values.

use std::fmt;

/// The type of a value; spelled as in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Bool,
    /// Exact, up to 4,300 decimal digits.
    Int,
    /// A sequence of Unicode scalar values.
    Str,
}

impl Type {
    pub const ALL: [Self; 3] = [Self::Bool, Self::Int, Self::Str];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Str => "str",
        }
    }

    /// The type of this name in a policy.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
