//! Secrets: values that are never printed, and what takes them out of text that is.

use crate::text::is_secret_key;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// A value that is shown as `***`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Shorter values are not looked for: `***` for every `1` would leave nothing to read. What is printed
/// of the configuration itself is printed unexpanded, so they do not show there either.
const MIN_CHARS: usize = 4;

/// Longer secrets are looked for in pieces of so many bytes: the time to prepare one is quadratic.
const PIECE: usize = 1024;
/// All secrets in all spellings.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Values that are settings rather than secrets, and would take common words out of every message.
const WORDS: [&str; 11] =
    ["true", "false", "null", "none", "trace", "debug", "info", "warn", "warning", "error", "utf-8"];

/// A value of fewer characters is taken for a secret only where its name says so.
const LIKELY_CHARS: usize = 8;
/// Letters of a word; a run of more is a token without digits.
const WORD: usize = 20;

/// Whether the value of a variable, a header or a part of a URL may be a secret: its name says so, or it
/// looks like none of the words, numbers and paths that settings are made of.
pub(super) fn may_be_secret(name: &str, value: &str) -> bool {
    names_secret(name) || value.chars().count() >= LIKELY_CHARS && !is_plain(value)
}

/// Whether a name is that of a credential: `GITHUB_PAT`, `X-Api-Key`.
fn names_secret(name: &str) -> bool {
    const WORDS: [&str; 8] = ["KEY", "AUTH", "PASS", "PAT", "PIN", "DSN", "CREDS", "LOGIN"];
    // The folder in which a shell stands.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    is_secret_key(name) || name.split(['_', '-', '.']).any(|word| WORDS.iter().any(|w| word.eq_ignore_ascii_case(w)))
}

/// Numbers alone, or lower-case words and short numbers with single signs between them that do not begin as
/// tokens do; in a path also capitalised words and words that end in a short number.
fn is_plain(value: &str) -> bool {
    const SIGNS: [char; 7] = ['/', '.', '_', '-', ':', ',', '='];
    const TOKENS: [&str; 14] =
        ["sk", "pk", "rk", "tok", "key", "pat", "ghp", "gho", "ghs", "glpat", "hf", "npm", "whsec", "xoxb"];
    let path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    let value = if path { value.trim_start_matches(['/', '.', '~']) } else { value };
    let is_number = |piece: &str| !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_digit());
    if value.split(SIGNS).all(is_number) {
        return true;
    }
    let first = value.split(SIGNS).next().unwrap_or_default();
    if !path && (is_secret_key(value) || TOKENS.contains(&first)) {
        return false;
    }
    value.split(SIGNS).all(|piece| {
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        let capital = letters.starts_with(|c: char| c.is_ascii_uppercase());
        let lower = letters.get(usize::from(path && capital)..).unwrap_or_default();
        let word = letters.len() <= WORD && lower.bytes().all(|byte| byte.is_ascii_lowercase());
        let digits = piece.len() - letters.len();
        word && digits <= if path || letters.is_empty() { 5 } else { 0 }
    })
}

/// Takes the secrets of a configuration out of text: a server's standard error, the messages of a
/// connection, a command line. Mask before cutting a text and before making it visible, as half a
/// secret or an escaped one is not found.
#[derive(Clone, Default)]
pub struct Masker {
    finder: Finder,
}

#[derive(Clone, Default)]
enum Finder {
    #[default]
    Nothing,
    Some(AhoCorasick),
    /// The secrets are too large to be looked for, so no text can be shown.
    Everything,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Masker")
    }
}

impl Masker {
    /// Finds each of the values, also as URLs and JSON spell it and, of several lines, each line.
    /// Values of fewer than four characters and plain settings such as `true` are left out.
    #[must_use]
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut needles = BTreeSet::new();
        for secret in secrets {
            for part in std::iter::once(secret).chain(secret.lines()) {
                add(&mut needles, part);
            }
        }
        if needles.is_empty() {
            return Self::default();
        }
        if needles.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            return Self { finder: Finder::Everything };
        }
        // A full automaton of long secrets would take gigabytes.
        let built = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(needles.iter().flat_map(|needle| pieces(needle)));
        Self { finder: built.map_or(Finder::Everything, Finder::Some) }
    }

    /// The text with `***` for every secret; overlapping and touching ones are one.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, |_| "***".to_owned())
    }

    /// The text with one `*` for each byte of a secret, line ends aside, so that every place stays
    /// where it is.
    #[must_use]
    pub fn blank<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, blanked)
    }

    fn replace<'t>(&self, text: &'t str, by: impl Fn(&str) -> String) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for range in found {
            out.push_str(text.get(at..range.start).unwrap_or(""));
            out.push_str(&by(text.get(range.clone()).unwrap_or("")));
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or(""));
        Cow::Owned(out)
    }

    /// Where secrets stand, in order, none touching another.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let finder = match &self.finder {
            Finder::Nothing => return Vec::new(),
            Finder::Everything => return std::iter::once(0..text.len()).collect(),
            Finder::Some(finder) => finder,
        };
        // All matches, overlapping ones too: the tail of one secret must not survive in the next.
        let mut merged: Vec<Range<usize>> = Vec::new();
        for found in finder.find_overlapping_iter(text) {
            // Matches come by their end, so a later one may begin before several earlier ones.
            let mut range = found.range();
            while let Some(last) = merged.pop_if(|last| last.end >= range.start) {
                range = last.start.min(range.start)..last.end.max(range.end);
            }
            merged.push(range);
        }
        merged
    }
}

