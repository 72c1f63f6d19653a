//! Typed expressions. Names are resolved to slots; every node keeps its place in the file.

use super::builtin::Builtin;
use super::int::Int;
use super::types::Type;
use crate::syntax::ast::{CompareOp, ProductOp, SumOp};
use crate::text::Span;
use std::sync::Arc;

/// Index of a state variable of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Index of a declared argument of the action that the expression belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArgId(pub u32);

/// Index of a text list of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListId(pub u32);

/// What a call brings with it; all are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// The arguments as JSON in Python's spelling.
    Payload,
    /// The public name `server__tool`.
    Tool,
    Upstream,
    /// Every string of the arguments, decoded, one a line.
    CallText,
    /// The answer as text.
    Result,
    /// Every string of the answer, decoded, one a line.
    ResultText,
}

impl Context {
    pub const ALL: [Self; 6] =
        [Self::Payload, Self::Tool, Self::Upstream, Self::CallText, Self::Result, Self::ResultText];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Tool => "tool",
            Self::Upstream => "upstream",
            Self::CallText => "call.text",
            Self::Result => "result",
            Self::ResultText => "call.result_text",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    /// Whether it exists only once the call has returned.
    #[must_use]
    pub fn needs_result(self) -> bool {
        matches!(self, Self::Result | Self::ResultText)
    }

    /// One line for hover and docs.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Self::Payload => "the arguments as JSON text, keys sorted, spelled as Python's json.dumps does",
            Self::Tool => "the tool's public name, `server__tool`",
            Self::Upstream => "the name of the server",
            Self::CallText => "every string of the arguments, decoded, one a line",
            Self::Result => "the answer: its text blocks, other blocks as JSON, structured content as JSON",
            Self::ResultText => "every string of the answer, decoded, one a line",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub span: Span,
    pub ty: Type,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Bool(bool),
    Int(Int),
    Str(Arc<str>),
    State(VarId),
    Arg(ArgId),
    Context(Context),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    And(Box<[Expr]>),
    Or(Box<[Expr]>),
    Implies(Box<[Expr; 2]>),
    /// Condition, then, else.
    Ite(Box<[Expr; 3]>),
    /// Links of one comparison; both sides of a link have one type.
    Compare(Box<Expr>, Box<[(CompareOp, Expr)]>),
    Sum(Box<Expr>, Box<[(SumOp, Expr)]>),
    Product(Box<Expr>, Box<[(ProductOp, Expr)]>),
    StartsWith(Box<[Expr; 2]>),
    EndsWith(Box<[Expr; 2]>),
    Contains(Box<[Expr; 2]>),
    Matches(Box<Expr>, ListId),
    Member(Box<Expr>, ListId),
}

impl Expr {
    /// The built-in that the node calls.
    #[must_use]
    pub fn builtin(&self) -> Option<Builtin> {
        Some(match self.kind {
            ExprKind::Implies(_) => Builtin::Implies,
            ExprKind::Ite(_) => Builtin::Ite,
            ExprKind::StartsWith(_) => Builtin::StartsWith,
            ExprKind::EndsWith(_) => Builtin::EndsWith,
            ExprKind::Contains(_) => Builtin::Contains,
            ExprKind::Matches(..) => Builtin::Matches,
            ExprKind::Member(..) => Builtin::Member,
            _ => return None,
        })
    }

    /// The node's children, left to right.
    #[must_use]
    pub fn children(&self) -> Vec<&Expr> {
        let mut all = Vec::new();
        self.each_child(&mut |child| all.push(child));
        all
    }

    /// Calls `visit` for each child, left to right.
    fn each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::State(_)
            | ExprKind::Arg(_)
            | ExprKind::Context(_) => {}
            ExprKind::Not(inner) | ExprKind::Neg(inner) | ExprKind::Matches(inner, _) | ExprKind::Member(inner, _) => {
                visit(inner);
            }
            ExprKind::And(all) | ExprKind::Or(all) => all.iter().for_each(visit),
            ExprKind::Implies(pair)
            | ExprKind::StartsWith(pair)
            | ExprKind::EndsWith(pair)
            | ExprKind::Contains(pair) => pair.iter().for_each(visit),
            ExprKind::Ite(three) => three.iter().for_each(visit),
            ExprKind::Compare(first, rest) => chained(first, rest, visit),
            ExprKind::Sum(first, rest) => chained(first, rest, visit),
            ExprKind::Product(first, rest) => chained(first, rest, visit),
        }
    }

    /// Calls `visit` for this node and every node below it, parents first.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.each_child(&mut |child| child.walk(visit));
    }

    /// Whether any node satisfies the test.
    #[must_use]
    pub fn any(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found = found || test(expr));
        found
    }

    /// Whether two expressions are the same but for their places.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        use ExprKind as K;
        let own = match (&self.kind, &other.kind) {
            (K::Bool(a), K::Bool(b)) => a == b,
            (K::Int(a), K::Int(b)) => a == b,
            (K::Str(a), K::Str(b)) => a == b,
            (K::State(a), K::State(b)) => a == b,
            (K::Arg(a), K::Arg(b)) => a == b,
            (K::Context(a), K::Context(b)) => a == b,
            (K::Matches(_, a), K::Matches(_, b)) | (K::Member(_, a), K::Member(_, b)) => a == b,
            (K::Compare(_, a), K::Compare(_, b)) => a.iter().map(|(op, _)| op).eq(b.iter().map(|(op, _)| op)),
            (K::Sum(_, a), K::Sum(_, b)) => a.iter().map(|(op, _)| op).eq(b.iter().map(|(op, _)| op)),
            (K::Product(_, a), K::Product(_, b)) => a.iter().map(|(op, _)| op).eq(b.iter().map(|(op, _)| op)),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        let (left, right) = (self.children(), other.children());
        own && left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same(b))
    }

    #[must_use]
    pub fn reads(&self, variable: VarId) -> bool {
        self.any(&|expr| matches!(expr.kind, ExprKind::State(id) if id == variable))
    }
}

fn chained<'e, Op>(first: &'e Expr, rest: &'e [(Op, Expr)], visit: &mut dyn FnMut(&'e Expr)) {
    visit(first);
    for (_, expr) in rest {
        visit(expr);
    }
}
