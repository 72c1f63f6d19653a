//! The file as a whole: its top keys, and the readers that all parts share.

use super::broken;
use super::duration::parse_duration;
use super::environment::{Environment, INHERITED};
use super::expand::{FaultKind, MAX_EXPANDED_BYTES, expand_within, literal_ranges};
use super::mask::{Masker, Secret, blanked, may_be_secret};
use super::model::{Config, Lock, Server, Text};
use super::trust::Declared;
use crate::policy::{Reader, Text as Written};
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, FileId, Span, limit_diagnostics, sort_diagnostics};
use crate::yaml::{self, Document, Kind, Node, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const TOP: &[&str] = &["servers", "start_wait", "name_budget", "lock", "trust", "http", "state"];
const SERVERS_HELP: &str = "write `servers: {NAME: {command: PROGRAM, args: […]}}` or `servers: {NAME: https://…}`";

/// Bytes that all values of a file may have together once they are expanded.
const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;
/// Each is a process or a connection.
const MAX_SERVERS: usize = 256;
/// Unset variables that are compared with those that are set; nobody reads more.
const MAX_SUGGESTIONS: usize = 50;

/// What became of a configuration file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// `None` if there is an error.
    pub config: Option<Config>,
    /// In the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Every secret that was found, also where the file has errors.
    pub masker: Masker,
    /// The file's text for messages: each place where it was, tokens, header values and values of `env`
    /// blanked unless they are `${VAR}`; where the file is no sound YAML, all values.
    pub shown: String,
}

/// Reads a configuration. `folder` is the file's own, which `lock` is relative to.
#[must_use]
pub fn read(text: &str, file: FileId, folder: &Path, environment: &Environment) -> Reading {
    let Document { root, mut diagnostics, .. } = yaml::read(text, file);
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    let concealed = broken.then(|| {
        let (shown, masker) = broken::conceal(text);
        broken::mask(&mut diagnostics, &masker);
        shown
    });
    let mut decoder = Decoder {
        reader: Reader { diagnostics },
        text,
        environment,
        secrets: BTreeSet::new(),
        blanks: Vec::new(),
        budget: MAX_TOTAL_BYTES,
        suggestions: MAX_SUGGESTIONS,
        filters: 0,
    };
    let mut config = None;
    match root {
        Some(root) => config = decoder.config(&root, folder),
        None if !broken => decoder.report(
            Diagnostic::new(Code::PX1003, Span::new(file, 0, 0), "the configuration is empty").help(SERVERS_HELP),
        ),
        None => {}
    }
    let Decoder { reader: Reader { mut diagnostics }, secrets, blanks, .. } = decoder;
    let masker = Masker::new(secrets.iter().map(String::as_str));
    sort_diagnostics(&mut diagnostics);
    limit_diagnostics(&mut diagnostics);
    let sound = !diagnostics.iter().any(Diagnostic::is_error);
    Reading {
        config: config.filter(|_| sound).map(|config| Config { masker: masker.clone(), ..config }),
        diagnostics,
        shown: concealed.unwrap_or_else(|| masker.blank(&blank(text, blanks)).into_owned()),
        masker,
    }
}

