//! PX4010, PX4014 and PX4016: what can be seen without running anything.

use crate::eval::Policy;
use crate::ir::glob::overlap;
use crate::ir::{CheckKind, ExprKind, ListId};
use crate::model::universe::ToolName;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic};
use std::collections::{HashMap, HashSet};

pub(super) fn check(policy: &Policy, tools: &[ToolName], found: &mut Vec<Diagnostic>) {
    patterns(policy, found);
    arguments(policy, tools, found);
    globs(policy, tools, found);
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
        // One finding for each pattern that decides for others.
        let mut deciding: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, (text, _)) in list.texts.iter().enumerate() {
            let wider = list.texts.iter().enumerate().position(|(other_at, (other, _))| {
                other_at != at && text.contains(&**other) && (other != text || other_at < at)
            });
            let Some(wider) = wider else { continue };
            match deciding.iter_mut().find(|(known, _)| *known == wider) {
                Some((_, idle)) => idle.push(at),
                None => deciding.push((wider, vec![at])),
            }
        }
        for (wider, idle) in deciding {
            let (Some((wider, wider_span)), Some(first)) = (list.texts.get(wider), idle.first()) else { continue };
            let Some((text, span)) = list.texts.get(*first) else { continue };
            let more = idle.len() - 1;
            let message = match (wider == text, more) {
                (true, 0) => format!("`{text}` is listed twice"),
                (_, 0) => format!("`{text}` never decides: `{wider}` is found wherever it is"),
                _ => format!("`{text}` and {more} more never decide: `{wider}` is found wherever they are"),
            };
            found.push(
                Diagnostic::new(Code::PX4010, *span, message)
                    .also(*wider_span, if wider == text { "first here" } else { "the pattern that decides" })
                    .help("remove it, or make the wider pattern narrower if it catches too much"),
            );
        }
    }
}

/// A glob of a check or lock-down that matches nothing which an action covers or a server offers is a slip.
fn globs(policy: &Policy, tools: &[ToolName], found: &mut Vec<Diagnostic>) {
    let typed = policy.typed();
    let listed = tools.iter().any(|tool| tool.listed);
    // An uncovered tool is open then, and no glob of it is idle.
    if !listed && typed.default == crate::policy::Default::Allow {
        return;
    }
    // What is to be possible is told by its own question.
    let checks = typed.checks.iter().filter(|check| !matches!(check.kind, CheckKind::Possible { .. }));
    let events = checks.flat_map(|check| check.kind.events()).flat_map(|event| &event.globs);
    let blocks = typed.terminal.iter().flat_map(|terminal| &terminal.blocks);
    for (glob, span) in events.chain(blocks) {
        let known = |tool: &&ToolName| tool.listed || typed.actions.iter().any(|action| action.matches(&tool.name));
        let mut of_actions = typed.actions.iter().flat_map(|action| &action.globs);
        if tools.iter().filter(known).any(|tool| glob.matches(&tool.name))
            || (!listed && of_actions.any(|(other, _)| overlap(glob, other).is_some()))
        {
            continue;
        }
        let what = if listed { "no tool that is offered" } else { "no tool that an action covers" };
        let known: Vec<&str> = tools.iter().filter(known).map(|tool| tool.name.as_str()).collect();
        found.push(
            Diagnostic::new(Code::PX4016, *span, format!("`{}` matches {what}, so this says nothing", glob.text()))
                .help(nearest(glob.text(), known).map_or_else(
                    || "correct the glob, or remove it".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                )),
        );
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
