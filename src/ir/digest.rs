//! A stable digest of what a policy means: layout, comments and quoting do not change it; names,
//! order and every expression do.

use crate::policy::{ExprText, Literal, LiteralKind, PolicyFile, Text};
use crate::syntax::print::print;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// `sha256:` and 64 hexadecimal digits over the canonical form of the policy.
#[must_use]
pub fn digest(file: &PolicyFile) -> String {
    use std::fmt::Write;
    let canonical = canonical(file).to_string();
    let mut out = String::from("sha256:");
    for byte in Sha256::digest(canonical.as_bytes()) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn canonical(file: &PolicyFile) -> Value {
    let texts = |texts: &[Text]| texts.iter().map(|text| text.text.clone()).collect::<Vec<_>>();
    let exprs = |exprs: &[ExprText]| exprs.iter().map(|expr| print(&expr.expr)).collect::<Vec<_>>();
    let pairs = |pairs: &[(Text, ExprText)]| {
        pairs.iter().map(|(name, expr)| (name.text.clone(), print(&expr.expr))).collect::<Vec<_>>()
    };
    json!({
        "language": 1,
        "default": file.default.as_str(),
        "patterns": file.patterns.iter().map(|list| (&list.name.text, texts(&list.texts))).collect::<Vec<_>>(),
        "state": file.state.iter().map(|var| (&var.name.text, &var.ty.text, init(&var.init))).collect::<Vec<_>>(),
        "invariants": file.invariants.iter().map(|inv| (&inv.name.text, print(&inv.expr.expr))).collect::<Vec<_>>(),
        "actions": file.actions.iter().map(|action| json!({
            "name": action.name.text,
            "match": texts(&action.globs),
            "args": action.args.iter().map(|(name, ty)| (&name.text, &ty.text)).collect::<Vec<_>>(),
            "requires": exprs(&action.requires),
            "effect": pairs(&action.effect),
            "on_result": pairs(&action.on_result),
        })).collect::<Vec<_>>(),
    })
}

/// Spellings of one value count as one.
fn init(literal: &Literal) -> String {
    match &literal.kind {
        LiteralKind::Bool(value) => value.to_string(),
        LiteralKind::Int(digits) => digits.trim_start_matches('+').to_owned(),
        LiteralKind::Text(text) => text.clone(),
        LiteralKind::Other => String::new(),
    }
}
