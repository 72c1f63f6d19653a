//! Reads a tool lock back, and believes nothing in it that its own digests do not bear out. Knows nothing
//! of the file it came from.

use super::lock::{ALWAYS, Lock, LockedServer, SOMETIMES, Start};
use super::pin::{full_digest, pin};
use crate::json::{Json, Object};
use crate::text::visible;
use std::collections::{BTreeMap, BTreeSet};

impl Lock {
    /// The lock that a document holds. What it does not understand it refuses: a lock that is read in part
    /// protects in part.
    ///
    /// # Errors
    /// For people: where in the document, and what is wrong.
    pub fn from_json(lock: &Json) -> Result<Self, String> {
        let mut fields = Fields::new("the lock", lock)?;
        let version = fields.take("version")?;
        if !matches!(&version, Json::Number(number) if number.as_i64() == Some(1)) {
            return Err("the lock is of a version that this praxiom does not read; it reads version 1".to_owned());
        }
        let servers = fields.take("servers")?;
        fields.end()?;
        let mut read = Self::default();
        for (name, entry) in members("`servers`", &servers)? {
            read.servers.insert(name.to_owned(), server(name, entry)?);
        }
        Ok(read)
    }
}

fn server(name: &str, entry: &Json) -> Result<LockedServer, String> {
    let place = format!("the server `{}`", visible(name));
    let mut fields = Fields::new(&place, entry)?;
    let start = start(&place, &fields.take("start")?)?;
    let server = fields.take("server")?;
    let protocol = fields.text("protocol")?;
    let mut tools = BTreeMap::new();
    for (name, entry) in members(&format!("`tools` of {place}"), &fields.take("tools")?)? {
        tools.insert(name.to_owned(), tool(&place, name, entry)?);
    }
    let resources = fields.list("resources")?;
    let prompts = fields.list("prompts")?;
    fields.end()?;
    Ok(LockedServer { start, server, protocol, tools, resources, prompts })
}

fn start(place: &str, entry: &Json) -> Result<Start, String> {
    let place = format!("`start` of {place}");
    let mut fields = Fields::new(&place, entry)?;
    let start = if entry.get("url").is_some() {
        Start::Url { url: fields.text("url")?, headers: fields.texts("headers")?.into_iter().collect() }
    } else {
        let command = fields.text("command")?;
        let args = fields.texts("args")?;
        let env: BTreeSet<String> = fields.texts("env")?.into_iter().collect();
        let cwd = match fields.take("cwd")? {
            Json::Null => None,
            Json::String(cwd) => Some(cwd),
            _ => return Err(fields.wrong("cwd", "text or null")),
        };
        Start::Command { command, args, env, cwd }
    };
    fields.end()?;
    Ok(start)
}

/// The definition of an entry, if its digests are those of the definition.
fn tool(server: &str, name: &str, entry: &Json) -> Result<Json, String> {
    let place = format!("the tool `{}` of {server}", visible(name));
    let mut fields = Fields::new(&place, entry)?;
    let (pinned, full) = (fields.text("pin")?, fields.text("full")?);
    let mut definition = Object::default();
    definition.set("name", Json::String(name.to_owned()));
    for member in ALWAYS {
        let value = fields.take(member)?;
        if value != Json::Null {
            definition.set(member, value);
        }
    }
    for member in SOMETIMES {
        if let Some(value) = fields.object.remove(member) {
            definition.set(member, value);
        }
    }
    if let Some(other) = fields.object.remove("other") {
        for (member, value) in members(&format!("`other` of {place}"), &other)? {
            let known = ALWAYS.contains(&member) || SOMETIMES.contains(&member);
            if member == "name" || (known && (*value != Json::Null || definition.get(member).is_some())) {
                return Err(format!("`other` of {place} repeats `{}`", visible(member)));
            }
            definition.set(member, value.clone());
        }
    }
    fields.end()?;
    let definition = Json::Object(definition);
    if pin(&definition) != pinned || full_digest(&definition) != full {
        return Err(format!("{place} was edited by hand: its digests are not those of the texts beside them"));
    }
    Ok(definition)
}

fn members<'j>(place: &str, json: &'j Json) -> Result<impl Iterator<Item = (&'j str, &'j Json)>, String> {
    json.as_object().map(Object::iter).ok_or_else(|| format!("{place} is no object"))
}

/// The members of an object that were not taken yet.
struct Fields<'p> {
    place: &'p str,
    object: Object,
}

impl<'p> Fields<'p> {
    fn new(place: &'p str, json: &Json) -> Result<Self, String> {
        match json {
            Json::Object(object) => Ok(Self { place, object: object.clone() }),
            _ => Err(format!("{place} is no object")),
        }
    }

    fn take(&mut self, name: &str) -> Result<Json, String> {
        self.object.remove(name).ok_or_else(|| format!("{} has no `{name}`", self.place))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            Json::String(text) => Ok(text),
            _ => Err(self.wrong(name, "text")),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Json>, String> {
        match self.take(name)? {
            Json::Array(items) => Ok(items),
            _ => Err(self.wrong(name, "a list")),
        }
    }

    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let texts = self.list(name)?.into_iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<_>>().ok_or_else(|| self.wrong(name, "a list of texts"))
    }

    fn wrong(&self, name: &str, wanted: &str) -> String {
        format!("`{name}` of {} must be {wanted}", self.place)
    }

    fn end(&self) -> Result<(), String> {
        match self.object.iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(format!("{} has a member `{}` that means nothing here", self.place, visible(name))),
        }
    }
}
