//! Text of an expression to tokens. Every lexical problem becomes a diagnostic and a token, so that
//! the parser sees a complete stream.

use super::token::{Lexed, Token};
use super::{foreign, text_literal, words};
use crate::text::{Code, Diagnostic, Span};
use logos::Logos;
use std::ops::Range;

/// What logos tells apart; the meaning is given in [`lex`].
#[derive(Logos, Debug, Clone, Copy, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
enum Raw {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")]
    Word,
    #[regex(r"[0-9][A-Za-z0-9_]*")]
    Number,
    #[regex(r"[0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?", priority = 10)]
    #[regex(r"[0-9][0-9_]*[eE][-+][0-9]+")]
    #[regex(r"\.[0-9]+([eE][-+]?[0-9]+)?")]
    Fraction,
    #[token("\"")]
    #[token("'")]
    Quote,
    #[regex("[rRbBuUfFtT][rRbBuUfFtT]?[\"']")]
    PrefixedQuote,
    #[token("#")]
    Hash,
    #[regex(r"//|<=|>=|==|!=|[-+*%<>(){}\[\],]")]
    Symbol,
    #[regex(r"&&|\|\||===|!==|<>|=<|=>|->|<=>|\*\*|\+=|-=|\*=|:=|<<|>>|≤|≥|≠|¬|∧|∨|−|×|[!~=&|/^?:;.$@\\`]")]
    ForeignSymbol,
}

/// The tokens of a text, and what is wrong with them.
pub(crate) struct Lexis {
    pub(crate) tokens: Vec<Lexed>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether an open quote or a `#` has swallowed what follows, closing brackets perhaps included.
    pub(crate) cut: bool,
}

/// Reads `text`; `place` maps bytes of it to the file.
pub(crate) fn lex(text: &str, place: &dyn Fn(Range<usize>) -> Span) -> Lexis {
    let tokens = Vec::with_capacity(text.len().div_ceil(4));
    let mut lexer = Lexer { text, place, tokens, diagnostics: Vec::new(), follows_is: false, cut: false };
    lexer.run();
    Lexis { tokens: lexer.tokens, diagnostics: lexer.diagnostics, cut: lexer.cut }
}

