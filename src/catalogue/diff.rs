//! What differs between a lock and what the servers are now. Knows nothing of what is done about it.

use super::lock::{Lock, LockedServer, Start, key};
use crate::json::{Json, Object, write_compact, write_review};
use std::collections::{BTreeMap, BTreeSet};

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub server: String,
    pub item: Item,
    pub change: Change,
    /// What of it differs: of something new all it has, of something gone nothing.
    pub fields: Vec<Field>,
}

/// What a difference is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The server as a whole.
    Server,
    /// What is started or spoken to.
    Start,
    /// What the server says of itself, such as its version.
    Identity,
    /// The protocol version agreed on.
    Protocol,
    /// A tool, by its name.
    Tool(String),
    /// A prompt, by its name.
    Prompt(String),
    /// A resource or template, by its URI.
    Resource(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Added,
    Removed,
    Changed,
}

/// A member with its text before and after: a text as it is, anything else as JSON over several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl Difference {
    fn new(server: &str, item: Item, change: Change, fields: Vec<Field>) -> Self {
        Self { server: server.to_owned(), item, change, fields }
    }

    /// Whether a gateway with the lock must not offer this. What is gone cannot be offered anyway, a
    /// server that was updated shows in its tools, and resources come and go while it runs.
    #[must_use]
    pub fn refused(&self) -> bool {
        let matters = matches!(self.item, Item::Server | Item::Start | Item::Tool(_) | Item::Prompt(_));
        matters && self.change != Change::Removed
    }
}

impl Lock {
    /// What is different in `live`, by server; within one: its start first, then tools, prompts and
    /// resources by name. `live` holds every server that is configured: one that is not in it counts as gone.
    #[must_use]
    pub fn diff(&self, live: &Lock) -> Vec<Difference> {
        let mut found = Vec::new();
        let names: BTreeSet<&String> = self.servers.keys().chain(live.servers.keys()).collect();
        for name in names {
            match live.servers.get(name) {
                Some(server) => found.extend(self.diff_server(name, server)),
                None => found.push(Difference::new(name, Item::Server, Change::Removed, Vec::new())),
            }
        }
        found
    }

    /// What is different in one server, which the lock may not know at all.
    #[must_use]
    pub fn diff_server(&self, name: &str, live: &LockedServer) -> Vec<Difference> {
        let mut found = self.diff_start(name, &live.start);
        let mut differ = |item, change, fields| found.push(Difference::new(name, item, change, fields));
        let Some(old) = self.servers.get(name) else {
            each(&BTreeMap::new(), &live.tools, Item::Tool, &mut differ);
            each(&BTreeMap::new(), &by_key(&live.prompts), Item::Prompt, &mut differ);
            return found;
        };
        let protocol = |server: &LockedServer| Json::String(server.protocol.clone());
        let whole = [
            (Item::Identity, fields(Some(&old.server), Some(&live.server))),
            (Item::Protocol, fields(Some(&protocol(old)), Some(&protocol(live)))),
        ];
        for (item, fields) in whole.into_iter().filter(|(_, fields)| !fields.is_empty()) {
            differ(item, Change::Changed, fields);
        }
        each(&old.tools, &live.tools, Item::Tool, &mut differ);
        each(&by_key(&old.prompts), &by_key(&live.prompts), Item::Prompt, &mut differ);
        each(&by_key(&old.resources), &by_key(&live.resources), Item::Resource, &mut differ);
        found
    }

    /// What is different in what would be started, to be asked before it is. One difference at most.
    #[must_use]
    pub fn diff_start(&self, name: &str, start: &Start) -> Vec<Difference> {
        let new = start.to_json();
        let difference = match self.servers.get(name).map(|server| server.start.to_json()) {
            None => Difference::new(name, Item::Server, Change::Added, fields(None, Some(&new))),
            Some(old) => Difference::new(name, Item::Start, Change::Changed, fields(Some(&old), Some(&new))),
        };
        if difference.fields.is_empty() { Vec::new() } else { vec![difference] }
    }
}

/// Several of one name count as one thing, a list.
fn by_key(list: &[Json]) -> BTreeMap<String, Json> {
    let mut all: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for definition in list {
        all.entry(key(definition).to_owned()).or_default().push(definition.clone());
    }
    let one = |mut list: Vec<Json>| match list.len() {
        1 => list.pop().unwrap_or(Json::Null),
        _ => Json::Array(list),
    };
    all.into_iter().map(|(key, list)| (key, one(list))).collect()
}

fn each(
    old: &BTreeMap<String, Json>,
    new: &BTreeMap<String, Json>,
    item: fn(String) -> Item,
    differ: &mut dyn FnMut(Item, Change, Vec<Field>),
) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (old, new) = (old.get(name), new.get(name));
        let change = match (old, new) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        };
        let fields = if new.is_some() { fields(old, new) } else { Vec::new() };
        if change != Change::Changed || !fields.is_empty() {
            differ(item(name.clone()), change, fields);
        }
    }
}

/// The members of two objects that differ; `value` for what is no object. Compared as digests compare:
/// keys in any order, numbers by how Python spells them.
fn fields(old: Option<&Json>, new: Option<&Json>) -> Vec<Field> {
    let both = (old.is_none_or(|json| json.as_object().is_some())) && new.is_none_or(|json| json.as_object().is_some());
    if !both {
        return field("value", old, new).into_iter().collect();
    }
    let keys = |json: Option<&Json>| -> BTreeSet<String> {
        json.and_then(Json::as_object).into_iter().flat_map(Object::iter).map(|(name, _)| name.to_owned()).collect()
    };
    let names: BTreeSet<String> = keys(old).into_iter().chain(keys(new)).collect();
    let member = |json: Option<&Json>, name: &str| json.and_then(|json| json.get(name)).cloned();
    names.iter().filter_map(|name| field(name, member(old, name).as_ref(), member(new, name).as_ref())).collect()
}

fn field(name: &str, old: Option<&Json>, new: Option<&Json>) -> Option<Field> {
    let canonical = |json: &Json| {
        let mut out = String::new();
        write_compact(json, &mut out);
        out
    };
    (old.map(canonical) != new.map(canonical)).then(|| Field {
        name: name.to_owned(),
        old: old.map(text),
        new: new.map(text),
    })
}

fn text(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        other => {
            let mut out = String::new();
            write_review(other, &mut out);
            out
        }
    }
}
