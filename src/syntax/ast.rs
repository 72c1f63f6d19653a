//! The tree of an expression as it was written, every node with its place in the file.
//!
//! Operators that associate are flat (`a + b + c` is one node), so that the depth of a tree is
//! bounded by the nesting of its brackets and prefixes, never by its length.

use crate::text::Span;

#[derive(Clone, Debug)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Stands where something could not be parsed; a diagnostic says why.
    Error,
    Bool(bool),
    /// Digits without sign, underscores and prefix, in `radix` 2, 8, 10 or 16.
    Int {
        digits: String,
        radix: u32,
    },
    Text(String),
    /// A plain or dotted name.
    Name(String),
    Not(Box<Expr>),
    Sign(Sign, Box<Expr>),
    /// Two or more, joined by `and`.
    And(Vec<Expr>),
    /// Two or more, joined by `or`.
    Or(Vec<Expr>),
    /// `a < b <= c`: at least one link.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a + b - c`: at least one further term.
    Sum(Box<Expr>, Vec<(SumOp, Expr)>),
    /// `a * b // c`: at least one further factor.
    Product(Box<Expr>, Vec<(ProductOp, Expr)>),
    Call {
        name: String,
        name_span: Span,
        args: Vec<Expr>,
    },
    /// `[…]`, `(…,)` or `{…}`.
    List(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    Minus,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl CompareOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumOp {
    Add,
    Sub,
}

impl SumOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductOp {
    Mul,
    FloorDiv,
    Mod,
}

impl ProductOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::FloorDiv => "//",
            Self::Mod => "%",
        }
    }
}

impl Expr {
    #[must_use]
    pub fn error(span: Span) -> Self {
        Self { span, kind: ExprKind::Error }
    }

    /// Whether two trees are the same but for their places.
    #[must_use]
    pub fn same_shape(&self, other: &Self) -> bool {
        use ExprKind as K;
        let all = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same_shape(y));
        match (&self.kind, &other.kind) {
            (K::Error, K::Error) => true,
            (K::Bool(a), K::Bool(b)) => a == b,
            (K::Int { digits: a, radix: r }, K::Int { digits: b, radix: s }) => a == b && r == s,
            (K::Text(a), K::Text(b)) | (K::Name(a), K::Name(b)) => a == b,
            (K::Not(a), K::Not(b)) => a.same_shape(b),
            (K::Sign(s, a), K::Sign(t, b)) => s == t && a.same_shape(b),
            (K::And(a), K::And(b)) | (K::Or(a), K::Or(b)) | (K::List(a), K::List(b)) => all(a, b),
            (K::Compare(a, r), K::Compare(b, s)) => a.same_shape(b) && same_links(r, s),
            (K::Sum(a, r), K::Sum(b, s)) => a.same_shape(b) && same_links(r, s),
            (K::Product(a, r), K::Product(b, s)) => a.same_shape(b) && same_links(r, s),
            (K::Call { name: a, args: r, .. }, K::Call { name: b, args: s, .. }) => a == b && all(r, s),
            _ => false,
        }
    }
}

fn same_links<Op: PartialEq>(a: &[(Op, Expr)], b: &[(Op, Expr)]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((o, x), (p, y))| o == p && x.same_shape(y))
}
