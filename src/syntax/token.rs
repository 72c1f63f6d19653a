//! What the lexer finds and what the parser reads.

use std::fmt;

/// A token of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    And,
    Or,
    Not,
    True,
    False,
    Name(String),
    Int {
        digits: String,
        radix: u32,
    },
    Text(String),
    Plus,
    Minus,
    Star,
    SlashSlash,
    Percent,
    Lt,
    Le,
    Gt,
    Ge,
    EqEq,
    Ne,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    /// Python's `if`, `else` and `in`: parsed so that the message can name the replacement.
    If,
    Else,
    In,
    /// Something the lexer has already complained about; parser errors at it are dropped.
    Invalid,
}

impl Token {
    /// Whether a value can end with this token.
    pub(crate) fn ends_value(&self) -> bool {
        matches!(
            self,
            Self::True
                | Self::False
                | Self::Name(_)
                | Self::Int { .. }
                | Self::Text(_)
                | Self::RParen
                | Self::RBracket
                | Self::RBrace
                | Self::Invalid
        )
    }

    /// Whether a value can begin with this token and with nothing else.
    pub(crate) fn begins_value(&self) -> bool {
        matches!(
            self,
            Self::True
                | Self::False
                | Self::Name(_)
                | Self::Int { .. }
                | Self::Text(_)
                | Self::LParen
                | Self::LBracket
                | Self::LBrace
                | Self::Not
        )
    }

    pub(crate) fn compares(&self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::EqEq | Self::Ne)
    }

    /// The bracket that closes this one.
    pub(crate) fn closing(&self) -> Option<Self> {
        match self {
            Self::LParen => Some(Self::RParen),
            Self::LBracket => Some(Self::RBracket),
            Self::LBrace => Some(Self::RBrace),
            _ => None,
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        matches!(self, Self::RParen | Self::RBracket | Self::RBrace)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Not => "not",
            Self::True => "true",
            Self::False => "false",
            Self::Name(name) => name,
            Self::Int { digits, .. } => digits,
            Self::Text(_) => "a text",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::SlashSlash => "//",
            Self::Percent => "%",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::EqEq => "==",
            Self::Ne => "!=",
            Self::LParen => "(",
            Self::RParen => ")",
            Self::LBracket => "[",
            Self::RBracket => "]",
            Self::LBrace => "{",
            Self::RBrace => "}",
            Self::Comma => ",",
            Self::If => "if",
            Self::Else => "else",
            Self::In => "in",
            Self::Invalid => "this",
        })
    }
}

/// A token with its byte range in the expression's text.
#[derive(Clone, Debug)]
pub(crate) struct Lexed {
    pub(crate) start: usize,
    pub(crate) token: Token,
    pub(crate) end: usize,
}
