//! What clients see of all servers together, and where each name leads.

use super::admit::Admitted;
use crate::audit::Level;
use crate::boundary::{Mirrors, Names, Offer, ResourceOffer, Resources, Route, Target};
use crate::config::Expose;
use crate::text::visible;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many resources that several servers offer are named one by one.
const MOST_SHARED: usize = 20;

/// One server's part, in the order of the configuration.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) server: String,
    pub(super) expose: Expose,
    pub(super) admitted: Arc<Admitted>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    tool_names: Names,
    prompt_names: Names,
    resource_routes: Resources,
    mirrors: BTreeMap<Target, Mirrors>,
    /// Why a full name is known and not offered.
    withheld: BTreeMap<String, String>,
    pub(super) tools: Vec<Value>,
    pub(super) prompts: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    /// What the operator should hear of: shortened names, collisions, shared resources.
    pub(super) remarks: Vec<Remark>,
}

/// Something about all servers together, and how bad it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) level: Level,
    pub(super) text: String,
}

impl Table {
    pub(super) fn new(parts: &[Part], budget: usize) -> Self {
        let offers = |names: fn(&Admitted) -> Vec<String>| -> BTreeMap<String, Offer> {
            let offer = |part: &Part| Offer { bare: part.expose == Expose::Bare, names: names(&part.admitted) };
            parts.iter().map(|part| (part.server.clone(), offer(part))).collect()
        };
        let tool_names = Names::new(&offers(|a| a.tools.iter().map(|tool| tool.name.clone()).collect()), budget);
        let prompt_names = Names::new(&offers(|a| a.prompts.iter().map(|(name, _)| name.clone()).collect()), budget);
        let routes = Resources::new(
            &parts
                .iter()
                .map(|part| {
                    let texts = |items: &[Value], key: &str| {
                        items.iter().filter_map(|item| item.get(key)?.as_str().map(str::to_owned)).collect()
                    };
                    let uris = texts(&part.admitted.resources, "uri");
                    let templates = texts(&part.admitted.templates, "uriTemplate");
                    (part.server.clone(), ResourceOffer { uris, templates })
                })
                .collect(),
        );
        let mut table = Self { tool_names, prompt_names, resource_routes: routes, ..Self::default() };
        for part in parts {
            table.add(part);
        }
        table.remarks = table.told();
        table
    }

    fn add(&mut self, part: &Part) {
        for tool in &part.admitted.tools {
            let target = Target { server: part.server.clone(), name: tool.name.clone() };
            let Some(out) = self.tool_names.exposed(&target) else { continue };
            self.tools.push(renamed(&tool.shown, out));
            self.mirrors.insert(target, tool.mirrors.clone());
        }
        for (name, prompt) in &part.admitted.prompts {
            let target = Target { server: part.server.clone(), name: name.clone() };
            let Some(out) = self.prompt_names.exposed(&target) else { continue };
            self.prompts.push(renamed(prompt, out));
        }
        let owned = |routes: &Resources, item: &&Value, key: &str| {
            let text = item.get(key).and_then(Value::as_str).unwrap_or_default();
            matches!(routes.reference(text), Route::Server(server) if server == part.server)
        };
        let routes = &self.resource_routes;
        let listed = part.admitted.resources.iter().filter(|item| owned(routes, item, "uri"));
        self.resources.extend(listed.cloned());
        let templates = part.admitted.templates.iter().filter(|item| owned(routes, item, "uriTemplate"));
        self.templates.extend(templates.cloned());
        for (name, withheld) in &part.admitted.withheld {
            self.withheld.insert(format!("{}__{name}", part.server), withheld.why.clone());
        }
    }

    fn told(&self) -> Vec<Remark> {
        let mut told = Vec::new();
        let mut bad = Vec::new();
        for names in [&self.tool_names, &self.prompt_names] {
            for (target, short) in names.shortened() {
                let text = format!("`{}` goes out as `{short}`", visible(&target.full()));
                // Nothing is lost by it, and it is so at every start.
                told.push(Remark { level: Level::Info, text });
            }
            for collision in names.collisions() {
                let targets: Vec<String> =
                    collision.targets.iter().map(|t| format!("`{}` of `{}`", visible(&t.name), t.server)).collect();
                bad.push(format!(
                    "the name `{}` would stand for {}: none of them is offered",
                    visible(&collision.name),
                    targets.join(" and ")
                ));
            }
        }
        let withheld: Vec<_> = self.resource_routes.withheld().collect();
        for (uri, servers) in withheld.iter().take(MOST_SHARED) {
            let uri: String = visible(uri).chars().take(200).collect();
            bad.push(format!("the resource `{uri}` is offered by {}: none of them is read", servers.join(" and ")));
        }
        let more = withheld.len().saturating_sub(MOST_SHARED);
        if more > 0 {
            bad.push(format!("{more} more resources are offered by several servers: none of them is read"));
        }
        bad.extend(self.resource_routes.refused().iter().cloned());
        told.extend(bad.into_iter().map(|text| Remark { level: Level::Warning, text }));
        told
    }

    /// Whose tool a client's name is: the server and its own name for it.
    pub(super) fn tool(&self, name: &str) -> Option<&Target> {
        self.tool_names.find(name)
    }

    pub(super) fn prompt(&self, name: &str) -> Option<&Target> {
        self.prompt_names.find(name)
    }

    /// The name that a tool goes out under, if it does.
    pub(super) fn tool_name(&self, target: &Target) -> Option<&str> {
        self.tool_names.exposed(target)
    }

    pub(super) fn prompt_name(&self, target: &Target) -> Option<&str> {
        self.prompt_names.exposed(target)
    }

    pub(super) fn mirrors(&self, target: &Target) -> Option<&Mirrors> {
        self.mirrors.get(target)
    }

    pub(super) fn resource(&self, uri: &str) -> Route<'_> {
        self.resource_routes.route(uri)
    }

    pub(super) fn reference(&self, uri: &str) -> Route<'_> {
        self.resource_routes.reference(uri)
    }

    /// Why a full name is not offered, if it is known at all: for the audit alone.
    pub(super) fn withheld(&self, full: &str) -> Option<&str> {
        self.withheld.get(full).map(String::as_str)
    }

    /// Whether clients see the same lists: tools, prompts, resources.
    pub(super) fn differs(&self, other: &Self) -> [bool; 3] {
        [
            self.tools != other.tools,
            self.prompts != other.prompts,
            self.resources != other.resources || self.templates != other.templates,
        ]
    }
}

fn renamed(item: &Value, name: &str) -> Value {
    let mut item = item.clone();
    if let Some(slot) = item.get_mut("name") {
        *slot = Value::String(name.to_owned());
    }
    item
}
