//! Expressions of a policy as terms, in which atoms stand for what the call decides. The order of evaluation is
//! the policy's, and an atom always has a value. Knows nothing of which atoms can be true together.

use super::atom::{Atom, Operand, Relation, Subject, Test};
use super::pool::{Place, Pool, place};
use super::shape::Shape;
use crate::ir::{Action, Context, Expr, ExprKind, Int, ListId, Policy, Type, VarId};
use crate::model::{Gap, Term};
use crate::syntax::ast::{CompareOp, ProductOp, SumOp};
use crate::text::Span;
use std::sync::Arc;

/// Atoms are variables from here on.
const FIRST: usize = 1 << 40;

/// The atoms of one shape of one tool's calls.
#[derive(Debug, Default)]
pub(super) struct Atoms(pub(super) Vec<Atom>);

impl Atoms {
    pub(super) fn term(&mut self, atom: Atom) -> Term {
        let at = self.0.iter().position(|known| *known == atom).unwrap_or_else(|| {
            self.0.push(atom);
            self.0.len() - 1
        });
        Term::Var(FIRST + at)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Atom> {
        self.0.get(at)
    }
}

/// The atom that a term is.
pub(super) fn atom_of(term: &Term) -> Option<usize> {
    match term {
        Term::Var(at) => at.checked_sub(FIRST),
        _ => None,
    }
}

/// What the expressions of one side stand in.
pub(super) struct Lowering<'l> {
    pub(super) side: usize,
    pub(super) policy: &'l Policy,
    /// Index of the side's first variable.
    pub(super) first: usize,
    pub(super) pool: &'l Pool,
    pub(super) tool: &'l str,
    pub(super) upstream: &'l str,
    pub(super) shape: &'l Shape,
    pub(super) action: Option<&'l Action>,
    /// Values that stand before the state's: what earlier assignments gave.
    pub(super) given: Vec<(VarId, Term)>,
    pub(super) atoms: &'l mut Atoms,
    pub(super) gaps: &'l mut Vec<Gap>,
}

/// A text.
#[derive(Clone, Debug)]
enum Text {
    Literal(Arc<str>),
    /// By its number in the pool.
    Number(Term),
    Subject(Subject),
    Either(Term, Box<Text>, Box<Text>),
}

impl Text {
    fn is_total(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Subject(_) => true,
            Self::Number(term) => term.is_total(),
            Self::Either(c, a, b) => c.is_total() && a.is_total() && b.is_total(),
        }
    }

    /// A term of the other value than `constant` that has a value where the text has one.
    fn decided(&self, constant: bool) -> Term {
        match self {
            Self::Literal(_) | Self::Subject(_) => Term::Bool(!constant),
            Self::Number(term) => {
                let none = Term::In(Arc::new(term.clone()), Arc::from([]));
                if constant { none } else { Term::not(none) }
            }
            Self::Either(c, a, b) => Term::Ite(Arc::new([c.clone(), a.decided(constant), b.decided(constant)])),
        }
    }
}

