//! What policies mean, written as plainly as can be: recursion over the written tree, exact integers,
//! owned texts, every invariant judged after every call.

use num_bigint::{BigInt, Sign as BigSign};
use praxiom::eval::{Failure, Rule};
use praxiom::ir::IntError;
use praxiom::syntax::ast::{CompareOp, Expr, ExprKind, ProductOp, Sign, SumOp};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(BigInt),
    Str(String),
}

pub(crate) type Names = BTreeMap<String, Value>;

/// The values of a chain's operands are compared, added or multiplied from the left, one by one.
pub(crate) fn evaluate(expr: &Expr, names: &Names) -> Result<Value, IntError> {
    let run = |expr: &Expr| evaluate(expr, names);
    Ok(match &expr.kind {
        ExprKind::Error => panic!("not well-typed"),
        ExprKind::List(_) => panic!("stands only in `matches` and `member`"),
        ExprKind::Bool(value) => Value::Bool(*value),
        ExprKind::Int { digits, radix } => Value::Int(BigInt::parse_bytes(digits.as_bytes(), *radix).unwrap()),
        ExprKind::Text(text) => Value::Str(text.clone()),
        ExprKind::Name(name) => names[name].clone(),
        ExprKind::Not(inner) => Value::Bool(!bool(&run(inner)?)),
        ExprKind::Sign(Sign::Plus, inner) => run(inner)?,
        ExprKind::Sign(Sign::Minus, inner) => Value::Int(-int(run(inner)?)),
        ExprKind::And(all) => {
            for operand in all {
                if !bool(&run(operand)?) {
                    return Ok(Value::Bool(false));
                }
            }
            Value::Bool(true)
        }
        ExprKind::Or(all) => {
            for operand in all {
                if bool(&run(operand)?) {
                    return Ok(Value::Bool(true));
                }
            }
            Value::Bool(false)
        }
        ExprKind::Compare(first, rest) => {
            let mut left = run(first)?;
            for (op, right) in rest {
                let right = run(right)?;
                if !compare(*op, &left, &right) {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Value::Bool(true)
        }
        ExprKind::Sum(first, rest) => {
            let mut total = int(run(first)?);
            for (op, right) in rest {
                let right = int(run(right)?);
                total = within_limit(match op {
                    SumOp::Add => total + right,
                    SumOp::Sub => total - right,
                })?;
            }
            Value::Int(total)
        }
        ExprKind::Product(first, rest) => {
            let mut total = int(run(first)?);
            for (op, right) in rest {
                let right = int(run(right)?);
                total = match op {
                    ProductOp::Mul => within_limit(total * right)?,
                    _ if right.sign() == BigSign::NoSign => return Err(IntError::DivisionByZero),
                    ProductOp::FloorDiv => floor_div(&total, &right),
                    ProductOp::Mod => &total - floor_div(&total, &right) * &right,
                };
            }
            Value::Int(total)
        }
        ExprKind::Call { name, args, .. } => match (name.as_str(), args.as_slice()) {
            ("implies", [a, b]) => Value::Bool(!bool(&run(a)?) || bool(&run(b)?)),
            ("ite", [c, a, b]) => run(if bool(&run(c)?) { a } else { b })?,
            ("startswith", [s, p]) => Value::Bool(str(run(s)?).starts_with(&str(run(p)?))),
            ("endswith", [s, p]) => Value::Bool(str(run(s)?).ends_with(&str(run(p)?))),
            ("contains", [s, sub]) => Value::Bool(str(run(s)?).contains(&str(run(sub)?))),
            ("matches", [s, list]) => {
                let subject = str(run(s)?);
                Value::Bool(texts(list).any(|text| subject.contains(text)))
            }
            ("member", [x, list]) => {
                let subject = str(run(x)?);
                Value::Bool(texts(list).any(|text| subject == text))
            }
            _ => panic!("no such function: {name}"),
        },
    })
}

fn texts(list: &Expr) -> impl Iterator<Item = &str> {
    let ExprKind::List(items) = &list.kind else { panic!("not a list") };
    items.iter().map(|item| match &item.kind {
        ExprKind::Text(text) => text.as_str(),
        _ => panic!("not a text"),
    })
}

fn bool(value: &Value) -> bool {
    if let Value::Bool(value) = value { *value } else { panic!("{value:?} is no bool") }
}

fn int(value: Value) -> BigInt {
    if let Value::Int(value) = value { value } else { panic!("{value:?} is no int") }
}

fn str(value: Value) -> String {
    if let Value::Str(value) = value { value } else { panic!("{value:?} is no str") }
}

fn compare(op: CompareOp, left: &Value, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        _ => None,
    };
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Lt => order.unwrap().is_lt(),
        CompareOp::Le => order.unwrap().is_le(),
        CompareOp::Gt => order.unwrap().is_gt(),
        CompareOp::Ge => order.unwrap().is_ge(),
    }
}

fn within_limit(value: BigInt) -> Result<BigInt, IntError> {
    if value.magnitude().to_string().len() > 4300 { Err(IntError::TooLong) } else { Ok(value) }
}

fn floor_div(left: &BigInt, right: &BigInt) -> BigInt {
    let (quotient, rest) = (left / right, left % right);
    let inexact = rest.sign() != BigSign::NoSign;
    if inexact && rest.sign() != right.sign() { quotient - 1 } else { quotient }
}

