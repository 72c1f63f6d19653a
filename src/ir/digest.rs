//! A stable digest of what a policy means: layout, comments and quoting do not change it; names,
//! order and every expression do, and so does the base in which an expression spells a number.

use super::lower::int_literal;
use crate::policy::{Action, ExprText, Literal, LiteralKind, PolicyFile, Text};
use crate::syntax::print::print;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;

/// `sha256:` and 64 hexadecimal digits over the canonical form of the policy.
#[must_use]
pub fn digest(file: &PolicyFile) -> String {
    let canonical = serde_json::to_vec(&Canonical::of(file)).unwrap_or_default();
    let mut out = String::from("sha256:");
    for byte in Sha256::digest(&canonical) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The canonical form. Members stand in the order of their names: digests that were handed out depend on it.
#[derive(Serialize)]
struct Canonical<'p> {
    actions: Vec<CanonicalAction<'p>>,
    default: &'static str,
    invariants: Vec<(&'p str, String)>,
    language: u32,
    patterns: Vec<(&'p str, Vec<&'p str>)>,
    state: Vec<(&'p str, &'p str, Cow<'p, str>)>,
}

#[derive(Serialize)]
struct CanonicalAction<'p> {
    args: Vec<(&'p str, &'p str)>,
    effect: Vec<(&'p str, String)>,
    r#match: Vec<&'p str>,
    name: &'p str,
    on_result: Vec<(&'p str, String)>,
    requires: Vec<String>,
}

impl<'p> Canonical<'p> {
    fn of(file: &'p PolicyFile) -> Self {
        Self {
            actions: file.actions.iter().map(CanonicalAction::of).collect(),
            default: file.default.as_str(),
            invariants: file.invariants.iter().map(|inv| (inv.name.text.as_str(), print(&inv.expr.expr))).collect(),
            language: 1,
            patterns: file.patterns.iter().map(|list| (list.name.text.as_str(), texts(&list.texts))).collect(),
            state: file
                .state
                .iter()
                .map(|var| (var.name.text.as_str(), var.ty.text.as_str(), init(&var.init)))
                .collect(),
        }
    }
}

impl<'p> CanonicalAction<'p> {
    fn of(action: &'p Action) -> Self {
        Self {
            args: action.args.iter().map(|(name, ty)| (name.text.as_str(), ty.text.as_str())).collect(),
            effect: assignments(&action.effect),
            r#match: texts(&action.globs),
            name: &action.name.text,
            on_result: assignments(&action.on_result),
            requires: action.requires.iter().map(|guard| print(&guard.expr)).collect(),
        }
    }
}

fn texts(texts: &[Text]) -> Vec<&str> {
    texts.iter().map(|text| text.text.as_str()).collect()
}

fn assignments(all: &[(Text, ExprText)]) -> Vec<(&str, String)> {
    all.iter().map(|(name, value)| (name.text.as_str(), print(&value.expr))).collect()
}

/// Spellings of one value count as one.
fn init(literal: &Literal) -> Cow<'_, str> {
    match &literal.kind {
        LiteralKind::Bool(value) => value.to_string().into(),
        LiteralKind::Int(digits) => {
            int_literal(digits).map_or_else(|| digits.as_str().into(), |value| value.to_string().into())
        }
        LiteralKind::Text(text) => text.into(),
        LiteralKind::Other => "".into(),
    }
}
