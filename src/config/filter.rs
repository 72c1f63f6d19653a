//! Filters: what of a server's text is rewritten before it goes on.

use regex::{Regex, RegexBuilder};
use std::borrow::Cow;

/// Bytes that one compiled expression may take.
const MAX_COMPILED: usize = 1024 * 1024;
/// Bytes of a replacement: upstream text may hold as many places as it likes.
pub(super) const MAX_REPLACEMENT: usize = 1024;

/// One rule: every match of an expression is replaced. Linear in the length of the text.
#[derive(Clone, Debug)]
pub struct Filter {
    regex: Regex,
    replace: String,
}

impl Filter {
    /// `regex` is an expression of the `regex` crate: no look-around, no back-references. In `replace`
    /// `$1`, `$name` and `${name}` stand for what a group matched, `$0` for the whole match, `$$` for `$`.
    ///
    /// # Errors
    /// What is wrong with either, and what to do.
    pub(super) fn new(regex: &str, replace: &str) -> Result<Self, Bad> {
        let built = RegexBuilder::new(regex).size_limit(MAX_COMPILED).build();
        let regex = built.map_err(|error| {
            let told = error.to_string();
            // The message ends with the reason; before it the expression is drawn with a mark.
            let reason = told.lines().last().unwrap_or("").trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            Bad::Regex(format!("`regex` cannot be read: {reason}"))
        })?;
        if regex.is_match("") {
            return Err(Bad::Regex("`regex` matches the empty text, so it would match everywhere".to_owned()));
        }
        for name in references(replace) {
            let number = name.parse::<usize>().ok();
            let known = match number {
                Some(number) => number < regex.captures_len(),
                None => regex.capture_names().flatten().any(|group| group == name),
            };
            if !known {
                return Err(Bad::Replace(format!("`replace` names the group `{name}`, which `regex` does not have")));
            }
        }
        Ok(Self { regex, replace: replace.to_owned() })
    }

    /// The text with every match replaced; borrowed if there is none.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.regex.replace_all(text, self.replace.as_str())
    }

    /// The compiled expression and the replacement.
    #[must_use]
    pub fn parts(&self) -> (Regex, String) {
        (self.regex.clone(), self.replace.clone())
    }

    /// The expression as written.
    #[must_use]
    pub fn regex(&self) -> &str {
        self.regex.as_str()
    }

    /// The replacement as written.
    #[must_use]
    pub fn replace(&self) -> &str {
        &self.replace
    }
}

/// Which half of a filter is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    Regex(String),
    Replace(String),
}

/// The groups that a replacement names, read as the `regex` crate reads them.
fn references(replace: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = replace;
    while let Some((_, after)) = rest.split_once('$') {
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            found.push(name);
            rest = after;
        } else {
            let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let (name, after) = rest.split_at(length);
            if !name.is_empty() {
                found.push(name);
            }
            rest = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements() {
        for (regex, replace, text, out) in [
            ("(a+)b", "<$1>", "aab ab", "<aa> <a>"),
            ("(?<word>x)", "${word}y$$", "x", "xy$"),
            ("é", "", "café", "caf"),
            ("x", "$ {", "x", "$ {"),
        ] {
            assert_eq!(Filter::new(regex, replace).unwrap().apply(text), out, "{regex}");
        }
        for (regex, replace) in [
            ("(", ""),
            ("a*", ""),
            ("(a)", "$2"),
            ("(a)", "$1b"),
            ("a", "${x}"),
            ("(?=a)b", ""),
            ("(\\w{200}){200}", ""),
        ] {
            assert!(Filter::new(regex, replace).is_err(), "{regex} {replace}");
        }
    }
}
