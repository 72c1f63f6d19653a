//! `praxiom tools lock`: records what the servers are, all of them or none.

use super::{Outcome, Printer, Task, ToolError, count, document, object, text};
use crate::catalogue::{Lock, differences_to_json, show_differences};
use crate::gateway::survey::Seen;
use crate::json::{Json, Number};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(task: &Task<'_>, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let old = old(task, printer)?;
    let seen = task.survey()?;
    let failures = task.failures(&seen);
    if !failures.is_empty() {
        let (json, kept) = match old {
            Old::None => (Json::Null, "; no lock is written"),
            Old::Read(_) | Old::Unreadable => (text(&task.path()), "; the old lock is kept"),
        };
        if task.json {
            let failures = task.failures_json(&failures);
            printer.line(&document([("written", Json::Bool(false)), ("lock", json), ("failures", failures)]))?;
        }
        return task.told(&failures, kept, printer).map(|()| Outcome::Clean);
    }
    let servers = || task.config.servers.iter().zip(seen.iter().flatten());
    let new = Lock { servers: servers().map(|(server, seen)| (server.name.clone(), seen.locked(server))).collect() };
    secrets(task, &new)?;
    let path = task.path();
    new.save(&task.lock).map_err(|error| {
        ToolError::usage(format!("{path} cannot be written: {error}"), "name another path with --lock FILE")
    })?;
    let accepted = match &old {
        Old::Read(old) => Some(old.diff(&new).into_iter().map(|d| task.words.difference(d)).collect::<Vec<_>>()),
        Old::None | Old::Unreadable => None,
    };
    if task.json {
        let server = |(server, seen): (&crate::config::Server, &Seen)| {
            let number = |n: usize| Json::Number(Number::from(i64::try_from(n).unwrap_or(i64::MAX)));
            let withheld = withheld(seen).map(|text| task.words.json(&text)).collect();
            object([
                ("name", text(&server.name)),
                ("tools", number(seen.tools.offered.len())),
                ("prompts", number(seen.prompts.offered.len())),
                ("withheld", Json::Array(withheld)),
                ("declared", Json::Bool(server.trust.is_some())),
            ])
        };
        printer.line(&document([
            ("written", Json::Bool(true)),
            ("lock", text(&path)),
            ("servers", Json::Array(servers().map(server).collect())),
            ("differences", accepted.as_deref().map_or(Json::Null, differences_to_json)),
        ]))?;
        return Ok(Outcome::Clean);
    }
    for (server, seen) in servers() {
        let trust = if server.trust.is_some() { "" } else { "; nothing of it is trusted yet" };
        let tools = count(seen.tools.offered.len(), "tool");
        let prompts = seen.prompts.offered.len();
        let prompts = if prompts > 0 { format!(", {}", count(prompts, "prompt")) } else { String::new() };
        let mut told = format!("{}: {tools}{prompts}{trust}", server.name);
        for why in withheld(seen) {
            let _ = write!(told, "\n  not in the lock: {}", task.words.lines(&why));
        }
        for remark in &seen.remarks {
            let _ = write!(told, "\n  note: {}", task.words.lines(remark));
        }
        printer.line(&told)?;
    }
    match accepted.as_deref() {
        None => {}
        Some([]) => printer.line("nothing has changed since the old lock")?,
        Some(accepted) => {
            let what = count(accepted.len(), "difference");
            printer.line(&format!("\n{what} from the old lock, agreed to with this one:\n"))?;
            printer.line(show_differences(accepted).trim_end())?;
            printer.line("")?;
        }
    }
    printer.line(&format!("{path}: written"))?;
    if task.config.lock.is_none() {
        let path = super::shown(&from_config(task).to_string_lossy());
        printer.remark(&format!("`serve` goes by it once the configuration says `lock: {path}`"))?;
    }
    Ok(Outcome::Clean)
}

/// The path of the lock as the configuration would write it.
fn from_config(task: &Task<'_>) -> PathBuf {
    let Ok(lock) = task.lock.canonicalize() else { return task.lock.clone() };
    let folder = task.folder.canonicalize().unwrap_or_default();
    lock.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or(lock)
}

/// The lock that is there.
enum Old {
    None,
    Read(Lock),
    /// What is wrong with it has been told; it is written anew, as its message advises.
    Unreadable,
}

fn old(task: &Task<'_>, printer: &mut Printer) -> Result<Old, ToolError> {
    match task.read(printer) {
        Ok(lock) => Ok(Old::Read(lock)),
        Err(ToolError::Missing { .. }) => Ok(Old::None),
        Err(ToolError::Refused { what }) => {
            printer.remark(&format!("{what}; what is new since then cannot be told"))?;
            Ok(Old::Unreadable)
        }
        Err(error) => Err(error),
    }
}

/// What the server lists and no gateway offers.
fn withheld(seen: &Seen) -> impl Iterator<Item = String> {
    let findings = seen.tools.findings.iter().chain(&seen.prompts.findings);
    findings
        .filter(|finding| finding.withheld)
        .map(|finding| format!("{}: {}", finding.subject, finding.reasons.join("; ")))
}

/// A lock is made to be shared, so it must not hold what a server echoes of its own secrets.
fn secrets(task: &Task<'_>, lock: &Lock) -> Result<(), ToolError> {
    let mut found = Vec::new();
    for (name, server) in &lock.servers {
        let tools =
            server.tools.iter().map(|(tool, json)| (format!("the tool `{}`", task.words.show_name(tool)), json));
        let prompts = server.prompts.iter().map(|json| ("a prompt".to_owned(), json));
        let resources = server.resources.iter().map(|json| ("a resource".to_owned(), json));
        let identity = std::iter::once(("what it says of itself".to_owned(), &server.server));
        let mut all = tools.chain(prompts).chain(resources).chain(identity);
        if let Some((what, _)) = all.find(|(_, json)| holds(task, json)) {
            found.push(format!("{what} of `{name}`"));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(ToolError::usage(
        format!("no lock is written: a secret of the configuration would stand in it, in {}", found.join(", in ")),
        "if it is no secret, write it into the configuration instead of a variable",
    ))
}

fn holds(task: &Task<'_>, json: &Json) -> bool {
    match json {
        Json::String(text) => task.words.reveals(text),
        Json::Array(items) => items.iter().any(|item| holds(task, item)),
        Json::Object(members) => members.iter().any(|(name, value)| task.words.reveals(name) || holds(task, value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
