//! The very lines that declare trust in a server, as its entry in the file is written.

use super::web::mask_url;
use crate::yaml::{Node, Value};
use std::fmt::Write;

/// How an entry stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A key a line, indented by so many characters.
    Block { indent: usize },
    /// In braces; the name is indented by so many characters.
    Flow { indent: usize },
    /// Only a URL, as written behind the name.
    Url { indent: usize, url: String },
}

impl Layout {
    pub(super) fn of(name: &Node, entry: &Node, text: &str) -> Self {
        let indent = column(name, text).unwrap_or(2);
        if let Some(url) = entry.as_text() {
            return Self::Url { indent, url: mask_url(url) };
        }
        let first = match &entry.value {
            Value::Mapping(entries) => entries.first(),
            Value::Sequence(_) | Value::Scalar(_) => None,
        };
        match first.and_then(|first| column(&first.key, text)) {
            Some(indent) if !text.get(entry.span.range()).is_some_and(|text| text.starts_with('{')) => {
                Self::Block { indent }
            }
            _ => Self::Flow { indent },
        }
    }

    pub(super) fn trust_lines(&self, name: &str, tools: Option<&[&str]>) -> String {
        let trust = match tools {
            Some(tools) => {
                let names: Vec<String> = tools.iter().map(|name| quoted(name)).collect();
                format!("trust: {{tools: [{}]}}", names.join(", "))
            }
            None => "trust: {tools: \"*\"}".to_owned(),
        };
        match self {
            Self::Block { indent } => format!("{}{trust}\n", " ".repeat(*indent)),
            Self::Flow { indent } => format!("{}{name}: {{{trust}, …}}\n", " ".repeat(*indent)),
            Self::Url { indent, url } => {
                let outer = " ".repeat(*indent);
                format!("{outer}{name}:\n{outer}  url: {}\n{outer}  {trust}\n", quoted(url))
            }
        }
    }
}

/// Characters before a node that is the first thing on its line.
fn column(node: &Node, text: &str) -> Option<usize> {
    let before = text.get(..node.span.start as usize)?;
    let line = before.rsplit('\n').next().unwrap_or("");
    line.chars().all(|c| c == ' ').then(|| line.chars().count())
}

/// A text as YAML reads it back; plain names stay bare.
fn quoted(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    // Short words and numbers may mean something else to some reader.
    let plain = text.len() > 5 && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(bare);
    if plain {
        return text.to_owned();
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if crate::text::is_invisible(c) => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
