//! Holds every class with a witness against the real evaluator, in the initial state. Repairs nothing.

use super::Request;
use crate::eval::{Call, Policy, Rule, RuleEvidence};
use crate::ir::Value;
use crate::model::{Class, Gap, Label, NoValue, System, Term};
use std::collections::HashMap;

pub(super) fn check(request: &Request<'_>, system: &mut System) {
    let initial = system.initial();
    let mut wrong = Vec::new();
    for (at, class) in system.classes.iter().enumerate() {
        if !class.witnessed {
            continue;
        }
        for (side, policy) in request.sides.iter().enumerate() {
            if let Some(label) = differs(system, class, side, policy, &initial) {
                wrong.push((at, label));
            }
        }
    }
    for (at, label) in wrong {
        let policy = request.sides.get(label.side);
        let span = policy.and_then(|policy| policy.expression(label.rule)).map(|expr| expr.span).unwrap_or_default();
        if let Some(class) = system.classes.get_mut(at) {
            class.witnessed = false;
        }
        system.gaps.push(Gap { span, why: "internal: the model and the evaluator differ on a call".to_owned() });
    }
}

/// A rule of which the model and the evaluator think differently.
fn differs(system: &System, class: &Class, side: usize, policy: &Policy, initial: &[i64]) -> Option<Label> {
    let tool = system.tools.get(class.tool()?)?;
    let sample = |name: &str| match class.call.get(name) {
        Some(crate::json::Json::Number(number)) => number.as_i64(),
        _ => None,
    };
    let params: Vec<i64> = class.params.iter().map(|param| sample(&param.name).unwrap_or(0)).collect();
    let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &class.call };
    let trace: HashMap<Rule, RuleEvidence> =
        policy.session().trace(&call).into_iter().map(|evidence| (evidence.rule, evidence)).collect();
    let guards = class.guards.iter().filter(|guard| guard.side == side);
    let effects = class.effect.iter().filter(|assign| assign.side == side);
    let rules =
        guards.map(|guard| (guard.label, &guard.term)).chain(effects.map(|assign| (assign.label, &assign.term)));
    for (label, term) in rules {
        let Some(label) = label else { continue };
        let real = trace.get(&label.rule).and_then(|evidence| evidence.value.as_ref());
        if !agrees(system, term, real, initial, &params) {
            return Some(label);
        }
    }
    None
}

fn agrees(system: &System, term: &Term, real: Option<&Value>, state: &[i64], params: &[i64]) -> bool {
    match (term.value(state, params), real) {
        // Nothing is known beyond 64 bits.
        (Err(NoValue::TooLarge), _) => true,
        (Err(NoValue::Undefined), real) => real.is_none(),
        (Ok(value), Some(Value::Bool(real))) => (value != 0) == *real,
        (Ok(value), Some(Value::Int(real))) => real.as_i64() == Some(value),
        (Ok(value), Some(Value::Str(real))) => {
            let text = usize::try_from(value).ok().and_then(|at| system.texts.get(at));
            text.is_some_and(|text| **text == **real)
        }
        (Ok(_), None) => false,
    }
}