impl Lowering<'_> {
    pub(super) fn gap(&mut self, span: Span, why: &str) {
        let gap = Gap { span, why: why.to_owned() };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    fn unknown(&mut self) -> Term {
        let number = self.atoms.0.len();
        self.atoms.term(Atom::Unknown(number))
    }

    /// A term of any type; a text by its number.
    pub(super) fn term(&mut self, expr: &Expr) -> Term {
        if expr.ty == Type::Str {
            let text = self.text(expr);
            return self.number(&text, expr.span);
        }
        match &expr.kind {
            ExprKind::Bool(value) => Term::Bool(*value),
            ExprKind::Int(value) => Term::Int(self.int(value, expr.span)),
            ExprKind::State(id) => self.variable(*id),
            ExprKind::Arg(id) => {
                let name = self.action.and_then(|action| action.arg(*id)).map(|arg| Arc::clone(&arg.name));
                match name.and_then(|name| self.shape.position(&name)) {
                    Some(at) if expr.ty == Type::Bool => self.atoms.term(Atom::Flag(at)),
                    Some(at) => Term::Param(at),
                    None => self.unknown(),
                }
            }
            ExprKind::Not(inner) => Term::not(self.term(inner)),
            ExprKind::Neg(inner) => Term::neg(self.term(inner)),
            ExprKind::And(all) => Term::and(all.iter().map(|one| self.term(one)).collect::<Vec<_>>()),
            ExprKind::Or(all) => Term::or(all.iter().map(|one| self.term(one)).collect::<Vec<_>>()),
            ExprKind::Implies(pair) => {
                let [a, b] = pair.as_ref();
                Term::implies(self.term(a), self.term(b))
            }
            ExprKind::Ite(three) => {
                let [c, a, b] = three.as_ref();
                Term::ite(self.term(c), self.term(a), self.term(b))
            }
            ExprKind::Compare(first, rest) => {
                let mut left = first.as_ref();
                let mut links = Vec::new();
                for (op, right) in rest {
                    links.push(self.compare(*op, left, right));
                    left = right;
                }
                Term::and(links)
            }
            ExprKind::Sum(first, rest) => {
                let mut total = self.term(first);
                for (op, right) in rest {
                    let right = self.term(right);
                    total = match op {
                        SumOp::Add => Term::add(total, right),
                        SumOp::Sub => Term::sub(total, right),
                    };
                }
                total
            }
            ExprKind::Product(first, rest) => {
                let mut total = self.term(first);
                for (op, right) in rest {
                    let right = self.term(right);
                    total = match op {
                        ProductOp::Mul => Term::mul(total, right),
                        ProductOp::FloorDiv => Term::floor_div(total, right),
                        ProductOp::Mod => Term::modulo(total, right),
                    };
                }
                total
            }
            ExprKind::StartsWith(pair) => self.relation(Relation::Prefix, pair, expr.span),
            ExprKind::EndsWith(pair) => self.relation(Relation::Suffix, pair, expr.span),
            ExprKind::Contains(pair) => self.relation(Relation::Contains, pair, expr.span),
            ExprKind::Matches(subject, list) => {
                let test = Test::Contains(self.list(*list));
                let subject = self.text(subject);
                self.test(&subject, &test)
            }
            ExprKind::Member(subject, list) => {
                let test = Test::Equals(self.list(*list));
                let subject = self.text(subject);
                self.test(&subject, &test)
            }
            ExprKind::Str(_) | ExprKind::Context(_) => self.unknown(),
        }
    }

    fn int(&mut self, value: &Int, span: Span) -> i64 {
        value.as_i64().unwrap_or_else(|| {
            self.gap(span, "a number beyond 64 bits");
            if *value < Int::from(0) { i64::MIN } else { i64::MAX }
        })
    }

    fn variable(&self, id: VarId) -> Term {
        let given = self.given.iter().find(|(known, _)| *known == id).map(|(_, term)| term.clone());
        given.unwrap_or(Term::Var(self.first + id.0 as usize))
    }

    fn list(&self, id: ListId) -> Vec<Arc<str>> {
        let texts = self.policy.list(id).map(|list| list.texts.as_slice()).unwrap_or_default();
        texts.iter().map(|(text, _)| Arc::clone(text)).collect()
    }

    fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Term {
        if left.ty == Type::Str {
            let (a, b) = (self.text(left), self.text(right));
            let equal = self.related(Relation::Equal, &a, &b, left.span.to(right.span));
            return if op == CompareOp::Ne { Term::not(equal) } else { equal };
        }
        let (a, b) = (self.term(left), self.term(right));
        match op {
            CompareOp::Eq => Term::eq(a, b),
            CompareOp::Ne => Term::not(Term::eq(a, b)),
            CompareOp::Lt => Term::lt(a, b),
            CompareOp::Le => Term::le(a, b),
            CompareOp::Gt => Term::lt(b, a),
            CompareOp::Ge => Term::le(b, a),
        }
    }

    fn place(&self, subject: Subject) -> Option<Place> {
        place(subject, |at| self.shape.args.get(at).map(|arg| Arc::clone(&arg.name)))
    }

    fn subject(&mut self, subject: Subject) -> Text {
        let valued = !matches!(subject, Subject::Payload | Subject::CallText | Subject::ResultText)
            && self.place(subject).is_some_and(|place| self.pool.of(&place).is_some());
        if valued { Text::Number(self.atoms.term(Atom::Value(subject))) } else { Text::Subject(subject) }
    }

    fn text(&mut self, expr: &Expr) -> Text {
        match &expr.kind {
            ExprKind::Str(text) => Text::Literal(Arc::clone(text)),
            ExprKind::State(id) => Text::Number(self.variable(*id)),
            ExprKind::Arg(id) => {
                let name = self.action.and_then(|action| action.arg(*id)).map(|arg| Arc::clone(&arg.name));
                match name.and_then(|name| self.shape.position(&name)) {
                    Some(at) => self.subject(Subject::Arg(at)),
                    None => Text::Literal("".into()),
                }
            }
            ExprKind::Context(context) => match context {
                Context::Tool => Text::Literal(self.tool.into()),
                Context::Upstream => Text::Literal(self.upstream.into()),
                Context::Payload => self.subject(Subject::Payload),
                Context::CallText => self.subject(Subject::CallText),
                Context::Result => self.subject(Subject::Result),
                Context::ResultText => self.subject(Subject::ResultText),
            },
            ExprKind::Ite(three) => {
                let [c, a, b] = three.as_ref();
                let c = self.term(c);
                Text::Either(c, Box::new(self.text(a)), Box::new(self.text(b)))
            }
            _ => Text::Literal("".into()),
        }
    }

    fn number(&mut self, text: &Text, span: Span) -> Term {
        match text {
            Text::Literal(literal) => match self.pool.number(literal) {
                Some(number) => Term::Int(number),
                None => self.lost(span),
            },
            Text::Number(term) => term.clone(),
            Text::Subject(_) => self.lost(span),
            Text::Either(c, a, b) => {
                let (a, b) = (self.number(a, span), self.number(b, span));
                Term::ite(c.clone(), a, b)
            }
        }
    }

    /// A text that the pool does not have.
    fn lost(&mut self, span: Span) -> Term {
        self.gap(span, "the state takes in a text that the model does not follow");
        let unknown = self.unknown();
        Term::ite(unknown, Term::Int(0), Term::Int(i64::from(self.pool.texts.len() > 1)))
    }

    fn test(&mut self, text: &Text, test: &Test) -> Term {
        if let Some(constant) = test.constant() {
            // Operands of a condition still count: they may have no value.
            return match text {
                Text::Either(..) | Text::Number(_) if !text.is_total() => {
                    let (a, b) = (text.decided(constant), Term::Bool(constant));
                    if constant { Term::or([a, b]) } else { Term::and([a, b]) }
                }
                _ => Term::Bool(constant),
            };
        }
        match text {
            Text::Literal(literal) => Term::Bool(test.holds(literal)),
            Text::Number(term) => match (test, self.pool.satisfying(|text| test.holds(text)).as_slice()) {
                (Test::Equals(_), [one]) => Term::eq(term.clone(), Term::Int(*one)),
                (_, all) => Term::is_in(term.clone(), all.to_vec()),
            },
            Text::Subject(subject) => {
                let test = if *subject == Subject::Payload { test.clone().in_payload() } else { test.clone() };
                match test.constant() {
                    Some(constant) => Term::Bool(constant),
                    None => self.atoms.term(Atom::Text(*subject, test)),
                }
            }
            Text::Either(c, a, b) => {
                let (a, b) = (self.test(a, test), self.test(b, test));
                Term::ite(c.clone(), a, b)
            }
        }
    }

    fn relation(&mut self, relation: Relation, pair: &[Expr; 2], span: Span) -> Term {
        let [subject, needle] = pair;
        let (subject, needle) = (self.text(subject), self.text(needle));
        self.related(relation, &subject, &needle, span)
    }

    fn related(&mut self, relation: Relation, left: &Text, right: &Text, span: Span) -> Term {
        match (left, right) {
            (Text::Either(c, a, b), other) => {
                let (a, b) = (self.related(relation, a, other, span), self.related(relation, b, other, span));
                Term::ite(c.clone(), a, b)
            }
            (other, Text::Either(c, a, b)) => {
                let (a, b) = (self.related(relation, other, a, span), self.related(relation, other, b, span));
                Term::ite(c.clone(), a, b)
            }
            (left, Text::Literal(literal)) => self.test(left, &relation.test(literal)),
            (Text::Literal(literal), right) if relation == Relation::Equal => {
                self.test(right, &Test::equals(Arc::clone(literal)))
            }
            // The parts of a short text are few.
            (Text::Literal(literal), Text::Subject(_)) if relation.part_test(literal).is_some() => {
                let test = relation.part_test(literal).unwrap_or(Test::Equals(Vec::new()));
                self.test(right, &test)
            }
            (Text::Literal(literal), Text::Number(term)) => {
                Term::is_in(term.clone(), self.pool.satisfying(|text| relation.holds(literal, text)))
            }
            (Text::Number(a), Text::Number(b)) if relation == Relation::Equal => {
                // What the call brings, a constant in the end, stands last.
                if atom_of(a).is_some() { Term::eq(b.clone(), a.clone()) } else { Term::eq(a.clone(), b.clone()) }
            }
            (Text::Number(a), Text::Number(b)) => {
                let texts: Vec<(i64, Arc<str>)> = (0..).zip(self.pool.texts.iter().cloned()).collect();
                let mut pairs = Vec::new();
                for (number, needle) in &texts {
                    let holders = self.pool.satisfying(|text| relation.holds(text, needle));
                    pairs.push(Term::and([Term::is_in(b.clone(), vec![*number]), Term::is_in(a.clone(), holders)]));
                }
                Term::or(pairs)
            }
            (Text::Subject(a), Text::Subject(b)) if a == b => Term::TRUE,
            (Text::Subject(_) | Text::Literal(_), Text::Subject(_)) => {
                let operand = |text: &Text| match text {
                    Text::Literal(literal) => Some(Operand::Literal(Arc::clone(literal))),
                    Text::Subject(subject) => Some(Operand::Subject(*subject)),
                    _ => None,
                };
                match (operand(left), operand(right)) {
                    (Some(left), Some(right)) => self.atoms.term(Atom::Pair(relation, left, right)),
                    _ => self.unknown(),
                }
            }
            (Text::Subject(_), Text::Number(_)) | (Text::Number(_), Text::Subject(_)) => {
                self.gap(span, "a text of the call or its answer as a whole is compared with a text of the state");
                self.unknown()
            }
        }
    }
}
