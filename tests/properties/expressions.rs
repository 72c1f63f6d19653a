//! Random well-typed expressions, as written trees.

use praxiom::syntax::ast::{CompareOp, Expr, ExprKind, ProductOp, Sign, SumOp};
use praxiom::text::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn node(kind: ExprKind) -> Expr {
    Expr { span: Span::default(), kind }
}

pub(crate) fn name(name: &str) -> Expr {
    node(ExprKind::Name(name.to_owned()))
}

pub(crate) fn call(name: &str, args: Vec<Expr>) -> Expr {
    node(ExprKind::Call { name: name.to_owned(), name_span: Span::default(), args })
}

fn text(text: &str) -> Expr {
    node(ExprKind::Text(text.to_owned()))
}

/// The names of each type that an expression may use, and how deep it may nest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grammar {
    pub(crate) bools: &'static [&'static str],
    pub(crate) ints: &'static [&'static str],
    pub(crate) strs: &'static [&'static str],
    pub(crate) depth: u32,
}

const TEXTS: [&str; 8] = ["", "a", "b", "ab", "ba", "é", "\"\\\n", "x\u{1f600}"];

type Made = BoxedStrategy<Expr>;

impl Grammar {
    fn inner(self) -> Self {
        Self { depth: self.depth - 1, ..self }
    }

    pub(crate) fn bool(self) -> Made {
        let leaf = prop_oneof![
            1 => any::<bool>().prop_map(|value| node(ExprKind::Bool(value))),
            3 => select(self.bools).prop_map(name),
        ];
        if self.depth == 0 {
            return leaf.boxed();
        }
        let inner = self.inner();
        let (bool, int, str) = (inner.bool(), inner.int(), inner.str());
        let any_op =
            select(vec![CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne]);
        let equality = select(vec![CompareOp::Eq, CompareOp::Ne]);
        let compare = |first: Expr, rest| node(ExprKind::Compare(Box::new(first), rest));
        let list = || vec(select(&TEXTS[1..]).prop_map(text), 1..4).prop_map(|items| node(ExprKind::List(items)));
        prop_oneof![
            2 => leaf,
            2 => bool.clone().prop_map(|inner| node(ExprKind::Not(Box::new(inner)))),
            2 => vec(bool.clone(), 2..4).prop_map(|all| node(ExprKind::And(all))),
            2 => vec(bool.clone(), 2..4).prop_map(|all| node(ExprKind::Or(all))),
            5 => (int.clone(), vec((any_op, int), 1..4)).prop_map(move |(first, rest)| compare(first, rest)),
            1 => (str.clone(), vec((equality.clone(), str.clone()), 1..3)).prop_map(move |(first, rest)| compare(first, rest)),
            1 => (bool.clone(), vec((equality, bool.clone()), 1..3)).prop_map(move |(first, rest)| compare(first, rest)),
            1 => (bool.clone(), bool.clone()).prop_map(|(a, b)| call("implies", vec![a, b])),
            1 => (bool.clone(), bool.clone(), bool).prop_map(|(c, a, b)| call("ite", vec![c, a, b])),
            2 => (select(vec!["startswith", "endswith", "contains"]), str.clone(), str.clone())
                .prop_map(|(function, subject, part)| call(function, vec![subject.clone(), possible(&subject, part)])),
            1 => (str.clone(), list()).prop_map(|(subject, list)| call("matches", vec![not_payload(subject), list])),
            1 => (str, list()).prop_map(|(subject, list)| call("member", vec![subject, list])),
        ]
        .boxed()
    }

    pub(crate) fn int(self) -> Made {
        let digits = prop_oneof![
            4 => Just("0".to_owned()),
            8 => (1..10u32).prop_map(|value| value.to_string()),
            1 => any::<u64>().prop_map(|value| value.to_string()),
            // Two of these are too long for a product.
            1 => Just("9".repeat(2200)),
        ];
        let leaf = prop_oneof![
            2 => digits.prop_map(|digits| node(ExprKind::Int { digits, radix: 10 })),
            3 => select(self.ints).prop_map(name),
        ];
        if self.depth == 0 {
            return leaf.boxed();
        }
        let inner = self.inner();
        let int = inner.int();
        let sum = select(vec![SumOp::Add, SumOp::Sub]);
        let product = select(vec![ProductOp::Mul, ProductOp::FloorDiv, ProductOp::Mod]);
        let sign = select(vec![Sign::Minus, Sign::Plus]);
        prop_oneof![
            2 => leaf,
            2 => (sign, int.clone()).prop_map(|(sign, inner)| node(ExprKind::Sign(sign, Box::new(inner)))),
            2 => (int.clone(), vec((sum, int.clone()), 1..4))
                .prop_map(|(first, rest)| node(ExprKind::Sum(Box::new(first), rest))),
            3 => (int.clone(), vec((product, int.clone()), 1..4))
                .prop_map(|(first, rest)| node(ExprKind::Product(Box::new(first), rest))),
            1 => (inner.bool(), int.clone(), int).prop_map(|(c, a, b)| call("ite", vec![c, a, b])),
        ]
        .boxed()
    }

    pub(crate) fn str(self) -> Made {
        let leaf = prop_oneof![2 => select(&TEXTS[..]).prop_map(text), 3 => select(self.strs).prop_map(name)];
        if self.depth == 0 {
            return leaf.boxed();
        }
        let inner = self.inner();
        let str = inner.str();
        let choice = (inner.bool(), str.clone(), str).prop_map(|(c, a, b)| call("ite", vec![c, a, b]));
        prop_oneof![3 => leaf, 1 => choice].boxed()
    }
}

fn is_payload(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name == "payload")
}

/// A literal that no payload holds is refused at load.
fn possible(subject: &Expr, part: Expr) -> Expr {
    if is_payload(subject) && matches!(part.kind, ExprKind::Text(_)) { text("a") } else { part }
}

fn not_payload(subject: Expr) -> Expr {
    if is_payload(&subject) { text("ab") } else { subject }
}
