//! Literals that JSON escaping hides: looked for in `payload` they would never be found.

use super::lists::Lists;
use crate::ir::expr::{Context, Expr, ExprKind};
use crate::ir::json_literal::can_occur_in_payload;
use crate::syntax::print::quoted;
use crate::text::{Code, Diagnostic, Span};

/// Refuses `contains(payload, …)` and `matches(payload, …)` with a literal that cannot occur.
pub(super) fn check(call: &ExprKind, used: Span, lists: &mut Lists, diagnostics: &mut Vec<Diagnostic>) {
    let mut hidden: Vec<(Span, String)> = Vec::new();
    match call {
        ExprKind::Contains(pair) => {
            let [subject, needle] = pair.as_ref();
            if let (true, ExprKind::Str(text)) = (is_payload(subject), &needle.kind)
                && !can_occur_in_payload(text)
            {
                hidden.push((needle.span, text.to_string()));
            }
        }
        ExprKind::Matches(subject, list) if is_payload(subject) => {
            for (text, span) in lists.get(*list).map(|list| list.texts.as_slice()).unwrap_or_default() {
                if !can_occur_in_payload(text) {
                    hidden.push((*span, text.to_string()));
                }
            }
        }
        _ => {}
    }
    for (span, text) in hidden {
        // A list may be used in many rules; its text is wrong once.
        if !lists.first_complaint(span) {
            continue;
        }
        diagnostics.push(
            Diagnostic::new(Code::PX2014, span, format!("{} can never occur in `payload`", quoted(&text)))
                .also(used, "looked for here")
                .note(
                    "`payload` is JSON text, which writes quotes, backslashes and line ends inside a string with a \
                     backslash before them",
                )
                .help("look in `call.text`, which has the strings of the arguments as they are"),
        );
    }
}

fn is_payload(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Context(Context::Payload))
}
