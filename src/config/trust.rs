//! Declarations of trust: read, laid one over the other, and held against each other.

use super::decode::Decoder;
use super::filter::{Bad, Filter, MAX_REPLACEMENT};
use super::model::{Allow, Reverse, Trust};
use crate::policy::{Fields, Text};
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic, Span};
use crate::yaml::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

const KEYS: &[&str] =
    &["tools", "resources", "prompts", "pins", "reverse", "max_result_bytes", "max_blob_bytes", "frame", "filter"];
const HELP: &str = "write `trust: {tools: [NAME, …]}`, or `trust: \"*\"` for all tools, resources and prompts";
const PIN_HELP: &str = "write `sha256:` and 32 hex digits in lower case, as `praxiom tools list` prints them";

/// A larger cap is a slip of the pen: no answer of this size gets through.
const MAX_CAP: u64 = 1 << 30;
/// Filters of one declaration, and of the whole file: each may take a mebibyte.
const MAX_FILTERS: usize = 32;
const MAX_ALL_FILTERS: usize = 128;

/// A declaration as written.
pub(super) struct Declared {
    span: Span,
    /// `None`: `"*"`.
    parts: Option<Parts>,
}

struct Parts {
    tools: Option<Allow>,
    resources: Option<bool>,
    prompts: Option<Allow>,
    pins: Option<Vec<(Text, String)>>,
    reverse: Option<BTreeSet<Reverse>>,
    max_result_bytes: Option<u64>,
    max_blob_bytes: Option<u64>,
    frame: Option<bool>,
    filter: Option<Vec<Filter>>,
}

impl Declared {
    /// What is declared, over what is declared for every server.
    fn over(&self, base: Option<Trust>) -> Trust {
        let Some(parts) = &self.parts else { return Trust::everything() };
        let base = base.unwrap_or_else(Trust::nothing);
        let pins = parts.pins.as_ref().map(|pins| {
            pins.iter().map(|(name, digest)| (name.text.clone(), digest.clone())).collect::<BTreeMap<_, _>>()
        });
        Trust {
            tools: parts.tools.clone().unwrap_or(base.tools),
            resources: parts.resources.unwrap_or(base.resources),
            prompts: parts.prompts.clone().unwrap_or(base.prompts),
            pins: pins.unwrap_or(base.pins),
            reverse: parts.reverse.clone().unwrap_or(base.reverse),
            max_result_bytes: parts.max_result_bytes.unwrap_or(base.max_result_bytes),
            max_blob_bytes: parts.max_blob_bytes.unwrap_or(base.max_blob_bytes),
            frame: parts.frame.unwrap_or(base.frame),
            filter: parts.filter.clone().unwrap_or(base.filter),
        }
    }
}

