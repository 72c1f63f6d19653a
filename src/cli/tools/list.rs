//! `praxiom tools list`: what each server offers, what of it `serve` would, and why not the rest.

use super::{Outcome, Printer, Task, ToolError, count, document, object, text};
use crate::catalogue::Lock;
use crate::config::{Allow, Server, Trust};
use crate::gateway::survey::{Judged, Reason, Seen, ToolRow, judge};
use crate::json::Json;
use std::fmt::Write;

/// Characters of a name and of a description that a person is shown.
const NAME: usize = 64;
const DESCRIPTION: usize = 72;
/// Characters of a URI that a person is shown.
const URI: usize = 120;

/// `given`: whether the lock was named on the command line, so that it must be there.
pub(super) fn run(task: &Task<'_>, given: bool, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let lock = lock(task, given, printer)?;
    let seen = task.survey()?;
    let (judged, remarks) = judge(task.config, &seen, lock.as_ref());
    let rows = || task.config.servers.iter().zip(&seen).zip(&judged);
    if task.json {
        let servers = rows().map(|((server, seen), judged)| json(task, server, seen, judged)).collect();
        let remarks = remarks.iter().map(|remark| task.words.json(remark)).collect();
        printer.line(&document([("servers", Json::Array(servers)), ("remarks", Json::Array(remarks))]))?;
    } else {
        for ((server, seen), judged) in rows() {
            printer.line(&human(task, server, seen, judged))?;
        }
        for remark in &remarks {
            printer.line(&format!("note: {}", task.words.lines(remark)))?;
        }
    }
    task.told(&task.failures(&seen), "", printer)?;
    Ok(Outcome::Clean)
}

