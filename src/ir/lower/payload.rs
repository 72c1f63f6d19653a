//! Literals that JSON escaping hides: looked for in `payload` they would never be found.

use super::Compiler;
use crate::ir::expr::{Context, Expr, ExprKind};
use crate::ir::json_literal::can_occur_in_payload;
use crate::ir::policy::Action;
use crate::syntax::print::quoted;
use crate::text::{Code, Diagnostic, Span};

impl Compiler {
    /// Refuses `contains(payload, …)` and `matches(payload, …)` with a literal that cannot occur.
    pub(super) fn payload_literals(&mut self, actions: &[Action]) {
        let mut found: Vec<(Span, String, Span)> = Vec::new();
        for expr in actions.iter().flat_map(Action::expressions) {
            expr.walk(&mut |node| match &node.kind {
                ExprKind::Contains(pair) => {
                    let [subject, needle] = pair.as_ref();
                    if let (true, ExprKind::Str(text)) = (is_payload(subject), &needle.kind)
                        && !can_occur_in_payload(text)
                    {
                        found.push((needle.span, text.to_string(), node.span));
                    }
                }
                ExprKind::Matches(subject, list) if is_payload(subject) => {
                    for (text, span) in self.lists.get(*list).map(|list| list.texts.as_slice()).unwrap_or_default() {
                        if !can_occur_in_payload(text) {
                            found.push((*span, text.to_string(), node.span));
                        }
                    }
                }
                _ => {}
            });
        }
        for (span, text, used) in found {
            self.report(
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
}

fn is_payload(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Context(Context::Payload))
}
