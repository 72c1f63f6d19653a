//! Text of servers as it is printed: without the configuration's secrets, and for a terminal without
//! anything that the terminal obeys or does not show.

use crate::catalogue::{Difference, Field, Item};
use crate::config::Masker;
use crate::json::Json;
use crate::text::visible;
use std::borrow::Cow;

/// Shorter values of variables, such as a port, turn up in the texts of servers without being leaked.
const SECRET: usize = 8;

/// Takes out the secrets of one configuration.
pub(super) struct Words<'m>(pub(super) &'m Masker);

impl Words<'_> {
    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.mask(text)
    }

    /// What is a name, or the configuration's own text: whole but for a secret that is not there by chance.
    fn name<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.reveals(text) { self.mask(text) } else { Cow::Borrowed(text) }
    }

    /// Whether a secret stands in it, of such a length that it is not there by chance.
    pub(super) fn reveals(&self, text: &str) -> bool {
        let Cow::Owned(blank) = self.0.blank(text) else { return false };
        let pairs = blank.bytes().zip(text.bytes());
        let mut run = 0;
        for (blank, byte) in pairs {
            run = if blank == byte && byte != b'*' { 0 } else { run + 1 };
            if run >= SECRET {
                return true;
            }
        }
        false
    }

    /// The whole text on one line.
    pub(super) fn show(&self, text: &str) -> String {
        visible(&self.mask(text))
    }

    /// A name or what the configuration says, whole and on one line.
    pub(super) fn show_name(&self, text: &str) -> String {
        visible(&self.name(text))
    }

    /// The whole text, a line each of its lines, all but the first indented.
    pub(super) fn lines(&self, text: &str) -> String {
        let masked = self.mask(text);
        let lines: Vec<String> = masked.lines().map(visible).collect();
        lines.join("\n    ")
    }

    /// The first line with anything in it, of so many characters at most; `…` stands for what is left out.
    pub(super) fn head(&self, text: &str, most: usize) -> String {
        let masked = self.mask(text);
        let mut lines = masked.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let mut out = cut(first, most);
        if lines.next().is_some() && !out.ends_with('…') {
            out.push_str(" …");
        }
        out
    }

    /// A name in so many characters at most, and `…` where it was longer.
    pub(super) fn short(&self, text: &str, most: usize) -> String {
        cut(&self.name(text), most)
    }

    /// For a program: exact but for secrets; the writer escapes what does not show.
    pub(super) fn json(&self, text: &str) -> Json {
        Json::String(self.mask(text).into_owned())
    }

    /// The same for a name.
    pub(super) fn json_name(&self, text: &str) -> Json {
        Json::String(self.name(text).into_owned())
    }

    pub(super) fn difference(&self, difference: Difference) -> Difference {
        let own = difference.item == Item::Start;
        let name = |text: String| self.name(&text).into_owned();
        let mask = |text: String| if own { name(text) } else { self.mask(&text).into_owned() };
        let item = match difference.item {
            Item::Tool(tool) => Item::Tool(name(tool)),
            Item::Prompt(prompt) => Item::Prompt(name(prompt)),
            Item::Resource(uri) => Item::Resource(name(uri)),
            other => other,
        };
        let field = |field: Field| Field { name: name(field.name), old: field.old.map(mask), new: field.new.map(mask) };
        Difference { item, fields: difference.fields.into_iter().map(field).collect(), ..difference }
    }
}

/// Whole characters, spelled out where they do not show.
fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for c in text.chars() {
        let shown = visible(c.encode_utf8(&mut [0; 4]));
        length += shown.chars().count();
        if length > most {
            out.push('…');
            break;
        }
        out.push_str(&shown);
    }
    out
}
