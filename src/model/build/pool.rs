//! The texts that variables hold, and with which the texts of calls are compared. A text that comes from a call
//! is stood for by one with the same answers to every test; where texts are compared with each other, by as many
//! as can be told apart at one time. Knows nothing of terms.

use super::Request;
use super::atom::{Relation, Subject, Test};
use super::signs;
use crate::ir::{Action, ArgId, Context, Expr, ExprKind, Policy, Type, Value};
use crate::model::Gap;
use crate::syntax::ast::CompareOp;
use crate::text::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts that one group of linked variables and arguments may need.
const MAX_TEXTS: usize = 64;

/// A place that holds a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Var(usize, usize),
    Arg(Arc<str>),
    Answer(Context),
    /// A text that the model does not follow.
    Other(Context),
}

#[derive(Debug, Default)]
pub(super) struct Pool {
    /// The table of the system.
    pub(super) texts: Vec<Arc<str>>,
    groups: Vec<Group>,
    of: BTreeMap<Place, usize>,
}

/// Places whose texts reach each other.
#[derive(Debug, Default)]
struct Group {
    places: Vec<Place>,
    tests: Vec<Test>,
    literals: Vec<Arc<str>>,
    /// Texts are compared with each other.
    compared: bool,
    /// A test of one text by another, beyond whether they are equal.
    odd: Option<Span>,
    /// Indices into the table.
    texts: Vec<usize>,
}

impl Pool {
    /// Indices of the texts that a place may hold, if it is linked to a variable.
    pub(super) fn of(&self, place: &Place) -> Option<&[usize]> {
        let group = self.groups.get(*self.of.get(place)?)?;
        group.places.iter().any(|place| matches!(place, Place::Var(..))).then_some(&group.texts)
    }

    /// The tests that tell texts of the place apart.
    pub(super) fn tests(&self, place: &Place) -> &[Test] {
        self.of.get(place).and_then(|at| self.groups.get(*at)).map(|group| group.tests.as_slice()).unwrap_or_default()
    }

    pub(super) fn number(&self, text: &str) -> Option<i64> {
        self.texts.iter().position(|known| **known == *text).and_then(|at| i64::try_from(at).ok())
    }

    pub(super) fn text(&self, number: i64) -> Option<&Arc<str>> {
        self.texts.get(usize::try_from(number).ok()?)
    }

    pub(super) fn satisfying(&self, test: impl Fn(&str) -> bool) -> Vec<i64> {
        (0..).zip(&self.texts).filter(|(_, text)| test(text)).map(|(at, _)| at).collect()
    }

    fn add(&mut self, text: &str) -> usize {
        if let Some(at) = self.texts.iter().position(|known| **known == *text) {
            return at;
        }
        self.texts.push(text.into());
        self.texts.len() - 1
    }

    pub(super) fn new(request: &Request<'_>, gaps: &mut Vec<Gap>) -> Self {
        let mut collector = Collector::default();
        for (side, policy) in request.sides.iter().enumerate() {
            collector.policy(side, policy.typed(), request);
        }
        for mark in request.marks {
            let policy = request.sides.get(mark.side);
            // A part of a rule is seen with the rule.
            if let (Some(policy), Some(when), None) = (policy, mark.when, mark.action) {
                Scope { side: mark.side, policy: policy.typed(), action: None, names: &[] }.walk(when, &mut collector);
            }
        }
        for (side, expr) in request.watched {
            if let Some(policy) = request.sides.get(*side) {
                Scope { side: *side, policy: policy.typed(), action: None, names: &[] }.walk(expr, &mut collector);
            }
        }
        let mut pool = Self { texts: Vec::new(), groups: Vec::new(), of: BTreeMap::new() };
        for mut group in collector.groups.into_iter().flatten() {
            if !group.places.iter().any(|place| matches!(place, Place::Var(..))) {
                continue;
            }
            group.places.sort();
            let index = pool.groups.len();
            for place in &group.places {
                pool.of.insert(place.clone(), index);
            }
            for text in group.representatives(gaps) {
                let at = pool.add(&text);
                group.texts.push(at);
            }
            pool.groups.push(group);
        }
        pool
    }
}

impl Group {
    fn is_open(&self) -> bool {
        self.places.iter().any(|place| !matches!(place, Place::Var(..)))
    }

