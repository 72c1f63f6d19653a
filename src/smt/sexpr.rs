//! The solver's answers, SMT-LIB text, as terms over the system's variables. Knows no solver.

use crate::model::Term;
use std::collections::HashMap;

/// Deeper answers are refused, not followed.
const MAX_DEPTH: usize = 400;
/// An answer that would have more nodes with its abbreviations written out is of no use to a person.
const MAX_NODES: usize = 20_000;

#[derive(Clone, Debug)]
enum Node {
    Leaf(String),
    List(Vec<Node>),
}

/// The definition of the predicate `name` in an answer such as
/// `(forall ((A Int) (B Bool)) (= (name A B) (and B (<= A 3))))`: argument n is variable n.
pub(super) fn definition(answer: &str, name: &str) -> Option<Term> {
    let node = read(answer)?;
    let mut scope = Vec::new();
    let (arguments, body, scope) = find(&node, name, &mut scope)?;
    let mut names: HashMap<String, Meaning> = HashMap::new();
    for (at, argument) in arguments.iter().enumerate() {
        let Node::Leaf(argument) = argument else { return None };
        names.insert(argument.clone(), (Term::Var(at), 1));
    }
    for bindings in scope {
        names = bound(&bindings, &names)?;
    }
    term(body, &names, MAX_DEPTH).map(|(term, _)| term)
}

/// A quantifier-free formula over constants that `leaf` knows by name.
pub(super) fn formula(text: &str, leaf: &dyn Fn(&str) -> Option<Term>) -> Option<Term> {
    let node = read(text)?;
    let mut names = HashMap::new();
    leaves(&node, &mut |name| {
        if let Some(term) = leaf(name) {
            names.insert(name.to_owned(), (term, 1));
        }
    });
    term(&node, &names, MAX_DEPTH).map(|(term, _)| term)
}

/// A term and its number of nodes.
type Meaning = (Term, usize);

fn leaves(node: &Node, with: &mut dyn FnMut(&str)) {
    match node {
        Node::Leaf(name) => with(name),
        Node::List(all) => all.iter().for_each(|one| leaves(one, with)),
    }
}

fn read(text: &str) -> Option<Node> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '(' => {
                open.push(Vec::new());
                1
            }
            ')' => {
                let list = open.pop()?;
                open.last_mut()?.push(Node::List(list));
                1
            }
            _ => {
                let quoted = first == '|';
                let end = if quoted {
                    rest.char_indices().skip(1).find(|(_, c)| *c == '|').map(|(at, _)| at + 1)?
                } else {
                    rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len())
                };
                let leaf = rest.get(..end)?.trim_matches('|');
                open.last_mut()?.push(Node::Leaf(leaf.to_owned()));
                end
            }
        };
        if open.len() > MAX_DEPTH * 2 {
            return None;
        }
        rest = rest.get(taken..)?.trim_start();
    }
    match (open.pop()?, open.is_empty()) {
        (mut top, true) if top.len() == 1 => top.pop(),
        _ => None,
    }
}

type Found<'n> = (&'n [Node], &'n Node, Vec<Vec<(String, &'n Node)>>);

/// The equation of the predicate, and the `let`s around it.
fn find<'n>(node: &'n Node, name: &str, scope: &mut Vec<Vec<(String, &'n Node)>>) -> Option<Found<'n>> {
    let Node::List(all) = node else { return None };
    match all.as_slice() {
        [Node::Leaf(head), a, b] if head == "=" => {
            if let Node::List(application) = a
                && let [Node::Leaf(head), arguments @ ..] = application.as_slice()
                && head == name
            {
                return Some((arguments, b, scope.clone()));
            }
            None
        }
        [Node::Leaf(head), Node::List(bindings), body] if head == "let" => {
            scope.push(pairs(bindings)?);
            let found = find(body, name, scope);
            scope.pop();
            found
        }
        [Node::Leaf(head), _, body] if head == "forall" => find(body, name, scope),
        [Node::Leaf(head), body, ..] if head == "!" => find(body, name, scope),
        [Node::Leaf(head), all @ ..] if head == "and" => all.iter().find_map(|one| find(one, name, scope)),
        _ => None,
    }
}

fn pairs<'n>(bindings: &'n [Node]) -> Option<Vec<(String, &'n Node)>> {
    let pair = |binding: &'n Node| match binding {
        Node::List(pair) => match pair.as_slice() {
            [Node::Leaf(name), value] => Some((name.clone(), value)),
            _ => None,
        },
        Node::Leaf(_) => None,
    };
    bindings.iter().map(pair).collect()
}

