//! The names that a test file uses, looked up in its policy.

use super::written::{StateValue, Suite};
use crate::eval::Policy;
use crate::ir::{Action, Type};
use crate::policy::{Default, Text};
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic};

/// The name that a denial by `default: deny` gives.
pub(super) const DEFAULT: &str = "default";

/// Names that the policy does not have, and values that its variables cannot have.
#[must_use]
pub fn resolve(suite: &Suite, policy: &Policy) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for test in &suite.tests {
        let by = test.calls.iter().flat_map(|call| &call.by);
        found.extend(by.filter_map(|name| unknown_rule(name, policy)));
        found.extend(test.state.iter().filter_map(|expected| wrong_state(expected, policy)));
    }
    found
}

fn unknown_rule(name: &Text, policy: &Policy) -> Option<Diagnostic> {
    let typed = policy.typed();
    if denying_names(policy).any(|known| known == name.text) {
        return None;
    }
    if name.text == DEFAULT {
        return Some(
            Diagnostic::new(Code::PX1007, name.span, "this policy has `default: allow`, which denies nothing")
                .help("name the rule that denies, or write `default: deny` in the policy"),
        );
    }
    let help = several_guards(&name.text, policy)
        .or_else(|| nearest(&name.text, denying_names(policy)).map(|near| format!("did you mean `{near}`?")))
        .or_else(|| {
            let action = typed.actions.iter().find(|action| *action.name == *name.text)?;
            Some(format!("the action `{}` has no guard, so it denies nothing", action.name))
        })
        .unwrap_or_else(|| "`by` names guards, invariants, declared arguments, or `default`".to_owned());
    let message = format!("no rule of the policy is named `{}`", name.text.escape_debug());
    Some(Diagnostic::new(Code::PX1007, name.span, message).help(help))
}

/// For the name of an action with several guards: their labels.
pub(super) fn several_guards(name: &str, policy: &Policy) -> Option<String> {
    let action = policy.typed().actions.iter().find(|action| &*action.name == name)?;
    let labels = action.guards.iter().map(|guard| &*guard.label);
    (action.guards.len() > 1)
        .then(|| format!("`{name}` has {} guards; they are named {}", action.guards.len(), list_names(labels, "and")))
}

/// Every name that a denial can give: guards, invariants, arguments, the default, and actions whose
/// effects may have no value.
fn denying_names(policy: &Policy) -> impl Iterator<Item = &str> {
    let typed = policy.typed();
    let of_action = |action: &'_ Action| !action.effect.is_empty() || !action.on_result.is_empty();
    let guards = typed.actions.iter().flat_map(|action| action.guards.iter().map(|guard| &*guard.label));
    let arguments = typed.actions.iter().flat_map(|action| action.args.iter().map(|argument| &*argument.name));
    let actions = typed.actions.iter().filter(move |action| of_action(action)).map(|action| &*action.name);
    let invariants = typed.invariants.iter().map(|invariant| &*invariant.name);
    let default = (typed.default == Default::Deny).then_some(DEFAULT);
    guards.chain(invariants).chain(arguments).chain(actions).chain(default)
}

fn wrong_state(expected: &StateValue, policy: &Policy) -> Option<Diagnostic> {
    let typed = policy.typed();
    let name = &expected.variable.text;
    let Some(variable) = typed.var_named(name).and_then(|id| typed.var(id)) else {
        let names = || typed.state.iter().map(|variable| &*variable.name);
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if typed.state.is_empty() => "the policy has no state".to_owned(),
            None => format!("the variables are {}", list_names(names(), "and")),
        };
        let message = format!("the policy has no state variable `{}`", name.escape_debug());
        return Some(Diagnostic::new(Code::PX2001, expected.variable.span, message).help(help));
    };
    if variable.ty == expected.value.ty() {
        return None;
    }
    let help = match variable.ty {
        Type::Bool => "write `true` or `false`, without quotes",
        Type::Int => "write a whole number, without quotes",
        Type::Str => "write a text in quotes",
    };
    let message = format!("`{name}` is {}, but the expected value is {}", variable.ty, expected.value.ty());
    Some(
        Diagnostic::new(Code::PX2003, expected.span, message)
            .also(variable.span, format!("declared as {} here", variable.ty))
            .help(help),
    )
}
