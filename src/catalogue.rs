//! What tools the servers really offer: a tool lock, or a plain MCP `tools/list` result.
//! Knows nothing of policies.

mod diff;
mod doors;
mod lock;
mod pin;
mod read;
mod show;

pub use diff::{Change, Difference, Field, Item};
pub use doors::DOORS;
pub use lock::{Lock, LockedServer, Start};
pub use pin::{full_digest, pin};
pub use show::{differences_to_json, show_differences};

use crate::json::{self, Json};
use crate::text::{Code, Diagnostic, FileId, Span};
use std::collections::BTreeMap;

const LIST_HELP: &str = "save the server's answer to `tools/list` again, or write a lock with `praxiom tools lock`";
const LOCK_HELP: &str = "write it again with `praxiom tools lock`, and look at the difference before you agree to it";

/// Servers and their tools, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub servers: BTreeMap<String, BTreeMap<String, Tool>>,
    /// Whether a lock is in it, which names every server of its configuration.
    pub locked: bool,
}

/// One tool as its server describes it.
#[derive(Clone, Debug)]
pub struct Tool {
    pub description: Option<String>,
    /// JSON Schema of the arguments; `None` where the server gives none.
    pub input_schema: Option<Json>,
}

impl Catalogue {
    /// Adds what a file holds. `server` names the server of a plain `tools/list` result; a lock names
    /// its own.
    pub fn add(&mut self, text: &str, file: FileId, server: Option<&str>) -> Result<(), Box<Diagnostic>> {
        let mut read = Self::default();
        read.read(text, file, server)?;
        // All of a file or nothing: half a list would make good globs look wrong.
        for (name, tools) in read.servers {
            self.servers.entry(name).or_default().extend(tools);
        }
        self.locked |= read.locked;
        Ok(())
    }

    fn read(&mut self, text: &str, file: FileId, server: Option<&str>) -> Result<(), Box<Diagnostic>> {
        let whole = Span::new(file, 0, 0);
        let value = document(text, file, LIST_HELP)?;
        let refuse =
            |message: &str, help: &str| Box::new(Diagnostic::new(Code::PX6001, whole, message.to_owned()).help(help));
        let outer = |name| value.as_object().and_then(|object| object.get(name));
        // A saved JSON-RPC answer holds the list in its `result`.
        let inner = outer("result").filter(|_| outer("jsonrpc").is_some()).unwrap_or(&value);
        let member = |name| inner.as_object().and_then(|object| object.get(name));
        if outer("jsonrpc").is_some() && outer("error").is_some() {
            return Err(refuse(
                "the server answered with an error instead of its tools",
                "see its `error`, and ask again",
            ));
        }
        if member("nextCursor").is_some_and(|cursor| *cursor != Json::Null) {
            return Err(refuse(
                "the list is one page of several: it has a `nextCursor`",
                "ask for the other pages too and join their `tools`",
            ));
        }
        match (member("servers"), member("tools"), server) {
            (Some(_), _, None) => self.lock(inner, whole),
            (Some(_), _, Some(_)) => {
                Err(refuse("a lock names its servers itself", "write `--tools FILE` without a server's name"))
            }
            (None, Some(tools), Some(server)) => self.list(tools, server, whole),
            (None, Some(_), None) => Err(refuse(
                "a `tools/list` result does not say which server it is of",
                "write `--tools NAME=FILE` with the server's name",
            )),
            (None, None, _) => Err(refuse(
                "neither a tool lock (`servers`) nor a `tools/list` result (`tools`)",
                "save the server's whole answer to `tools/list`",
            )),
        }
    }

    fn lock(&mut self, lock: &Json, place: Span) -> Result<(), Box<Diagnostic>> {
        let lock = Lock::from_json(lock).map_err(|why| bad_lock(place, why))?;
        self.locked = true;
        for (server, locked) in lock.servers {
            self.servers.entry(server.clone()).or_default();
            for (name, tool) in locked.tools {
                self.insert(&server, &name, &tool);
            }
        }
        Ok(())
    }

    fn list(&mut self, tools: &Json, server: &str, place: Span) -> Result<(), Box<Diagnostic>> {
        let Some(tools) = tools.as_array() else { return Err(shape(place, "`tools` is no list")) };
        self.servers.entry(server.to_owned()).or_default();
        for (at, tool) in tools.iter().enumerate() {
            let name = tool.as_object().and_then(|tool| tool.get("name")).and_then(Json::as_str);
            let Some(name) = name else { return Err(shape(place, &format!("tool {} has no name", at + 1))) };
            if self.servers.get(server).is_some_and(|tools| tools.contains_key(name)) {
                return Err(shape(place, &format!("the tool `{name}` stands twice")));
            }
            self.insert(server, name, tool);
        }
        Ok(())
    }

    fn insert(&mut self, server: &str, name: &str, tool: &Json) {
        let member = |key| tool.as_object().and_then(|tool| tool.get(key));
        let tool = Tool {
            description: member("description").and_then(Json::as_str).map(str::to_owned),
            input_schema: member("inputSchema").cloned(),
        };
        self.servers.entry(server.to_owned()).or_default().insert(name.to_owned(), tool);
    }
}

impl Lock {
    /// The lock in a file.
    pub fn read(text: &str, file: FileId) -> Result<Self, Box<Diagnostic>> {
        let document = document(text, file, LOCK_HELP)?;
        Self::from_json(&document).map_err(|why| bad_lock(Span::new(file, 0, 0), why))
    }
}

fn document(text: &str, file: FileId, help: &str) -> Result<Json, Box<Diagnostic>> {
    json::parse(text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes()).map_err(|malformed| {
        let span = Span::new(file, malformed.offset, malformed.offset);
        let message = format!("not JSON: {}", malformed.reason);
        Box::new(Diagnostic::new(Code::PX6001, span, message).help(help))
    })
}

fn bad_lock(place: Span, why: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(Code::PX6001, place, why).help(LOCK_HELP))
}

fn shape(place: Span, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(Code::PX6001, place, message.to_owned()).help(LIST_HELP))
}
