//! A tree back to text: canonical spacing, the fewest brackets, texts in double quotes. Reading the
//! text again gives the same tree.

use super::ast::{Expr, ExprKind, Sign};
use super::text_literal::quote;

/// The expression as canonical text; an error node prints as `?`.
#[must_use]
pub fn print(expr: &Expr) -> String {
    let mut out = String::new();
    write(expr, Level::Or, &mut out);
    out
}

/// A text literal that reads back as `text`.
#[must_use]
pub fn quoted(text: &str) -> String {
    quote(text)
}

/// How tightly a node binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Compare,
    Sum,
    Product,
    Unary,
    Atom,
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Not(_) => Level::Not,
        ExprKind::Compare(..) => Level::Compare,
        ExprKind::Sum(..) => Level::Sum,
        ExprKind::Product(..) => Level::Product,
        ExprKind::Sign(..) => Level::Unary,
        _ => Level::Atom,
    }
}

fn tighter(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not | Level::Compare => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Unary,
        Level::Unary | Level::Atom => Level::Atom,
    }
}

fn write(expr: &Expr, least: Level, out: &mut String) {
    let own = level(expr);
    if own < least {
        out.push('(');
        write(expr, Level::Or, out);
        out.push(')');
        return;
    }
    match &expr.kind {
        ExprKind::Error => out.push('?'),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Int { digits, radix } => {
            out.push_str(match radix {
                16 => "0x",
                8 => "0o",
                2 => "0b",
                _ => "",
            });
            out.push_str(digits);
        }
        ExprKind::Text(text) => out.push_str(&quote(text)),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::Not(inner) => {
            out.push_str("not ");
            write(inner, Level::Not, out);
        }
        ExprKind::Sign(sign, inner) => {
            out.push(if *sign == Sign::Minus { '-' } else { '+' });
            // `++` is refused as another language's increment.
            if matches!((sign, &inner.kind), (Sign::Plus, ExprKind::Sign(Sign::Plus, _))) {
                out.push(' ');
            }
            write(inner, Level::Unary, out);
        }
        ExprKind::And(all) => separated(all, Level::Not, " and ", out),
        ExprKind::Or(all) => separated(all, Level::And, " or ", out),
        ExprKind::Compare(first, rest) => chain(first, rest, own, |op| op.symbol(), out),
        ExprKind::Sum(first, rest) => chain(first, rest, own, |op| op.symbol(), out),
        ExprKind::Product(first, rest) => chain(first, rest, own, |op| op.symbol(), out),
        ExprKind::Call { name, args, .. } => {
            out.push_str(name);
            out.push('(');
            separated(args, Level::Or, ", ", out);
            out.push(')');
        }
        ExprKind::List(items) => {
            out.push('[');
            separated(items, Level::Or, ", ", out);
            out.push(']');
        }
    }
}

fn separated(all: &[Expr], least: Level, separator: &str, out: &mut String) {
    for (at, expr) in all.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        write(expr, least, out);
    }
}

fn chain<Op>(first: &Expr, rest: &[(Op, Expr)], own: Level, symbol: fn(&Op) -> &'static str, out: &mut String) {
    let least = tighter(own);
    write(first, least, out);
    for (op, expr) in rest {
        out.push(' ');
        out.push_str(symbol(op));
        out.push(' ');
        write(expr, least, out);
    }
}
