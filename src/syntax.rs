//! The expression language as text: tokens, tree, parser, printer.
//! Knows nothing of types, names in scope, or the YAML around an expression.

pub mod ast;
mod balance;
mod expected;
mod foreign;
mod lexer;
mod parser;
pub mod print;
mod text_literal;
mod token;
pub mod words;

pub use parser::{MAX_NESTING, Parsed, parse};