    fn representatives(&mut self, gaps: &mut Vec<Gap>) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for literal in &self.literals {
            if !texts.iter().any(|text| *text == **literal) {
                texts.push(literal.to_string());
            }
        }
        if !self.is_open() {
            return texts;
        }
        let place = self.odd.unwrap_or_default();
        let mut complain = |why: &str| gaps.push(Gap { span: place, why: why.to_owned() });
        if self.odd.is_some() {
            complain("a text that the state holds is searched for in another text");
        }
        if self.places.iter().any(|place| matches!(place, Place::Other(_))) {
            complain("the state holds a whole text of the call or of its answer, or is compared with one");
        }
        for literal in &self.literals {
            let test = Test::equals(Arc::clone(literal));
            if !self.tests.contains(&test) {
                self.tests.push(test);
            }
        }
        let name = self.places.iter().find_map(|place| match place {
            Place::Arg(name) => Some(name.to_string()),
            _ => None,
        });
        let copies = if self.compared { self.places.len() } else { 1 };
        let mut vectors = Vec::new();
        let complete = vectors_of(&self.tests, &mut Vec::new(), &mut vectors);
        for vector in vectors {
            let signs: signs::Signs<'_> = self.tests.iter().zip(vector.iter().copied()).collect();
            for text in signs::texts(&signs, name.as_deref().unwrap_or(""), &[], copies) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        if !complete || texts.len() > MAX_TEXTS {
            complain("the state holds texts of calls that too many rules tell apart");
            texts.truncate(MAX_TEXTS);
        }
        texts
    }
}

/// Every combination of answers that some text gives; false if there are too many.
fn vectors_of(tests: &[Test], given: &mut Vec<bool>, found: &mut Vec<Vec<bool>>) -> bool {
    let signs: signs::Signs<'_> = tests.iter().zip(given.iter().copied()).collect();
    if !signs::satisfiable(&signs) {
        return true;
    }
    if given.len() == tests.len() {
        found.push(given.clone());
        return found.len() <= MAX_TEXTS;
    }
    for answer in [false, true] {
        given.push(answer);
        let complete = vectors_of(tests, given, found);
        given.pop();
        if !complete {
            return false;
        }
    }
    true
}

/// Groups of places, joined as the rules are read.
#[derive(Default)]
struct Collector {
    groups: Vec<Option<Group>>,
}

impl Collector {
    fn policy(&mut self, side: usize, policy: &Policy, request: &Request<'_>) {
        for (at, var) in policy.state.iter().enumerate() {
            if let Value::Str(init) = &var.init {
                let group = self.group(&Place::Var(side, at));
                self.with(group, |group| group.literals.push(Arc::clone(init)));
            }
        }
        for invariant in &policy.invariants {
            Scope { side, policy, action: None, names: &[] }.walk(&invariant.expr, self);
        }
        for action in &policy.actions {
            let mut names: Vec<(&str, &str)> = Vec::new();
            let reads_tool = |expr: &Expr| matches!(expr.kind, ExprKind::Context(Context::Tool | Context::Upstream));
            if action.expressions().any(|expr| expr.any(&reads_tool)) {
                let tools = request.tools.iter().filter(|tool| action.matches(&tool.name));
                names.extend(tools.map(|tool| (tool.name.as_str(), tool.upstream.as_str())));
            }
            let scope = Scope { side, policy, action: Some(action), names: &names };
            for expr in action.expressions() {
                scope.walk(expr, self);
            }
            for assignment in action.effect.iter().chain(&action.on_result) {
                if policy.var(assignment.variable).is_some_and(|var| var.ty == Type::Str) {
                    let place = Place::Var(side, assignment.variable.0 as usize);
                    let mut group = self.group(&place);
                    for leaf in scope.leaves(&assignment.expr) {
                        match leaf {
                            Leaf::Literal(text) => self.with(group, |group| group.literals.push(text)),
                            Leaf::Place(other) => group = self.join(&place, &other),
                        }
                    }
                }
            }
        }
    }

    fn group(&mut self, place: &Place) -> usize {
        let known = |group: &Option<Group>| group.as_ref().is_some_and(|group| group.places.contains(place));
        if let Some(at) = self.groups.iter().position(known) {
            return at;
        }
        self.groups.push(Some(Group { places: vec![place.clone()], ..Group::default() }));
        self.groups.len() - 1
    }

    fn with(&mut self, group: usize, change: impl FnOnce(&mut Group)) {
        if let Some(Some(group)) = self.groups.get_mut(group) {
            change(group);
        }
    }

    fn join(&mut self, left: &Place, right: &Place) -> usize {
        let (left, right) = (self.group(left), self.group(right));
        if left == right {
            return left;
        }
        let (into, from) = (left.min(right), left.max(right));
        if let Some(other) = self.groups.get_mut(from).and_then(Option::take) {
            self.with(into, |group| {
                group.places.extend(other.places);
                group.literals.extend(other.literals);
                group.compared |= other.compared;
                group.odd = group.odd.or(other.odd);
                for test in other.tests {
                    if !group.tests.contains(&test) {
                        group.tests.push(test);
                    }
                }
            });
        }
        into
    }

