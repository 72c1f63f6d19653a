//! One expression: names to slots, types of every node, complaints with the types found.

use super::advice::{self, conversion, mixed, shorten};
use super::lists::Lists;
use super::{payload, shared};
use crate::ir::builtin::{Builtin, Param, Row};
use crate::ir::expr::{Expr, ExprKind, ListId};
use crate::ir::int::Int;
use crate::ir::scope::Scope;
use crate::ir::types::Type;
use crate::syntax::ast::{self, CompareOp, ExprKind as Ast, Sign};
use crate::syntax::print::print;
use crate::text::{Code, Diagnostic, Span};
use std::fmt;

/// A lowered node. Without an expression it has been complained about; its type may still be known.
pub(super) struct Typed {
    ty: Option<Type>,
    expr: Option<Expr>,
}

const UNKNOWN: Typed = Typed { ty: None, expr: None };

/// Builds a flat node of a first operand and the rest with their operators.
type Chain<Op> = fn(Box<Expr>, Box<[(Op, Expr)]>) -> ExprKind;

pub(super) struct Lowering<'a, 'g> {
    diagnostics: &'a mut Vec<Diagnostic>,
    lists: &'a mut Lists,
    scope: &'a Scope<'g>,
}

impl<'a, 'g> Lowering<'a, 'g> {
    pub(super) fn new(diagnostics: &'a mut Vec<Diagnostic>, lists: &'a mut Lists, scope: &'a Scope<'g>) -> Self {
        Self { diagnostics, lists, scope }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The expression with the type that its place takes. `what` is that place: "a guard"; it is
    /// written out for a complaint only.
    pub(super) fn expect(&mut self, written: &ast::Expr, ty: Type, what: fmt::Arguments<'_>) -> Option<Expr> {
        let typed = self.value(written);
        self.fits(typed, written, ty, what)
    }

    fn fits(&mut self, typed: Typed, written: &ast::Expr, ty: Type, what: fmt::Arguments<'_>) -> Option<Expr> {
        match typed.ty {
            Some(found) if found != ty => {
                let shown = shorten(&print(written));
                self.report(
                    Diagnostic::new(Code::PX2003, written.span, format!("{what} takes {ty}, but `{shown}` is {found}"))
                        .label(format!("{found}"))
                        .maybe_help(conversion(written, found, ty)),
                );
                None
            }
            _ => typed.expr,
        }
    }

    pub(super) fn value(&mut self, written: &ast::Expr) -> Typed {
        let span = written.span;
        match &written.kind {
            Ast::Error => UNKNOWN,
            Ast::Bool(value) => typed(Type::Bool, ExprKind::Bool(*value), span),
            Ast::Int { digits, radix } => self.int(digits, *radix, span),
            Ast::Text(text) => typed(Type::Str, ExprKind::Str(shared(text)), span),
            Ast::Name(name) => match self.scope.resolve(name, span) {
                Ok((kind, ty)) => Typed { ty, expr: ty.map(|ty| Expr { span, ty, kind }) },
                Err(diagnostic) => {
                    self.report(*diagnostic);
                    UNKNOWN
                }
            },
            Ast::Not(inner) => {
                let inner = self.expect(inner, Type::Bool, format_args!("`not`"));
                of(Type::Bool, inner.map(|inner| ExprKind::Not(Box::new(inner))), span)
            }
            Ast::Sign(sign, inner) => {
                let operator = if *sign == Sign::Minus { "`-`" } else { "`+`" };
                let inner = self.expect(inner, Type::Int, format_args!("{operator}"));
                let kind = inner.map(|inner| match (sign, &inner.kind) {
                    (Sign::Plus, _) => inner.kind,
                    (Sign::Minus, ExprKind::Int(value)) => {
                        value.neg().map_or_else(|_| ExprKind::Neg(Box::new(inner.clone())), ExprKind::Int)
                    }
                    (Sign::Minus, _) => ExprKind::Neg(Box::new(inner)),
                });
                kind.map_or(UNKNOWN, |kind| typed(Type::Int, kind, span))
            }
            Ast::And(all) => self.conditions(all, "`and`", ExprKind::And, span),
            Ast::Or(all) => self.conditions(all, "`or`", ExprKind::Or, span),
            Ast::Compare(first, rest) => self.compare(first, rest, span),
            Ast::Sum(first, rest) => self.arithmetic(first, rest, |op| op.symbol(), ExprKind::Sum, span),
            Ast::Product(first, rest) => self.arithmetic(first, rest, |op| op.symbol(), ExprKind::Product, span),
            Ast::Call { name, name_span, args } => self.call(name, *name_span, args, span),
            Ast::List(items) => {
                for item in items {
                    self.value(item);
                }
                self.report(
                    Diagnostic::new(Code::PX2003, span, "a list of texts stands only in `matches` and `member`")
                        .help("write `matches(text, [\"a\", \"b\"])` or `member(x, [\"a\", \"b\"])`"),
                );
                UNKNOWN
            }
        }
    }

    fn int(&mut self, digits: &str, radix: u32, span: Span) -> Typed {
        if let Some(value) = Int::parse_radix(digits, radix) {
            return typed(Type::Int, ExprKind::Int(value), span);
        }
        self.report(
            Diagnostic::new(Code::PX0106, span, "the number has more than 4,300 digits").help("use a smaller number"),
        );
        Typed { ty: Some(Type::Int), expr: None }
    }

    fn conditions(
        &mut self,
        all: &[ast::Expr],
        operator: &str,
        kind: fn(Box<[Expr]>) -> ExprKind,
        span: Span,
    ) -> Typed {
        let lowered: Vec<Option<Expr>> =
            all.iter().map(|expr| self.expect(expr, Type::Bool, format_args!("{operator}"))).collect();
        let complete: Option<Vec<Expr>> = lowered.into_iter().collect();
        of(Type::Bool, complete.map(|all| kind(all.into())), span)
    }

    fn arithmetic<Op: Copy>(
        &mut self,
        first: &ast::Expr,
        rest: &[(Op, ast::Expr)],
        symbol: fn(&Op) -> &'static str,
        kind: Chain<Op>,
        span: Span,
    ) -> Typed {
        let leading = rest.first().map_or("+", |(op, _)| symbol(op));
        let typed = self.value(first);
        let mut complaints = usize::from(typed.ty.is_some_and(|ty| ty != Type::Int));
        let first = self.fits(typed, first, Type::Int, format_args!("`{leading}`"));
        let mut lowered: Vec<Option<(Op, Expr)>> = Vec::with_capacity(rest.len());
        for (op, operand) in rest {
            let typed = self.value(operand);
            let wrong = typed.ty.is_some_and(|ty| ty != Type::Int);
            // One operand of the wrong type is told; the others are likely wrong for the same reason.
            let expr = if wrong && complaints > 0 {
                None
            } else {
                let symbol = symbol(op);
                self.fits(typed, operand, Type::Int, format_args!("`{symbol}`"))
            };
            complaints += usize::from(wrong);
            lowered.push(expr.map(|expr| (*op, expr)));
        }
        let rest: Option<Vec<(Op, Expr)>> = lowered.into_iter().collect();
        match first.zip(rest) {
            Some((first, rest)) => of(Type::Int, Some(kind(Box::new(first), rest.into())), span),
            // What was meant may be no number at all.
            None => UNKNOWN,
        }
    }

    fn compare(&mut self, first: &ast::Expr, rest: &[(CompareOp, ast::Expr)], span: Span) -> Typed {
        let mut complete = true;
        let lowered_first = self.value(first);
        let mut left_ty = lowered_first.ty;
        let mut left = first;
        complete &= lowered_first.expr.is_some();
        let mut links = Vec::with_capacity(rest.len());
        for (op, right) in rest {
            let typed = self.value(right);
            // One misfit of a chain is told; its neighbours are likely wrong for the same reason.
            if let (Some(a), Some(b), true) = (left_ty, typed.ty, complete) {
                complete &= self.comparable(*op, left, a, right, b, rest.len() > 1);
            }
            left_ty = typed.ty;
            left = right;
            match typed.expr {
                Some(expr) => links.push((*op, expr)),
                None => complete = false,
            }
        }
        let kind = match lowered_first.expr {
            Some(first) if complete => Some(ExprKind::Compare(Box::new(first), links.into())),
            _ => None,
        };
        of(Type::Bool, kind, span)
    }

    fn comparable(
        &mut self,
        op: CompareOp,
        left: &ast::Expr,
        a: Type,
        right: &ast::Expr,
        b: Type,
        chained: bool,
    ) -> bool {
        let symbol = op.symbol();
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if a == b && (equality || a == Type::Int) {
            return true;
        }
        let (l, r) = (shorten(&print(left)), shorten(&print(right)));
        let diagnostic = if a == b {
            let help = match a {
                Type::Bool => "compare booleans with `==` or `!=`, or use `implies(a, b)`",
                _ => "texts have no order here; compare with `==`, or use `startswith`",
            };
            Diagnostic::new(
                Code::PX2003,
                left.span.to(right.span),
                format!("`{symbol}` orders int, but both sides are {a}"),
            )
            .help(help)
        } else {
            let help = if chained {
                format!(
                    "a chain compares neighbours, so this link is `{l} {symbol} {r}`; put brackets around what belongs \
                     together"
                )
            } else {
                mixed(left, a, right, b)
            };
            Diagnostic::new(
                Code::PX2003,
                left.span.to(right.span),
                format!("`{symbol}` compares {a} with {b}: `{l}` is {a}, `{r}` is {b}"),
            )
            .help(help)
        };
        self.report(diagnostic);
        false
    }

    fn call(&mut self, name: &str, name_span: Span, args: &[ast::Expr], span: Span) -> Typed {
        let Some(row) = Builtin::named(name) else {
            self.unknown_function(name, name_span, args);
            return UNKNOWN;
        };
        if args.len() != row.params.len() {
            for arg in args.iter().filter(|arg| !matches!(arg.kind, Ast::List(_))) {
                self.value(arg);
            }
            // What could not be read may have been the missing ones.
            if args.iter().any(|arg| matches!(arg.kind, Ast::Error)) {
                return Typed { ty: row.result, expr: None };
            }
            let (takes, found) = (row.params.len(), args.len());
            self.report(
                Diagnostic::new(
                    Code::PX2004,
                    span,
                    format!(
                        "`{name}` takes {takes} arguments, but {found} {} given",
                        if found == 1 { "is" } else { "are" }
                    ),
                )
                .help(format!("write `{}`: {}", row.signature(), row.doc)),
            );
            return Typed { ty: row.result, expr: None };
        }
        self.arguments(row, args, span)
    }

    fn arguments(&mut self, row: &Row, args: &[ast::Expr], span: Span) -> Typed {
        let mut values: Vec<Option<Expr>> = Vec::with_capacity(args.len());
        let mut list: Option<ListId> = None;
        let mut same: Option<(Type, &ast::Expr)> = None;
        let mut complete = true;
        let mut mixed_branches = false;
        for ((param, kind), arg) in row.params.iter().zip(args) {
            match kind {
                Param::Of(ty) => {
                    values.push(self.expect(arg, *ty, format_args!("`{param}` of `{row}`")));
                }
                Param::Texts => {
                    list = self.texts(arg, row);
                    complete &= list.is_some();
                }
                Param::Same => {
                    let typed = self.value(arg);
                    match (same, typed.ty) {
                        (Some((a, first)), Some(b)) if a != b => {
                            self.branches(row.name, first, a, arg, b);
                            complete = false;
                            mixed_branches = true;
                        }
                        (None, Some(ty)) => same = Some((ty, arg)),
                        _ => {}
                    }
                    values.push(typed.expr);
                }
            }
        }
        // Which of the two types was meant is open.
        let ty = row.result.or(same.map(|(ty, _)| ty)).filter(|_| !mixed_branches);
        let values: Option<Vec<Expr>> = values.into_iter().collect();
        let kind = values.filter(|_| complete).and_then(|values| build(row.builtin, values, list));
        if let Some(kind) = &kind {
            payload::check(kind, span, self.lists, self.diagnostics);
        }
        match ty {
            Some(ty) => of(ty, kind, span),
            None => UNKNOWN,
        }
    }

    fn branches(&mut self, name: &str, first: &ast::Expr, a: Type, second: &ast::Expr, b: Type) {
        let (l, r) = (shorten(&print(first)), shorten(&print(second)));
        self.report(
            Diagnostic::new(
                Code::PX2003,
                second.span,
                format!("both branches of `{name}` must have one type, but `{l}` is {a} and `{r}` is {b}"),
            )
            .label(format!("{b}"))
            .also(first.span, format!("{a}")),
        );
    }

    /// The second argument of `matches` and `member`.
    fn texts(&mut self, arg: &ast::Expr, row: &Row) -> Option<ListId> {
        let function = row.name;
        match &arg.kind {
            Ast::Name(name) => {
                let found = self.lists.named(name);
                if found.is_none() {
                    self.unknown_list(name, arg.span, function);
                }
                found
            }
            Ast::List(items) => self.literal_list(items, arg.span, row),
            Ast::Error => None,
            Ast::Text(text) => {
                let quoted = crate::syntax::print::quoted(text);
                let (one, help) = match row.builtin {
                    Builtin::Matches => ("contains", format!("write `contains(s, {quoted})`, or a list: `[{quoted}]`")),
                    _ => ("==", format!("write `x == {quoted}`, or a list: `[{quoted}]`")),
                };
                let message = format!("`{function}` takes a list of texts; for one text there is `{one}`");
                self.report(Diagnostic::new(Code::PX2003, arg.span, message).help(help));
                None
            }
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::PX2003,
                        arg.span,
                        format!("`{function}` takes the name of a pattern list or a list of texts"),
                    )
                    .help(format!(
                        "write `{function}(s, NAME)` with a list of `patterns:`, or `{function}(s, [\"a\", \"b\"])`"
                    )),
                );
                None
            }
        }
    }

    fn unknown_list(&mut self, name: &str, span: Span, function: &str) {
        let diagnostic = if let Some(var) = self.scope.globals.state.get(name) {
            Diagnostic::new(Code::PX2005, span, format!("`{name}` is a state variable, not a pattern list"))
                .also(var.span, "declared here")
                .help(format!("for a text in a variable write `contains(s, {name})` or `s == {name}`"))
        } else {
            let help = self.scope.globals.nearest(name, self.lists.names()).map_or_else(
                || format!("declare it: `patterns: {{{name}: [text, …]}}`"),
                |near| format!("did you mean `{near}`?"),
            );
            Diagnostic::new(
                Code::PX2005,
                span,
                format!("`{function}` names the pattern list `{name}`, which is not declared"),
            )
            .help(help)
        };
        self.report(diagnostic);
    }

    fn literal_list(&mut self, items: &[ast::Expr], span: Span, row: &Row) -> Option<ListId> {
        let function = row.name;
        if items.is_empty() {
            self.report(
                Diagnostic::new(Code::PX1004, span, format!("the list of `{function}` is empty, so it is never true"))
                    .help("add a text"),
            );
            return None;
        }
        let mut texts = Vec::with_capacity(items.len());
        let mut complete = true;
        for item in items {
            match &item.kind {
                Ast::Text(text) if text.is_empty() && row.builtin == Builtin::Matches => {
                    self.report(
                        Diagnostic::new(Code::PX1004, item.span, "an empty pattern is part of every text")
                            .help("remove it"),
                    );
                    complete = false;
                }
                Ast::Text(text) => texts.push((shared(text), item.span)),
                Ast::Error => complete = false,
                _ => {
                    let shown = shorten(&print(item));
                    self.report(
                        Diagnostic::new(
                            Code::PX2003,
                            item.span,
                            format!("a list of `{function}` holds texts in quotes, not `{shown}`"),
                        )
                        .help("for a text in a variable write `contains(s, x)` or `s == x`"),
                    );
                    complete = false;
                }
            }
        }
        complete.then(|| self.lists.literal(texts, span))
    }

    fn unknown_function(&mut self, name: &str, span: Span, args: &[ast::Expr]) {
        for arg in args.iter().filter(|arg| !matches!(arg.kind, Ast::List(_))) {
            self.value(arg);
        }
        self.report(advice::unknown_function(name, span));
    }
}

fn typed(ty: Type, kind: ExprKind, span: Span) -> Typed {
    of(ty, Some(kind), span)
}

fn of(ty: Type, kind: Option<ExprKind>, span: Span) -> Typed {
    Typed { ty: Some(ty), expr: kind.map(|kind| Expr { span, ty, kind }) }
}

fn build(builtin: Builtin, values: Vec<Expr>, list: Option<ListId>) -> Option<ExprKind> {
    let two = |values: Vec<Expr>| <[Expr; 2]>::try_from(values).ok().map(Box::new);
    Some(match builtin {
        Builtin::Implies => ExprKind::Implies(two(values)?),
        Builtin::StartsWith => ExprKind::StartsWith(two(values)?),
        Builtin::EndsWith => ExprKind::EndsWith(two(values)?),
        Builtin::Contains => ExprKind::Contains(two(values)?),
        Builtin::Ite => ExprKind::Ite(Box::new(<[Expr; 3]>::try_from(values).ok()?)),
        Builtin::Matches => ExprKind::Matches(Box::new(values.into_iter().next()?), list?),
        Builtin::Member => ExprKind::Member(Box::new(values.into_iter().next()?), list?),
    })
}
