//! Reading mappings, lists and texts of a YAML tree with complaints in the user's words. Shared by
//! every kind of file that praxiom reads.

use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic, Span};
use crate::yaml::{Entry, Kind, Node, Scalar, Value};

use super::written::Text;

/// Collects complaints while a tree is read.
#[derive(Debug, Default)]
pub struct Reader {
    pub diagnostics: Vec<Diagnostic>,
}

/// The entries of one mapping, taken by key.
#[derive(Debug)]
pub struct Fields<'n> {
    /// What the mapping is, for messages: `an action`.
    what: &'static str,
    span: Span,
    entries: Vec<(&'n str, &'n Entry)>,
}

impl<'n> Fields<'n> {
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, entry)| &entry.value)
    }

    #[must_use]
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, entry)| entry.key.span)
    }

    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl Reader {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// "X must be SHAPE, not …".
    pub fn wrong_shape(&mut self, node: &Node, what: &str, shape: &str, help: &str) {
        let found = node.describe();
        let diagnostic =
            Diagnostic::new(Code::PX1003, node.span, format!("{what} must be {shape}, not {found}")).help(help);
        self.report(diagnostic);
    }

    /// The entries of a mapping whose keys are among `known`; unknown keys are reported.
    pub fn fields<'n>(&mut self, node: &'n Node, what: &'static str, known: &[&str], help: &str) -> Option<Fields<'n>> {
        let Value::Mapping(all) = &node.value else {
            self.wrong_shape(node, what, "a mapping", help);
            return None;
        };
        let mut entries = Vec::with_capacity(all.len());
        for entry in all {
            let Some(key) = entry.key.as_text() else {
                let found = entry.key.describe();
                self.report(
                    Diagnostic::new(
                        Code::PX1003,
                        entry.key.span,
                        format!("a key of {what} must be a text, not {found}"),
                    )
                    .help(format!("the keys of {what} are {}", list_names(known.iter().copied(), "and"))),
                );
                continue;
            };
            if known.contains(&key) {
                entries.push((key, entry));
                continue;
            }
            let help = match nearest(key, known.iter().copied()) {
                // `{requires: matches(s, p)}`: the rest of the expression has become a key.
                _ if key.contains([')', ']', '"', '\'']) => {
                    "inside `{…}` a comma ends an unquoted value: put the whole expression in quotes".to_owned()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys of {what} are {}", list_names(known.iter().copied(), "and")),
            };
            self.report(
                Diagnostic::new(Code::PX1001, entry.key.span, format!("`{key}` is not a key of {what}")).help(help),
            );
        }
        Some(Fields { what, span: node.span, entries })
    }

    /// A key that must be there.
    pub fn required<'n>(&mut self, fields: &Fields<'n>, key: &str, help: &str) -> Option<&'n Node> {
        let found = fields.get(key);
        if found.is_none() {
            let what = fields.what;
            // The first line of the mapping is the place a reader looks at.
            let span = fields.entries.first().map_or(fields.span, |(_, entry)| entry.key.span);
            self.report(Diagnostic::new(Code::PX1002, span, format!("{what} needs `{key}`")).help(help));
        }
        found
    }

    /// Name–value pairs of a mapping whose keys are names.
    pub fn pairs<'n>(&mut self, node: &'n Node, what: &str, help: &str) -> Vec<(Text, &'n Node)> {
        let Value::Mapping(all) = &node.value else {
            self.wrong_shape(node, what, "a mapping", help);
            return Vec::new();
        };
        let mut pairs = Vec::with_capacity(all.len());
        for entry in all {
            match &entry.key.value {
                Value::Scalar(scalar) if scalar.kind != Kind::Null => {
                    pairs.push((Text { text: scalar.text.clone(), span: entry.key.span }, &entry.value));
                }
                _ => self.wrong_shape(&entry.key, &format!("a name in {what}"), "a text", help),
            }
        }
        pairs
    }

    pub fn list<'n>(&mut self, node: &'n Node, what: &str, help: &str) -> &'n [Node] {
        if let Value::Sequence(items) = &node.value {
            return items;
        }
        self.wrong_shape(node, what, "a list", help);
        &[]
    }

    /// A text on one line that is not empty, e.g. a name.
    pub fn line(&mut self, node: &Node, what: &str) -> Option<Text> {
        let text = self.text(node, what)?;
        if text.text.is_empty() {
            self.report(Diagnostic::new(Code::PX1004, node.span, format!("{what} is empty")).help("give it a name"));
            return None;
        }
        if text.text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            self.report(
                Diagnostic::new(Code::PX1005, node.span, format!("{what} runs over several lines"))
                    .help("write it on one line: it stands in log lines and messages"),
            );
            return None;
        }
        Some(text)
    }

    /// Any text; plain numbers and booleans are refused, since their text is not what they mean.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        if let Some(text) = node.as_text() {
            return Some(Text { text: text.to_owned(), span: node.span });
        }
        match &node.value {
            Value::Scalar(scalar) if scalar.kind != Kind::Null => {
                let quoted = crate::syntax::print::quoted(&scalar.text);
                self.report(
                    Diagnostic::new(Code::PX1007, node.span, format!("{what} must be a text, not {}", node.describe()))
                        .help(format!("quote it: {quoted}")),
                );
            }
            _ => self.wrong_shape(node, what, "a text", "write a text, in quotes if it has special characters"),
        }
        None
    }

    /// A scalar of any kind, where an expression is meant.
    pub fn scalar<'n>(&mut self, node: &'n Node, what: &str, help: &str) -> Option<&'n Scalar> {
        match &node.value {
            Value::Scalar(scalar) if scalar.kind != Kind::Null => Some(scalar),
            _ => {
                self.wrong_shape(node, what, "an expression", help);
                None
            }
        }
    }
}
