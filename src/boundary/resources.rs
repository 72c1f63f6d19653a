//! Which server a resource is read from. Knows nothing of what a resource holds.

use crate::text::visible;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The longest template that is used, in bytes.
const MAX_TEMPLATE: usize = 2048;

/// What one server lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceOffer {
    pub uris: Vec<String>,
    /// URI templates (RFC 6570).
    pub templates: Vec<String>,
}

/// Where a URI leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    Server(&'a str),
    /// Several servers have it, so that none is asked.
    Withheld(Vec<&'a str>),
    /// No server has it.
    Unowned,
}

/// The resources of all servers. The same for the same offers, whatever came first.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    listed: BTreeMap<String, BTreeSet<String>>,
    templates: BTreeMap<String, Template>,
    refused: Vec<String>,
}

#[derive(Clone, Debug)]
struct Template {
    regex: Regex,
    servers: BTreeSet<String>,
}

impl Resources {
    /// Routes for what each server, by its name, lists.
    #[must_use]
    pub fn new(offers: &BTreeMap<String, ResourceOffer>) -> Self {
        let mut resources = Self::default();
        for (server, offer) in offers {
            for uri in &offer.uris {
                resources.listed.entry(uri.clone()).or_default().insert(server.clone());
            }
            for text in &offer.templates {
                if let Some(known) = resources.templates.get_mut(text) {
                    known.servers.insert(server.clone());
                    continue;
                }
                match compile(text) {
                    Ok(regex) => {
                        let servers = BTreeSet::from([server.clone()]);
                        resources.templates.insert(text.clone(), Template { regex, servers });
                    }
                    Err(why) => {
                        let shown: String = visible(text).chars().take(200).collect();
                        resources.refused.push(format!(
                            "the resource template `{shown}` of the server `{server}` is not used: {why}"
                        ));
                    }
                }
            }
        }
        resources
    }

    /// Where a URI leads, by the listings or, where none has it, by the templates. The time taken is
    /// linear in the length of the URI.
    #[must_use]
    pub fn route(&self, uri: &str) -> Route<'_> {
        if let Some(servers) = self.listed.get(uri) {
            return route(servers.iter());
        }
        let matching = self.templates.values().filter(|template| template.regex.is_match(uri));
        let servers: BTreeSet<&String> = matching.flat_map(|template| &template.servers).collect();
        route(servers.into_iter())
    }

    /// Where the completion of a reference leads: a template as it is written, or a URI.
    #[must_use]
    pub fn reference(&self, reference: &str) -> Route<'_> {
        match self.templates.get(reference) {
            Some(template) => route(template.servers.iter()),
            None => self.route(reference),
        }
    }

    /// Listed URIs and templates that several servers have, with these; none of them leads anywhere.
    pub fn withheld(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let templates = self.templates.iter().map(|(text, template)| (text, &template.servers));
        let shared = self.listed.iter().chain(templates).filter(|(_, servers)| servers.len() > 1);
        shared.map(|(text, servers)| (text.as_str(), servers.iter().map(String::as_str).collect()))
    }

    /// One message for each template that cannot be used.
    #[must_use]
    pub fn refused(&self) -> &[String] {
        &self.refused
    }
}

fn route<'a>(mut servers: impl ExactSizeIterator<Item = &'a String>) -> Route<'a> {
    match servers.len() {
        0 => Route::Unowned,
        1 => servers.next().map_or(Route::Unowned, |server| Route::Server(server)),
        _ => Route::Withheld(servers.map(String::as_str).collect()),
    }
}

/// The URIs of a template as an expression. Each variable stands for what its operator lets it hold, so
/// that `{name}` never spans a `/`.
fn compile(template: &str) -> Result<Regex, &'static str> {
    if template.len() > MAX_TEMPLATE {
        return Err("it is too long");
    }
    let (scheme, _) = template.split_once('{').unwrap_or((template, ""));
    if !scheme.contains(':') {
        return Err("it begins with no scheme such as `file:`, and would claim what other servers have");
    }
    let mut pattern = String::from(r"\A");
    let mut rest = template;
    while let Some((literal, tail)) = rest.split_once('{') {
        let Some((expression, tail)) = tail.split_once('}') else { return Err("a `{` is not closed") };
        pattern.push_str(&regex::escape(literal));
        pattern.push_str(match expression.chars().next() {
            Some('+') => r"[^\s#]*",
            Some('#') => r"(?:#\S*)?",
            Some('.') => r"(?:\.[^/?#\s]*)?",
            Some('/') => r"(?:/[^?#\s]*)?",
            Some(';') => r"(?:;[^/?#\s]*)?",
            Some('?') => r"(?:\?[^#\s]*)?",
            Some('&') => r"(?:&[^#\s]*)?",
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '%') => r"[^/?#\s]*",
            _ => return Err("it holds an expression of no known form"),
        });
        rest = tail;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push_str(r"\z");
    Regex::new(&pattern).map_err(|_| "it is too complex")
}
