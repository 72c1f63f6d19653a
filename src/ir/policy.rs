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

#[derive(Clone, Debug)]
pub struct Policy {
    pub default: Default,
    pub state: Vec<StateVar>,
    pub lists: Vec<TextList>,
    pub invariants: Vec<Invariant>,
    pub actions: Vec<Action>,
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

    /// Every expression of the policy.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.invariants.iter().map(|invariant| &invariant.expr).chain(self.actions.iter().flat_map(Action::expressions))
    }
}
