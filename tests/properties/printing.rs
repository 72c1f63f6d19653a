//! Printing a tree and reading it again gives the same tree.

use praxiom::syntax::ast::{CompareOp, Expr, ExprKind, ProductOp, Sign, SumOp};
use praxiom::syntax::parse;
use praxiom::syntax::print::print;
use praxiom::text::{FileId, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use std::ops::Range;

pub(crate) fn place(range: Range<usize>) -> Span {
    Span::new(FileId(0), range.start, range.end)
}

fn node(kind: ExprKind) -> Expr {
    Expr { span: Span::default(), kind }
}

fn name() -> impl Strategy<Value = String> {
    let taken = |name: &String| {
        name.split('.').all(|part| !praxiom::syntax::words::is_keyword(part) && !matches!(part, "is" | "in"))
    };
    "[A-Za-z_][A-Za-z0-9_]{0,6}(\\.[a-z_]{1,4})?".prop_filter("a keyword", taken)
}

fn leaf() -> impl Strategy<Value = Expr> {
    let number = prop_oneof![
        "0|[1-9][0-9]{0,30}".prop_map(|digits| (digits, 10)),
        "0|[1-9a-f][0-9a-f]{0,12}".prop_map(|digits| (digits, 16)),
        "0|[1-7][0-7]{0,12}".prop_map(|digits| (digits, 8)),
        "0|1[01]{0,12}".prop_map(|digits| (digits, 2)),
    ];
    let text = prop_oneof![any::<String>(), "[\\\\\"'\n\r\t\u{0}\u{85}\u{2028}\u{feff}\u{10ffff}ax# ]{0,8}"];
    prop_oneof![
        any::<bool>().prop_map(ExprKind::Bool),
        number.prop_map(|(digits, radix)| ExprKind::Int { digits, radix }),
        text.prop_map(ExprKind::Text),
        name().prop_map(ExprKind::Name),
    ]
    .prop_map(node)
}

/// A tree of any shape that the grammar has, whatever the types.
fn tree() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(6, 60, 4, |inner| {
        let compare = prop::sample::select(vec![
            CompareOp::Lt,
            CompareOp::Le,
            CompareOp::Gt,
            CompareOp::Ge,
            CompareOp::Eq,
            CompareOp::Ne,
        ]);
        let sum = prop::sample::select(vec![SumOp::Add, SumOp::Sub]);
        let product = prop::sample::select(vec![ProductOp::Mul, ProductOp::FloorDiv, ProductOp::Mod]);
        let sign = prop::sample::select(vec![Sign::Minus, Sign::Plus]);
        let first = || inner.clone().prop_map(Box::new);
        prop_oneof![
            first().prop_map(ExprKind::Not),
            (sign, first()).prop_map(|(sign, inner)| ExprKind::Sign(sign, inner)),
            vec(inner.clone(), 2..4).prop_map(ExprKind::And),
            vec(inner.clone(), 2..4).prop_map(ExprKind::Or),
            (first(), vec((compare, inner.clone()), 1..3)).prop_map(|(first, rest)| ExprKind::Compare(first, rest)),
            (first(), vec((sum, inner.clone()), 1..3)).prop_map(|(first, rest)| ExprKind::Sum(first, rest)),
            (first(), vec((product, inner.clone()), 1..3)).prop_map(|(first, rest)| ExprKind::Product(first, rest)),
            (name(), vec(inner.clone(), 0..4)).prop_map(|(name, args)| ExprKind::Call {
                name,
                name_span: Span::default(),
                args
            }),
            vec(inner, 0..4).prop_map(ExprKind::List),
        ]
        .prop_map(node)
    })
}

proptest! {
    #[test]
    fn a_printed_tree_reads_back(tree in tree()) {
        let text = print(&tree);
        let parsed = parse(&text, &place);
        prop_assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        prop_assert!(parsed.expr.same_shape(&tree), "{text}");
        prop_assert_eq!(print(&parsed.expr), text);
    }

    /// The same from the other side: pieces of the language in any order, most of them no expression.
    #[test]
    fn what_reads_well_prints_well(pieces in vec(prop::sample::select(vec![
        "a", "call.text", "1", "0x1F", "1_0", "\"t\"", "'\\u00e9'", "(", ")", "[", "]", "{", "}", ",", "+", "-", "*", "//",
        "%", "<", "==", "!=", "and", "or", "not", "true", "if", "else", "in", "is", "f(", "=", "&&", "#", "é", "“", "'", "\\",
        "\n", ".", "\u{0}",
    ]), 0..14)) {
        let text = pieces.join(" ");
        let parsed = parse(&text, &place);
        for found in &parsed.diagnostics {
            prop_assert!(text.get(found.primary.span.range()).is_some(), "{text:?}: {found:?}");
        }
        if parsed.diagnostics.is_empty() {
            let again = parse(&print(&parsed.expr), &place);
            prop_assert!(again.diagnostics.is_empty() && again.expr.same_shape(&parsed.expr), "{text}");
        }
    }
}