    fn test(&mut self, leaf: &Leaf, test: Test) {
        if let Leaf::Place(place) = leaf
            && test.constant().is_none()
        {
            let group = self.group(place);
            self.with(group, |group| {
                if !group.tests.contains(&test) {
                    group.tests.push(test);
                }
            });
        }
    }
}

#[derive(Clone, Debug)]
enum Leaf {
    Literal(Arc<str>),
    Place(Place),
}

/// Where an expression stands.
struct Scope<'p> {
    side: usize,
    policy: &'p Policy,
    action: Option<&'p Action>,
    /// Tools and upstreams that the names may stand for.
    names: &'p [(&'p str, &'p str)],
}

impl Scope<'_> {
    fn leaves(&self, expr: &Expr) -> Vec<Leaf> {
        match &expr.kind {
            ExprKind::Str(text) => vec![Leaf::Literal(Arc::clone(text))],
            ExprKind::State(id) => vec![Leaf::Place(Place::Var(self.side, id.0 as usize))],
            ExprKind::Arg(id) => self.arg(*id).into_iter().map(|name| Leaf::Place(Place::Arg(name))).collect(),
            ExprKind::Context(Context::Tool) => {
                self.names.iter().map(|(tool, _)| Leaf::Literal((*tool).into())).collect()
            }
            ExprKind::Context(Context::Upstream) => {
                self.names.iter().map(|(_, upstream)| Leaf::Literal((*upstream).into())).collect()
            }
            ExprKind::Context(Context::Result) => vec![Leaf::Place(Place::Answer(Context::Result))],
            ExprKind::Context(other) => vec![Leaf::Place(Place::Other(*other))],
            ExprKind::Ite(three) => {
                let [_, a, b] = three.as_ref();
                [self.leaves(a), self.leaves(b)].concat()
            }
            _ => Vec::new(),
        }
    }

    fn arg(&self, id: ArgId) -> Option<Arc<str>> {
        Some(Arc::clone(&self.action?.arg(id)?.name))
    }

    fn walk(&self, expr: &Expr, into: &mut Collector) {
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Compare(first, rest) => {
                let mut left = first.as_ref();
                for (op, right) in rest {
                    if matches!(op, CompareOp::Eq | CompareOp::Ne) && left.ty == Type::Str {
                        self.pair(left, right, Relation::Equal, None, into);
                        self.pair(right, left, Relation::Equal, None, into);
                    }
                    left = right;
                }
            }
            ExprKind::Contains(pair) => self.search(node, pair, Relation::Contains, into),
            ExprKind::StartsWith(pair) => self.search(node, pair, Relation::Prefix, into),
            ExprKind::EndsWith(pair) => self.search(node, pair, Relation::Suffix, into),
            ExprKind::Matches(subject, list) | ExprKind::Member(subject, list) => {
                let texts = self.policy.list(*list).map(|list| list.texts.as_slice()).unwrap_or_default();
                let texts: Vec<Arc<str>> = texts.iter().map(|(text, _)| Arc::clone(text)).collect();
                let matches = matches!(node.kind, ExprKind::Matches(..));
                for leaf in self.leaves(subject) {
                    let test = if matches { Test::Contains(texts.clone()) } else { Test::Equals(texts.clone()) };
                    into.test(&leaf, test);
                }
            }
            _ => {}
        });
    }

    fn search(&self, node: &Expr, pair: &[Expr; 2], relation: Relation, into: &mut Collector) {
        let [subject, needle] = pair;
        self.pair(subject, needle, relation, Some(node.span), into);
    }

    fn pair(&self, left: &Expr, right: &Expr, relation: Relation, odd: Option<Span>, into: &mut Collector) {
        for left in self.leaves(left) {
            for right in self.leaves(right) {
                match (&left, &right) {
                    (_, Leaf::Literal(text)) => into.test(&left, relation.test(text)),
                    (Leaf::Place(a), Leaf::Place(b)) => {
                        let group = into.join(a, b);
                        into.with(group, |group| {
                            group.compared = true;
                            group.odd = group.odd.or(odd);
                        });
                    }
                    (Leaf::Literal(whole), Leaf::Place(place)) => {
                        if let Some(test) = relation.part_test(whole) {
                            into.test(&right, test);
                        } else {
                            let group = into.group(place);
                            into.with(group, |group| group.odd = group.odd.or(odd));
                        }
                    }
                }
            }
        }
    }
}

/// The place of a subject.
pub(super) fn place(subject: Subject, arg: impl Fn(usize) -> Option<Arc<str>>) -> Option<Place> {
    Some(match subject {
        Subject::Arg(at) => Place::Arg(arg(at)?),
        Subject::Result => Place::Answer(Context::Result),
        Subject::Payload => Place::Other(Context::Payload),
        Subject::CallText => Place::Other(Context::CallText),
        Subject::ResultText => Place::Other(Context::ResultText),
    })
}
