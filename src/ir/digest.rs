//! A stable digest of what a policy means: layout, comments and quoting do not change it; names,
//! order and every expression do, and so does the base in which an expression spells a number.

use super::lower::int_literal;
use crate::policy::{
    Action, Check, CheckForm, Event, ExprText, Literal, LiteralKind, Named, PolicyFile, Terminal, Text,
};
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

/// The canonical form. Members stand in the order of their names, and those that came later are left out
/// where a policy has nothing for them: digests that were handed out depend on it.
#[derive(Serialize)]
struct Canonical<'p> {
    actions: Vec<CanonicalAction<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CanonicalCheck<'p>>,
    default: &'static str,
    invariants: Vec<CanonicalInvariant<'p>>,
    language: u32,
    patterns: Vec<(&'p str, Vec<&'p str>)>,
    state: Vec<(&'p str, &'p str, Cow<'p, str>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    terminal: Vec<CanonicalTerminal<'p>>,
}

/// Without words it is the pair that it was before there were any.
#[derive(Serialize)]
#[serde(untagged)]
enum CanonicalInvariant<'p> {
    Bare(&'p str, String),
    Explained {
        expr: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'p str>,
        name: &'p str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'p str>,
    },
}

#[derive(Serialize)]
struct CanonicalAction<'p> {
    args: Vec<(&'p str, &'p str)>,
    effect: Vec<(&'p str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'p str>,
    r#match: Vec<&'p str>,
    name: &'p str,
    on_result: Vec<(&'p str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    requires: Vec<String>,
}

#[derive(Default, Serialize)]
struct CanonicalCheck<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<CanonicalEvent<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<CanonicalEvent<'p>>,
    name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    never: Option<CanonicalEvent<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<CanonicalEvent<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    possible: Vec<CanonicalEvent<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires: Option<CanonicalEvent<'p>>,
}

#[derive(Serialize)]
struct CanonicalEvent<'p> {
    call: Vec<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
}

#[derive(Serialize)]
struct CanonicalTerminal<'p> {
    blocks: Vec<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    when: String,
}

impl<'p> Canonical<'p> {
    fn of(file: &'p PolicyFile) -> Self {
        Self {
            actions: file.actions.iter().map(CanonicalAction::of).collect(),
            checks: file.checks.iter().map(CanonicalCheck::of).collect(),
            default: file.default.as_str(),
            invariants: file.invariants.iter().map(CanonicalInvariant::of).collect(),
            language: 1,
            patterns: file.patterns.iter().map(|list| (list.name.text.as_str(), texts(&list.texts))).collect(),
            state: file
                .state
                .iter()
                .map(|var| (var.name.text.as_str(), var.ty.text.as_str(), init(&var.init)))
                .collect(),
            terminal: file.terminal.iter().map(CanonicalTerminal::of).collect(),
        }
    }
}

impl<'p> CanonicalAction<'p> {
    fn of(action: &'p Action) -> Self {
        Self {
            args: action.args.iter().map(|(name, ty)| (name.text.as_str(), ty.text.as_str())).collect(),
            effect: assignments(&action.effect),
            hint: words(action.hint.as_ref()),
            r#match: texts(&action.globs),
            name: &action.name.text,
            on_result: assignments(&action.on_result),
            reason: words(action.reason.as_ref()),
            requires: action.requires.iter().map(|guard| print(&guard.expr)).collect(),
        }
    }
}

impl<'p> CanonicalInvariant<'p> {
    fn of(invariant: &'p Named) -> Self {
        let (name, expr) = (invariant.name.text.as_str(), print(&invariant.expr.expr));
        match (words(invariant.hint.as_ref()), words(invariant.reason.as_ref())) {
            (None, None) => Self::Bare(name, expr),
            (hint, reason) => Self::Explained { expr, hint, name, reason },
        }
    }
}

impl<'p> CanonicalCheck<'p> {
    fn of(check: &'p Check) -> Self {
        let mut out = Self { name: &check.name.text, reason: words(check.reason.as_ref()), ..Self::default() };
        match &check.form {
            CheckForm::Never { call, after } => {
                out.never = Some(CanonicalEvent::of(call));
                out.after = after.as_ref().map(CanonicalEvent::of);
            }
            CheckForm::Always(expr) => out.always = Some(print(&expr.expr)),
            CheckForm::AtMost { count, of } => {
                out.at_most = Some(*count);
                out.of = Some(CanonicalEvent::of(of));
            }
            CheckForm::Before { call, requires } => {
                out.before = Some(CanonicalEvent::of(call));
                out.requires = Some(CanonicalEvent::of(requires));
            }
            CheckForm::Possible(calls) => out.possible = calls.iter().map(CanonicalEvent::of).collect(),
        }
        out
    }
}

impl<'p> CanonicalEvent<'p> {
    fn of(event: &'p Event) -> Self {
        Self { call: texts(&event.globs), when: event.when.as_ref().map(|when| print(&when.expr)) }
    }
}

impl<'p> CanonicalTerminal<'p> {
    fn of(terminal: &'p Terminal) -> Self {
        Self {
            blocks: texts(&terminal.blocks),
            name: words(terminal.name.as_ref()),
            reason: words(terminal.reason.as_ref()),
            when: print(&terminal.when.expr),
        }
    }
}

fn words(text: Option<&Text>) -> Option<&str> {
    text.map(|text| text.text.as_str())
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
