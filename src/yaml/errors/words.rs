//! The parser's errors in the user's words.

use granit_parser::ErrorKind;

use super::syntax::Place;

const ALIGN: &str = "indent the entries of one list or mapping by the same number of spaces";

/// Message and help; an empty help is none.
pub(super) fn words(kind: &ErrorKind, place: &Place<'_>) -> (String, &'static str) {
    let fixed = |message: &str, help| (message.to_owned(), help);
    match kind {
        ErrorKind::UnclosedQuotedScalar => (
            format!("the quote {} that opens here is never closed", place.first().unwrap_or('"')),
            "close it; inside single quotes a quote is written twice (''), inside double quotes as \\\"",
        ),
        ErrorKind::DocumentIndicatorInQuotedScalar => {
            fixed("the quote that opens here is not closed before the next `---` or `...`", "close the quote")
        }
        ErrorKind::UnclosedFlowCollection { open } => (
            format!("the bracket `{open}` that opens here is never closed"),
            if *open == '[' {
                "close it with `]`, or quote the text that starts with it"
            } else {
                "close it with `}`, or quote the text that starts with it"
            },
        ),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("the bracket `{open}` is closed by `{close}`"), "close each bracket with its own kind")
        }
        ErrorKind::MisplacedFlowCollectionEnd => (
            format!("`{}` closes a bracket that was never opened", place.first().unwrap_or(']')),
            "remove it, or quote the text that it belongs to",
        ),
        ErrorKind::MappingValueNotAllowed => fixed(
            "a `:` cannot stand here",
            "quote the text that holds the `: `, or indent this line like its siblings",
        ),
        ErrorKind::InvalidColonPlacement if place.in_brackets => {
            fixed("a `:` cannot stand here inside brackets", "close the bracket, or quote the text that holds the `:`")
        }
        ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::FlowMappingValueAdjacentCollection => {
            fixed("a `:` cannot stand here", "put a space behind the `:`, or quote the text that holds it")
        }
        ErrorKind::SimpleKeyExpected => fixed(
            "this line is not a `key: value` like the lines around it",
            "put a `:` and a space behind the key; a text that goes on here is indented further than its key",
        ),
        ErrorKind::InvalidSimpleKey => {
            fixed("a key must stand on one line and have at most 1024 characters", "shorten the key")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedNodeContent => unexpected(place, "`key: value`"),
        ErrorKind::ExpectedBlockSequenceEntry => unexpected(place, "a list entry that starts with `- `"),
        ErrorKind::InvalidIndentation | ErrorKind::InvalidQuotedScalarIndent | ErrorKind::InvalidFlowScalarIndent => {
            fixed("this line is not indented far enough", "indent it further than the key that it belongs to")
        }
        ErrorKind::BlockSequenceEntryNotAllowed => {
            fixed("a list cannot start here", "put each `- ` on a line of its own below its key, or quote the text")
        }
        ErrorKind::BlockEntryInFlowCollection => {
            fixed("a `-` entry cannot stand inside brackets", "separate the values by commas, or quote the text")
        }
        ErrorKind::PlainScalarStartsWithDashFlowIndicator | ErrorKind::InvalidBlockEntryWhitespace => {
            fixed("a `-` cannot stand here", "put a space behind the `-`, or quote the text")
        }
        ErrorKind::ExpectedFlowMappingSeparator => {
            fixed("a `,` or `}` is missing here", "separate the entries by commas, or quote the text")
        }
        ErrorKind::ExpectedFlowSequenceSeparator => {
            fixed("a `,` or `]` is missing here", "separate the values by commas, or quote the text")
        }
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEofBlockMapping
        | ErrorKind::UnexpectedEof
        | ErrorKind::UnexpectedEndOfPlainScalar => match place.first() {
            Some(c) if !c.is_whitespace() => {
                (format!("`{c}` cannot stand here"), "remove it, or quote the text that it belongs to")
            }
            _ => fixed("something is missing here", "write a value, or remove what is unfinished"),
        },
        ErrorKind::MappingKeyNotAllowed => fixed("a `? ` key cannot stand here", "quote the text"),
        ErrorKind::InvalidTrailingSingleQuotedScalar => fixed(
            "there is text behind the closing quote",
            "inside `{…}` and `[…]` a comma ends an unquoted text: quote the whole of it; a quote inside single quotes is written twice ('')",
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar => fixed(
            "there is text behind the closing quote",
            "inside `{…}` and `[…]` a comma ends an unquoted text: quote the whole of it; a quote inside double quotes is written \\\"",
        ),
        ErrorKind::MissingAnchorOrAliasName => {
            (format!("a text without quotes cannot start with `{}`", place.first().unwrap_or('*')), "quote it")
        }
        ErrorKind::CommentNotSeparated => {
            fixed("a comment needs a space before its `#`", "put a space before the `#`, or quote the text")
        }
        ErrorKind::CommentInterceptedScalar => fixed(
            "a comment stands in the middle of a text",
            "move the comment to a line above the text, or quote a text that holds ` #`",
        ),
        ErrorKind::InvalidBlockScalarHeader => fixed(
            "behind `|` or `>` only an indicator such as `-`, `+` or `2` and a comment may stand",
            "start the text on the next line, or quote it",
        ),
        ErrorKind::ZeroBlockScalarIndent => {
            fixed("the indentation of a block text cannot be 0", "use a digit from 1 to 9, or none")
        }
        ErrorKind::InvalidBlockScalarIndent => {
            fixed("this line is indented less than the block text that it should belong to", ALIGN)
        }
        ErrorKind::BomInsideDocument => {
            fixed("a byte order mark (U+FEFF) stands inside the file", "remove the invisible character")
        }
        ErrorKind::InvalidDocumentEnd => fixed("only a comment may stand behind `...`", "start a new line"),
        ErrorKind::ExpectedDocumentStart => fixed(
            "`---` must stand before this, as a line that starts with `%` or `...` stands above",
            "write `---`, or quote a text that starts with `%`",
        ),
        ErrorKind::MissingDocumentEndBeforeDirective => {
            fixed("a `%` directive cannot stand inside the document", "quote a text that starts with `%`")
        }
        ErrorKind::UnsupportedYamlMajorVersion => {
            fixed("this version of YAML cannot be read", "write `%YAML 1.2`, or leave the line out")
        }
        ErrorKind::DuplicateVersionDirective
        | ErrorKind::DuplicateTagDirective
        | ErrorKind::MissingYamlVersionSeparator
        | ErrorKind::MissingYamlVersion
        | ErrorKind::YamlVersionTooLong
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName
        | ErrorKind::InvalidDirectiveTerminator
        | ErrorKind::InvalidTagDirectiveTerminator
        | ErrorKind::ExpectedTagDirectiveBang
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::DirectiveByteLimitExceeded { .. }
        | ErrorKind::TooManyReservedDirectiveParams { .. } => {
            fixed("the `%` directive is malformed", "remove the line, or quote a text that starts with `%`")
        }
        other => (format!("this is not well-formed YAML: {other}"), ""),
    }
}

/// The parser wanted another entry of the enclosing list or mapping.
fn unexpected(place: &Place<'_>, wanted: &str) -> (String, &'static str) {
    let before = place.before();
    if before.trim_matches([' ', '\u{feff}']).is_empty() {
        let spaces = before.matches(' ').count();
        (format!("expected {wanted} like the entries above; this line has {spaces} spaces before it"), ALIGN)
    } else if before.trim_matches([' ', '-', '?']).is_empty() {
        (format!("expected {wanted} like the entries above"), ALIGN)
    } else {
        let found = place.first().map_or("this".to_owned(), |c| format!("`{c}`"));
        (
            format!("{found} cannot follow what stands before it on this line"),
            "quote the whole value, or start a new line",
        )
    }
}
