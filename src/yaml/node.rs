//! The tree that the reader hands out. Knows the shapes of YAML, not what any of them means.

use std::fmt;
use std::ops::Range;

use super::positions::Positions;
use crate::text::Span;

/// A value and the place of its content, without comments and the line end behind it.
/// What an alias stands for keeps the place of the anchored content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// One `key: value`; the key is always a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: Node,
    pub value: Node,
}

/// A single value: `text` is what the YAML stands for, with escapes and line folds resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub text: String,
    pub style: Style,
    pub kind: Kind,
    pub(super) positions: Positions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// What an unquoted scalar is in every version of YAML; quoted and block scalars are `Text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool(bool),
    Int,
    Float,
    Text,
}

impl Scalar {
    /// Where the bytes `range` of `text` stand in the file; `node` is the span of the scalar's node.
    /// An escape is covered whole. An empty range gives the empty span at that point.
    #[must_use]
    pub fn span_of(&self, node: Span, range: Range<usize>) -> Span {
        let start = range.start.min(self.text.len());
        let end = range.end.clamp(start, self.text.len());
        match self.positions.locate(start..end) {
            Some(found) => Span::new(node.file, found.start, found.end),
            None => node,
        }
    }
}

impl Node {
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The text, if the node is a scalar that is a text and not a number, boolean or null.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.kind == Kind::Text).map(|scalar| scalar.text.as_str())
    }

    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_scalar()?.kind {
            Kind::Bool(value) => Some(value),
            Kind::Null | Kind::Int | Kind::Float | Kind::Text => None,
        }
    }

    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            Value::Scalar(_) | Value::Mapping(_) => None,
        }
    }

    #[must_use]
    pub fn as_mapping(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            Value::Scalar(_) | Value::Sequence(_) => None,
        }
    }

    /// The value of a key, if the node is a mapping that holds it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entries = self.as_mapping()?;
        entries.iter().find(|entry| entry.key_text() == key).map(|entry| &entry.value)
    }

    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Null)
    }

    /// What the node is, as a message names it: `a list`, `the number 3`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.value.to_string()
    }
}

impl Entry {
    /// The key as it reads, whatever its kind.
    #[must_use]
    pub fn key_text(&self) -> &str {
        self.key.as_scalar().map_or("", |scalar| scalar.text.as_str())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequence(_) => f.write_str("a list"),
            Self::Mapping(_) => f.write_str("a mapping"),
            Self::Scalar(scalar) => match scalar.kind {
                Kind::Null => f.write_str("nothing (null)"),
                Kind::Bool(value) => write!(f, "`{value}`"),
                Kind::Int | Kind::Float => write!(f, "the number {}", scalar.text),
                Kind::Text => f.write_str("a text"),
            },
        }
    }
}
