//! Where a syntax error is shown, and the errors that have a code or words of their own.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};

use super::words::words;
use super::{tab, too_deep, unsupported_tag};
use crate::text::{Code, Diagnostic, FileId, Span};
use crate::yaml::positions::first_bad_escape;

/// `bracket` is the innermost bracket that was open.
pub(in crate::yaml) fn explain(error: &ScanError, text: &str, file: FileId, bracket: Option<Span>) -> Diagnostic {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let mut place = Place { text, file, at, in_brackets: bracket.is_some() };
    if error.kind() == &ErrorKind::ExpectedBlockMappingKey {
        place.back_to_dash();
    }
    if let Some(diagnostic) = place.special(error.kind()) {
        return diagnostic;
    }
    if let Some(diagnostic) = bracket.and_then(|bracket| place.variable(bracket)) {
        return diagnostic;
    }
    if let Some(bracket) = bracket.filter(|bracket| place.left_open(error.kind(), *bracket)) {
        let opening = text.get(bracket.range()).unwrap_or("[");
        return Diagnostic::new(
            Code::PX0001,
            bracket,
            format!("the bracket `{opening}` that opens here is not closed"),
        )
        .also(place.span(place.character()), "this cannot stand inside the bracket")
        .help("close the bracket, or quote the text that starts with it");
    }
    let (message, help) = words(error.kind(), &place);
    let range = if error.kind() == &ErrorKind::SimpleKeyExpected { place.line() } else { place.character() };
    let diagnostic = Diagnostic::new(Code::PX0001, place.span(range), message);
    let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
    let about_bracket = matches!(
        error.kind(),
        ErrorKind::InvalidColonPlacement
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::BlockEntryInFlowCollection
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
    );
    match bracket.filter(|_| about_bracket) {
        Some(bracket) => diagnostic.also(bracket, "this bracket is still open"),
        None => diagnostic,
    }
}

/// The place that the parser names.
pub(super) struct Place<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    pub(super) in_brackets: bool,
}

