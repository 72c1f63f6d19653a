//! PX6005 as a warning: literals that an argument can never equal, since the tool's schema lists its values.

use super::MAX_NAMED;
use super::schema::{Values, spelled};
use crate::ir::{Action, ArgId, Expr, ExprKind, Int, Policy};
use crate::json::Json;
use crate::syntax::ast::CompareOp;
use crate::syntax::print::quoted;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};
use std::collections::BTreeSet;

/// `taken`: what each tool that takes the argument takes; every tool of the action is among them, or lacks it.
pub(super) fn check(
    policy: &Policy,
    action: &Action,
    id: ArgId,
    taken: &[(&str, Values<'_>)],
    found: &mut Vec<Diagnostic>,
) {
    let listed: Option<Vec<&[&Json]>> = taken.iter().map(|(_, values)| values.listed()).collect();
    let Some(listed) = listed.filter(|listed| !listed.is_empty()) else { return };
    let Some(argument) = action.arg(id) else { return };
    let values: BTreeSet<String> = listed.into_iter().flatten().filter_map(|value| comparable(value)).collect();
    // Where no value fits the declared type, that has been told.
    if values.is_empty() {
        return;
    }
    let never = |literals: &[(String, Span)], span: Span| {
        let message = match literals {
            [(one, _)] => format!("`{}` is never {one}", argument.name),
            _ => format!("`{}` is none of these texts", argument.name),
        };
        Diagnostic::new(Code::PX6005, span, message)
            .warning()
            .note(takes(taken, &values))
            .help(advice(literals, &values))
    };
    for expr in action.expressions() {
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Compare(first, rest) => {
                let mut left: &Expr = first;
                for (op, right) in rest {
                    for (subject, other) in [(left, right), (right, left)] {
                        if matches!(op, CompareOp::Eq | CompareOp::Ne)
                            && matches!(subject.kind, ExprKind::Arg(of) if of == id)
                            && let Some(literal) = literal(other)
                            && !values.contains(&literal)
                        {
                            found.push(never(&[(literal, other.span)], other.span));
                        }
                    }
                    left = right;
                }
            }
            ExprKind::Member(subject, list) if matches!(subject.kind, ExprKind::Arg(of) if of == id) => {
                let texts = policy.list(*list).map(|list| list.texts.as_slice()).unwrap_or_default();
                let texts: Vec<(String, Span)> = texts.iter().map(|(text, span)| (quoted(text), *span)).collect();
                // A list may serve other arguments too.
                if !texts.is_empty() && texts.iter().all(|(text, _)| !values.contains(text)) {
                    found.push(never(&texts, node.span));
                }
            }
            _ => {}
        });
    }
}

fn takes(taken: &[(&str, Values<'_>)], values: &BTreeSet<String>) -> String {
    let tool = match taken {
        [(tool, _)] => format!("`{tool}` takes"),
        _ => "the tools of the action take".to_owned(),
    };
    let shown: Vec<&str> = values.iter().map(String::as_str).take(MAX_NAMED).collect();
    let more = values.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{tool} only {}{more}", shown.join(", "))
}

fn advice(literals: &[(String, Span)], values: &BTreeSet<String>) -> String {
    let text = literals.first().filter(|(first, _)| first.starts_with('"'));
    let near = text.and_then(|(first, _)| nearest(first, values.iter().map(String::as_str)));
    near.map_or_else(|| "compare with a value that the tool takes".to_owned(), |near| format!("did you mean {near}?"))
}

/// A literal of the schema as one of the policy is spelled.
fn comparable(value: &Json) -> Option<String> {
    match value {
        Json::Number(number) => Int::parse_decimal(&number.spelling()).map(|value| value.to_string()),
        other => Some(spelled(other)),
    }
}

fn literal(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Str(text) => Some(quoted(text)),
        ExprKind::Int(value) => Some(value.to_string()),
        _ => None,
    }
}