struct Lexer<'a> {
    text: &'a str,
    place: &'a dyn Fn(Range<usize>) -> Span,
    tokens: Vec<Lexed>,
    diagnostics: Vec<Diagnostic>,
    follows_is: bool,
    cut: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let mut raw = Raw::lexer(self.text);
        while let Some(found) = raw.next() {
            let range = raw.span();
            let spelled = raw.slice();
            if found != Ok(Raw::Word) {
                self.follows_is = false;
            }
            match found {
                Ok(Raw::Word) => self.word(spelled, range),
                Ok(Raw::Number) => self.number(spelled, range),
                Ok(Raw::Fraction) => {
                    self.report(
                        Diagnostic::new(Code::PX0106, self.span(&range), format!("`{spelled}` is not a whole number"))
                            .help("numbers in expressions are whole; count in the smaller unit, e.g. cents"),
                    );
                    self.push(Token::Invalid, range);
                }
                Ok(Raw::Quote) => {
                    let end = self.text_literal(range.start, range.start);
                    raw.bump(end.saturating_sub(range.end));
                }
                Ok(Raw::PrefixedQuote) => {
                    let quote = range.end - 1;
                    let prefix = self.text.get(range.start..quote).unwrap_or("");
                    let help = if prefix.contains(['f', 'F', 't', 'T']) {
                        "texts are not filled in; compare the parts, e.g. `startswith(path, \"/w/\")`"
                    } else {
                        "write the text without a prefix; a backslash is written `\\\\`"
                    };
                    self.report(
                        Diagnostic::new(
                            Code::PX0102,
                            self.span(&(range.start..quote)),
                            format!("`{prefix}` before a text is Python's prefix, which praxiom does not have"),
                        )
                        .help(help),
                    );
                    let end = self.text_literal(range.start, quote);
                    raw.bump(end.saturating_sub(range.end));
                }
                Ok(Raw::Hash) => {
                    let rest = self.text.get(range.start..).unwrap_or("");
                    let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
                    self.cut = true;
                    self.report(
                        Diagnostic::new(
                            Code::PX0102,
                            self.span(&(range.start..range.start + length)),
                            "`#` does not begin a comment inside an expression",
                        )
                        .help("write the comment as a YAML comment, outside the expression's quotes or block"),
                    );
                    raw.bump(length.saturating_sub(1));
                }
                Ok(Raw::Symbol) => self.push(symbol(spelled), range),
                Ok(Raw::ForeignSymbol) => {
                    let known = foreign::symbol(spelled);
                    // `c ? a : b` and `lambda: a` are one construct each.
                    let told = spelled == ":" && self.diagnostics.last().is_some_and(|d| d.code == Code::PX0102);
                    if told {
                        self.push(known.token, range);
                        continue;
                    }
                    self.report(Diagnostic::new(known.code, self.span(&range), known.message).help(known.help));
                    self.push(known.token, range);
                }
                Err(()) => {
                    let rest = self.text.get(range.start..).unwrap_or("");
                    let length = self.stranger(rest, range.start);
                    raw.bump((range.start + length).saturating_sub(range.end));
                }
            }
        }
    }

    fn span(&self, range: &Range<usize>) -> Span {
        (self.place)(range.clone())
    }

    fn push(&mut self, token: Token, range: Range<usize>) {
        self.tokens.push(Lexed { start: range.start, token, end: range.end });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn word(&mut self, spelled: &str, range: Range<usize>) {
        let token = match spelled {
            "and" => Token::And,
            "or" => Token::Or,
            "not" if self.follows_is => {
                // One operator: what was said of `is` alone does not hold.
                let start = self.tokens.pop().map_or(range.start, |is| is.start);
                self.diagnostics.pop();
                self.report(
                    Diagnostic::new(
                        Code::PX0103,
                        self.span(&(start..range.end)),
                        "`is not` compares identity in Python",
                    )
                    .help("write `!=`"),
                );
                Token::Ne
            }
            "not" => Token::Not,
            "true" | "True" => Token::True,
            "false" | "False" => Token::False,
            "if" => Token::If,
            "else" => Token::Else,
            "in" => Token::In,
            word if words::FOREIGN_KEYWORDS.contains(&word) => {
                let known = foreign::word(word);
                self.report(Diagnostic::new(known.code, self.span(&range), known.message).help(known.help));
                known.token
            }
            name => Token::Name(name.to_owned()),
        };
        self.push(token, range);
        self.follows_is = spelled == "is";
    }

    fn number(&mut self, spelled: &str, range: Range<usize>) {
        let token = match read_number(spelled) {
            Ok((digits, radix)) => Token::Int { digits, radix },
            Err((message, help)) => {
                self.report(Diagnostic::new(Code::PX0106, self.span(&range), message).maybe_help(help));
                Token::Invalid
            }
        };
        self.push(token, range);
    }

    /// Reads the literal whose quote stands at `quote`; `start` is where its prefix begins. Returns its end.
    fn text_literal(&mut self, start: usize, quote: usize) -> usize {
        let rest = self.text.get(quote..).unwrap_or("");
        for triple in ["\"\"\"", "'''"] {
            if rest.starts_with(triple) {
                let inner = rest.get(3..).unwrap_or("");
                let end = quote + inner.find(triple).map_or(rest.len(), |at| at + 6);
                self.report(
                    Diagnostic::new(Code::PX0102, self.span(&(quote..end)), "there are no triple-quoted texts")
                        .help("write one pair of quotes; a line end is written `\\n`"),
                );
                self.push(Token::Text(String::new()), start..end);
                return end;
            }
        }
        match text_literal::scan(rest) {
            Ok(length) => {
                let end = quote + length;
                let (text, flaws) = text_literal::decode(self.text.get(quote..end).unwrap_or(""));
                for flaw in flaws {
                    let span = self.span(&(quote + flaw.start..quote + flaw.end));
                    self.report(Diagnostic::new(Code::PX0105, span, flaw.message).help(flaw.help));
                }
                self.push(Token::Text(text), start..end);
                end
            }
            Err(length) => {
                let mark = rest.chars().next().unwrap_or('"');
                let line_end = quote + length;
                // Closed on a later line, the text goes on to there: what it holds is no expression.
                let closed = rest.get(length..).and_then(|later| later.find(mark)).map(|at| line_end + at + 1);
                let (help, end) = match closed {
                    Some(end) => {
                        ("close the text on its line; a line end inside a text is written `\\n`".to_owned(), end)
                    }
                    None => (format!("add the closing {mark}"), line_end),
                };
                self.cut |= closed.is_none();
                self.report(
                    Diagnostic::new(
                        Code::PX0105,
                        self.span(&(quote..line_end)),
                        format!("the text that begins with {mark} is not closed on its line"),
                    )
                    .help(help),
                );
                self.push(Token::Text(String::new()), start..end);
                end
            }
        }
    }

    /// Something no token begins with; returns how many bytes to pass over.
    fn stranger(&mut self, rest: &str, start: usize) -> usize {
        let Some(first) = rest.chars().next() else { return 1 };
        if foreign::is_curly_quote(first) {
            let body = rest.get(first.len_utf8()..).unwrap_or("");
            let length = body
                .char_indices()
                .find(|(_, c)| foreign::is_curly_quote(*c))
                .map_or(rest.len(), |(at, c)| first.len_utf8() + at + c.len_utf8());
            self.report(
                Diagnostic::new(
                    Code::PX0105,
                    self.span(&(start..start + length)),
                    format!("`{first}` is a typographic quote, which does not begin a text"),
                )
                .help("write straight quotes: \" or '"),
            );
            self.push(Token::Text(String::new()), start..start + length);
            return length;
        }
        let word: usize = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
        let length = word.max(first.len_utf8());
        let span = self.span(&(start..start + length));
        let diagnostic = if word > 0 {
            let name = rest.get(..word).unwrap_or("");
            Diagnostic::new(
                Code::PX0101,
                span,
                format!("`{name}` cannot be a name: names are ASCII letters, digits and `_`"),
            )
            .help("put a text in quotes, or rename the variable")
        } else {
            Diagnostic::new(Code::PX0101, span, format!("the character {} has no meaning here", describe_char(first)))
                .help("remove it, or put it in quotes")
        };
        self.report(diagnostic);
        self.push(Token::Invalid, start..start + length);
        length
    }
}

