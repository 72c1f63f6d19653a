//! PX3010: tools that the servers offer and no action covers, under `default: allow`; PX6002: globs
//! that match no tool of their server; PX6003: globs of servers that the lock does not have.

use crate::catalogue::{Catalogue, DOORS};
use crate::ir::Policy;
use crate::policy::Default;
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic, Span};
use std::collections::BTreeSet;

/// Tools named in one finding.
const MAX_NAMED: usize = 8;

pub(super) fn check(policy: &Policy, catalogue: &Catalogue, place: Span, found: &mut Vec<Diagnostic>) {
    unknown(policy, catalogue, found);
    if policy.default == Default::Deny {
        return;
    }
    for (server, tools) in &catalogue.servers {
        let open: Vec<String> = tools
            .keys()
            .map(|tool| format!("{server}__{tool}"))
            .filter(|name| !policy.actions.iter().any(|action| action.matches(name)))
            .collect();
        if open.is_empty() {
            continue;
        }
        let shown: Vec<String> = open.iter().take(MAX_NAMED).map(|name| format!("`{}`", name.escape_debug())).collect();
        let more = open.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (count, verb) =
            if open.len() == 1 { ("1 tool".to_owned(), "is") } else { (format!("{} tools", open.len()), "are") };
        found.push(
            Diagnostic::new(
                Code::PX3010,
                place.at_start(),
                format!("{count} of `{server}` {verb} covered by no action and open to every call"),
            )
            .note(format!("open: {}{more}", shown.join(", ")))
            .help("write `default: deny` and allow what is needed, or an action that matches them"),
        );
    }
}

fn unknown(policy: &Policy, catalogue: &Catalogue, found: &mut Vec<Diagnostic>) {
    for action in &policy.actions {
        let mut told = BTreeSet::new();
        for (glob, span) in &action.globs {
            // Without a whole server name in front a glob is about several servers.
            let Some((name, _)) = glob.literal_prefix().split_once("__") else { continue };
            let Some((server, tools)) = catalogue.servers.get_key_value(name) else {
                // Single lists need not be of every server.
                if catalogue.locked && told.insert(name) {
                    found.push(no_server(name, catalogue, *span));
                }
                continue;
            };
            let behind = tools.keys().map(String::as_str).chain(DOORS);
            let names: Vec<String> = behind.map(|name| format!("{server}__{name}")).collect();
            if names.iter().any(|name| glob.matches(name)) {
                continue;
            }
            let help = nearest(glob.text(), names.iter().map(String::as_str)).map_or_else(
                || format!("`{server}` offers {} tools; compare with its list", tools.len()),
                |near| format!("did you mean `{near}`?"),
            );
            found.push(
                Diagnostic::new(Code::PX6002, *span, format!("`{}` matches no tool of `{server}`", glob.text()))
                    .note("the rule never applies; under `default: allow` the tool that was meant is open")
                    .help(help),
            );
        }
    }
}

fn no_server(name: &str, catalogue: &Catalogue, place: Span) -> Diagnostic {
    let servers = || catalogue.servers.keys().map(String::as_str);
    let more = servers().count().saturating_sub(MAX_NAMED);
    let has = match (servers().count(), more) {
        (0, _) => "it has none".to_owned(),
        (_, 0) => format!("it has {}", list_names(servers(), "and")),
        _ => {
            let named: Vec<String> = servers().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
            format!("it has {} and {more} more", named.join(", "))
        }
    };
    Diagnostic::new(Code::PX6003, place, format!("no server `{name}` in the lock; {has}"))
        .note("the rule never applies; under `default: allow` the tools that were meant are open")
        .help(nearest(name, servers()).map_or_else(
            || "write the name that the configuration gives the server, or write the lock again with `praxiom tools lock`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        ))
}
