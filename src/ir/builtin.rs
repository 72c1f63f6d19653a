//! The one table of built-in functions: type checker, evaluator, editors and docs read it.

use super::types::Type;
use std::fmt;

/// A built-in function. Every one is total, deterministic and linear in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    Implies,
    Ite,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
    Member,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    Of(Type),
    /// Any type, the same for every such parameter and for the result.
    Same,
    /// The name of a pattern list, or a list of text literals.
    Texts,
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    pub builtin: Builtin,
    pub name: &'static str,
    /// Name and kind of each parameter.
    pub params: &'static [(&'static str, Param)],
    /// `None`: the type of the `Same` parameters.
    pub result: Option<Type>,
    pub doc: &'static str,
}

use Param::{Of, Same, Texts};
use Type::{Bool, Str};

/// Every built-in, in the order of the reference.
pub const BUILTINS: &[Row] = &[
    Row {
        builtin: Builtin::Implies,
        name: "implies",
        params: &[("a", Of(Bool)), ("b", Of(Bool))],
        result: Some(Bool),
        doc: "`not a or b`; `b` is evaluated only where `a` is true",
    },
    Row {
        builtin: Builtin::Ite,
        name: "ite",
        params: &[("c", Of(Bool)), ("a", Same), ("b", Same)],
        result: None,
        doc: "`a` where `c` is true, else `b`; only that one is evaluated",
    },
    Row {
        builtin: Builtin::StartsWith,
        name: "startswith",
        params: &[("s", Of(Str)), ("p", Of(Str))],
        result: Some(Bool),
        doc: "whether the text `s` begins with `p`",
    },
    Row {
        builtin: Builtin::EndsWith,
        name: "endswith",
        params: &[("s", Of(Str)), ("p", Of(Str))],
        result: Some(Bool),
        doc: "whether the text `s` ends with `p`",
    },
    Row {
        builtin: Builtin::Contains,
        name: "contains",
        params: &[("s", Of(Str)), ("sub", Of(Str))],
        result: Some(Bool),
        doc: "whether `sub` occurs in the text `s`",
    },
    Row {
        builtin: Builtin::Matches,
        name: "matches",
        params: &[("s", Of(Str)), ("list", Texts)],
        result: Some(Bool),
        doc: "whether any text of the list occurs in `s`",
    },
    Row {
        builtin: Builtin::Member,
        name: "member",
        params: &[("x", Of(Str)), ("list", Texts)],
        result: Some(Bool),
        doc: "whether `x` equals a text of the list",
    },
];

impl Builtin {
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Row> {
        BUILTINS.iter().find(|row| row.name == name)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        BUILTINS.iter().find(|row| row.builtin == self).map_or("?", |row| row.name)
    }
}

impl Row {
    /// `contains(s, sub)`.
    #[must_use]
    pub fn signature(&self) -> String {
        self.to_string()
    }
}

/// The signature.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (at, (name, _)) in self.params.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{name}")?;
        }
        f.write_str(")")
    }
}