/// The text with these places blanked.
fn blank(text: &str, mut places: Vec<Span>) -> String {
    places.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in places {
        let range = span.range();
        // An alias shows its anchor's place again.
        let start = range.start.max(at);
        if start < range.end {
            out.push_str(text.get(at..start).unwrap_or(""));
            out.push_str(&blanked(text.get(start..range.end).unwrap_or("")));
            at = range.end;
        }
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

pub(super) struct Decoder<'a> {
    pub(super) reader: Reader,
    pub(super) text: &'a str,
    pub(super) environment: &'a Environment,
    secrets: BTreeSet<String>,
    blanks: Vec<Span>,
    budget: usize,
    suggestions: usize,
    pub(super) filters: usize,
}

impl Decoder<'_> {
    fn config(&mut self, root: &Node, folder: &Path) -> Option<Config> {
        if let Some(key) = policy_key(root) {
            let message = "this looks like a policy, and a configuration of servers belongs here";
            let help = "were `--config` and `--policy` swapped? `--config` takes the file with `servers:`";
            self.report(Diagnostic::new(Code::PX1001, key, message).help(help));
            return None;
        }
        let help = "a configuration is a mapping with `servers:` and more";
        let before = self.reader.diagnostics.len();
        let fields = self.reader.fields(root, "a configuration", TOP, help)?;
        self.point_to_the_policy(root, before);
        let start_wait = fields.get("start_wait").and_then(|node| self.duration(node, "`start_wait`"));
        let budget = fields.get("name_budget").and_then(|node| self.number(node, "`name_budget`", 16, 128));
        let lock = fields.get("lock").and_then(|node| self.lock(node, folder));
        let top = fields.get("trust").and_then(|node| {
            let span = fields.key_span("trust").unwrap_or(node.span);
            self.trust(node, span, None)
        });
        let http = fields.get("http").map(|node| self.http(node)).unwrap_or_default();
        if let Some(node) = fields.get("state") {
            self.state(node);
        }
        let servers = self.reader.required(&fields, "servers", SERVERS_HELP);
        let servers = servers.map(|node| self.servers(node, top.as_ref())).unwrap_or_default();
        Some(Config {
            servers,
            start_wait: start_wait.unwrap_or(Duration::from_secs(5)),
            name_budget: budget.and_then(|budget| usize::try_from(budget).ok()).unwrap_or(50),
            lock,
            http,
            masker: Masker::default(),
        })
    }

    /// Policies once stood in the same file.
    fn point_to_the_policy(&mut self, root: &Node, before: usize) {
        let keys = root.as_mapping().unwrap_or_default();
        let Some(key) = keys.iter().find(|entry| entry.key_text() == "policy") else { return };
        for found in self.reader.diagnostics.iter_mut().skip(before) {
            if found.primary.span == key.key.span {
                found.help = Some("the policy has a file of its own: give it with `--policy FILE`".to_owned());
            }
        }
    }

    fn servers(&mut self, node: &Node, top: Option<&Declared>) -> Vec<Server> {
        let mut servers = Vec::new();
        let Some(entries) = node.as_mapping() else {
            self.reader.wrong_shape(node, "`servers`", "a mapping", SERVERS_HELP);
            return servers;
        };
        if entries.is_empty() {
            self.report(Diagnostic::new(Code::PX1004, node.span, "`servers` is empty").help(SERVERS_HELP));
        }
        if entries.len() > MAX_SERVERS {
            let message = format!("{} servers: more than {MAX_SERVERS}", entries.len());
            let help = "run several gateways, each with a part of them";
            self.report(Diagnostic::new(Code::PX1007, node.span.at_start(), message).help(help));
        }
        for entry in entries.iter().take(MAX_SERVERS) {
            let Some(name) = self.server_name(&entry.key) else { continue };
            servers.extend(self.server(&name, &entry.key, &entry.value, top));
        }
        self.fall_back_to_conventions(&mut servers);
        servers
    }

    fn server_name(&mut self, node: &Node) -> Option<Written> {
        let name = self.reader.text(node, "the name of a server")?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let stranger = name.text.chars().find(|c| !allowed(*c));
        let reason = match stranger {
            _ if name.text.is_empty() => "is empty".to_owned(),
            Some(c) => format!("has the character `{c}`"),
            None if name.text.contains("__") => "has `__`, which separates server and tool".to_owned(),
            None if name.text.starts_with('_') => "begins with `_`".to_owned(),
            None if name.text.ends_with('_') => "ends with `_`".to_owned(),
            None => return Some(name),
        };
        let message = format!("the server name `{}` {reason}", name.text);
        self.report(Diagnostic::new(Code::PX7001, node.span, message).help(
            "use letters, digits, `-` and single `_`, with no `_` at either end: the name becomes part of `server__tool`",
        ));
        None
    }

    fn lock(&mut self, node: &Node, folder: &Path) -> Option<Lock> {
        let written = self.reader.line(node, "`lock`")?;
        let text = self.expanded(node, written.text, &mut Vec::new())?;
        if text.value.expose().is_empty() {
            self.empty(node, "`lock`", "write the path of a file, or leave `lock` out");
            return None;
        }
        Some(Lock { path: folder.join(text.value.expose()), written: text.written })
    }

    fn state(&mut self, node: &Node) {
        if node.as_text() == Some("memory") {
            return;
        }
        let later = node.as_text().is_some_and(|text| {
            ["sqlite", "postgres"].iter().any(|store| text.to_ascii_lowercase().starts_with(store))
        });
        let diagnostic = if later {
            Diagnostic::new(Code::PX7012, node.span, "other stores than `memory` come in a later version")
        } else {
            Diagnostic::new(Code::PX1007, node.span, "`state` must be `memory`")
        };
        self.report(diagnostic.help("write `state: memory`, or leave `state` out: it means the same"));
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.reader.report(diagnostic);
    }

    pub(super) fn empty(&mut self, node: &Node, what: &str, help: &str) {
        self.report(Diagnostic::new(Code::PX1004, node.span, format!("{what} is empty")).help(help));
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(&mut self, node: &Node, what: &str, least: u64, most: u64) -> Option<u64> {
        let written = node.as_scalar().filter(|scalar| scalar.kind == Kind::Int);
        let found = written.and_then(|scalar| scalar.text.parse::<u64>().ok());
        let found = found.filter(|found| (least..=most).contains(found));
        if found.is_none() {
            let shown = match node.as_text() {
                Some(text) => format!("`{text}`"),
                None => node.describe(),
            };
            let message = format!("{what} must be a whole number from {least} to {most}, not {shown}");
            self.report(Diagnostic::new(Code::PX1007, node.span, message).help("write it in digits, without quotes"));
        }
        found
    }

    pub(super) fn duration(&mut self, node: &Node, what: &str) -> Option<Duration> {
        const HELP: &str = "write a number and a unit, more than zero and at most 24 hours: `500ms`, `5s`, `2m`, `1h`";
        let unit = node.as_scalar().filter(|scalar| matches!(scalar.kind, Kind::Int | Kind::Float));
        let (shown, reason) = match node.as_text() {
            Some(text) => match parse_duration(text) {
                Ok(duration) => return Some(duration),
                Err(reason) => (format!("`{text}`"), reason),
            },
            None if unit.is_some() => (node.describe(), "it has no unit"),
            None => (node.describe(), "it is not a number and a unit"),
        };
        let help = unit.map_or_else(
            || HELP.to_owned(),
            |scalar| format!("add the unit: `{0}s` for seconds, `{0}ms` for milliseconds", scalar.text),
        );
        let message = format!("{what} must be a duration, not {shown}: {reason}");
        self.report(Diagnostic::new(Code::PX7008, node.span, message).help(help));
        None
    }

    pub(super) fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        let found = node.as_bool();
        if found.is_none() {
            self.reader.wrong_shape(node, what, "`true` or `false`", "write it without quotes");
        }
        found
    }

    /// A text in which variables are expanded.
    pub(super) fn variable_text(&mut self, node: &Node, what: &str, used: &mut Vec<String>) -> Option<Text> {
        let written = self.reader.text(node, what)?;
        self.expanded(node, written.text, used)
    }

    /// A value of `args`, `env` or `headers`: also a number or truth value that reads the same in every
    /// notation. Its text is never part of a message, as it may be a secret.
    pub(super) fn loose_text(&mut self, node: &Node, what: &str, used: &mut Vec<String>) -> Option<Text> {
        let help = "write a text, in quotes if it has special characters";
        let Value::Scalar(scalar) = &node.value else {
            self.reader.wrong_shape(node, what, "a text", help);
            return None;
        };
        let text = match scalar.kind {
            Kind::Text => Some(scalar.text.clone()),
            Kind::Bool(value) => Some(value.to_string()),
            Kind::Int => scalar.text.parse::<i128>().ok().map(|value| value.to_string()),
            Kind::Float => scalar.text.parse::<f64>().ok().map(|value| format!("{value:?}")),
            Kind::Null => {
                self.reader.wrong_shape(node, what, "a text", "write the value, or `\"\"` for an empty text");
                return None;
            }
        };
        // `1.50` and `0x1F` are numbers, and which text they become depends on who writes them.
        let same = text.filter(|text| matches!(scalar.kind, Kind::Text | Kind::Bool(_)) || *text == scalar.text);
        let Some(text) = same else {
            let message = format!("{what} must be a text, not a number that has other spellings");
            self.report(Diagnostic::new(Code::PX1007, node.span, message).help("put it in quotes"));
            return None;
        };
        self.expanded(node, text, used)
    }

    /// The text with its variables, each fault reported at its own place.
    pub(super) fn expanded(&mut self, node: &Node, written: String, used: &mut Vec<String>) -> Option<Text> {
        let expansion = expand_within(&written, self.environment, self.budget.min(MAX_EXPANDED_BYTES));
        self.budget = self.budget.saturating_sub(expansion.value.len());
        for (name, _) in &expansion.variables {
            uses(name, used);
            if !INHERITED.contains(&name.as_str())
                && let super::environment::Lookup::Set(value) = self.environment.lookup(name)
            {
                self.perhaps_secret(name, value);
            }
        }
        let mut sound = true;
        for fault in expansion.faults {
            sound = false;
            let span = node.as_scalar().map_or(node.span, |scalar| scalar.span_of(node.span, fault.range));
            self.fault(fault.kind, span);
        }
        if sound && expansion.value.contains('\0') {
            sound = false;
            let message = "the value holds a NUL character, which no command line, path or address can";
            self.report(Diagnostic::new(Code::PX1007, node.span, message).help("remove it"));
        }
        sound.then(|| Text { written, value: Secret::new(expansion.value) })
    }

    fn fault(&mut self, kind: FaultKind, span: Span) {
        let diagnostic = match kind {
            FaultKind::Open => Diagnostic::new(Code::PX7005, span, "`${` is not closed by `}`")
                .help("write `${NAME}`, or `$${` for the two characters themselves"),
            FaultKind::BadName => Diagnostic::new(Code::PX7005, span, "what stands in `${…}` is no name of a variable")
                .help("use letters, digits and `_`, with no digit first; `$${` writes the two characters themselves"),
            FaultKind::TooLong => Diagnostic::new(Code::PX7005, span, "with this variable the text grows too long")
                .note("one text may have a mebibyte, all texts of the file sixteen")
                .help("put the data into a file that the server reads"),
            FaultKind::NotUtf8(name) => {
                Diagnostic::new(Code::PX7006, span, format!("the variable `{name}` is not valid UTF-8"))
                    .help("set it to a text")
            }
            FaultKind::Unset(name) => self.unset(&name, span),
        };
        self.report(diagnostic);
    }

    pub(super) fn unset(&mut self, name: &str, span: Span) -> Diagnostic {
        let near = if self.suggestions == 0 { None } else { nearest(name, self.environment.names()) };
        self.suggestions = self.suggestions.saturating_sub(1);
        let help = near.map_or_else(
            || "export it before the start, or put it into the file given with `--env-file`".to_owned(),
            |near| format!("did you mean `{near}`? Else export it, or put it into the file given with `--env-file`"),
        );
        Diagnostic::new(Code::PX7006, span, format!("the variable `{name}` is not set")).help(help)
    }

    /// From now on masked wherever it shows.
    pub(super) fn secret(&mut self, value: &str) {
        self.secrets.insert(value.to_owned());
    }

    /// The same for what a setting may be: masked only if it looks like a secret or is called so.
    pub(super) fn perhaps_secret(&mut self, name: &str, value: &str) {
        if may_be_secret(name, value) {
            self.secret(value);
        }
    }

    /// Nothing of the value is shown but the variables that it names.
    pub(super) fn conceal(&mut self, node: &Node) {
        let Some(scalar) = node.as_scalar() else { return };
        for range in literal_ranges(&scalar.text) {
            self.blanks.push(scalar.span_of(node.span, range));
        }
    }

    /// The same for everything inside.
    pub(super) fn conceal_all(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(_) => self.conceal(node),
            Value::Sequence(items) => items.iter().for_each(|item| self.conceal_all(item)),
            Value::Mapping(entries) => entries.iter().for_each(|entry| self.conceal_all(&entry.value)),
        }
    }
}

/// Where a file that has no servers has what only a policy has.
fn policy_key(root: &Node) -> Option<Span> {
    let entries = root.as_mapping()?;
    if entries.iter().any(|entry| matches!(entry.key_text(), "servers" | "mcpServers")) {
        return None;
    }
    let of_policy = |key: &str| matches!(key, "default" | "patterns" | "invariants" | "actions");
    entries.iter().find(|entry| of_policy(entry.key_text())).map(|entry| entry.key.span)
}

/// Notes the name of a variable, each once.
pub(super) fn uses(name: &str, used: &mut Vec<String>) {
    if !used.iter().any(|known| known == name) {
        used.push(name.to_owned());
    }
}