impl Place<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn first(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn line_start(&self) -> usize {
        self.text.get(..self.at).and_then(|head| head.rfind(['\n', '\r'])).map_or(0, |at| at + 1)
    }

    /// A `:` that a bracket forbids, on a later line: the bracket was meant to end before.
    fn left_open(&self, kind: &ErrorKind, bracket: Span) -> bool {
        kind == &ErrorKind::InvalidColonPlacement && (bracket.start as usize) < self.line_start()
    }

    /// Where a key was expected and a list begins, the dash is wrong and not what follows it.
    fn back_to_dash(&mut self) {
        if self.before().trim_matches(' ') == "-" {
            self.at = self.line_start() + self.before().find('-').unwrap_or(0);
        }
    }

    /// What stands before the place on its line.
    pub(super) fn before(&self) -> &str {
        self.text.get(self.line_start()..self.at).unwrap_or("")
    }

    /// The character at the place; nothing at a line end.
    fn character(&self) -> Range<usize> {
        let width = self.first().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
        self.at..self.at + width
    }

    /// The rest of the line.
    fn line(&self) -> Range<usize> {
        let line = self.rest().split(['\n', '\r']).next().unwrap_or("");
        self.at..self.at + line.trim_end().len()
    }

    /// The tab that an error means: in the indentation of this line or of one that follows.
    fn tab(&self) -> Range<usize> {
        let mut from = self.line_start();
        for piece in self.text.get(from..).unwrap_or("").split_inclusive(['\n', '\r']) {
            let blanks = piece.len() - piece.trim_start_matches([' ', '\t']).len();
            let tab = piece.get(..blanks).and_then(|blanks| blanks.find('\t'));
            if let Some(tab) = tab.filter(|_| !piece.trim().is_empty()) {
                return from + tab..from + tab + 1;
            }
            from += piece.len();
        }
        self.rest().find('\t').map_or(self.character(), |tab| self.at + tab..self.at + tab + 1)
    }

    /// A `${…}` without quotes inside brackets, where its `{` begins a mapping.
    fn variable(&self, bracket: Span) -> Option<Diagnostic> {
        let before = self.before();
        if !(before.ends_with('$') && self.rest().starts_with('{')) {
            return None;
        }
        let start = before.rfind(['[', '{', ',']).map_or(0, |at| at + 1);
        let start = before.rfind(": ").map_or(start, |at| start.max(at + 2));
        let start = self.line_start() + start;
        let mut depth = 0_usize;
        let end = self.rest().find(|c| match c {
            '{' => {
                depth += 1;
                false
            }
            '}' if depth > 0 => {
                depth -= 1;
                false
            }
            _ => matches!(c, ',' | ']' | '}' | '\n' | '\r'),
        });
        let end = end.map_or(self.text.len(), |end| self.at + end);
        let value = self.text.get(start..end).unwrap_or("").trim();
        let message = "a `${` without quotes cannot stand inside brackets: its `{` begins a mapping";
        let place = self.span(self.at - 1..self.at + 1);
        let help = format!("quote the whole value{}", quoted(value));
        Some(Diagnostic::new(Code::PX0001, place, message).also(bracket, "inside this bracket").help(help))
    }

    fn special(&self, kind: &ErrorKind) -> Option<Diagnostic> {
        let syntax = |range, message: String| Diagnostic::new(Code::PX0001, self.span(range), message);
        Some(match kind {
            ErrorKind::RecursionLimitExceeded => too_deep(self.span(self.character())),
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar => tab(self.span(self.tab())),
            ErrorKind::UndeclaredTagHandle
            | ErrorKind::InvalidTagTerminator
            | ErrorKind::MissingTagUri
            | ErrorKind::UnclosedVerbatimTag
            | ErrorKind::InvalidTagEscape
            | ErrorKind::InvalidTagUtf8LeadingByte
            | ErrorKind::InvalidTagUtf8TrailingByte
            | ErrorKind::InvalidTagUtf8
            | ErrorKind::ExpectedTagBang
            | ErrorKind::ExpectedTagDirectiveBang
            | ErrorKind::InvalidGlobalTagCharacter
                if self.rest().starts_with('!') =>
            {
                let len = self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
                unsupported_tag(self.span(self.at..self.at + len), self.rest().get(..len).unwrap_or("!"))
            }
            ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate
            | ErrorKind::InvalidUnicodeEscape => {
                let range = first_bad_escape(self.text, self.at).unwrap_or_else(|| self.character());
                let spelling = self.text.get(range.clone()).unwrap_or("\\").to_owned();
                syntax(range, format!("`{spelling}` is not an escape that YAML knows"))
                    .help("double the backslash, `\\\\`, or use single quotes, in which it is an ordinary character")
            }
            ErrorKind::UnexpectedCharacter { character } if character.is_control() || !character.is_ascii() => {
                let at = self.rest().find(*character).map_or(self.at, |found| self.at + found);
                let code = u32::from(*character);
                syntax(at..at + character.len_utf8(), format!("the character U+{code:04X} cannot stand in a YAML file"))
                    .help(format!("remove it, or write it as an escape in a double-quoted text: \"\\u{code:04X}\""))
            }
            ErrorKind::UnexpectedCharacter { character } => {
                let value = self.text.get(self.line()).unwrap_or("");
                syntax(self.character(), format!("a text without quotes cannot start with `{character}`"))
                    .help(format!("quote it{}", quoted(value)))
            }
            _ => return None,
        })
    }
}

/// `: "value"` for a short value that needs no escapes.
fn quoted(value: &str) -> String {
    if value.is_empty() || value.len() > 60 || value.contains(['"', '\\', '\'', '#']) {
        String::new()
    } else {
        format!(": \"{value}\"")
    }
}
