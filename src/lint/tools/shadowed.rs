//! PX6006: a glob all of whose tools another glob of the same action matches too. Where the other is wider
//! whatever the list, that is PX3002.

use super::Offer;
use crate::catalogue::DOORS;
use crate::ir::Policy;
use crate::ir::glob::subsumes;
use crate::text::{Code, Diagnostic};

/// Names tried against globs; what is not reached is not judged.
const MAX_MATCHES: usize = 20_000_000;
/// Pairs of globs compared.
const MAX_PAIRS: usize = 200_000;
/// Pairs of globs compared in full.
const MAX_EXACT: usize = 5_000;

pub(super) fn check(policy: &Policy, offer: &Offer<'_>, found: &mut Vec<Diagnostic>) {
    let doors = offer.catalogue.servers.keys().flat_map(|server| DOORS.map(|door| format!("{server}__{door}")));
    let names: Vec<String> = offer.tools.iter().map(|(name, _)| name.clone()).chain(doors).collect();
    let (mut matches, mut pairs, mut exact) = (MAX_MATCHES, MAX_PAIRS, MAX_EXACT);
    for action in policy.actions.iter().filter(|action| action.globs.len() > 1) {
        matches = matches.saturating_sub(action.globs.len() * names.len());
        if matches == 0 {
            return;
        }
        let sets: Vec<Vec<usize>> = action
            .globs
            .iter()
            .map(|(glob, _)| (0..).zip(&names).filter(|(_, name)| glob.matches(name)).map(|(at, _)| at).collect())
            .collect();
        let all = || action.globs.iter().zip(&sets).enumerate();
        for (at, ((glob, span), set)) in all() {
            if set.is_empty() || !offer.has_all_of(glob) {
                continue;
            }
            for (other_at, ((other, other_span), wide)) in all() {
                if other_at == at || wide.len() < set.len() || (wide.len() == set.len() && other_at > at) {
                    continue;
                }
                pairs = pairs.saturating_sub(1);
                if pairs == 0 {
                    return;
                }
                if !set.iter().all(|name| wide.binary_search(name).is_ok()) {
                    continue;
                }
                exact = exact.saturating_sub(1);
                if exact == 0 {
                    return;
                }
                if subsumes(other, glob) || subsumes(glob, other) {
                    continue;
                }
                let count = match set.len() {
                    1 => "the one tool".to_owned(),
                    more => format!("all {more} tools"),
                };
                found.push(
                    Diagnostic::new(
                        Code::PX6006,
                        *span,
                        format!("`{}` adds no tool: `{}` matches {count} that it matches", glob.text(), other.text()),
                    )
                    .also(*other_span, "the other glob")
                    .note("that is so for the tools of the list; a tool that comes later may be matched by one alone")
                    .help("remove one of the two, or name the tools"),
                );
                break;
            }
        }
    }
}
