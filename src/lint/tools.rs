//! PX3010: tools that the servers offer and no action covers, under `default: allow`; PX6002: globs
//! that match no tool of their server.

use crate::catalogue::Catalogue;
use crate::ir::Policy;
use crate::policy::Default;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};

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
    for (glob, span) in policy.actions.iter().flat_map(|action| &action.globs) {
        // Without a whole server name in front a glob is about several servers.
        let Some((server, tools)) =
            glob.literal_prefix().split_once("__").and_then(|(name, _)| catalogue.servers.get_key_value(name))
        else {
            continue;
        };
        let names: Vec<String> = tools.keys().map(|tool| format!("{server}__{tool}")).collect();
        if names.iter().any(|name| glob.matches(name)) {
            continue;
        }
        let help = nearest(glob.text(), names.iter().map(String::as_str)).map_or_else(
            || format!("`{server}` offers {} tools; compare with its list", names.len()),
            |near| format!("did you mean `{near}`?"),
        );
        found.push(
            Diagnostic::new(Code::PX6002, *span, format!("`{}` matches no tool of `{server}`", glob.text()))
                .note("the rule never applies; under `default: allow` the tool that was meant is open")
                .help(help),
        );
    }
}
