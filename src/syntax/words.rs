//! Words that cannot name a state variable, an argument or a pattern list.

/// The language's own keywords.
pub const KEYWORDS: &[&str] = &["and", "or", "not", "true", "false", "True", "False"];

/// Python's further keywords: the original could declare such a name and never read it.
pub const FOREIGN_KEYWORDS: &[&str] = &[
    "None", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "pass", "raise", "return",
    "try", "while", "with", "yield",
];

/// Whether the text has the form of a name: ASCII letters, digits and `_`, no digit first.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the text is a keyword of ours or of Python.
#[must_use]
pub fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text) || FOREIGN_KEYWORDS.contains(&text)
}
