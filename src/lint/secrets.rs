//! PX3001: patterns for well-known secret files that miss other spellings of the same path.

use crate::ir::{Context, Expr, ExprKind, ListId, Policy};
use crate::syntax::print::quoted;
use crate::text::suggest::list_names;
use crate::text::{Code, Diagnostic, Span};
use std::collections::BTreeSet;

/// Parts of paths that hold credentials, in lower case.
const NAMES: &[&str] = &[
    ".env",
    ".ssh",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".pem",
    ".p12",
    ".pfx",
    ".aws",
    ".azure",
    ".kube",
    ".gnupg",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".docker",
    "credentials",
    "secret",
];

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let mut lists: BTreeSet<ListId> = BTreeSet::new();
    // A check that misses a spelling leaves nothing open.
    for expr in policy.rules() {
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Matches(subject, list) if may_be_path(subject) => {
                lists.insert(*list);
            }
            ExprKind::Contains(pair) | ExprKind::EndsWith(pair) => {
                let [subject, needle] = pair.as_ref();
                if let (true, ExprKind::Str(text)) = (may_be_path(subject), &needle.kind) {
                    report(&[(text, needle.span)], None, found);
                }
            }
            _ => {}
        });
    }
    for list in lists.iter().filter_map(|id| policy.list(*id)) {
        let texts: Vec<(&str, Span)> = list.texts.iter().map(|(text, span)| (&**text, *span)).collect();
        report(&texts, list.name.as_deref(), found);
    }
}

/// Texts that hold what the agent asked for; answers are spelled as the file has them.
fn may_be_path(subject: &Expr) -> bool {
    match subject.kind {
        ExprKind::Arg(_) => true,
        ExprKind::Context(context) => matches!(context, Context::Payload | Context::CallText),
        _ => false,
    }
}

/// One finding for all fragile texts of a list.
fn report(texts: &[(&str, Span)], list: Option<&str>, found: &mut Vec<Diagnostic>) {
    let spelled: BTreeSet<&str> = texts.iter().map(|(text, _)| *text).collect();
    let mut slashed = Vec::new();
    let mut cased = Vec::new();
    for (text, span) in texts {
        let lower = text.to_lowercase();
        if !names_secret(&lower) {
            continue;
        }
        let bare = text.trim_start_matches(['/', '\\']);
        // The bare name in the same list finds whatever the slash hides.
        if bare.len() < text.len() && !spelled.contains(bare) {
            slashed.push((*text, *span));
        }
        if !(spelled.contains(lower.as_str()) && spelled.contains(text.to_uppercase().as_str())) {
            cased.push((*text, *span));
        }
    }
    let Some((first, span)) = slashed.first().or(cased.first()).copied() else { return };
    let mut missed = Vec::new();
    if slashed.iter().any(|(text, _)| *text == first) {
        missed.push(format!("the relative path {}", quoted(first.trim_start_matches(['/', '\\']))));
    }
    if cased.iter().any(|(text, _)| *text == first) {
        let upper = first.to_uppercase();
        missed.push(format!("the spelling {}", quoted(&if *first == upper { first.to_lowercase() } else { upper })));
    }
    let missed = missed.join(" and ");
    let message = match list {
        Some(name) => format!("{} of `{name}` misses {missed}", quoted(first)),
        None => format!("{} misses {missed}", quoted(first)),
    };
    let mut diagnostic = Diagnostic::new(Code::PX3001, span, message);
    let others: BTreeSet<&str> =
        slashed.iter().chain(&cased).map(|(text, _)| *text).filter(|text| *text != first).collect();
    if !others.is_empty() {
        let shown: Vec<&str> = others.iter().copied().take(6).collect();
        let more = others.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        diagnostic =
            diagnostic.note(format!("others of the list miss spellings too: {}{more}", list_names(shown, "and")));
    }
    let slash = if slashed.is_empty() { "" } else { "drop the leading slash, and " };
    found.push(
        diagnostic
            .note("macOS and Windows open `.ENV` as `.env`, and an agent may name a file without its folder")
            .help(format!(
                "{slash}list the name in lower and in upper case; or allow known-good paths instead of refusing bad ones"
            )),
    );
}

/// Whether the text names such a file: the name ends there, so that `.environment` is none.
fn names_secret(text: &str) -> bool {
    NAMES.iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let next = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
            next.is_none_or(|next| !next.is_alphanumeric()) || matches!(*name, "secret")
        })
    })
}