fn bound(bindings: &[(String, &Node)], names: &HashMap<String, Meaning>) -> Option<HashMap<String, Meaning>> {
    let mut inner = names.clone();
    for (name, value) in bindings {
        // All bindings of one `let` see the names outside of it.
        inner.insert(name.clone(), term(value, names, MAX_DEPTH)?);
    }
    Some(inner)
}

fn term(node: &Node, names: &HashMap<String, Meaning>, depth: usize) -> Option<Meaning> {
    let depth = depth.checked_sub(1)?;
    let all = match node {
        Node::Leaf(leaf) => return leaf_term(leaf, names),
        Node::List(all) => all.as_slice(),
    };
    match all {
        [Node::Leaf(head), Node::List(bindings), body] if head == "let" => {
            let inner = bound(&pairs(bindings)?, names)?;
            term(body, &inner, depth)
        }
        [Node::Leaf(head), body, ..] if head == "!" => term(body, names, depth),
        [Node::Leaf(head), operands @ ..] => {
            let mut size = 1_usize;
            let mut terms = Vec::new();
            for operand in operands {
                let (operand, own) = term(operand, names, depth)?;
                size = size.checked_add(own).filter(|size| *size <= MAX_NODES)?;
                terms.push(operand);
            }
            Some((applied(head, terms)?, size))
        }
        _ => None,
    }
}

fn leaf_term(leaf: &str, names: &HashMap<String, Meaning>) -> Option<Meaning> {
    if let Some(known) = names.get(leaf) {
        return Some(known.clone());
    }
    let term = match leaf {
        "true" => Term::TRUE,
        "false" => Term::FALSE,
        number => Term::Int(number.parse().ok()?),
    };
    Some((term, 1))
}

fn applied(head: &str, operands: Vec<Term>) -> Option<Term> {
    let chain = |make: fn(Term, Term) -> Term| {
        let neighbours = operands.iter().zip(operands.iter().skip(1));
        Term::and(neighbours.map(|(a, b)| make(a.clone(), b.clone())))
    };
    let fold = |make: fn(Term, Term) -> Term| operands.iter().cloned().reduce(make);
    Some(match (head, operands.as_slice()) {
        ("and", all) => Term::and(all.iter().cloned()),
        ("or", all) => Term::or(all.iter().cloned()),
        ("not", [inner]) => Term::not(inner.clone()),
        ("=>", [a, b]) => Term::implies(a.clone(), b.clone()),
        ("xor", [a, b]) => Term::not(Term::eq(a.clone(), b.clone())),
        ("ite", [condition, then, other]) => Term::ite(condition.clone(), then.clone(), other.clone()),
        ("=", _) => chain(Term::eq),
        ("distinct", [a, b]) => Term::not(Term::eq(a.clone(), b.clone())),
        ("<=", _) => chain(Term::le),
        ("<", _) => chain(Term::lt),
        (">=", _) => chain(|a, b| Term::le(b, a)),
        (">", _) => chain(|a, b| Term::lt(b, a)),
        ("-", [inner]) => Term::neg(inner.clone()),
        ("+", _) => fold(Term::add)?,
        ("-", _) => fold(Term::sub)?,
        ("*", _) => fold(Term::mul)?,
        // Of a positive number the solver's division and ours agree.
        ("div", [a, Term::Int(by)]) if *by > 0 => Term::floor_div(a.clone(), Term::Int(*by)),
        ("mod", [a, Term::Int(by)]) if *by > 0 => Term::modulo(a.clone(), Term::Int(*by)),
        ("div", [a, Term::Int(by)]) if *by < 0 => Term::neg(Term::floor_div(a.clone(), Term::Int(by.checked_neg()?))),
        ("mod", [a, Term::Int(by)]) if *by < 0 => Term::modulo(a.clone(), Term::Int(by.checked_neg()?)),
        ("divisible", _) => return None,
        _ => return None,
    })
}
