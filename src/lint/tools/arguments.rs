//! PX6004: declared arguments that a tool does not take; PX6005: those of another type than it takes.
//! Only calls that a tool can never be sent in the right form are errors.

use super::schema::{self, Values};
use super::{Offer, literals, some_names};
use crate::catalogue::Tool;
use crate::ir::{ArgId, Argument, Policy, Type};
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic};
use std::collections::{BTreeMap, BTreeSet};

/// Steps through schemas for one policy; what is not reached is not judged.
const MAX_STEPS: usize = 30_000_000;
/// Names tried against globs.
const MAX_MATCHES: usize = 20_000_000;
/// Findings of one policy; one with more has one cause.
const MAX_FINDINGS: usize = 200;
/// Names looked through for a did-you-mean.
const MAX_NEAR: usize = 500;

pub(super) fn check(policy: &Policy, offer: &Offer<'_>, found: &mut Vec<Diagnostic>) {
    let mut steps = MAX_STEPS;
    let mut matches = MAX_MATCHES;
    let before = found.len();
    for action in policy.actions.iter().filter(|action| !action.args.is_empty()) {
        matches = matches.saturating_sub(action.globs.len().max(1) * offer.tools.len());
        if matches == 0 || found.len() - before > MAX_FINDINGS {
            return;
        }
        let tools: Vec<&(String, &Tool)> = offer.tools.iter().filter(|(name, _)| action.matches(name)).collect();
        for (at, argument) in (0..).zip(&action.args) {
            let mut judged = Judged::default();
            for (tool, definition) in &tools {
                let schema = definition.input_schema.as_ref();
                match schema.and_then(|schema| schema::argument(schema, &argument.name, argument.ty, &mut steps)) {
                    Some(schema::Argument::Takes(values)) => judged.taken.push((tool, values)),
                    Some(schema::Argument::Lacks(names)) => judged.lacking.push((tool, names)),
                    None => judged.unclear = true,
                }
            }
            unknown(argument, tools.len(), &judged, found);
            types(argument, &judged, found);
            if !judged.unclear && offer.has_all_of_action(action) {
                literals::check(policy, action, ArgId(at), &judged.taken, found);
            }
        }
    }
}

/// What the tools say of one argument.
#[derive(Default)]
struct Judged<'j> {
    taken: Vec<(&'j str, Values<'j>)>,
    lacking: Vec<(&'j str, BTreeSet<&'j str>)>,
    /// A tool may take it or not.
    unclear: bool,
}

fn unknown(argument: &Argument, matched: usize, judged: &Judged<'_>, found: &mut Vec<Diagnostic>) {
    let Some((_, first)) = judged.lacking.first() else { return };
    let name = &*argument.name;
    let tools = some_names(judged.lacking.iter().map(|(tool, _)| *tool));
    let several = judged.lacking.len() > 1;
    let verb = if several { "take" } else { "takes" };
    let known = judged.lacking.iter().flat_map(|(_, names)| names.iter().copied()).take(MAX_NEAR);
    let help = if let Some(near) = nearest(name, known) {
        format!("did you mean `{near}`?")
    } else if judged.lacking.len() < matched {
        format!("give the tools that take no `{name}` an action of their own that does not declare it")
    } else if first.is_empty() {
        "remove it: the tool takes no arguments".to_owned()
    } else if several {
        "remove it, or name an argument that all of them take".to_owned()
    } else {
        let names: Vec<&str> = first.iter().copied().collect();
        format!("it takes {}", some_names(names.into_iter()))
    };
    found.push(
        Diagnostic::new(Code::PX6004, argument.span, format!("{tools} {verb} no argument `{name}`"))
            .note(format!(
                "a declared argument that a call leaves out denies it: no call of {} is ever allowed",
                if several { "these tools" } else { "the tool" }
            ))
            .help(help),
    );
}

/// One finding for all tools that take the same.
fn types(argument: &Argument, judged: &Judged<'_>, found: &mut Vec<Diagnostic>) {
    let (name, ty) = (&*argument.name, argument.ty);
    let mut wrong: BTreeMap<Vec<&str>, (Vec<&str>, Option<Type>)> = BTreeMap::new();
    let mut fractions = Vec::new();
    for (tool, values) in &judged.taken {
        if values.exclude(ty) {
            let (tools, _) = wrong.entry(values.names()).or_insert_with(|| (Vec::new(), values.only_type()));
            tools.push(*tool);
        } else if ty == Type::Int && values.have_fractions() {
            fractions.push(*tool);
        }
    }
    for (kinds, (tools, only)) in wrong {
        let (shown, verb) = (some_names(tools.iter().copied()), if tools.len() > 1 { "take" } else { "takes" });
        let only_numbers = kinds == ["number"];
        let kinds = list_names(kinds, "or");
        let help = match only {
            Some(other) => format!("write `{name}: {other}`"),
            None if only_numbers => format!("write `{name}: int` for whole numbers, or match on `payload`"),
            None => "there is no type for it: match on `call.text` or `payload` instead".to_owned(),
        };
        found.push(
            Diagnostic::new(Code::PX6005, argument.span, format!("{shown} {verb} `{name}` as {kinds}, never as {ty}"))
                .note("an argument of another type than the declared one denies the call: none is ever allowed")
                .help(help),
        );
    }
    if !fractions.is_empty() {
        let (shown, verb) = (some_names(fractions.iter().copied()), if fractions.len() > 1 { "take" } else { "takes" });
        found.push(
            Diagnostic::new(Code::PX6005, argument.span, format!("{shown} {verb} fractions as `{name}`, and int does not"))
                .warning()
                .note("a call with 1.5, or with a whole number written 2.0, is denied")
                .help(format!(
                    "if that is meant say so: `# praxiom: allow(PX6005) only whole numbers`; or leave `{name}` out of `args:`"
                )),
        );
    }
}
