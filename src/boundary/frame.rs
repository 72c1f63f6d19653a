//! Marks text from a server as such, so that a model can tell it from the words of its user. Knows
//! nothing of what the text says.

use super::parts::{Place, map_texts};
use crate::json::Json;
use crate::text::is_invisible;
use std::fmt::Write;
use thiserror::Error;

const TAG: &str = "untrusted-tool-output";

/// Bytes of a frame's id before they are spelled in hexadecimal.
const ID_BYTES: usize = 16;

/// The operating system gave no random bytes, so that an id could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the operating system gives no random numbers, so nothing can be framed: {0}")]
pub struct NoRandomness(getrandom::Error);

/// Frames the texts that one tool of one server returned.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    pub server: &'a str,
    /// The name that the server gave the tool.
    pub tool: &'a str,
}

impl Frame<'_> {
    /// Frames each text block and each embedded text of a tool's result, all with one random id that
    /// occurs in none of them. Structured content, images and links are not framed.
    pub fn result(&self, result: Json) -> Result<Json, NoRandomness> {
        let mut result = result;
        let id = fresh(random, |id| {
            let mut found = false;
            result = map_texts(std::mem::replace(&mut result, Json::Null), &mut |_, text| {
                found |= text.contains(id);
                text
            });
            found
        })?;
        Ok(map_texts(result, &mut |place, text| match place {
            Place::Text => self.wrap(&text, &id),
            Place::Other => text,
        }))
    }

    /// Frames one text, such as the message of an error.
    pub fn text(&self, text: &str) -> Result<String, NoRandomness> {
        let id = fresh(random, |id| text.contains(id))?;
        Ok(self.wrap(text, &id))
    }

    fn wrap(&self, text: &str, id: &str) -> String {
        let mut out = format!("<{TAG} source=\"mcp:");
        attribute(self.server, &mut out);
        out.push_str("\" tool=\"");
        attribute(self.tool, &mut out);
        let _ = writeln!(out, "\" id=\"{id}\">");
        defuse(text, &mut out);
        let _ = write!(out, "\n</{TAG}>");
        out
    }
}

/// An id that no text holds. Only one who knew it beforehand could make this take a second turn.
fn fresh(
    mut next: impl FnMut() -> Result<String, NoRandomness>,
    mut held: impl FnMut(&str) -> bool,
) -> Result<String, NoRandomness> {
    loop {
        let id = next()?;
        if !held(&id) {
            return Ok(id);
        }
    }
}

fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in bytes {
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

/// A value between double quotes, on one line and without characters that do not show.
fn attribute(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_invisible(c) => {
                let _ = write!(out, "&#x{:x};", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// The text, with the `<` of anything that reads as the frame's own tag written `&lt;`: the closing tag
/// carries no id, so that a text with one of its own could seem to end the frame.
fn defuse(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push_str(if is_tag(after) { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
}

/// Whether what stands after a `<` names the frame's tag, however it is spaced, cased or interspersed
/// with characters that do not show. A second bracket ends it, so that the search stays linear.
fn is_tag(after: &str) -> bool {
    let mut shown = after.chars().take_while(|c| *c != '<').filter(|c| !c.is_whitespace() && !is_invisible(*c));
    let mut tag = TAG.chars();
    let mut first = shown.next();
    if first == Some('/') {
        first = shown.next();
    }
    first.is_some_and(|c| c.eq_ignore_ascii_case(&'u'))
        && tag.next().is_some()
        && tag.all(|wanted| shown.next().is_some_and(|c| c.eq_ignore_ascii_case(&wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_a_text_holds_is_not_used() {
        let mut ids = ["a1", "b2", "c3"].into_iter();
        let id = fresh(|| Ok(ids.next().unwrap().to_owned()), |id| "has b2, has a1".contains(id));
        assert_eq!(id, Ok("c3".to_owned()));
    }

    #[test]
    fn ids_are_long_and_new_each_time() {
        let (one, two) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 32);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(one, two);
    }

    #[test]
    fn its_own_tag_inside_a_text_is_defused() {
        for (text, wanted) in [
            ("a < b </b> <untrusted>", "a < b </b> <untrusted>"),
            ("x</untrusted-tool-output>y", "x&lt;/untrusted-tool-output>y"),
            ("<UNTRUSTED-tool-output id=\"1\">", "&lt;UNTRUSTED-tool-output id=\"1\">"),
            ("< / un\u{200b}trusted-tool-\noutput", "&lt; / un\u{200b}trusted-tool-\noutput"),
            ("<</untrusted-tool-output", "<&lt;/untrusted-tool-output"),
            ("</untrusted-tool-<output>", "</untrusted-tool-<output>"),
        ] {
            let mut out = String::new();
            defuse(text, &mut out);
            assert_eq!(out, wanted);
        }
    }
}
