//! Parser errors in the user's words: what stands there, and what was expected instead.

use super::token::{Lexed, Token};
use crate::text::{Code, Diagnostic, Span};
use std::ops::Range;

/// The complaint about `found` (`None`: the end) behind `previous`; `None` where the lexer has
/// already complained about either.
pub(crate) fn describe(
    previous: Option<&Lexed>,
    found: Option<&Token>,
    at: (usize, usize),
    place: &dyn Fn(Range<usize>) -> Span,
) -> Option<Diagnostic> {
    let span = place(at.0..at.1);
    let before = previous.map(|lexed| &lexed.token);
    if matches!(before, Some(Token::Invalid)) || matches!(found, Some(Token::Invalid)) {
        return None;
    }
    let after = |diagnostic: Diagnostic| match previous {
        Some(lexed) => diagnostic.also(place(lexed.start..lexed.end), "after this"),
        None => diagnostic,
    };
    if let Some(diagnostic) = shouted(previous, found, span, place) {
        return Some(diagnostic);
    }
    let value_before = before.is_some_and(Token::ends_value);
    Some(match found {
        None if value_before => Diagnostic::new(Code::PX0101, span, "the expression ends too early"),
        None => {
            let what = before.map_or_else(String::new, |token| format!(" after `{token}`"));
            Diagnostic::new(
                Code::PX0101,
                previous.map_or(span, |lexed| place(lexed.start..lexed.end)),
                format!("the expression ends where a value is expected{what}"),
            )
            .label("a value is expected after this")
            .help("write a name, a literal, a function call or an expression in brackets")
        }
        Some(token @ (Token::If | Token::Else)) => {
            Diagnostic::new(Code::PX0102, span, format!("`{token}` is not used in expressions"))
                .help("write `ite(condition, then, otherwise)`")
        }
        Some(Token::In) => Diagnostic::new(Code::PX0102, span, "`in` is not used in expressions")
            .help("write `member(x, LIST)` or `contains(text, part)`"),
        Some(Token::Not) if value_before => {
            after(Diagnostic::new(Code::PX0101, span, "`not` cannot stand between two values"))
                .help("join two conditions with `and` or `or`; compare with `!=`")
        }
        Some(token) if value_before && token.begins_value() => {
            let shown = show(token);
            after(Diagnostic::new(
                Code::PX0101,
                span,
                format!("{shown} follows a value without an operator or a comma"),
            ))
            .help("join them with an operator such as `and`, `or`, `==`, or separate arguments with a comma")
        }
        Some(Token::Comma) if value_before => {
            Diagnostic::new(Code::PX0101, span, "a comma separates values only inside brackets")
                .help("join two conditions with `and`, or write them as a YAML list")
        }
        Some(token @ (Token::LParen | Token::LBracket | Token::LBrace)) => {
            Diagnostic::new(Code::PX0101, span, format!("`{token}` cannot stand here"))
        }
        Some(token) if value_before => {
            after(Diagnostic::new(Code::PX0101, span, format!("{} cannot follow a value", show(token))))
        }
        Some(token) => {
            let what = before.map_or_else(String::new, |before| format!(" after `{before}`"));
            Diagnostic::new(Code::PX0101, span, format!("a value is expected{what}, not {}", show(token)))
                .help("write a name, a literal, a function call or an expression in brackets")
        }
    })
}

/// `AND`, `Not`: words that are operators in lower case.
fn shouted(
    previous: Option<&Lexed>,
    found: Option<&Token>,
    span: Span,
    place: &dyn Fn(Range<usize>) -> Span,
) -> Option<Diagnostic> {
    let word = |token: Option<&Token>| match token {
        Some(Token::Name(name)) => ["and", "or", "not"].into_iter().find(|word| name.eq_ignore_ascii_case(word)),
        _ => None,
    };
    let (word, span) = match (word(found), word(previous.map(|lexed| &lexed.token))) {
        (Some(word), _) => (word, span),
        (None, Some(word)) => (word, previous.map_or(span, |lexed| place(lexed.start..lexed.end))),
        (None, None) => return None,
    };
    Some(
        Diagnostic::new(Code::PX0103, span, format!("`{word}` is written in lower case"))
            .help(format!("write `{word}`")),
    )
}

fn show(token: &Token) -> String {
    match token {
        Token::Text(_) => token.to_string(),
        _ => format!("`{token}`"),
    }
}
