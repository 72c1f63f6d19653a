//! Rules on the name of a tool that tell apart tools for which one name stands. Knows nothing of calls.

use super::Request;
use crate::ir::glob::combination_witness;
use crate::ir::{Context, Expr, ExprKind, Glob, Policy};
use crate::model::Gap;
use crate::model::universe::{ToolName, literal_glob};
use crate::text::visible;
use std::collections::HashSet;

/// What the name cannot show, given the actions that match it.
pub(super) fn gaps(request: &Request<'_>, tool: &ToolName, actions: &[Vec<usize>]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if tool.listed {
        return gaps;
    }
    let mut positive: Vec<&Glob> = Vec::new();
    let mut negative: Vec<&Glob> = Vec::new();
    let of_policies = request.sides.iter().flat_map(|policy| &policy.typed().actions).flat_map(|action| &action.globs);
    for glob in of_policies.map(|(glob, _)| glob).chain(request.marks.iter().flat_map(|mark| mark.globs)) {
        if glob.matches(&tool.name) { positive.push(glob) } else { negative.push(glob) }
    }
    if positive.iter().any(|glob| glob.is_literal().is_some()) {
        return gaps;
    }
    let mut look = |policy: &Policy, expr: &Expr| {
        let mut asked = HashSet::new();
        expr.walk(&mut |node| {
            if question(policy, node).is_some() {
                asked.extend(node.children().iter().filter(|child| subject(child).is_some()).map(|child| child.span));
            }
        });
        expr.walk(&mut |node| {
            // A name that no question is about goes on as a text: any two names may differ.
            let whole = || subject(node).filter(|_| !asked.contains(&node.span)).map(|context| (context, any_name()));
            let Some((context, globs)) = question(policy, node).or_else(whole) else { return };
            // The server's name ends at the first `__`.
            let named =
                context == Context::Upstream && positive.iter().any(|glob| glob.literal_prefix().contains("__"));
            if !named && globs.iter().any(|glob| splits(glob, &positive, &negative)) {
                gaps.push(Gap {
                    span: node.span,
                    why: format!(
                        "a rule on `{context}` tells apart tools for which `{}` stands; give the list of tools",
                        visible(&tool.name)
                    ),
                });
            }
        });
    };
    for (policy, actions) in request.sides.iter().zip(actions) {
        for action in actions.iter().filter_map(|at| policy.typed().actions.get(*at)) {
            action.expressions().for_each(|expr| look(policy.typed(), expr));
        }
    }
    for mark in request.marks {
        if let (Some(policy), Some(when)) = (request.sides.get(mark.side), mark.when) {
            look(policy.typed(), when);
        }
    }
    gaps
}

fn subject(expr: &Expr) -> Option<Context> {
    match expr.kind {
        ExprKind::Context(context @ (Context::Tool | Context::Upstream)) => Some(context),
        _ => None,
    }
}

/// Globs that tell names apart as far as it matters here.
fn any_name() -> Vec<Glob> {
    vec![Glob::parse("*a*"), Glob::parse("*b*")]
}

/// A question about the name, as globs of the tools for which the answer is yes.
fn question(policy: &Policy, node: &Expr) -> Option<(Context, Vec<Glob>)> {
    let list = |list| {
        let texts = policy.list(list).map(|list| list.texts.as_slice()).unwrap_or_default();
        texts.iter().map(|(text, _)| text.to_string()).collect::<Vec<_>>()
    };
    let (context, before, texts, after) = match &node.kind {
        ExprKind::Matches(of, texts) => (subject(of)?, "*", list(*texts), "*"),
        ExprKind::Member(of, texts) => (subject(of)?, "", list(*texts), ""),
        ExprKind::Contains(pair) | ExprKind::StartsWith(pair) | ExprKind::EndsWith(pair) => {
            let [of, part] = pair.as_ref();
            let (before, after) = match node.kind {
                ExprKind::StartsWith(_) => ("", "*"),
                ExprKind::EndsWith(_) => ("*", ""),
                _ => ("*", "*"),
            };
            // Beside another text than a literal, any two names may differ.
            let context = subject(of).or_else(|| subject(part))?;
            match (&part.kind, subject(of)) {
                (ExprKind::Str(text), Some(_)) => (context, before, vec![text.to_string()], after),
                _ => return Some((context, any_name())),
            }
        }
        ExprKind::Compare(first, rest) => {
            let mut operands = vec![first.as_ref()];
            operands.extend(rest.iter().map(|(_, operand)| operand));
            let context = operands.iter().find_map(|operand| subject(operand))?;
            let mut texts = Vec::new();
            for operand in operands {
                match &operand.kind {
                    ExprKind::Str(text) => texts.push(text.to_string()),
                    _ if subject(operand).is_some() => {}
                    _ => return Some((context, any_name())),
                }
            }
            (context, "", texts, "")
        }
        _ => return None,
    };
    let behind = if context == Context::Upstream { "__*" } else { "" };
    let globs = texts.iter().map(|text| Glob::parse(&format!("{before}{}{after}{behind}", literal_glob(text))));
    Some((context, globs.collect()))
}

fn splits(glob: &Glob, positive: &[&Glob], negative: &[&Glob]) -> bool {
    let inside: Vec<&Glob> = positive.iter().copied().chain([glob]).collect();
    let outside: Vec<&Glob> = negative.iter().copied().chain([glob]).collect();
    combination_witness(&inside, negative) != Ok(None) && combination_witness(positive, &outside) != Ok(None)
}
