//! Brackets, nesting and neighbours, judged before the grammar sees the tokens: it then meets only
//! balanced brackets, bounded nesting and separated texts.

use super::token::{Lexed, Token};
use crate::text::{Code, Diagnostic, Span};
use std::ops::Range;

/// Drops closers that close nothing, adds the missing ones, and puts a comma between two texts.
/// `None` if the nesting passes `limit`. `cut`: the end of the text was swallowed, so missing closers are no news.
pub(crate) fn balance(
    tokens: Vec<Lexed>,
    limit: usize,
    cut: bool,
    place: &dyn Fn(Range<usize>) -> Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Lexed>> {
    let end = tokens.last().map_or(0, |last| last.end);
    let mut out: Vec<Lexed> = Vec::with_capacity(tokens.len() + 1);
    let mut open: Vec<Open> = Vec::new();
    let mut prefixes = 0_usize;
    let mut depth = 0_usize;
    for lexed in tokens {
        let after_value = out.last().is_some_and(|last| last.token.ends_value());
        if let Some(closing) = lexed.token.closing() {
            open.push(Open { closing, start: lexed.start, end: lexed.end, prefixes });
            depth += prefixes + 1;
            prefixes = 0;
        } else if lexed.token.is_closing() {
            if !open.iter().any(|opened| opened.closing == lexed.token) {
                diagnostics.push(
                    Diagnostic::new(
                        Code::PX0101,
                        place(lexed.start..lexed.end),
                        format!("`{}` closes nothing", lexed.token),
                    )
                    .help("remove it, or add the bracket that it should close"),
                );
                continue;
            }
            while let Some(opened) = open.pop() {
                depth = depth.saturating_sub(opened.prefixes + 1);
                if opened.closing == lexed.token {
                    break;
                }
                diagnostics.push(unclosed(&opened, Some(&lexed), place));
                close(&mut out, opened.closing, lexed.start);
            }
            prefixes = 0;
        } else {
            match lexed.token {
                // `a == not b == not c …` nests to the right.
                Token::Not if out.last().is_some_and(|last| last.token.compares()) => depth += 1,
                Token::Not => prefixes += 1,
                Token::Minus | Token::Plus if !after_value => prefixes += 1,
                // `a if b else c if d else …` nests to the right.
                Token::Else => depth += 1,
                _ if lexed.token.ends_value() => prefixes = 0,
                _ => {}
            }
        }
        if depth + prefixes > limit {
            diagnostics.push(
                Diagnostic::new(
                    Code::PX0107,
                    place(lexed.start..lexed.end),
                    format!("the expression is nested more than {limit} levels deep here"),
                )
                .help("remove needless brackets and `not`s, or split the rule into several"),
            );
            return None;
        }
        separate_texts(&mut out, &lexed, !open.is_empty(), place, diagnostics);
        out.push(lexed);
    }
    while let Some(opened) = open.pop() {
        if !cut {
            diagnostics.push(unclosed(&opened, None, place));
        }
        close(&mut out, opened.closing, end);
    }
    Some(out)
}

struct Open {
    closing: Token,
    start: usize,
    end: usize,
    /// `not`s and signs that stood right before the bracket.
    prefixes: usize,
}

/// Adds a missing closer, behind an invalid token: what the brackets hold is not all that was meant.
fn close(out: &mut Vec<Lexed>, closing: Token, at: usize) {
    out.push(Lexed { start: at, token: Token::Invalid, end: at });
    out.push(Lexed { start: at, token: closing, end: at });
}

fn unclosed(opened: &Open, met: Option<&Lexed>, place: &dyn Fn(Range<usize>) -> Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(
        Code::PX0101,
        place(opened.start..opened.end),
        format!("this bracket is not closed: `{}` is missing", opened.closing),
    );
    if let Some(met) = met {
        diagnostic = diagnostic.also(place(met.start..met.end), format!("`{}` is missing before this", opened.closing));
    }
    diagnostic
}

/// Two texts side by side: Python would glue them, and a missing comma would lose both patterns.
fn separate_texts(
    out: &mut Vec<Lexed>,
    next: &Lexed,
    in_brackets: bool,
    place: &dyn Fn(Range<usize>) -> Span,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(last) = out.last() else { return };
    if !matches!((&last.token, &next.token), (Token::Text(_), Token::Text(_))) {
        return;
    }
    let between = last.end;
    let diagnostic =
        Diagnostic::new(Code::PX0104, place(last.start..next.end), "two texts stand side by side: is a comma missing?")
            .note("Python would glue them into one text, so that neither is looked for")
            .help("put a comma between them");
    diagnostics.push(diagnostic);
    // Outside brackets nothing useful can follow; an invalid token keeps the parser silent.
    let token = if in_brackets { Token::Comma } else { Token::Invalid };
    out.push(Lexed { start: between, token, end: between });
}
