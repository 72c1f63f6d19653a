//! A configuration that is no well-formed YAML, as it may be shown: what it means is not known, so that every
//! value counts as a secret. Knows the marks of YAML, not its grammar.

use super::expand::literal_ranges;
use super::mask::{Masker, blanked, may_be_secret};
use crate::text::Diagnostic;

/// The file's text with all but keys, marks and variables blanked, each place where it was; and what takes
/// the values that may be secrets out of messages.
pub(super) fn conceal(text: &str) -> (String, Masker) {
    let mut out = String::with_capacity(text.len());
    let mut found = Vec::new();
    let mut key = "";
    for line in text.split_inclusive(['\n', '\r']) {
        // Whether a key may stand here.
        let mut open = true;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let behind = rest.get(first.len_utf8()..).unwrap_or_default();
            let mark = match first {
                ',' | '{' | '[' => {
                    open = true;
                    true
                }
                '}' | ']' | '"' | '\'' => true,
                '-' | '?' => open && (behind.is_empty() || behind.starts_with(char::is_whitespace)),
                ':' => behind.is_empty() || behind.starts_with(ends_word),
                other => other.is_whitespace(),
            };
            if mark {
                out.push(first);
                rest = behind;
                continue;
            }
            let (word, after) = rest.split_at(word_end(rest));
            rest = after;
            let quoted_key = after.strip_prefix(['"', '\'']).is_some_and(|after| after.starts_with(':'));
            if open && (word.ends_with(':') || quoted_key) {
                out.push_str(word);
                key = word.trim_end_matches(':');
                open = false;
                continue;
            }
            open = false;
            let mut at = 0;
            for range in literal_ranges(word) {
                let piece = word.get(range.clone()).unwrap_or_default();
                out.push_str(word.get(at..range.start).unwrap_or_default());
                out.push_str(&blanked(piece));
                at = range.end;
                // Messages of anchors, aliases and tags name them without their mark.
                let bare = piece.trim_start_matches(['*', '&', '!']);
                found.extend([piece, bare].into_iter().filter(|piece| may_be_secret(key, piece)));
            }
            out.push_str(word.get(at..).unwrap_or_default());
        }
    }
    (out, Masker::new(found))
}

/// The same for what messages say of the file.
pub(super) fn mask(diagnostics: &mut [Diagnostic], masker: &Masker) {
    for found in diagnostics {
        let labels = std::iter::once(&mut found.primary).chain(&mut found.secondary).map(|label| &mut label.message);
        for text in labels.chain([&mut found.message]).chain(&mut found.notes).chain(&mut found.help) {
            *text = masker.mask(text).into_owned();
        }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '{' | '}' | '[' | ']' | '"' | '\'')
}

/// Bytes of the word, in which a `${NAME}` may stand; at least those of its first character.
fn word_end(rest: &str) -> usize {
    let mut at = 0;
    while let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        let variable = rest.get(at..).and_then(|rest| rest.strip_prefix("${")).and_then(|inner| {
            let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            inner.get(length..)?.starts_with('}').then_some(length + 3)
        });
        match variable {
            Some(length) => at += length,
            None if at > 0 && ends_word(c) => break,
            None => at += c.len_utf8(),
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_marks_and_variables_stay() {
        for (text, shown) in [
            ("servers:\n  fs: {command: x, env: {T: \"a b\"", "servers:\n  fs: {command: *, env: {T: \"* *\""),
            ("- a: b # c d\r\n  - é\n", "- a: * * * *\r\n  - **\n"),
            ("{\"A\":\"b:c\",'D': e:f}", "{\"A\":\"***\",'D': ***}"),
            ("a: x${HOME}/y ${ z ${A\n", "a: *${HOME}** *{ * *{*\n"),
            ("a: b: c:\n", "a: ** **\n"),
            ("url: https://u:p@h/?k=v", "url: ******************"),
        ] {
            let (out, _) = conceal(text);
            assert_eq!(out, shown, "{text}");
            assert_eq!(out.len(), text.len());
        }
        let (_, masker) = conceal("env: {TOKEN: @abcd, X: @sk_live_1, Y: @abc, ${HOME}/x}");
        assert_eq!(masker.mask("`@abcd` `@sk_live_1` `@abc` `${HOME}/x`"), "`***` `***` `@abc` `${HOME}/x`");
    }
}
