//! PX3011: texts compared with JSON that spells them differently. `contains` and `matches` on
//! `payload` with such a text are errors; here are the other functions, and `result`.

use crate::ir::{Context, Expr, ExprKind, Policy, can_occur_in_payload};
use crate::syntax::ast::CompareOp;
use crate::syntax::print::quoted;
use crate::text::{Code, Diagnostic, Span};

pub(super) fn check(policy: &Policy, found: &mut Vec<Diagnostic>) {
    for expr in policy.expressions() {
        expr.walk(&mut |node| look(policy, node, found));
    }
}

fn look(policy: &Policy, node: &Expr, found: &mut Vec<Diagnostic>) {
    match &node.kind {
        ExprKind::Contains(pair) => {
            let [subject, needle] = pair.as_ref();
            // A plain literal in the plain payload is an error already.
            let plain = |expr: &Expr| matches!(expr.kind, ExprKind::Context(_) | ExprKind::Str(_));
            if let Some(context) = context(subject)
                && !(context == Context::Payload && plain(subject) && plain(needle))
            {
                literal(needle, context, found);
            }
        }
        ExprKind::StartsWith(pair) => {
            let [subject, needle] = pair.as_ref();
            let Some(context) = context(subject) else { return };
            if let (Context::Payload, ExprKind::Str(text)) = (context, &needle.kind)
                && !text.is_empty()
                && !text.starts_with('{')
            {
                let message =
                    format!("`payload` never starts with {}: it is a JSON object and starts with `{{`", quoted(text));
                found.push(
                    Diagnostic::new(Code::PX3011, node.span, message)
                        .help("declare the argument under `args:` and test that, e.g. `startswith(path, \"/w/\")`"),
                );
                return;
            }
            literal(needle, context, found);
        }
        ExprKind::EndsWith(pair) => {
            let [subject, needle] = pair.as_ref();
            if let Some(context) = context(subject) {
                literal(needle, context, found);
            }
        }
        ExprKind::Compare(first, rest) => {
            let mut left: &Expr = first;
            for (op, right) in rest {
                if matches!(op, CompareOp::Eq | CompareOp::Ne) {
                    for (subject, other) in [(left, right), (right, left)] {
                        if let Some(context) = context(subject) {
                            literal(other, context, found);
                        }
                    }
                }
                left = right;
            }
        }
        ExprKind::Matches(subject, list) | ExprKind::Member(subject, list) => {
            let matches = matches!(node.kind, ExprKind::Matches(..));
            let Some(context) = context(subject) else { return };
            if matches && matches!(subject.kind, ExprKind::Context(Context::Payload)) {
                return;
            }
            for (text, span) in policy.list(*list).map(|list| list.texts.as_slice()).unwrap_or_default() {
                report(text, *span, context, found);
            }
        }
        _ => {}
    }
}

/// The subject, if it is JSON text or may be.
fn context(subject: &Expr) -> Option<Context> {
    match &subject.kind {
        ExprKind::Context(context @ (Context::Payload | Context::Result)) => Some(*context),
        ExprKind::Ite(three) => {
            let [_, a, b] = three.as_ref();
            context(a).or_else(|| context(b))
        }
        _ => None,
    }
}

fn literal(expr: &Expr, context: Context, found: &mut Vec<Diagnostic>) {
    match &expr.kind {
        ExprKind::Str(text) => report(text, expr.span, context, found),
        ExprKind::Ite(three) => {
            let [_, a, b] = three.as_ref();
            literal(a, context, found);
            literal(b, context, found);
        }
        _ => {}
    }
}

fn report(text: &str, span: Span, context: Context, found: &mut Vec<Diagnostic>) {
    if can_occur_in_payload(text) {
        return;
    }
    let (message, instead) = if context == Context::Payload {
        (format!("{} is spelled differently in `payload`", quoted(text)), "call.text")
    } else {
        (format!("{} is spelled differently where an answer is JSON", quoted(text)), "call.result_text")
    };
    found.push(
        Diagnostic::new(Code::PX3011, span, message)
            .note("inside a JSON string quotes, backslashes and line ends have a backslash before them")
            .help(format!("look in `{instead}`, which has the strings as they are")),
    );
}
