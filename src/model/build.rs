//! Builds the transition system of one policy, or of two side by side: rules become terms, texts become classes
//! of calls, each with a real call where one is found. Searches no states.

mod answer;
mod atom;
mod joint;
mod lower;
mod numbers;
mod pool;
mod rules;
mod sample;
mod shape;
mod signs;
mod split;
#[cfg(test)]
mod tests;
mod tool;
mod verify;
mod walk;
mod witness;

use super::universe::ToolName;
use super::{Gap, Invariant, System, Term, Var, VarType};
use crate::eval::Policy;
use crate::ir::{self, Expr, Glob, Value};
use lower::{Atoms, Lowering};
pub(crate) use numbers::critical;
use pool::Pool;
use shape::Shape;
use std::sync::Arc;

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Request<'p> {
    /// One policy, or the old and the new one.
    pub sides: &'p [&'p Policy],
    pub tools: &'p [ToolName],
    /// Events that the caller asks about; see [`super::Class::marks`].
    pub marks: &'p [Mark<'p>],
    /// Conditions over the state of a side; see [`System::watched`].
    pub watched: &'p [(usize, &'p Expr)],
}

/// Calls of some tools, under a condition over the state and the texts of the call.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'p> {
    pub side: usize,
    pub globs: &'p [Glob],
    pub when: Option<&'p Expr>,
    /// The action whose arguments `when` may read: part of one of its rules.
    pub action: Option<usize>,
}

/// The transition system. The same request gives the same system.
#[must_use]
pub fn build(request: &Request<'_>) -> System {
    let mut gaps = Vec::new();
    let pool = Pool::new(request, &mut gaps);
    let mut first = Vec::new();
    let mut vars = Vec::new();
    for (side, policy) in request.sides.iter().enumerate() {
        first.push(vars.len());
        for (at, var) in (0..).zip(&policy.typed().state) {
            vars.push(variable(request, side, at, var, &pool, &mut gaps));
        }
    }
    let mut invariants = Vec::new();
    for (side, policy) in request.sides.iter().enumerate() {
        for (index, invariant) in policy.typed().invariants.iter().enumerate() {
            let term = of_state(request, side, &first, &invariant.expr, &pool, &mut gaps);
            invariants.push(Invariant { side, index, term });
        }
    }
    let watched =
        request.watched.iter().map(|(side, expr)| of_state(request, *side, &first, expr, &pool, &mut gaps)).collect();
    let mut system = System {
        vars,
        texts: pool.texts.clone(),
        tools: Vec::new(),
        classes: Vec::new(),
        invariants,
        fragile: Vec::new(),
        fault: None,
        watched,
        watches: Vec::new(),
        late: Vec::new(),
        gaps,
    };
    for tool in request.tools {
        tool::add(request, tool, &first, &pool, &mut system);
    }
    let partial = |system: &System| {
        let mut outcomes = system.classes.iter().flat_map(|class| &class.outcomes);
        outcomes.any(|outcome| outcome.changes.iter().any(|change| !change.term.is_total()))
    };
    if partial(&system) {
        system.fault = Some(system.vars.len());
        system.vars.push(Var { name: "faulted".into(), ty: VarType::Bool, init: 0, origin: None, capped: false });
    }
    system.look_at_answers();
    verify::check(request, &mut system);
    let mut seen: Vec<Gap> = Vec::new();
    for gap in std::mem::take(&mut system.gaps) {
        if !seen.contains(&gap) {
            seen.push(gap);
        }
    }
    system.gaps = seen;
    system
}

fn variable(request: &Request<'_>, side: usize, at: u32, var: &ir::StateVar, pool: &Pool, gaps: &mut Vec<Gap>) -> Var {
    let (ty, init) = match &var.init {
        Value::Bool(value) => (VarType::Bool, i64::from(*value)),
        Value::Int(value) => {
            let init = value.as_i64().unwrap_or_else(|| {
                gaps.push(Gap { span: var.span, why: "a number beyond 64 bits".to_owned() });
                0
            });
            (VarType::Int, init)
        }
        Value::Str(text) => (VarType::Text, pool.number(text).unwrap_or(0)),
    };
    let name: Arc<str> = match (request.sides.len(), side) {
        (1, _) => Arc::clone(&var.name),
        (_, 0) => format!("old {}", var.name).into(),
        _ => format!("new {}", var.name).into(),
    };
    Var { name, ty, init, origin: Some((side, ir::VarId(at))), capped: false }
}

fn of_state(
    request: &Request<'_>,
    side: usize,
    first: &[usize],
    expr: &Expr,
    pool: &Pool,
    gaps: &mut Vec<Gap>,
) -> Term {
    let (Some(policy), Some(first)) = (request.sides.get(side), first.get(side)) else { return Term::FALSE };
    let shape = Shape { args: Vec::new(), fits: Vec::new(), omitted: Vec::new() };
    let mut lowering = Lowering {
        side,
        policy: policy.typed(),
        first: *first,
        pool,
        tool: "",
        upstream: "",
        shape: &shape,
        action: None,
        given: Vec::new(),
        atoms: &mut Atoms::default(),
        gaps,
    };
    lowering.term(expr)
}
