//! One entry of `servers`: a command or a URL, and what else stands beside it.

use super::advice::Layout;
use super::credentials::Known;
use super::decode::Decoder;
use super::model::{Command, Expose, Launch, Limits, Remote, Server, Text};
use super::trust::Declared;
use super::web::{Address, is_loopback, server_url};
use crate::policy::{Fields, Text as Written};
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};
use crate::yaml::{Node, Value};
use std::collections::BTreeMap;

const KEYS: &[&str] =
    &["command", "args", "env", "cwd", "url", "headers", "token", "token_env", "trust", "limits", "expose"];
/// What is shown in messages; all else may be a credential, a misspelt key too.
const OPEN: &[&str] = &["command", "args", "cwd", "url", "token_env", "trust", "limits", "expose"];
const LIMITS: &[&str] = &["start", "timeout", "max_time", "max_in_flight"];
const HELP: &str = "write `{command: PROGRAM, args: […]}`, `{url: https://…}`, or only the URL";
const MAX_IN_FLIGHT: u64 = 4096;

/// Whether a value is there and not empty: `args: []` and `token: ""` are as good as nothing.
pub(super) fn given<'n>(fields: &Fields<'n>, key: &str) -> Option<&'n Node> {
    fields.get(key).filter(|node| match &node.value {
        Value::Scalar(scalar) => !node.is_null() && !scalar.text.is_empty(),
        Value::Sequence(items) => !items.is_empty(),
        Value::Mapping(entries) => !entries.is_empty(),
    })
}

