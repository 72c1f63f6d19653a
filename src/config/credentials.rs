//! What proves to a server behind a URL who is calling: headers, then `token`, then `token_env`, then
//! the variable `PRAXIOM_TOKEN_<NAME>`.

use super::decode::{Decoder, uses};
use super::environment::{Lookup, is_variable_name};
use super::mask::Secret;
use super::model::{Launch, Server, Text, TokenSource};
use super::server::given;
use crate::policy::Fields;
use crate::text::{Code, Diagnostic, Span};
use crate::yaml::Node;
use std::collections::BTreeMap;

/// Begins the name of the variable that a server without a credential falls back to.
const CONVENTION: &str = "PRAXIOM_TOKEN_";

/// Headers that the protocol writes itself, and that a file may not.
const RESERVED: [&str; 11] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
];
/// Headers that the protocol writes over those of a file.
const OVERWRITTEN: [&str; 2] = ["accept", "content-type"];

/// What the entry itself says.
pub(super) struct Known {
    pub(super) headers: Vec<(String, Text)>,
    pub(super) token: Option<Secret>,
    pub(super) token_source: TokenSource,
}

impl Known {
    pub(super) fn none() -> Self {
        Self { headers: Vec::new(), token: None, token_source: TokenSource::None }
    }
}

impl Decoder<'_> {
    pub(super) fn known(&mut self, fields: &Fields<'_>, used: &mut Vec<String>) -> Known {
        let mut known = Known::none();
        let mut winner: Option<(&str, Span)> = None;
        if let Some(node) = fields.get("headers") {
            known.headers = self.headers(node, used, &mut winner);
        }
        if winner.is_some() {
            known.token_source = TokenSource::Header;
        }
        if let Some(node) = given(fields, "token") {
            let token = self.token(node, used);
            self.shadowed(fields, "token", winner);
            if winner.is_none() {
                winner = Some(("`token`", fields.key_span("token").unwrap_or(node.span)));
                known.token = token;
                known.token_source = TokenSource::Token;
            }
        }
        if let Some(node) = given(fields, "token_env") {
            let Some(name) = self.reader.line(node, "`token_env`") else { return known };
            self.shadowed(fields, "token_env", winner);
            if winner.is_none() {
                known.token = self.token_of_variable(node, &name.text, used);
                known.token_source = TokenSource::TokenEnv(name.text);
            }
        }
        known
    }

    fn shadowed(&mut self, fields: &Fields<'_>, key: &str, winner: Option<(&str, Span)>) {
        let Some((what, place)) = winner else { return };
        let span = fields.key_span(key).unwrap_or(fields.span());
        self.report(
            Diagnostic::new(Code::PX7013, span, format!("`{key}` is never used: {what} comes before it"))
                .also(place, "this is sent")
                .help("keep one: headers come before `token`, `token` before `token_env`"),
        );
    }

    fn headers(
        &mut self,
        node: &Node,
        used: &mut Vec<String>,
        winner: &mut Option<(&str, Span)>,
    ) -> Vec<(String, Text)> {
        let mut headers = Vec::new();
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for (name, node) in self.reader.pairs(node, "`headers`", "write `headers: {NAME: value}`") {
            let lower = name.text.to_ascii_lowercase();
            let value = self.loose_text(node, &format!("the header `{}`", name.text), used);
            if let Some(value) = &value {
                self.perhaps_secret(&name.text, value.value.expose());
                // `Bearer …`: the second half is the secret, and may show alone.
                if let Some((_, rest)) = value.value.expose().split_once(' ') {
                    self.perhaps_secret(&name.text, rest);
                }
            }
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let message = if name.text.is_empty() || !name.text.bytes().all(legal) {
                format!("`{}` cannot be the name of a header", name.text)
            } else if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-") {
                format!("the header `{}` is written by the gateway itself", name.text)
            } else if value.as_ref().is_some_and(|value| !sendable(value.value.expose())) {
                format!("the value of the header `{}` has characters that no header can carry", name.text)
            } else if let Some(first) = seen.get(&lower) {
                let message = format!("the header `{}` stands here twice: case makes no difference", name.text);
                self.report(
                    Diagnostic::new(Code::PX7011, name.span, message).also(*first, "first here").help("remove one"),
                );
                continue;
            } else {
                seen.insert(lower.clone(), name.span);
                if OVERWRITTEN.contains(&lower.as_str()) {
                    let message =
                        format!("the header `{}` is written by the gateway, so this one is never sent", name.text);
                    self.report(Diagnostic::new(Code::PX7011, name.span, message).warning().help("remove it"));
                    continue;
                }
                if lower == "authorization" {
                    *winner = Some(("the header `Authorization`", name.span));
                }
                headers.extend(value.map(|value| (name.text, value)));
                continue;
            };
            let help = "names are letters, digits and `-`, values printable ASCII without line ends";
            self.report(Diagnostic::new(Code::PX7011, name.span, message).help(help));
        }
        headers
    }

    fn token(&mut self, node: &Node, used: &mut Vec<String>) -> Option<Secret> {
        if node.as_text().is_none() && node.as_scalar().is_some() {
            if let Some(scalar) = node.as_scalar() {
                self.secret(&scalar.text);
            }
            let message = "`token` must be a text, not a number or truth value";
            self.report(Diagnostic::new(Code::PX1007, node.span, message).help("put it in quotes"));
            return None;
        }
        let token = self.variable_text(node, "`token`", used)?;
        self.secret(token.value.expose());
        self.usable(token.value, "`token`", node.span)
    }

    fn token_of_variable(&mut self, node: &Node, name: &str, used: &mut Vec<String>) -> Option<Secret> {
        if !is_variable_name(name) {
            // A token written where the name of its variable belongs must not be shown.
            self.conceal(node);
            self.secret(name);
            let message = "`token_env` takes the name of a variable: letters, digits and `_`, with no digit first";
            self.report(
                Diagnostic::new(Code::PX1007, node.span, message)
                    .help("write the name alone, without `$`; a token itself goes into `token`"),
            );
            return None;
        }
        uses(name, used);
        match self.environment.lookup(name) {
            Lookup::Set(value) => {
                self.secret(value);
                self.usable(Secret::new(value), &format!("the variable `{name}`"), node.span)
            }
            Lookup::NotUtf8 => {
                let message = format!("the variable `{name}` is not valid UTF-8");
                self.report(Diagnostic::new(Code::PX7006, node.span, message).help("set it to a token"));
                None
            }
            Lookup::Unset => {
                let diagnostic = self.unset(name, node.span);
                self.report(diagnostic);
                None
            }
        }
    }

    /// A token that a header can carry and that is not empty.
    fn usable(&mut self, token: Secret, what: &str, span: Span) -> Option<Secret> {
        let value = token.expose();
        let message = if value.is_empty() {
            format!("{what} is empty, so no token would be sent")
        } else if !sendable(value) || value.contains([' ', '\t']) {
            format!("{what} holds characters that no token can: white space, line ends or other than ASCII")
        } else {
            return Some(token);
        };
        let help = "set it to the token alone, without `Bearer` and line ends; remove the key if none is needed";
        self.report(Diagnostic::new(Code::PX7011, span, message).help(help));
        None
    }

    /// `PRAXIOM_TOKEN_<NAME>` for every server behind a URL that says nothing else.
    pub(super) fn fall_back_to_conventions(&mut self, servers: &mut [Server]) {
        let mut first: BTreeMap<String, (String, Span)> = BTreeMap::new();
        for server in servers {
            let Launch::Url(remote) = &mut server.launch else { continue };
            if remote.token_source != TokenSource::None {
                continue;
            }
            let variable = format!("{CONVENTION}{}", server.name.to_ascii_uppercase().replace('-', "_"));
            let value = match self.environment.lookup(&variable) {
                Lookup::Set(value) if !value.is_empty() => value.to_owned(),
                Lookup::NotUtf8 => {
                    let message = format!("the variable `{variable}` is not valid UTF-8");
                    self.report(Diagnostic::new(Code::PX7006, server.span, message).help("set it to a token"));
                    continue;
                }
                Lookup::Set(_) | Lookup::Unset => continue,
            };
            self.secret(&value);
            if let Some((other, place)) = first.get(&variable) {
                let message = format!("`{variable}` is set, and is the token of both `{other}` and `{}`", server.name);
                self.report(
                    Diagnostic::new(Code::PX7007, server.span, message)
                        .also(*place, "and of this one")
                        .note("a token sent to the wrong server is lost to whoever runs it")
                        .help("give each its own: `token_env: VARIABLE`"),
                );
                continue;
            }
            first.insert(variable.clone(), (server.name.clone(), server.span));
            remote.token = self.usable(Secret::new(value), &format!("the variable `{variable}`"), server.span);
            remote.token_source = TokenSource::Convention(variable);
            let span = server.span;
            self.warn_of_clear_text(&server.name, remote, span);
        }
    }
}

/// Whether a header can carry the value: printable ASCII, spaces and tabs.
fn sendable(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}