/// The lock that `serve` would judge by.
fn lock(task: &Task<'_>, given: bool, printer: &mut Printer) -> Result<Option<Lock>, ToolError> {
    if !task.named {
        return Ok(None);
    }
    match task.read(printer) {
        Ok(lock) => Ok(Some(lock)),
        Err(ToolError::Missing { .. }) if !given => {
            let path = task.path();
            printer.remark(&format!("{path}: there is no lock yet; `praxiom tools lock` writes it"))?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn human(task: &Task<'_>, server: &Server, seen: &Result<Seen, String>, judged: &Judged) -> String {
    let words = &task.words;
    let mut out = String::new();
    match seen {
        Ok(seen) => {
            let member = |name| words.short(seen.info.get(name).and_then(Json::as_str).unwrap_or("?"), NAME);
            let (name, version) = (member("name"), member("version"));
            let _ = writeln!(out, "{}: {name} {version}, protocol {}", server.name, words.show(&seen.protocol));
        }
        Err(_) => {
            let _ = writeln!(out, "{}: could not be looked at, see below", server.name);
        }
    }
    let _ = writeln!(out, "  started as  {}", words.show_name(&server.describe()));
    let _ =
        writeln!(out, "  trust       {}", server.trust.as_ref().map_or_else(|| "none declared".to_owned(), trusted));
    if let Some(Reason { code, why }) = &judged.refused {
        let code = code.map_or("", |code| code.as_str());
        let _ = writeln!(out, "  refused     {code}: {why}");
    }
    let Ok(seen) = seen else { return out };
    let offered = judged.tools.iter().filter(|tool| tool.offered.is_ok()).count();
    let _ = writeln!(out, "  {}", heading("tool", judged.tools.len(), offered));
    let names: Vec<String> = judged.tools.iter().map(|tool| tool_name(task, server, tool)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (tool, name) in judged.tools.iter().zip(&names) {
        let mark = if tool.offered.is_ok() { '+' } else { '-' };
        let digest = tool.pin.as_deref().unwrap_or("no digest");
        let told = words.head(tool.description.as_deref().unwrap_or_default(), DESCRIPTION);
        let line = format!("    {mark} {name:width$}  {digest:39}  {told}");
        let _ = writeln!(out, "{}", line.trim_end());
        if let (Err(reason), None) = (&tool.offered, &judged.refused) {
            let code = reason.code.map_or_else(String::new, |code| format!("{code}: "));
            let _ = writeln!(out, "        {code}{}", words.lines(&reason.why));
        }
    }
    if !judged.prompts.is_empty() {
        let offered = judged.prompts.iter().filter(|(_, exposed)| exposed.is_some()).count();
        let _ = writeln!(out, "  {}", heading("prompt", judged.prompts.len(), offered));
        for (name, exposed) in &judged.prompts {
            let (mark, name) = match exposed {
                Some(exposed) => ('+', exposed.clone()),
                None => ('-', format!("{}__{name}", server.name)),
            };
            let _ = writeln!(out, "    {mark} {}", words.short(&name, NAME));
        }
    }
    if !judged.resources.is_empty() {
        let offered = judged.resources.iter().filter(|(_, offered)| *offered).count();
        let _ = writeln!(out, "  {}", heading("resource", judged.resources.len(), offered));
        for (uri, offered) in &judged.resources {
            let _ = writeln!(out, "    {} {}", if *offered { '+' } else { '-' }, words.short(uri, URI));
        }
    }
    for remark in &judged.remarks {
        let _ = writeln!(out, "  note: {}", words.lines(remark));
    }
    if let Some(lines) = trust_lines(server, seen) {
        out.push_str("  to offer all its tools, add to its entry under `servers`:\n");
        for line in lines.lines() {
            let _ = writeln!(out, "{}", words.show_name(line));
        }
    }
    out
}

fn heading(what: &str, all: usize, offered: usize) -> String {
    match (all, offered) {
        (0, _) => format!("no {what}s"),
        (all, offered) if all == offered => format!("{}, offered:", count(all, what)),
        (all, 0) => format!("{}, not offered:", count(all, what)),
        (all, offered) => format!("{}, {offered} of them offered:", count(all, what)),
    }
}

/// As a client sees it, or where it sees none, as a policy would.
fn tool_name(task: &Task<'_>, server: &Server, tool: &ToolRow) -> String {
    match (&tool.offered, &tool.name) {
        (Ok(exposed), _) => task.words.short(exposed, NAME),
        (Err(_), Some(name)) => task.words.short(&format!("{}__{name}", server.name), NAME),
        (Err(_), None) => "(without a name)".to_owned(),
    }
}

fn trusted(trust: &Trust) -> String {
    let names = |allow: &Allow, what: &str| match allow {
        Allow::All => format!("all {what}s"),
        Allow::Only(names) if names.is_empty() => format!("no {what}s"),
        Allow::Only(names) => format!("{} by name", count(names.len(), what)),
    };
    let resources = if trust.resources { "resources" } else { "no resources" };
    let pins = if trust.pins.is_empty() { String::new() } else { format!(", {}", count(trust.pins.len(), "pin")) };
    format!("{}{pins}, {}, {resources}", names(&trust.tools, "tool"), names(&trust.prompts, "prompt"))
}

/// What would declare trust in a server that has none.
fn trust_lines(server: &Server, seen: &Seen) -> Option<String> {
    let names: Vec<&str> = seen.tools.offered.iter().map(|tool| tool.name.as_str()).collect();
    (server.trust.is_none() && !names.is_empty()).then(|| server.trust_lines(Some(&names)))
}

fn json(task: &Task<'_>, server: &Server, seen: &Result<Seen, String>, judged: &Judged) -> Json {
    let words = &task.words;
    let or_null = |text: Option<&str>| text.map_or(Json::Null, |text| words.json(text));
    let named = |text: Option<&str>| text.map_or(Json::Null, |text| words.json_name(text));
    let code =
        |reason: Option<&Reason>| reason.and_then(|reason| reason.code).map_or(Json::Null, |code| text(code.as_str()));
    let why = |reason: Option<&Reason>| or_null(reason.map(|reason| reason.why.as_str()));
    let tool = |tool: &ToolRow| {
        let reason = tool.offered.as_ref().err();
        object([
            ("name", named(tool.name.as_deref())),
            ("exposed", named(tool.offered.as_deref().ok())),
            ("offered", Json::Bool(tool.offered.is_ok())),
            ("code", code(reason)),
            ("reason", why(reason)),
            ("pin", or_null(tool.pin.as_deref())),
            ("description", or_null(tool.description.as_deref())),
        ])
    };
    let prompt = |(name, exposed): &(String, Option<String>)| {
        object([
            ("name", words.json_name(name)),
            ("exposed", named(exposed.as_deref())),
            ("offered", Json::Bool(exposed.is_some())),
        ])
    };
    let resource =
        |(uri, offered): &(String, bool)| object([("uri", words.json_name(uri)), ("offered", Json::Bool(*offered))]);
    let member = |name| or_null(seen.as_ref().ok().and_then(|seen| seen.info.get(name)).and_then(Json::as_str));
    let lines = seen.as_ref().ok().and_then(|seen| trust_lines(server, seen));
    object([
        ("name", text(&server.name)),
        ("start", crate::gateway::started(server).to_json()),
        ("error", or_null(seen.as_ref().err().map(String::as_str))),
        ("protocol", or_null(seen.as_ref().ok().map(|seen| seen.protocol.as_str()))),
        ("server", object([("name", member("name")), ("version", member("version"))])),
        ("declared", Json::Bool(server.trust.is_some())),
        ("refused", code(judged.refused.as_ref())),
        ("reason", why(judged.refused.as_ref())),
        ("trust_lines", named(lines.as_deref())),
        ("tools", Json::Array(judged.tools.iter().map(tool).collect())),
        ("prompts", Json::Array(judged.prompts.iter().map(prompt).collect())),
        ("resources", Json::Array(judged.resources.iter().map(resource).collect())),
        ("remarks", Json::Array(judged.remarks.iter().map(|remark| words.json(remark)).collect())),
    ])
}
