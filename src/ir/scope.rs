//! Which names an expression may use, and what to say of the others.

use super::expr::{ArgId, Context, ExprKind, VarId};
use super::types::Type;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, Span};
use std::cell::Cell;
use std::collections::HashMap;

/// Where an expression stands; it decides which context names exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Invariant,
    /// `requires` or `effect`.
    BeforeCall,
    OnResult,
    /// `when` of an event: a call as every tool has it.
    Event,
    /// A condition of `checks:` or `terminal:` about the state alone.
    Claim,
}

impl Place {
    fn has(self, context: Context) -> bool {
        match self {
            Self::Invariant | Self::Claim => false,
            Self::BeforeCall | Self::Event => !context.needs_result(),
            Self::OnResult => true,
        }
    }
}

/// A declared name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<Id> {
    pub(crate) id: Id,
    pub(crate) ty: Option<Type>,
    pub(crate) span: Span,
}

/// Names of the whole policy.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub(crate) state: HashMap<String, Declared<VarId>>,
    /// Named pattern lists and where they are declared.
    pub(crate) patterns: HashMap<String, Span>,
    /// Every declared argument and the action that declares it.
    pub(crate) args_elsewhere: HashMap<String, (String, Span)>,
    suggested: Cell<usize>,
}

/// Names looked up for a did-you-mean; each costs a comparison with every name in scope.
const MAX_SUGGESTIONS: usize = 100;

impl Globals {
    /// The candidate nearest to an unknown name, for the first of them.
    pub(crate) fn nearest<'c>(&self, name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        self.suggested.set(self.suggested.get() + 1);
        if self.suggested.get() > MAX_SUGGESTIONS { None } else { nearest(name, candidates) }
    }
}

/// The names at one place.
#[derive(Debug)]
pub(crate) struct Scope<'g> {
    pub(crate) globals: &'g Globals,
    pub(crate) args: &'g HashMap<String, Declared<ArgId>>,
    pub(crate) place: Place,
}

impl Scope<'_> {
    /// The name's slot and type; `Err` says why it cannot be used here. A type of `None` means that
    /// the declaration is broken and has been reported.
    pub(crate) fn resolve(&self, name: &str, span: Span) -> Result<(ExprKind, Option<Type>), Box<Diagnostic>> {
        if let Some(arg) = self.args.get(name) {
            return Ok((ExprKind::Arg(arg.id), arg.ty));
        }
        if let Some(var) = self.globals.state.get(name) {
            return Ok((ExprKind::State(var.id), var.ty));
        }
        if let Some(context) = Context::named(name) {
            if self.place.has(context) {
                return Ok((ExprKind::Context(context), Some(Type::Str)));
            }
            return Err(Box::new(self.out_of_scope(context, span)));
        }
        Err(Box::new(self.unknown(name, span)))
    }

    fn out_of_scope(&self, context: Context, span: Span) -> Diagnostic {
        let name = context.name();
        let (message, help) = match self.place {
            Place::Invariant => (
                format!("an invariant is about the state alone and cannot read `{name}`"),
                "remember the fact in a state variable by an `effect`, and let the invariant read that".to_owned(),
            ),
            Place::Claim => (
                format!("this condition is about the state alone and cannot read `{name}`"),
                if context.needs_result() {
                    "remember the fact in a state variable by `on_result`, and read that".to_owned()
                } else {
                    "a call is an event: `never: {call: GLOB, when: EXPR}`".to_owned()
                },
            ),
            Place::Event => (
                format!("an event is judged when the call is made, and `{name}` exists only after it has returned"),
                "remember the fact in a state variable by `on_result`, and read that".to_owned(),
            ),
            _ => (
                format!("`{name}` exists only in `on_result`, after the call has returned"),
                "move the rule to `on_result`, and let a guard of later calls read the variable it sets".to_owned(),
            ),
        };
        Diagnostic::new(Code::PX2006, span, message).help(help)
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        if let Some((action, declared)) = self.globals.args_elsewhere.get(name) {
            let (message, help) = match self.place {
                Place::Invariant => (
                    format!("`{name}` is an argument of another action, `{action}`"),
                    "an invariant reads only state: copy the argument into a variable by an `effect`",
                ),
                Place::Event => (
                    format!("`{name}` is an argument of the action `{action}`, and an event has no declared arguments"),
                    "look in `payload` or `call.text`, which every call has: `contains(call.text, \"…\")`",
                ),
                Place::Claim => (
                    format!("`{name}` is an argument of the action `{action}`, and this condition reads only state"),
                    "copy the argument into a variable by an `effect`, and read that",
                ),
                Place::BeforeCall | Place::OnResult => (
                    format!("`{name}` is an argument of another action, `{action}`"),
                    "declare it under this action's `args:` too",
                ),
            };
            return Diagnostic::new(Code::PX2006, span, message).also(*declared, "declared here").help(help);
        }
        if let Some(declared) = self.globals.patterns.get(name) {
            return Diagnostic::new(Code::PX2006, span, format!("`{name}` is a pattern list, not a value"))
                .also(*declared, "declared here")
                .help(format!("write `matches(call.text, {name})` or `member(x, {name})`"));
        }
        let help = match name {
            "null" | "None" | "nil" => Some("a declared argument is always present; compare with a value".to_owned()),
            "TRUE" | "yes" | "on" => Some("write `true`".to_owned()),
            "FALSE" | "no" | "off" => Some("write `false`".to_owned()),
            _ => {
                let contexts = Context::ALL.iter().filter(|context| self.place.has(**context)).map(|c| c.name());
                let known = self.args.keys().chain(self.globals.state.keys()).map(String::as_str).chain(contexts);
                self.globals.nearest(name, known).map(|near| format!("did you mean `{near}`?"))
            }
        };
        let declare = match self.place {
            Place::BeforeCall | Place::OnResult => {
                "declare a state variable under `state:` or an argument under the action's `args:`; a text is written \
                 in quotes"
            }
            _ => "declare a state variable under `state:`; a text is written in quotes",
        };
        Diagnostic::new(Code::PX2001, span, format!("no variable is named `{name}`"))
            .help(help.unwrap_or_else(|| declare.to_owned()))
    }
}
