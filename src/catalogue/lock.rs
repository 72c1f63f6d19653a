//! The tool lock: what the servers were when somebody looked at them and agreed. Knows how it is written,
//! read and kept, and nothing of who compares it.

use super::pin::{full_digest, pin};
use crate::json::{self, Json, Number, Object, write_review};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Members of a definition that stand in every entry, null where the server sends none.
pub(super) const ALWAYS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// Members that stand in an entry where the server sends them.
pub(super) const SOMETIMES: [&str; 2] = ["icons", "_meta"];

/// Servers by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    pub servers: BTreeMap<String, LockedServer>,
}

/// One server: how it is started and what it offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedServer {
    pub start: Start,
    /// What the server says of itself: an object with its name and version.
    pub server: Json,
    /// The protocol version agreed on.
    pub protocol: String,
    /// By name, which is that of the definition: the definition as the server sent it, an object.
    pub tools: BTreeMap<String, Json>,
    /// Resources (`uri`) and templates (`uriTemplate`) as the server sent them.
    pub resources: Vec<Json>,
    /// Prompts (`name`) as the server sent them.
    pub prompts: Vec<Json>,
}

/// What is started or spoken to, as the configuration writes it: variables not filled in, so that no
/// secret gets into a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    Command {
        command: String,
        args: Vec<String>,
        /// Names of the variables it is given.
        env: BTreeSet<String>,
        cwd: Option<String>,
    },
    Url {
        url: String,
        /// Names of the headers it is sent.
        headers: BTreeSet<String>,
    },
}

impl Start {
    /// As it stands in the lock.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let texts = |texts: &mut dyn Iterator<Item = &String>| Json::Array(texts.cloned().map(Json::String).collect());
        match self {
            Self::Command { command, args, env, cwd } => object([
                ("command", Json::String(command.clone())),
                ("args", texts(&mut args.iter())),
                ("env", texts(&mut env.iter())),
                ("cwd", cwd.clone().map_or(Json::Null, Json::String)),
            ]),
            Self::Url { url, headers } => {
                object([("url", Json::String(url.clone())), ("headers", texts(&mut headers.iter()))])
            }
        }
    }
}

impl Lock {
    /// The file: keys sorted, two spaces of indent, one line end at the end, characters that do not show
    /// escaped, numbers as the servers spell them.
    #[must_use]
    pub fn to_text(&self) -> String {
        let servers = self.servers.iter().map(|(name, server)| (name.clone(), server.to_json()));
        let servers: BTreeMap<String, Json> = servers.collect();
        let mut out = String::new();
        let lock = object([("version", Json::Number(Number::from(1))), ("servers", Json::Object(servers.into()))]);
        write_review(&lock, &mut out);
        out.push('\n');
        out
    }

    /// Writes the file through a temporary one in its folder: where that fails, the old lock is as it was.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        // A link stays a link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path of the lock ends in no file name"));
        };
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.new", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let written = self.write(&temporary).and_then(|()| {
            if let Ok(old) = fs::metadata(&path) {
                fs::set_permissions(&temporary, old.permissions())?;
            }
            fs::rename(&temporary, &path)
        });
        if written.is_err() {
            // The fault to tell of is the first one.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        // One that is left of a process that died with the same number.
        let _ = fs::remove_file(path);
        let text = self.to_text();
        // A lock that nobody can read must not take the place of one that is good.
        let read = json::parse(text.as_bytes()).map_err(|malformed| malformed.reason.to_string());
        if let Err(why) = read.and_then(|lock| Self::from_json(&lock)) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("the lock could not be read back: {why}")));
        }
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

impl LockedServer {
    fn to_json(&self) -> Json {
        let tools: BTreeMap<String, Json> =
            self.tools.iter().map(|(name, tool)| (name.clone(), tool_entry(tool))).collect();
        let sorted = |list: &[Json]| {
            let mut list = list.to_vec();
            list.sort_by(|left, right| key(left).cmp(key(right)));
            Json::Array(list)
        };
        object([
            ("start", self.start.to_json()),
            ("server", self.server.clone()),
            ("protocol", Json::String(self.protocol.clone())),
            ("tools", Json::Object(tools.into())),
            ("resources", sorted(&self.resources)),
            ("prompts", sorted(&self.prompts)),
        ])
    }
}

/// What tells one resource or prompt from another.
pub(super) fn key(definition: &Json) -> &str {
    ["uri", "uriTemplate", "name"].iter().find_map(|name| definition.get(name).and_then(Json::as_str)).unwrap_or("")
}

/// The entry of a definition, from which it can be read back to the last member.
fn tool_entry(tool: &Json) -> Json {
    let mut entry = BTreeMap::from([
        ("pin".to_owned(), Json::String(pin(tool))),
        ("full".to_owned(), Json::String(full_digest(tool))),
    ]);
    for name in ALWAYS {
        entry.insert(name.to_owned(), tool.get(name).cloned().unwrap_or(Json::Null));
    }
    let mut other = BTreeMap::new();
    for (name, value) in tool.as_object().into_iter().flat_map(Object::iter) {
        let known = ALWAYS.contains(&name) || SOMETIMES.contains(&name);
        if name == "name" {
            continue;
        }
        // A null that was sent is not the null of a member that was not.
        if !known || *value == Json::Null {
            other.insert(name.to_owned(), value.clone());
        } else {
            entry.insert(name.to_owned(), value.clone());
        }
    }
    if !other.is_empty() {
        entry.insert("other".to_owned(), Json::Object(other.into()));
    }
    Json::Object(entry.into())
}

pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    let members: BTreeMap<String, Json> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Json::Object(members.into())
}