impl Decoder<'_> {
    pub(super) fn server(&mut self, name: &Written, key: &Node, node: &Node, top: Option<&Declared>) -> Option<Server> {
        let mut variables = Vec::new();
        let layout = Layout::of(key, node, self.text);
        let (name_text, span) = (name.text.clone(), name.span);
        if node.as_text().is_some() {
            let launch = Launch::Url(self.remote(name, node, None, &mut variables)?);
            let trust = self.trusted(None, top);
            let (limits, expose) = (Limits::default(), Expose::default());
            return Some(Server { name: name_text, span, launch, trust, limits, expose, variables, layout });
        }
        if !matches!(node.value, Value::Mapping(_)) {
            self.reader.wrong_shape(node, &format!("the server `{}`", name.text), "a mapping or a URL", HELP);
            return None;
        }
        let before = self.reader.diagnostics.len();
        let fields = self.reader.fields(node, "a server", KEYS, HELP)?;
        let misspelt = before < self.reader.diagnostics.len();
        for entry in node.as_mapping().unwrap_or_default() {
            if !OPEN.contains(&entry.key_text()) {
                self.conceal_all(&entry.value);
            }
        }
        let trust = match fields.get("trust") {
            Some(node) => {
                let span = fields.key_span("trust").unwrap_or(node.span);
                self.trust(node, span, Some(&name.text)).and_then(|own| self.trusted(Some(&own), top))
            }
            None => self.trusted(None, top),
        };
        let limits = fields.get("limits").map(|node| self.limits(node)).unwrap_or_default();
        let expose = fields.get("expose").map(|node| self.expose(node)).unwrap_or_default();
        let launch = match (given(&fields, "command"), given(&fields, "url")) {
            (Some(command), None) => Launch::Command(self.command(&fields, command, &mut variables)?),
            (None, Some(url)) => {
                self.inapplicable(&fields, &["args", "env", "cwd"], "a server with `command`");
                Launch::Url(self.remote(name, url, Some(&fields), &mut variables)?)
            }
            // `comand` is one mistake.
            (None, None) if misspelt => return None,
            (found, _) => {
                let has = if found.is_some() { "both `command` and `url`" } else { "neither `command` nor `url`" };
                let message = format!("the server `{}` has {has}", name.text);
                self.report(Diagnostic::new(Code::PX7002, name.span, message).help(HELP));
                return None;
            }
        };
        Some(Server { name: name_text, span, launch, trust, limits, expose, variables, layout })
    }

    fn inapplicable(&mut self, fields: &Fields<'_>, keys: &[&str], whose: &str) {
        for key in keys.iter().filter(|key| given(fields, key).is_some()) {
            let span = fields.key_span(key).unwrap_or(fields.span());
            let message = format!("`{key}` belongs to {whose}");
            let help = match *key {
                "headers" | "token" | "token_env" => "a command takes its credentials through `env`",
                _ => "remove it: nothing is started here",
            };
            self.report(Diagnostic::new(Code::PX7003, span, message).help(help));
        }
    }

    fn command(&mut self, fields: &Fields<'_>, node: &Node, used: &mut Vec<String>) -> Option<Command> {
        self.inapplicable(fields, &["headers", "token", "token_env"], "a server with `url`");
        let command = self.variable_text(node, "`command`", used);
        if command.as_ref().is_some_and(|command| command.value.expose().is_empty()) {
            self.empty(node, "`command`", "give the variable the path of a program");
        }
        let mut args = Vec::new();
        if let Some(node) = fields.get("args") {
            for item in self.reader.list(node, "`args`", "write `args: [one, two]`") {
                args.extend(self.loose_text(item, "an entry of `args`", used));
            }
        }
        let env = fields.get("env").map(|node| self.env(node, used)).unwrap_or_default();
        let cwd = given(fields, "cwd").and_then(|node| {
            let cwd = self.variable_text(node, "`cwd`", used)?;
            if cwd.value.expose().is_empty() {
                self.empty(node, "`cwd`", "give the variable the path of a folder");
            }
            Some(cwd)
        });
        Some(Command { command: command?, args, env, cwd, inherited: self.environment.inherited() })
    }

    fn env(&mut self, node: &Node, used: &mut Vec<String>) -> BTreeMap<String, Text> {
        let mut env = BTreeMap::new();
        for (name, node) in self.reader.pairs(node, "`env`", "write `env: {NAME: value}`") {
            if name.text.is_empty() || name.text.contains(['=', '\0']) {
                let message = format!("`{}` cannot be the name of a variable", name.text);
                self.report(
                    Diagnostic::new(Code::PX1007, name.span, message)
                        .help("write `env: {NAME: value}`, the name without `=`"),
                );
                continue;
            }
            let Some(text) = self.loose_text(node, &format!("the value of `{}`", name.text), used) else { continue };
            // What every server inherits is no secret, and paths are part of many messages.
            if !super::environment::INHERITED.contains(&name.text.as_str()) {
                self.perhaps_secret(&name.text, text.value.expose());
            }
            env.insert(name.text, text);
        }
        env
    }

    fn remote(
        &mut self,
        name: &Written,
        node: &Node,
        fields: Option<&Fields<'_>>,
        used: &mut Vec<String>,
    ) -> Option<Remote> {
        let known = fields.map_or_else(Known::none, |fields| self.known(fields, used));
        let url = self.variable_text(node, "`url`", used)?;
        let address = match server_url(url.value.expose()) {
            Ok(address) => address,
            Err(bad) => {
                if url.written.contains(['@', '?', '#']) {
                    self.conceal(node);
                }
                let message = format!("the URL of `{}` cannot be used: {}", name.text, bad.message);
                self.report(Diagnostic::new(Code::PX7004, node.span, message).help(bad.help));
                return None;
            }
        };
        for pair in address.query().unwrap_or("").split('&') {
            let (name, value) = pair.split_once('=').unwrap_or(("", pair));
            self.perhaps_secret(name, value);
        }
        for (name, value) in address.query_pairs() {
            self.perhaps_secret(&name, &value);
        }
        let Known { headers, token, token_source } = known;
        let remote = Remote { url, headers, token, token_source, address: Address(address) };
        self.warn_of_clear_text(&name.text, &remote, node.span);
        Some(remote)
    }

    pub(super) fn warn_of_clear_text(&mut self, name: &str, remote: &Remote, span: Span) {
        let credential = remote.token.is_some() || !remote.headers.is_empty();
        if credential && remote.address().scheme() == "http" && !is_loopback(remote.address()) {
            let message = format!("the credentials of `{name}` are sent over plain `http`");
            self.report(
                Diagnostic::new(Code::PX7015, span, message)
                    .note("everybody on the way can read and change what is sent")
                    .help("write `https://`"),
            );
        }
    }

    fn limits(&mut self, node: &Node) -> Limits {
        let mut limits = Limits::default();
        let help = "write `limits: {start: 30s, timeout: 60s, max_time: 15m, max_in_flight: 64}`";
        let Some(fields) = self.reader.fields(node, "`limits`", LIMITS, help) else { return limits };
        let mut duration = |key: &str| fields.get(key).and_then(|node| self.duration(node, &format!("`{key}`")));
        limits.start = duration("start").unwrap_or(limits.start);
        let (timeout, max_time) = (duration("timeout"), duration("max_time"));
        limits.timeout = timeout.unwrap_or(limits.timeout);
        limits.max_time = max_time.unwrap_or(limits.max_time);
        let sound = fields.get("timeout").is_some() == timeout.is_some()
            && fields.get("max_time").is_some() == max_time.is_some();
        if sound && limits.timeout > limits.max_time {
            let key = if max_time.is_some() { "max_time" } else { "timeout" };
            let span = fields.get(key).map_or(node.span, |node| node.span);
            let message = "`timeout` is longer than `max_time`, which no call may exceed";
            self.report(
                Diagnostic::new(Code::PX7008, span, message)
                    .help("`timeout` is 60s and `max_time` 15m where they are not written"),
            );
        }
        if let Some(node) = fields.get("max_in_flight") {
            let found = self.number(node, "`max_in_flight`", 1, MAX_IN_FLIGHT);
            limits.max_in_flight = found.and_then(|found| usize::try_from(found).ok()).unwrap_or(limits.max_in_flight);
        }
        limits
    }

    fn expose(&mut self, node: &Node) -> Expose {
        match node.as_text() {
            Some("prefixed") => return Expose::Prefixed,
            Some("bare") => return Expose::Bare,
            _ => {}
        }
        let near = node.as_text().and_then(|text| nearest(text, ["prefixed", "bare"]));
        let help = near.map_or_else(
            || "`bare` leaves the prefix `server__` out of names towards the client".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let message = "`expose` must be `prefixed` or `bare`";
        self.report(Diagnostic::new(Code::PX1007, node.span, message).help(help));
        Expose::Prefixed
    }
}
