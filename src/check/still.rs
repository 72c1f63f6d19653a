//! PX4010 and PX4014: what can be seen without running anything.

use crate::eval::Policy;
use crate::ir::{ExprKind, ListId};
use crate::model::universe::ToolName;
use crate::text::{Code, Diagnostic};
use std::collections::{HashMap, HashSet};

pub(super) fn check(policy: &Policy, tools: &[ToolName], found: &mut Vec<Diagnostic>) {
    patterns(policy, found);
    arguments(policy, tools, found);
}

/// A text that holds another one of its list decides nothing, unless the list is also asked for members.
fn patterns(policy: &Policy, found: &mut Vec<Diagnostic>) {
    let typed = policy.typed();
    let mut searched: HashSet<ListId> = HashSet::new();
    let mut members: HashSet<ListId> = HashSet::new();
    for expr in typed.expressions() {
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Matches(_, list) => {
                searched.insert(*list);
            }
            ExprKind::Member(_, list) => {
                members.insert(*list);
            }
            _ => {}
        });
    }
    for (id, list) in (0..).map(ListId).zip(&typed.lists) {
        if !searched.contains(&id) || members.contains(&id) {
            continue;
        }
        for (at, (text, span)) in list.texts.iter().enumerate() {
            let wider = list.texts.iter().enumerate().find(|(other_at, (other, _))| {
                *other_at != at && text.contains(&**other) && (other != text || *other_at < at)
            });
            let Some((_, (wider, wider_span))) = wider else { continue };
            let same = wider == text;
            let message = if same {
                format!("`{text}` is listed twice")
            } else {
                format!("`{text}` never decides: `{wider}` is found wherever it is")
            };
            found.push(
                Diagnostic::new(Code::PX4010, *span, message)
                    .also(*wider_span, if same { "first here" } else { "the pattern that decides" })
                    .help("remove it, or make the wider pattern narrower if it catches too much"),
            );
        }
    }
}

/// Two actions that match one tool and declare one argument with two types deny every call of it.
fn arguments(policy: &Policy, tools: &[ToolName], found: &mut Vec<Diagnostic>) {
    let typed = policy.typed();
    let mut told: HashSet<(usize, usize, &str)> = HashSet::new();
    for tool in tools {
        let mut first: HashMap<&str, (usize, &crate::ir::Argument)> = HashMap::new();
        let matching = typed.actions.iter().enumerate().filter(|(_, action)| action.matches(&tool.name));
        for (at, argument) in matching.flat_map(|(at, action)| action.args.iter().map(move |argument| (at, argument))) {
            match first.get(&*argument.name) {
                None => {
                    first.insert(&argument.name, (at, argument));
                }
                Some((other_at, other)) if other.ty != argument.ty && told.insert((*other_at, at, &argument.name)) => {
                    let message = format!(
                        "`{}` of `{}` is declared as {} and as {}, so every call of the tool is denied",
                        argument.name, tool.name, other.ty, argument.ty
                    );
                    found.push(
                        Diagnostic::new(Code::PX4014, argument.span, message)
                            .label(format!("{} here", argument.ty))
                            .also(other.span, format!("{} here", other.ty))
                            .help("declare the type that the tool takes in both actions, or narrow the globs"),
                    );
                }
                Some(_) => {}
            }
        }
    }
}
