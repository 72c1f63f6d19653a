//! What to write instead: the advice beside complaints about types and functions.

use crate::ir::builtin::{BUILTINS, Builtin};
use crate::ir::types::Type;
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::syntax::print::print;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};

/// The complaint about a function that does not exist.
pub(super) fn unknown_function(name: &str, span: Span) -> Diagnostic {
    if let Some((value, method)) = name.rsplit_once('.')
        && let Some(row) = Builtin::named(method)
    {
        return Diagnostic::new(Code::PX0102, span, format!("values have no methods: `{name}(…)`"))
            .help(format!("call the function: `{}({value}, …)`", row.name));
    }
    let hint = match name {
        "len" | "lower" | "upper" | "strip" | "trim" | "regex" | "re.match" | "re.search" => {
            Some("there is no such function; patterns are matched as plain substrings".to_owned())
        }
        "if" | "iif" | "cond" => Some("write `ite(c, a, b)`".to_owned()),
        "any" | "find" | "includes" => Some("write `matches(text, LIST)` or `contains(text, part)`".to_owned()),
        "starts_with" | "startsWith" | "hasPrefix" => Some("did you mean `startswith`?".to_owned()),
        "ends_with" | "endsWith" | "hasSuffix" => Some("did you mean `endswith`?".to_owned()),
        _ => nearest(name, BUILTINS.iter().map(|row| row.name)).map(|near| format!("did you mean `{near}`?")),
    };
    let all: Vec<&str> = BUILTINS.iter().map(|row| row.name).collect();
    Diagnostic::new(Code::PX2002, span, format!("no function is named `{name}`"))
        .help(hint.unwrap_or_else(|| format!("the functions are {}", all.join(", "))))
}

/// What to write to get from one type to another.
pub(super) fn conversion(written: &ast::Expr, found: Type, wanted: Type) -> Option<String> {
    let shown = shorten(&print(written));
    Some(match (found, wanted) {
        (Type::Bool, Type::Int) => format!("count a condition with `ite({shown}, 1, 0)`"),
        (Type::Int, Type::Bool) => format!("compare it: `{shown} > 0`"),
        (Type::Str, Type::Bool) => match &written.kind {
            Ast::Text(text) if matches!(text.as_str(), "true" | "false") => format!("write `{text}` without quotes"),
            Ast::Text(_) => "a text is no condition: compare something with it, e.g. `tool == \"fs__read\"`".to_owned(),
            _ => format!("compare it: `{shown} != \"\"`"),
        },
        (Type::Str, Type::Int) => "texts are neither joined nor counted with".to_owned(),
        (_, Type::Str) => "write a text in quotes".to_owned(),
        _ => return None,
    })
}

/// What to write instead of a comparison of two types.
pub(super) fn mixed(left: &ast::Expr, a: Type, right: &ast::Expr, b: Type) -> String {
    let (l, r) = (shorten(&print(left)), shorten(&print(right)));
    match (a, b) {
        (Type::Bool, Type::Int) | (Type::Int, Type::Bool) => {
            let condition = if a == Type::Bool { l } else { r };
            format!("a boolean is a condition by itself: write `{condition}` or `not {condition}`")
        }
        (Type::Str, Type::Int) if matches!(right.kind, Ast::Int { .. }) => {
            format!("put the number in quotes, `\"{r}\"`, or declare the argument as int")
        }
        (Type::Int, Type::Str) if matches!(right.kind, Ast::Text(_)) => {
            "write the number without quotes, or declare the argument as str".to_owned()
        }
        (Type::Bool, Type::Str) | (Type::Str, Type::Bool) => "write `true` and `false` without quotes".to_owned(),
        _ => "compare values of one type, or change a declaration under `state:` or `args:`".to_owned(),
    }
}

/// A long expression cut for a message.
pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= 48 {
        return text.to_owned();
    }
    let head: String = text.chars().take(45).collect();
    format!("{head}…")
}