fn describe_char(c: char) -> String {
    if c.is_control() || c.is_whitespace() || !c.is_ascii() { format!("U+{:04X}", c as u32) } else { format!("`{c}`") }
}

fn symbol(spelled: &str) -> Token {
    match spelled {
        "//" => Token::SlashSlash,
        "<=" => Token::Le,
        ">=" => Token::Ge,
        "==" => Token::EqEq,
        "!=" => Token::Ne,
        "+" => Token::Plus,
        "-" => Token::Minus,
        "*" => Token::Star,
        "%" => Token::Percent,
        "<" => Token::Lt,
        ">" => Token::Gt,
        "(" => Token::LParen,
        ")" => Token::RParen,
        "[" => Token::LBracket,
        "]" => Token::RBracket,
        "{" => Token::LBrace,
        "}" => Token::RBrace,
        "," => Token::Comma,
        _ => Token::Invalid,
    }
}

type NumberFlaw = (String, Option<String>);

/// `1_000`, `0x1F`, `0o7`, `0b1`: digits without underscores, and the radix.
fn read_number(spelled: &str) -> Result<(String, u32), NumberFlaw> {
    let lower = spelled.to_ascii_lowercase();
    let (body, radix) = match lower.get(..2) {
        Some("0x") => (lower.get(2..), 16),
        Some("0o") => (lower.get(2..), 8),
        Some("0b") => (lower.get(2..), 2),
        _ => (Some(lower.as_str()), 10),
    };
    let body = body.unwrap_or("");
    // Python allows one underscore between digits, and one right behind the prefix.
    let between = if radix == 10 { body } else { body.strip_prefix('_').unwrap_or(body) };
    if between.is_empty() {
        return Err((format!("`{spelled}` has no digits"), None));
    }
    if between.starts_with('_') || between.ends_with('_') || between.contains("__") {
        return Err((
            format!("`{spelled}` has an underscore out of place"),
            Some("single underscores may stand between digits, as in `1_000`".to_owned()),
        ));
    }
    let digits: String = between.chars().filter(|c| *c != '_').collect();
    if let Some(stranger) = digits.chars().find(|c| !c.is_digit(radix)) {
        let message = match radix {
            10 if digits.ends_with('e') || digits.contains('e') => format!("`{spelled}` is not a whole number"),
            10 => format!("`{spelled}` is neither a number nor a name: a name does not begin with a digit"),
            _ => format!("`{stranger}` is no digit of the base-{radix} number `{spelled}`"),
        };
        return Err((message, Some("write whole numbers: `7`, `1_000`, `0x1F`, `0o7`, `0b1`".to_owned())));
    }
    let significant = digits.trim_start_matches('0');
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') && !significant.is_empty() {
        return Err((
            format!("`{spelled}` begins with 0, which is octal in some languages and decimal in others"),
            Some(format!("write `{significant}`, or `0o{significant}` for an octal number")),
        ));
    }
    let digits = if significant.is_empty() { "0".to_owned() } else { significant.to_owned() };
    Ok((digits, radix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (spelled, digits, radix) in [
            ("7", "7", 10),
            ("1_000", "1000", 10),
            ("0X1f", "1f", 16),
            ("0o7", "7", 8),
            ("0b_1", "1", 2),
            ("00", "0", 10),
        ] {
            assert_eq!(read_number(spelled), Ok((digits.to_owned(), radix)), "{spelled}");
        }
        for bad in ["012", "1__0", "1_", "0x", "0b2", "7up", "1e3", "0x_"] {
            assert!(read_number(bad).is_err(), "{bad}");
        }
    }
}