/// An action that matches the tools of its glob, a text with at most one `*`.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) glob: &'static str,
    pub(crate) guards: Vec<Expr>,
    pub(crate) effect: BTreeMap<&'static str, Expr>,
    pub(crate) on_result: BTreeMap<&'static str, Expr>,
}

impl Action {
    fn matches(&self, tool: &str) -> bool {
        match self.glob.split_once('*') {
            Some((head, tail)) => {
                tool.len() >= head.len() + tail.len() && tool.starts_with(head) && tool.ends_with(tail)
            }
            None => self.glob == tool,
        }
    }
}

/// A session of a policy of these rules.
#[derive(Clone, Debug)]
pub(crate) struct Session<'m> {
    pub(crate) invariants: &'m [Expr],
    pub(crate) actions: &'m [Action],
    pub(crate) state: Names,
    pub(crate) fault: Option<(Rule, IntError)>,
}

impl Session<'_> {
    /// Everything that fails, in the order of the language's description; nothing if the call is allowed.
    /// `call`: the call's own names.
    pub(crate) fn check(&mut self, tool: &str, call: &Names) -> Vec<Failure> {
        if let Some((rule, reason)) = self.fault {
            return vec![Failure::Faulted { rule, reason: reason.into() }];
        }
        let names = joined(&self.state, call);
        let (mut errors, mut guards, mut invariants) = (Vec::new(), Vec::new(), Vec::new());
        let matching = || self.actions.iter().enumerate().filter(|(_, action)| action.matches(tool));
        for (action, rules) in matching() {
            for (guard, expr) in rules.guards.iter().enumerate() {
                match evaluate(expr, &names) {
                    Ok(Value::Bool(true)) => {}
                    Ok(_) => guards.push(Failure::Guard { action, guard }),
                    Err(reason) => {
                        errors.push(Failure::Evaluation { rule: Rule::Guard { action, guard }, reason: reason.into() });
                    }
                }
            }
        }
        let mut given: BTreeMap<&str, Value> = BTreeMap::new();
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        for (action, rules) in matching() {
            for (assignment, (variable, expr)) in rules.effect.iter().enumerate() {
                if unknown.contains(variable) && reads(expr, variable) {
                    continue;
                }
                let mut names = names.clone();
                names.extend(given.get(variable).map(|earlier| ((*variable).to_owned(), earlier.clone())));
                let value = evaluate(expr, &names);
                if let Err(reason) = value {
                    errors
                        .push(Failure::Evaluation { rule: Rule::Effect { action, assignment }, reason: reason.into() });
                    unknown.insert(*variable);
                }
                given.extend(value.ok().map(|value| (*variable, value)));
            }
        }
        let mut after = self.state.clone();
        for (variable, value) in &given {
            after.insert((*variable).to_owned(), value.clone());
        }
        for (at, expr) in self.invariants.iter().enumerate() {
            if unknown.iter().any(|variable| reads(expr, variable)) {
                continue;
            }
            match evaluate(expr, &after) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => invariants.push(Failure::Invariant(at)),
                Err(reason) => errors.push(Failure::Evaluation { rule: Rule::Invariant(at), reason: reason.into() }),
            }
        }
        let failures = [errors, guards, invariants].concat();
        if failures.is_empty() {
            self.state = after;
        }
        failures
    }

    /// Takes in an answer; `call` has the `result` too.
    pub(crate) fn observe(&mut self, tool: &str, call: &Names) {
        let names = joined(&self.state, call);
        let mut given: BTreeMap<&str, Value> = BTreeMap::new();
        for (action, rules) in self.actions.iter().enumerate().filter(|(_, action)| action.matches(tool)) {
            for (assignment, (variable, expr)) in rules.on_result.iter().enumerate() {
                let mut names = names.clone();
                if let Some(earlier) = given.get(variable) {
                    names.insert((*variable).to_owned(), earlier.clone());
                }
                match evaluate(expr, &names) {
                    Ok(value) => drop(given.insert(variable, value)),
                    Err(reason) => {
                        self.fault = Some((Rule::OnResult { action, assignment }, reason));
                        return;
                    }
                }
            }
        }
        self.state.extend(given.into_iter().map(|(variable, value)| (variable.to_owned(), value)));
    }
}

fn joined(state: &Names, call: &Names) -> Names {
    state.iter().chain(call).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn reads(expr: &Expr, name: &str) -> bool {
    let any = |all: &[Expr]| all.iter().any(|expr| reads(expr, name));
    match &expr.kind {
        ExprKind::Name(found) => found == name,
        ExprKind::Not(inner) | ExprKind::Sign(_, inner) => reads(inner, name),
        ExprKind::And(all) | ExprKind::Or(all) | ExprKind::List(all) | ExprKind::Call { args: all, .. } => any(all),
        ExprKind::Compare(first, rest) => reads(first, name) || rest.iter().any(|(_, expr)| reads(expr, name)),
        ExprKind::Sum(first, rest) => reads(first, name) || rest.iter().any(|(_, expr)| reads(expr, name)),
        ExprKind::Product(first, rest) => reads(first, name) || rest.iter().any(|(_, expr)| reads(expr, name)),
        ExprKind::Error | ExprKind::Bool(_) | ExprKind::Int { .. } | ExprKind::Text(_) => false,
    }
}
