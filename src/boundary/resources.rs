//! Which server a resource is read from. Knows nothing of what a resource holds.

mod template;

use crate::text::visible;
use std::collections::{BTreeMap, BTreeSet};
use template::Template;

/// The most templates of one server that are used.
const MAX_TEMPLATES: usize = 200;

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
    templates: BTreeMap<String, Shared>,
    refused: Vec<String>,
}

#[derive(Clone, Debug)]
struct Shared {
    template: Template,
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
            let more = offer.templates.len().saturating_sub(MAX_TEMPLATES);
            if more > 0 {
                resources.refused.push(format!(
                    "the server `{server}` lists {} resource templates, of which {MAX_TEMPLATES} are used: the last \
                     {more} are left out",
                    offer.templates.len()
                ));
            }
            for text in offer.templates.iter().take(MAX_TEMPLATES) {
                if let Some(known) = resources.templates.get_mut(text) {
                    known.servers.insert(server.clone());
                    continue;
                }
                match Template::read(text) {
                    Ok(template) => {
                        let servers = BTreeSet::from([server.clone()]);
                        resources.templates.insert(text.clone(), Shared { template, servers });
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
        let matching = self.templates.values().filter(|shared| shared.template.matches(uri));
        let servers: BTreeSet<&String> = matching.flat_map(|shared| &shared.servers).collect();
        route(servers.into_iter())
    }

    /// Where the completion of a reference leads: a template as it is written, or a URI.
    #[must_use]
    pub fn reference(&self, reference: &str) -> Route<'_> {
        match self.templates.get(reference) {
            Some(shared) => route(shared.servers.iter()),
            None => self.route(reference),
        }
    }

    /// Listed URIs and templates that several servers have, with these; none of them leads anywhere.
    pub fn withheld(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let templates = self.templates.iter().map(|(text, shared)| (text, &shared.servers));
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
