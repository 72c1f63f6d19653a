//! A typed policy: the transition system that the evaluator runs and the checker explores.

use super::expr::{ArgId, Expr, ListId, VarId};
use super::glob::Glob;
use super::types::Type;
use super::value::Value;
use crate::text::Span;
use std::sync::Arc;

pub use crate::policy::Default;

#[derive(Clone, Debug)]
pub struct StateVar {
    pub name: Arc<str>,
    pub ty: Type,
    pub init: Value,
    pub span: Span,
}

/// The texts of a named pattern list or of a literal list.
#[derive(Clone, Debug)]
pub struct TextList {
    /// `None` for a literal list.
    pub name: Option<Arc<str>>,
    pub texts: Vec<(Arc<str>, Span)>,
    pub span: Span,
}

/// Must hold in the initial state and in every state that a call would produce.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub name: Arc<str>,
    pub text: Arc<str>,
    pub expr: Expr,
    /// Why the rule is there, for people.
    pub reason: Option<Arc<str>>,
    /// What to do instead, for people.
    pub hint: Option<Arc<str>>,
}

/// A condition on the state before the call.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The action's name, or `name#2` where it has several guards.
    pub label: Arc<str>,
    pub text: Arc<str>,
    pub expr: Expr,
}

/// The new value of a variable.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub variable: VarId,
    pub name_span: Span,
    pub text: Arc<str>,
    pub expr: Expr,
}

/// A declared argument of an action.
#[derive(Clone, Debug)]
pub struct Argument {
    pub name: Arc<str>,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: Arc<str>,
    pub span: Span,
    pub globs: Vec<(Glob, Span)>,
    pub args: Vec<Argument>,
    pub guards: Vec<Guard>,
    pub effect: Vec<Assignment>,
    pub on_result: Vec<Assignment>,
    /// Why the rule is there, for people.
    pub reason: Option<Arc<str>>,
    /// What to do instead, for people.
    pub hint: Option<Arc<str>>,
}

impl Action {
    #[must_use]
    pub fn matches(&self, tool: &str) -> bool {
        self.globs.iter().any(|(glob, _)| glob.matches(tool))
    }

    #[must_use]
    pub fn arg(&self, id: ArgId) -> Option<&Argument> {
        self.args.get(id.0 as usize)
    }

    /// Guards, effects and result effects with their place in the evaluation.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let guards = self.guards.iter().map(|guard| &guard.expr);
        guards.chain(self.effect.iter().chain(&self.on_result).map(|assignment| &assignment.expr))
    }
}

/// A fact that the checker must establish. It decides no call.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: Arc<str>,
    /// Where the name stands.
    pub span: Span,
    pub reason: Option<Arc<str>>,
    pub kind: CheckKind,
}

/// What a check says of every session. The calls of its events are those that were let through.
#[derive(Clone, Debug)]
pub enum CheckKind {
    /// No such call, or none strictly later than a call of `after`.
    Never { call: Event, after: Option<Event> },
    /// Holds in every reachable state; reads the state alone.
    Always { text: Arc<str>, expr: Expr },
    /// Not more than `count` such calls.
    AtMost { count: u64, of: Event },
    /// The first `call` has a `requires` strictly before it.
    Before { call: Event, requires: Event },
    /// Such calls can happen, each of them. At least one.
    Possible { calls: Vec<Event> },
}

impl CheckKind {
    /// Its events, in the order of the fields.
    #[must_use]
    pub fn events(&self) -> Vec<&Event> {
        match self {
            Self::Never { call, after } => std::iter::once(call).chain(after).collect(),
            Self::Always { .. } => Vec::new(),
            Self::AtMost { of, .. } => vec![of],
            Self::Before { call, requires } => vec![call, requires],
            Self::Possible { calls } => calls.iter().collect(),
        }
    }

    /// Its conditions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let always = if let Self::Always { expr, .. } = self { Some(expr) } else { None };
        always.into_iter().chain(self.events().into_iter().filter_map(|event| Some(&event.when.as_ref()?.1)))
    }
}

/// Calls of tools that a glob matches and for which `when` holds.
#[derive(Clone, Debug)]
pub struct Event {
    pub span: Span,
    /// At least one.
    pub globs: Vec<(Glob, Span)>,
    /// A condition and its text. It reads the state before the call and what every call has, no declared
    /// argument and no answer.
    pub when: Option<(Arc<str>, Expr)>,
}

impl Event {
    /// Whether a glob matches; `when` is another question.
    #[must_use]
    pub fn matches(&self, tool: &str) -> bool {
        self.globs.iter().any(|(glob, _)| glob.matches(tool))
    }
}

/// An intended lock-down: once `when` holds, calls that `blocks` matches stay denied for ever. It decides no call.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: Option<Arc<str>>,
    pub span: Span,
    pub text: Arc<str>,
    /// Reads the state alone.
    pub when: Expr,
    /// At least one.
    pub blocks: Vec<(Glob, Span)>,
    pub reason: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub struct Policy {
    pub default: Default,
    pub state: Vec<StateVar>,
    pub lists: Vec<TextList>,
    pub invariants: Vec<Invariant>,
    pub actions: Vec<Action>,
    pub checks: Vec<Check>,
    pub terminal: Vec<Terminal>,
}

impl Policy {
    #[must_use]
    pub fn var(&self, id: VarId) -> Option<&StateVar> {
        self.state.get(id.0 as usize)
    }

    #[must_use]
    pub fn var_named(&self, name: &str) -> Option<VarId> {
        self.state.iter().position(|var| &*var.name == name).and_then(|at| u32::try_from(at).ok()).map(VarId)
    }

    #[must_use]
    pub fn list(&self, id: ListId) -> Option<&TextList> {
        self.lists.get(id.0 as usize)
    }

    /// Every expression that has a part in deciding calls.
    pub fn rules(&self) -> impl Iterator<Item = &Expr> {
        self.invariants.iter().map(|invariant| &invariant.expr).chain(self.actions.iter().flat_map(Action::expressions))
    }

    /// Expressions about the policy, which decide no call.
    pub fn claims(&self) -> impl Iterator<Item = &Expr> {
        let checks = self.checks.iter().flat_map(|check| check.kind.expressions());
        checks.chain(self.terminal.iter().map(|terminal| &terminal.when))
    }

    /// Every expression of the policy.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.rules().chain(self.claims())
    }
}
