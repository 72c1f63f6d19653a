//! Tokens to tree. The parser always returns a tree; what could not be read is an error node.

use super::ast::{CompareOp, Expr, ExprKind};
use super::lexer::Lexis;
use super::token::{Lexed, Token};
use super::{balance, expected, lexer};
use crate::text::{Code, Diagnostic, Span};
use lalrpop_util::{ErrorRecovery, ParseError, lalrpop_mod};
use std::cell::OnceCell;
use std::convert::Infallible;
use std::ops::Range;

lalrpop_mod!(
    #[allow(clippy::all, clippy::pedantic, clippy::restriction, unused_qualifications, unreachable_pub)]
    #[allow(missing_debug_implementations, unused_imports)]
    grammar,
    "/expr.rs"
);

/// How deep brackets, `not`s and signs may nest. Every pass over a tree recurses at most a small
/// multiple of this.
pub const MAX_NESTING: usize = 250;

/// Problems reported for one expression; nobody reads more.
const MAX_DIAGNOSTICS: usize = 100;

/// An expression and what is wrong with its form.
#[derive(Debug)]
pub struct Parsed {
    pub expr: Expr,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses `text`; `place` maps a byte range of it to the place in the file.
#[must_use]
pub fn parse(text: &str, place: &dyn Fn(Range<usize>) -> Span) -> Parsed {
    let whole = place(0..text.len());
    if text.trim().is_empty() {
        let diagnostic = Diagnostic::new(Code::PX0108, whole, "the expression is empty")
            .help("write a condition, or remove the key");
        return Parsed { expr: Expr::error(whole), diagnostics: vec![diagnostic] };
    }
    let Lexis { tokens, mut diagnostics, cut } = lexer::lex(text, place);
    let Some(tokens) = balance::balance(tokens, MAX_NESTING, cut, place, &mut diagnostics) else {
        diagnostics.truncate(MAX_DIAGNOSTICS);
        return Parsed { expr: Expr::error(whole), diagnostics };
    };
    let text_end = text.trim_end().len();
    let mut context = Context { text, place, tokens: OnceCell::new(), text_end, diagnostics };
    let stream = tokens.into_iter().map(|lexed| Ok((lexed.start, lexed.token, lexed.end)));
    let expr = match grammar::ExpressionParser::new().parse(&mut context, stream) {
        Ok(expr) => expr,
        Err(error) => {
            context.complain(&error);
            Expr::error(whole)
        }
    };
    let mut diagnostics = context.diagnostics;
    diagnostics.truncate(MAX_DIAGNOSTICS);
    Parsed { expr, diagnostics }
}

/// `first` and one or more others as one node.
pub(crate) fn join(first: Expr, rest: Vec<Expr>, kind: fn(Vec<Expr>) -> ExprKind) -> Expr {
    let span = rest.last().map_or(first.span, |last| first.span.to(last.span));
    let mut all = Vec::with_capacity(rest.len() + 1);
    all.push(first);
    all.extend(rest);
    Expr { span, kind: kind(all) }
}

/// `first` and one or more others with their operators as one node.
pub(crate) fn chain<Op>(first: Expr, rest: Vec<(Op, Expr)>, kind: fn(Box<Expr>, Vec<(Op, Expr)>) -> ExprKind) -> Expr {
    let span = rest.last().map_or(first.span, |(_, last)| first.span.to(last.span));
    Expr { span, kind: kind(Box::new(first), rest) }
}

/// What the grammar's actions need: places, and where to put complaints.
pub(crate) struct Context<'p> {
    text: &'p str,
    place: &'p dyn Fn(Range<usize>) -> Span,
    /// Read anew for the first complaint: the parser has consumed them.
    tokens: OnceCell<Vec<Lexed>>,
    text_end: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Context<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        (self.place)(start..end)
    }

    pub(crate) fn node(&self, kind: ExprKind, start: usize, end: usize) -> Expr {
        Expr { span: self.span(start, end), kind }
    }

    /// An operator at `start` before its operand.
    pub(crate) fn prefixed(&self, start: usize, operand: Expr, kind: fn(Box<Expr>) -> ExprKind) -> Expr {
        let span = self.span(start, start).to(operand.span);
        Expr { span, kind: kind(Box::new(operand)) }
    }

    /// The same value with its brackets inside its span.
    pub(crate) fn parenthesised(&self, inner: Expr, start: usize, end: usize) -> Expr {
        Expr { span: self.span(start, end), kind: inner.kind }
    }

    pub(crate) fn call(&self, name: String, name_end: usize, args: Vec<Expr>, start: usize, end: usize) -> Expr {
        let name_span = self.span(start, name_end);
        self.node(ExprKind::Call { name, name_span, args }, start, end)
    }

    pub(crate) fn tuple(&self, first: Expr, rest: Vec<Expr>, start: usize, end: usize) -> Expr {
        let mut items = vec![first];
        items.extend(rest);
        self.node(ExprKind::List(items), start, end)
    }

    fn foreign(&mut self, span: Span, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::new(Code::PX0102, span, message).help(help));
    }

    pub(crate) fn conditional(&mut self, a: Expr, c: Expr, b: Expr) -> Expr {
        let span = a.span.to(b.span);
        self.foreign(span, "`a if c else b` is Python's choice", "write `ite(c, a, b)`: condition first");
        Expr { span, kind: ExprKind::Call { name: "ite".to_owned(), name_span: span, args: vec![c, a, b] } }
    }

    pub(crate) fn membership(&mut self, x: Expr, xs: Expr, negated: bool) -> Expr {
        let span = x.span.to(xs.span);
        if negated {
            self.foreign(
                span,
                "`not in` is Python's membership test",
                "write `not member(x, LIST)` or `not contains(text, part)`",
            );
        } else {
            self.foreign(
                span,
                "`in` is Python's membership test",
                "write `member(x, LIST)` for an element, `contains(text, part)` for a part of a text",
            );
        }
        drop((x, xs));
        Expr::error(span)
    }

    pub(crate) fn not_after_comparison(&mut self, a: Expr, op: CompareOp, b: Expr, not_start: usize) -> Expr {
        let symbol = op.symbol();
        let negated = self.prefixed(not_start, b, ExprKind::Not);
        self.diagnostics.push(
            Diagnostic::new(
                Code::PX0101,
                negated.span,
                format!("`not` binds looser than `{symbol}`, so it cannot follow it"),
            )
            .help(format!("put it in brackets: `a {symbol} (not b)`")),
        );
        chain(a, vec![(op, negated)], ExprKind::Compare)
    }

    pub(crate) fn subscript(&mut self, value: Expr, end: usize) -> Expr {
        let span = value.span.to(self.span(end, end));
        self.foreign(
            span,
            "values have no parts to index",
            "compare the whole text, or use `startswith`, `endswith`, `contains`",
        );
        drop(value);
        Expr::error(span)
    }

    pub(crate) fn empty_brackets(&mut self, start: usize, end: usize) -> Expr {
        let span = self.span(start, end);
        self.diagnostics.push(
            Diagnostic::new(Code::PX0101, span, "nothing stands between these brackets")
                .help("write a value, or remove them"),
        );
        Expr::error(span)
    }

    pub(crate) fn recover(
        &mut self,
        recovery: ErrorRecovery<usize, Token, Infallible>,
        start: usize,
        end: usize,
    ) -> Expr {
        let ErrorRecovery { error, .. } = recovery;
        self.complain(&error);
        self.node(ExprKind::Error, start, end.max(start))
    }

    fn complain(&mut self, error: &ParseError<usize, Token, Infallible>) {
        let (at, found) = match error {
            ParseError::UnrecognizedToken { token: (start, token, end), .. }
            | ParseError::ExtraToken { token: (start, token, end) } => {
                if *token == Token::Invalid {
                    return;
                }
                // A closer that `balance` added stands where the text ends.
                ((*start, *end), (start < end).then_some(token))
            }
            ParseError::UnrecognizedEof { .. } | ParseError::InvalidToken { .. } => {
                ((self.text_end, self.text_end), None)
            }
            ParseError::User { error } => match *error {},
        };
        let tokens = self.tokens.get_or_init(|| {
            let Lexis { tokens, mut diagnostics, cut } = lexer::lex(self.text, self.place);
            balance::balance(tokens, MAX_NESTING, cut, self.place, &mut diagnostics).unwrap_or_default()
        });
        let position = tokens.partition_point(|lexed| (lexed.start, lexed.end) < at);
        let previous = position.checked_sub(1).and_then(|before| tokens.get(before));
        let diagnostic = expected::describe(previous, found, at, self.place);
        // Behind a complaint that the parser has skipped something, a sudden end is no news.
        let diagnostic = diagnostic.filter(|_| found.is_some() || self.diagnostics.is_empty());
        self.diagnostics.extend(diagnostic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::print::print;
    use crate::text::FileId;

    fn parsed(text: &str) -> Parsed {
        parse(text, &|range| Span::new(FileId(0), range.start, range.end))
    }

    fn complaints(text: &str) -> Vec<String> {
        parsed(text)
            .diagnostics
            .iter()
            .map(|d| {
                let underlined = text.get(d.primary.span.range()).unwrap_or("?");
                format!("{} [{underlined}] {}", d.code, d.message)
            })
            .collect()
    }

    #[test]
    fn precedence_is_pythons() {
        for (text, printed) in [
            ("not b == true or n == 0 and n == 1", "not b == true or n == 0 and n == 1"),
            ("(not b) == true", "(not b) == true"),
            ("-n % 2 * (3 + 4) - -1", "-n % 2 * (3 + 4) - -1"),
            ("+ +n - --n", "+ +n - --n"),
            ("0 < x <= 3", "0 < x <= 3"),
            ("(0 < x) == b", "(0 < x) == b"),
            ("a or (b or c)", "a or (b or c)"),
            ("((a)) and b", "a and b"),
            ("matches(s, ('a',)) and member(s, {'b', 'c',})", r#"matches(s, ["a"]) and member(s, ["b", "c"])"#),
            ("call.text == 'é'", r#"call.text == "é""#),
            (" 0X1F\n+ 1_000 ", "0x1f + 1000"),
            ("++n - --1", "+ +n - --1"),
        ] {
            let parsed = parsed(text);
            assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
            assert_eq!(print(&parsed.expr), printed);
        }
    }

    #[test]
    fn mistakes_are_named_at_their_place() {
        for (text, expected) in [
            ("a && b", vec!["PX0103 [&&] `and` is written as a word"]),
            ("!a", vec!["PX0103 [!] `not` is written as a word"]),
            ("tainted = true", vec!["PX0103 [=] `=` assigns nothing here"]),
            ("a is b", vec!["PX0103 [is] `is` compares identity in Python"]),
            ("a is not b", vec!["PX0103 [is not] `is not` compares identity in Python"]),
            ("(a == ('x", vec!["PX0105 ['x] the text that begins with ' is not closed on its line"]),
            ("b ? c : a", vec!["PX0102 [?] `c ? a : b` is not praxiom's choice"]),
            ("a AND b", vec!["PX0103 [AND] `and` is written in lower case"]),
            ("Not a", vec!["PX0103 [Not] `not` is written in lower case"]),
            ("n ≤ 1", vec!["PX0103 [≤] operators are written in ASCII"]),
            ("'a' 'b'", vec!["PX0104 ['a' 'b'] two texts stand side by side: is a comma missing?"]),
            ("p == 'a\nb' or q", vec!["PX0105 ['a] the text that begins with ' is not closed on its line"]),
            ("x in ['a']", vec!["PX0102 [x in ['a']] `in` is Python's membership test"]),
            ("a if b else c", vec!["PX0102 [a if b else c] `a if c else b` is Python's choice"]),
            ("f'{x}' == s", vec!["PX0102 [f] `f` before a text is Python's prefix, which praxiom does not have"]),
            ("['a' 'b']", vec!["PX0104 ['a' 'b'] two texts stand side by side: is a comma missing?"]),
            ("(a and", vec!["PX0101 [(] this bracket is not closed: `)` is missing"]),
            ("a and", vec!["PX0101 [and] the expression ends where a value is expected after `and`"]),
            ("a b", vec!["PX0101 [b] `b` follows a value without an operator or a comma"]),
            ("a )", vec!["PX0101 [)] `)` closes nothing"]),
            ("s[0] == 'a'", vec!["PX0102 [s[0]] values have no parts to index"]),
            ("a == not b", vec!["PX0101 [not b] `not` binds looser than `==`, so it cannot follow it"]),
            ("'abc", vec!["PX0105 ['abc] the text that begins with ' is not closed on its line"]),
            ("n == 1 # and", vec!["PX0102 [# and] `#` does not begin a comment inside an expression"]),
            ("", vec!["PX0108 [] the expression is empty"]),
            ("ite(a b, c)", vec!["PX0101 [b] `b` follows a value without an operator or a comma"]),
            ("f(a, , b)", vec!["PX0101 [,] a value is expected after `,`, not `,`"]),
            ("and a", vec!["PX0101 [and] a value is expected, not `and`"]),
        ] {
            assert_eq!(complaints(text), expected, "{text}");
        }
    }

    #[test]
    fn several_mistakes_are_found_in_one_run() {
        assert_eq!(complaints("(a &&) or f(!b, 1.5) and (c c)").len(), 5);
    }

    #[test]
    fn long_is_fine_and_deep_is_an_error() {
        let sum = vec!["n"; 10_000].join(" + ");
        assert!(complaints(&sum).is_empty());
        for deep in [
            "(".repeat(50_000) + "a" + &")".repeat(50_000),
            "not ".repeat(20_000) + "a",
            "-".repeat(9_999) + "n",
            "a if b else ".repeat(9_999) + "c",
            "a == not ".repeat(50_000) + "a",
        ] {
            let found = complaints(&deep);
            assert_eq!(found.len(), 1);
            assert!(found[0].starts_with("PX0107"));
        }
        assert_eq!(complaints(&")".repeat(50_000)).len(), MAX_DIAGNOSTICS);
        assert!(complaints(&("not ".repeat(249) + "a")).is_empty());
        assert!(complaints(&("(".repeat(249) + "a" + &")".repeat(249))).is_empty());
    }
}
