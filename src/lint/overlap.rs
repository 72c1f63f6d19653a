//! PX3006: two actions that assign one variable on the same call.

use crate::ir::glob::overlap;
use crate::ir::{Action, Assignment, Policy, VarId};
use crate::text::{Code, Diagnostic};

/// Findings of one run; a policy with more has one cause.
const MAX_FINDINGS: usize = 50;
/// Pairs of globs compared.
const MAX_PAIRS: usize = 200_000;

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let mut pairs = 0;
    let before = found.len();
    for (id, var) in (0..).map(VarId).zip(&policy.state) {
        for (what, assignments) in [("effect", of_effect as Of), ("on_result", of_on_result)] {
            let assigning: Vec<(&Action, &Assignment)> = policy
                .actions
                .iter()
                .filter_map(|action| Some((action, assignments(action).iter().find(|a| a.variable == id)?)))
                .collect();
            for (at, (later, second)) in assigning.iter().enumerate() {
                for (earlier, first) in assigning.iter().take(at) {
                    if found.len() - before >= MAX_FINDINGS || pairs > MAX_PAIRS {
                        return;
                    }
                    pairs += earlier.globs.len() * later.globs.len();
                    let Some(tool) = common_tool(earlier, later) else { continue };
                    found.push(
                        Diagnostic::new(
                            Code::PX3006,
                            second.name_span,
                            format!("`{}` is assigned twice on one call of `{tool}`", var.name),
                        )
                        .label(format!("`{what}` of '{}'", later.name))
                        .also(first.name_span, format!("`{what}` of '{}'", earlier.name))
                        .note(
                            "the two compose in file order: the later one reads what the earlier one gave; another \
                             order may give another value",
                        )
                        .help("assign the variable in one action, or narrow the globs so that they do not overlap"),
                    );
                }
            }
        }
    }
}

type Of = fn(&Action) -> &[Assignment];

fn of_effect(action: &Action) -> &[Assignment] {
    &action.effect
}

fn of_on_result(action: &Action) -> &[Assignment] {
    &action.on_result
}

/// A tool name that both actions match.
fn common_tool(a: &Action, b: &Action) -> Option<String> {
    a.globs.iter().find_map(|(left, _)| {
        b.globs.iter().find_map(|(right, _)| match (left.is_literal(), right.is_literal()) {
            (Some(name), _) => right.matches(&name).then_some(name),
            (None, Some(name)) => left.matches(&name).then_some(name),
            (None, None) => overlap(left, right),
        })
    })
}
