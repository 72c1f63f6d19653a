//! What tools the servers really offer: a tool lock, or a plain MCP `tools/list` result.
//! Knows nothing of policies.

mod pin;

pub use pin::{full_digest, pin};

use crate::json::{self, Json};
use crate::text::{Code, Diagnostic, FileId, Span};
use std::collections::BTreeMap;

/// Servers and their tools, by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub servers: BTreeMap<String, BTreeMap<String, Tool>>,
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
        Ok(())
    }

    fn read(&mut self, text: &str, file: FileId, server: Option<&str>) -> Result<(), Box<Diagnostic>> {
        let whole = Span::new(file, 0, 0);
        let value = json::parse(text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes()).map_err(|malformed| {
            let span = Span::new(file, malformed.offset, malformed.offset);
            let message = format!("not JSON: {}", malformed.reason);
            Box::new(
                Diagnostic::new(Code::PX6001, span, message).help("save the server's answer to `tools/list` again"),
            )
        })?;
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
        let version = member("version");
        if member("servers").is_some() && !matches!(version, Some(Json::Number(number)) if number.as_i64() == Some(1)) {
            return Err(refuse("the lock is of a version that this praxiom does not read", "it reads version 1"));
        }
        match (member("servers"), member("tools"), server) {
            (Some(servers), _, None) => self.lock(servers, whole),
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

    fn lock(&mut self, servers: &Json, place: Span) -> Result<(), Box<Diagnostic>> {
        let Some(servers) = servers.as_object() else { return Err(shape(place, "`servers` is no object")) };
        for (server, entry) in servers.iter() {
            let tools = entry.as_object().and_then(|entry| entry.get("tools")).and_then(Json::as_object);
            let Some(tools) = tools else {
                return Err(shape(place, &format!("the server `{}` has no object `tools`", server.escape_debug())));
            };
            for (name, tool) in tools.iter() {
                self.insert(server, name, tool);
            }
            self.servers.entry(server.to_owned()).or_default();
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

fn shape(place: Span, message: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new(Code::PX6001, place, message.to_owned()).help("save the server's answer to `tools/list` again"),
    )
}
