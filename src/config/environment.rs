//! Where `${VAR}` and tokens come from: the process environment, then env files. Reads no files itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;

/// What a server process inherits, where the gateway's own environment has it.
pub const INHERITED: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Larger env files are not read.
pub const MAX_ENV_FILE_BYTES: usize = 1024 * 1024;

/// Variables by name. The process environment wins over env files, even where its value is empty.
/// `Debug` shows names, never values.
#[derive(Clone, Default)]
pub struct Environment {
    process: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    not_utf8: BTreeSet<String>,
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'e> {
    Set(&'e str),
    /// Set to bytes that are not UTF-8.
    NotUtf8,
    Unset,
}

/// A line of an env file that cannot be read. Holds nothing of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("process", &self.process.keys())
            .field("files", &self.files.keys())
            .field("not_utf8", &self.not_utf8)
            .finish()
    }
}

impl Environment {
    /// The process environment, as `std::env::vars_os` gives it.
    #[must_use]
    pub fn new(process: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in process {
            // A name that is not UTF-8 cannot be asked for.
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => {
                    environment.process.insert(name, value);
                }
                Err(_) => {
                    environment.not_utf8.insert(name);
                }
            }
        }
        environment
    }

    /// Adds an env file and gives the names that it sets: those that the process environment and files
    /// before it do not have.
    ///
    /// A line is `NAME=value`, with `export ` before it or not. Empty lines and lines that begin with
    /// `#` are skipped. White space around name and value is dropped; a value in single or double quotes
    /// is what stands between them. There are no escapes and no references, and a `#` behind a value is
    /// part of it.
    ///
    /// # Errors
    /// Every line that is something else, and every name that stands there twice; nothing is added then.
    pub fn add_file(&mut self, text: &str) -> Result<Vec<String>, Vec<BadLine>> {
        let mut seen: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        let mut bad = Vec::new();
        for (at, raw) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let line = at + 1;
            match entry(raw) {
                Ok(None) => {}
                Ok(Some((name, value))) => {
                    if let Some((first, _)) = seen.get(name) {
                        let message = format!("`{name}` is set a second time, after line {first}: remove one");
                        bad.push(BadLine { line, message });
                    } else {
                        seen.insert(name, (line, value));
                    }
                }
                Err(message) => bad.push(BadLine { line, message: message.to_owned() }),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        let mut added = Vec::new();
        for (name, (_, value)) in seen {
            if self.lookup(name) == Lookup::Unset {
                self.files.insert(name.to_owned(), value.to_owned());
                added.push(name.to_owned());
            }
        }
        Ok(added)
    }

    #[must_use]
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        if self.not_utf8.contains(name) {
            return Lookup::NotUtf8;
        }
        self.process.get(name).or_else(|| self.files.get(name)).map_or(Lookup::Unset, |value| Lookup::Set(value))
    }

    /// Every name that can be looked up with success, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.process.keys().chain(self.files.keys()).map(String::as_str)
    }

    /// What every server process inherits: of [`INHERITED`] what the process environment has, without
    /// exported shell functions. Env files do not count.
    #[must_use]
    pub fn inherited(&self) -> BTreeMap<String, String> {
        let of = |name: &str| self.process.get(name).filter(|value| !value.starts_with("()"));
        INHERITED.iter().filter_map(|name| Some(((*name).to_owned(), of(name)?.clone()))).collect()
    }
}

/// Whether `${…}` and env files take this name.
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// One line: name and value, `None` if there is nothing on it.
fn entry(raw: &str) -> Result<Option<(&str, &str)>, &'static str> {
    let line = raw.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let exported = line.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t']));
    let Some((name, value)) = exported.unwrap_or(line).split_once('=') else {
        return Err("there is no `=`: write `NAME=value`");
    };
    let name = name.trim();
    if !is_variable_name(name) {
        return Err("what stands before `=` is no name: use letters, digits and `_`, with no digit first");
    }
    let value = value.trim();
    if value.contains('\0') {
        return Err("the value holds a NUL character, which no environment can");
    }
    for quote in ['"', '\''] {
        let Some(rest) = value.strip_prefix(quote) else { continue };
        let inner = rest.strip_suffix(quote);
        return inner.map(|inner| Some((name, inner))).ok_or(
            "the value begins with a quote and does not end with it: close it, and put comments on their own line",
        );
    }
    Ok(Some((name, value)))
}