/// The secret in pieces that are masked as one where they stand side by side.
fn pieces(mut secret: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while secret.len() > 2 * PIECE {
        let mut at = PIECE;
        while !secret.is_char_boundary(at) {
            at -= 1;
        }
        let (piece, rest) = secret.split_at(at);
        pieces.push(piece);
        secret = rest;
    }
    pieces.push(secret);
    pieces
}

/// A `*` for each byte, line ends aside.
pub(super) fn blanked(text: &str) -> String {
    text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { '*' }).collect()
}

fn add(needles: &mut BTreeSet<String>, value: &str) {
    let value = value.trim();
    if value.chars().count() < MIN_CHARS || WORDS.contains(&value.to_ascii_lowercase().as_str()) {
        return;
    }
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let path = form.replace('+', "%20");
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or("");
    needles.extend([value.to_owned(), form, path, json.to_owned()].into_iter().filter(|form| form.len() >= MIN_CHARS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_told_from_settings() {
        for (name, value) in [
            ("X", "sk_live_literal1"),
            ("X", "sk_live_abcdef"),
            ("X", "sk-1234567"),
            ("X", "acct-1234567890"),
            ("X", "my-secret"),
            ("X", "hunter2hunter2"),
            ("X", "postgres://me:pw@db/x"),
            ("X", "correct horse battery"),
            ("X", "qwertzuiopasdfghjklyxcvbnm"),
            ("X", "/9jA4xQ2b7Kc"),
            ("X", "Tr0ub4dor"),
            ("TOKEN", "abcd"),
            ("DB_PASS", "long"),
            ("x-api-key", "fake"),
        ] {
            assert!(may_be_secret(name, value), "{name}: {value}");
        }
        for (name, value) in [
            ("MODE", "add"),
            ("LVL", "long"),
            ("X", "fake"),
            ("X", "hunter2"),
            ("X", "development"),
            ("X", "us-east-1"),
            ("HOST", "db.example.com:5432"),
            ("DAY", "2025-11-25"),
            ("PORTS", "8080,8081"),
            ("DATA", "/usr/lib/python3/My-Files/"),
            ("PWD", "/home/me/work"),
            ("PATTERN", "anything"),
        ] {
            assert!(!may_be_secret(name, value), "{name}: {value}");
        }
    }

    #[test]
    fn secrets_are_masked_in_every_spelling() {
        let masker = Masker::new(["abcdef", "defghi", "p@ss \"word\"", "line one\nline two\n", "abc", "true", "cdef"]);
        for (text, masked) in [
            ("xabcdefghix", "x***x"),
            ("abcdefabcdef", "***"),
            ("p@ss \"word\"!", "***!"),
            ("?k=p%40ss+%22word%22&x", "?k=***&x"),
            ("/p%40ss%20%22word%22/", "/***/"),
            (r#"{"k":"p@ss \"word\""}"#, r#"{"k":"***"}"#),
            ("line two", "***"),
            ("abc true ab", "abc true ab"),
        ] {
            assert_eq!(masker.mask(text), masked, "{text}");
        }
        let long = "é".repeat(5000) + "end";
        assert_eq!(Masker::new([long.as_str()]).mask(&format!("<{long}>")), "<***>");
        assert_eq!(Masker::new(["x".repeat(3 << 20).as_str()]).mask("anything"), "***");
        assert_eq!(masker.blank("é abcdef\n"), "é ******\n");
        assert_eq!(format!("{:?} {}", Secret::new("abcdef"), Secret::new("abcdef")), "*** ***");
    }
}
