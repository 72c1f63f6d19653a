//! PX3010: tools that the servers offer and no action covers, under `default: allow`.

use crate::catalogue::Catalogue;
use crate::ir::Policy;
use crate::policy::Default;
use crate::text::{Code, Diagnostic, Span};

/// Tools named in one finding.
const MAX_NAMED: usize = 8;

pub(super) fn check(policy: &Policy, catalogue: &Catalogue, place: Span, found: &mut Vec<Diagnostic>) {
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