impl Decoder<'_> {
    /// What a server is trusted with: its own declaration over that of the file.
    pub(super) fn trusted(&mut self, own: Option<&Declared>, top: Option<&Declared>) -> Option<Trust> {
        let base = top.map(|top| top.over(None));
        let trust = own.map(|own| own.over(base.clone())).or(base)?;
        if let Some(Declared { parts: Some(Parts { pins: Some(pins), .. }), .. }) = own {
            for (name, _) in pins.iter().filter(|(name, _)| !trust.tools.allows(&name.text)) {
                let message = format!("the tool `{}` is pinned, but not among `tools`", name.text);
                self.report(
                    Diagnostic::new(Code::PX7009, name.span, message).help("add it to `tools`, or remove the pin"),
                );
            }
        }
        if trust.offers_nothing()
            && let Some(declared) = own.or(top)
        {
            let message = "this declaration offers no tools, resources or prompts";
            self.report(Diagnostic::new(Code::PX7014, declared.span, message).help(HELP));
        }
        Some(trust)
    }

    /// A declaration; `span` is its key, `server` whose it is. `None` where it cannot be read.
    pub(super) fn trust(&mut self, node: &Node, span: Span, server: Option<&str>) -> Option<Declared> {
        if node.as_text() == Some("*") {
            return Some(Declared { span, parts: None });
        }
        if !matches!(node.value, Value::Mapping(_)) {
            self.reader.wrong_shape(node, "`trust`", "a mapping or `\"*\"`", HELP);
            return None;
        }
        let before = self.reader.diagnostics.len();
        let fields = self.reader.fields(node, "`trust`", KEYS, HELP)?;
        let mut cap = |key: &str| fields.get(key).and_then(|node| self.number(node, &format!("`{key}`"), 1, MAX_CAP));
        let (max_result_bytes, max_blob_bytes) = (cap("max_result_bytes"), cap("max_blob_bytes"));
        let parts = Parts {
            tools: fields.get("tools").and_then(|node| self.allow(node, "tools", server)),
            resources: fields.get("resources").and_then(|node| self.boolean(node, "`resources`")),
            prompts: fields.get("prompts").and_then(|node| self.allow(node, "prompts", server)),
            pins: self.pins(&fields, server.is_some()),
            reverse: fields.get("reverse").map(|node| self.reverse(node)),
            max_result_bytes,
            max_blob_bytes,
            frame: fields.get("frame").and_then(|node| self.boolean(node, "`frame`")),
            filter: fields.get("filter").map(|node| self.filters(node)),
        };
        // What is half read is not held against the rest of the file.
        let broken = self.reader.diagnostics.iter().skip(before).any(Diagnostic::is_error);
        (!broken).then_some(Declared { span, parts: Some(parts) })
    }

    fn allow(&mut self, node: &Node, key: &str, server: Option<&str>) -> Option<Allow> {
        if node.as_text() == Some("*") {
            return Some(Allow::All);
        }
        let help = format!("write `{key}: [NAME, …]`, or `{key}: \"*\"` for all");
        let Value::Sequence(items) = &node.value else {
            self.reader.wrong_shape(node, &format!("`{key}`"), "a list of names or `\"*\"`", &help);
            return None;
        };
        let prefix = server.map(|server| format!("{server}__"));
        let mut names = BTreeSet::new();
        for item in items {
            let Some(name) = self.reader.line(item, &format!("a name in `{key}`")) else { continue };
            if name.text.contains('*') {
                let message = format!("`{}` is a pattern, but names in `{key}` are compared exactly", name.text);
                let help = format!("name each one, or write `{key}: \"*\"` for all");
                self.report(Diagnostic::new(Code::PX1007, item.span, message).help(help));
                continue;
            }
            if let Some(bare) = prefix.as_ref().and_then(|prefix| name.text.strip_prefix(prefix)) {
                let message =
                    format!("`{}` is the name that clients see; trust lists the server's own names", name.text);
                self.report(Diagnostic::new(Code::PX7016, item.span, message).help(format!("did you mean `{bare}`?")));
            }
            if !names.insert(name.text.clone()) {
                let message = format!("`{}` stands in `{key}` twice", name.text);
                self.report(Diagnostic::new(Code::PX1006, item.span, message).warning().help("remove one"));
            }
        }
        Some(Allow::Only(names))
    }

    fn pins(&mut self, fields: &Fields<'_>, own: bool) -> Option<Vec<(Text, String)>> {
        let node = fields.get("pins")?;
        if !own {
            let span = fields.key_span("pins").unwrap_or(node.span);
            self.report(
                Diagnostic::new(Code::PX7003, span, "`pins` belong to one server, not to all")
                    .help("move them into the `trust` of the server whose tools they pin"),
            );
            return None;
        }
        let mut pins = Vec::new();
        for (name, node) in self.reader.pairs(node, "`pins`", "write `pins: {TOOL: \"sha256:…\"}`") {
            let Some(digest) = self.reader.text(node, "a pin") else { continue };
            let hex = digest.text.strip_prefix("sha256:");
            let reason = match hex {
                None => "does not begin with `sha256:`".to_owned(),
                Some(hex) if hex.bytes().any(|byte| byte.is_ascii_uppercase()) => "has capital letters".to_owned(),
                Some(hex) if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    "has characters that are no hex digits".to_owned()
                }
                Some(hex) if hex.len() != 32 => format!("has {} hex digits instead of 32", hex.len()),
                Some(_) => {
                    pins.push((name, digest.text));
                    continue;
                }
            };
            let message = format!("the pin of `{}` {reason}", name.text);
            self.report(Diagnostic::new(Code::PX7009, node.span, message).help(PIN_HELP));
        }
        Some(pins)
    }

    fn reverse(&mut self, node: &Node) -> BTreeSet<Reverse> {
        let mut found = BTreeSet::new();
        for item in self.reader.list(node, "`reverse`", "write `reverse: [elicitation]`, or `[]` for nothing") {
            let Some(text) = self.reader.text(item, "an entry of `reverse`") else { continue };
            if let Some(reverse) = Reverse::ALL.into_iter().find(|reverse| reverse.as_str() == text.text) {
                found.insert(reverse);
                continue;
            }
            let names = Reverse::ALL.map(Reverse::as_str);
            let message = format!("`{}` cannot stand in `reverse`", text.text);
            let help = match nearest(&text.text, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("a server may ask the client for {}", list_names(names, "and")),
            };
            self.report(Diagnostic::new(Code::PX1007, item.span, message).help(help));
        }
        found
    }

    fn filters(&mut self, node: &Node) -> Vec<Filter> {
        const HELP: &str = "write `filter: [{regex: EXPRESSION, replace: TEXT}]`";
        let items = self.reader.list(node, "`filter`", HELP);
        self.filters += items.len();
        if items.len() > MAX_FILTERS || self.filters > MAX_ALL_FILTERS {
            let message = format!("more than {MAX_FILTERS} filters here, or {MAX_ALL_FILTERS} in the file");
            let help = "join expressions with `|`, or declare filters once at the top";
            self.report(Diagnostic::new(Code::PX7010, node.span.at_start(), message).help(help));
            return Vec::new();
        }
        items.iter().filter_map(|item| self.filter(item, HELP)).collect()
    }

    fn filter(&mut self, node: &Node, help: &str) -> Option<Filter> {
        let fields = self.reader.fields(node, "a filter", &["regex", "replace"], help)?;
        let regex = self.reader.required(&fields, "regex", "add `regex: EXPRESSION`, what to look for");
        let replace = self.reader.required(&fields, "replace", "add `replace: TEXT`, `\"\"` to remove what is found");
        let regex = regex.and_then(|node| Some((node, self.reader.text(node, "`regex`")?)));
        let replace = replace.and_then(|node| Some((node, self.reader.text(node, "`replace`")?)));
        let ((regex_node, regex), (replace_node, replace)) = (regex?, replace?);
        if replace.text.len() > MAX_REPLACEMENT {
            let message = format!("`replace` has {} bytes, more than {MAX_REPLACEMENT}", replace.text.len());
            self.report(Diagnostic::new(Code::PX7010, replace_node.span, message).help("write a shorter text"));
            return None;
        }
        let (message, span, help) = match Filter::new(&regex.text, &replace.text) {
            Ok(filter) => return Some(filter),
            Err(Bad::Regex(message)) => {
                let help = "write an expression that matches at least one character, without look-around and \
                            back-references; in single quotes a `\\` needs no second one";
                (message, regex_node.span, help)
            }
            Err(Bad::Replace(message)) => {
                let help = "write `$1` or `${name}` for a group, `${1}` where a letter, digit or `_` follows, and \
                            `$$` for a `$`";
                (message, replace_node.span, help)
            }
        };
        self.report(Diagnostic::new(Code::PX7010, span, message).help(help));
        None
    }
}
