//! PX3010: tools that the servers offer and no action covers, under `default: allow`; PX6002: globs
//! that match no tool of their server; PX6003: globs of servers that the lock does not have. Arguments and
//! globs that only the list shows to be superfluous are judged below this module.

mod arguments;
mod literals;
mod schema;
mod shadowed;

use crate::catalogue::{Catalogue, DOORS, Tool};
use crate::ir::{Action, Glob, Policy};
use crate::policy::Default;
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic, Span};
use std::collections::BTreeSet;

/// Tools named in one finding.
const MAX_NAMED: usize = 8;

pub(super) fn check(policy: &Policy, catalogue: &Catalogue, place: Span, found: &mut Vec<Diagnostic>) {
    unknown(policy, catalogue, found);
    let offer = Offer::of(catalogue);
    arguments::check(policy, &offer, found);
    shadowed::check(policy, &offer, found);
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

/// What the servers offer, by public name.
struct Offer<'c> {
    catalogue: &'c Catalogue,
    tools: Vec<(String, &'c Tool)>,
}

impl<'c> Offer<'c> {
    fn of(catalogue: &'c Catalogue) -> Self {
        let tools = catalogue
            .servers
            .iter()
            .flat_map(|(server, tools)| tools.iter().map(move |(name, tool)| (format!("{server}__{name}"), tool)));
        Self { catalogue, tools: tools.collect() }
    }

    /// Whether every tool that the glob can match is in the list.
    fn has_all_of(&self, glob: &Glob) -> bool {
        let server = glob.literal_prefix().split_once("__").map(|(server, _)| server);
        self.catalogue.locked || server.is_some_and(|server| self.catalogue.servers.contains_key(server))
    }

    fn has_all_of_action(&self, action: &Action) -> bool {
        action.globs.iter().all(|(glob, _)| self.has_all_of(glob))
    }
}

/// Names for a message, the first of them if there are many.
fn some_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown: Vec<&str> = names.take(MAX_NAMED).collect();
    if more == 0 {
        return list_names(shown, "and");
    }
    let shown: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
    format!("{} and {more} more", shown.join(", "))
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
    let has = if catalogue.servers.is_empty() {
        "it has none".to_owned()
    } else {
        let names: Vec<&str> = servers().collect();
        format!("it has {}", some_names(names.into_iter()))
    };
    Diagnostic::new(Code::PX6003, place, format!("no server `{name}` in the lock; {has}"))
        .note("the rule never applies; under `default: allow` the tools that were meant are open")
        .help(nearest(name, servers()).map_or_else(
            || "write the name that the configuration gives the server, or write the lock again with `praxiom tools lock`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        ))
}
