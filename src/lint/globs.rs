//! PX3002: a glob that adds nothing beside another of the same action.

use crate::ir::Policy;
use crate::ir::glob::{Glob, equivalent, subsumes};
use crate::text::{Code, Diagnostic, Span};

/// Exact comparisons for one action; a generated list may be long.
const MAX_PAIRS: usize = 5_000;

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    for action in &policy.actions {
        let wide: Vec<(usize, &Glob, Span)> = action
            .globs
            .iter()
            .enumerate()
            .filter(|(_, (glob, _))| glob.is_literal().is_none())
            .map(|(at, (glob, span))| (at, glob, *span))
            .collect();
        let mut seen = std::collections::HashMap::new();
        let mut pairs = 0;
        for (at, (glob, span)) in action.globs.iter().enumerate() {
            if let Some(first) = seen.insert(glob.text(), *span) {
                found.push(shadowed(glob, *span, glob, first, true));
                continue;
            }
            let literal = glob.is_literal();
            for (other_at, other, other_span) in &wide {
                if *other_at == at || pairs > MAX_PAIRS {
                    continue;
                }
                let covers = match &literal {
                    Some(name) => other.matches(name),
                    // A wider glob fixes no more of the beginning: a cheap test before the exact one.
                    None if other.text() == glob.text()
                        || !glob.literal_prefix().starts_with(other.literal_prefix()) =>
                    {
                        false
                    }
                    None => {
                        pairs += 1;
                        subsumes(other, glob)
                    }
                };
                // Of two that match the same tools the later is reported.
                if covers && (*other_at < at || !equivalent(other, glob)) {
                    found.push(shadowed(glob, *span, other, *other_span, false));
                    break;
                }
            }
        }
    }
}

fn shadowed(glob: &Glob, span: Span, other: &Glob, other_span: Span, same: bool) -> Diagnostic {
    let (message, label) = if same {
        (format!("`{}` is listed twice", glob.text()), "first here".to_owned())
    } else {
        (
            format!("`{}` adds nothing: `{}` matches every tool that it matches", glob.text(), other.text()),
            "the wider glob".to_owned(),
        )
    };
    Diagnostic::new(Code::PX3002, span, message)
        .also(other_span, label)
        .note("a reader will think that the narrower glob limits the action")
        .help("remove one of the two")
}
