//! A trace is what the evaluator says: every step is replayed with real calls and answers, and the states are
//! compared. A step that the evaluator decides otherwise is a bug of ours, never a finding.

use crate::eval::{Answer, Call, Policy, Session, Texts, Value};
use crate::ir;
use crate::json::Json;
use crate::model::{Kind, Step, System, Term};
use crate::text::{Row, Trace};
use serde_json::Map;

/// What the evaluator made of the steps.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) trace: Trace,
    /// The session at the end, before `last`.
    pub(super) session: Session,
    /// The model's state at the same place.
    pub(super) state: Vec<i64>,
}

/// A call in the air, and its row.
struct Pending {
    class: usize,
    arguments: Json,
    call: usize,
}

/// Replays the steps under the policy of one side, and then decides `last` without going on. `Err` says where the
/// evaluator disagrees.
pub(super) fn replay(
    policy: &Policy,
    side: usize,
    system: &System,
    steps: &[Step],
    last: Option<&(usize, Vec<i64>)>,
    shortest: bool,
) -> Result<Replayed, String> {
    let mut session = policy.session();
    let mut state = system.initial();
    let mut rows: Vec<Row> = Vec::new();
    let mut pending: Vec<Pending> = Vec::new();
    let initial = variables(policy, &session);
    let mut calls = 0;
    for (at, step) in steps.iter().enumerate() {
        let class = system.classes.get(step.class).ok_or("a step of no class")?;
        let outcome = class.outcomes.get(step.outcome).ok_or("a step of no outcome")?;
        if !class.witnessed || !outcome.witnessed {
            return Err(format!("step {}: no such call or answer is known", at + 1));
        }
        let before = session.clone();
        match class.kind {
            Kind::Call { tool } => {
                calls += 1;
                let tool = system.tools.get(tool).ok_or("a call of no tool")?;
                let arguments = class.arguments(&step.params);
                let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &arguments };
                let verdict = session.check(&call);
                if !verdict.decision.permits() {
                    let reason = verdict.reason().unwrap_or_default();
                    return Err(format!("step {}: `{}` is denied: {reason}", at + 1, tool.name));
                }
                let answer = outcome.answer.as_ref().map(|answer| &answer.0);
                if let Some(answer) = answer {
                    session.observe(&call, Answer::Result(answer));
                }
                let mut row = row(policy, &before, &session, &tool.name, &tool.upstream, &arguments);
                row.verdict = verdict.decision.as_str();
                row.result = answer.map(serde_json::Value::from);
                rows.push(row);
                pending.push(Pending { class: step.class, arguments, call: calls });
            }
            Kind::Answer { .. } => {
                // The last call that such an answer can come to: it reads best.
                let answers = |call: &Pending| {
                    let mut late = system.late.iter().filter(|late| late.answer == step.class);
                    late.find(|late| late.call == call.class).map(|late| &late.outcome)
                };
                let position =
                    pending.iter().rposition(|call| answers(call).is_some()).ok_or("an answer to no call")?;
                let call = pending.remove(position);
                let answer = answers(&call).and_then(|late| late.answer.as_ref()).ok_or("an answer without a text")?;
                let class = system.classes.get(call.class).ok_or("an answer to no class")?;
                let tool = class.tool().and_then(|tool| system.tools.get(tool)).ok_or("an answer to no tool")?;
                let made = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &call.arguments };
                session.observe(&made, Answer::Result(&answer.0));
                // Nothing happened in between: the answer belongs to the call's own row.
                if call.call == calls
                    && let Some(last) = rows.last_mut()
                    && last.answers.is_none()
                    && last.result.is_none()
                {
                    let first = variables_before(last);
                    last.result = Some(serde_json::Value::from(&answer.0));
                    last.state = variables(policy, &session);
                    last.changed = changed(&first, &last.state);
                } else {
                    let mut row = row(policy, &before, &session, &tool.name, &tool.upstream, &call.arguments);
                    row.result = Some(serde_json::Value::from(&answer.0));
                    row.answers = Some(call.call);
                    rows.push(row);
                }
            }
        }
        state = next(system, &state, step).ok_or_else(|| format!("step {}: the model has no next state", at + 1))?;
        agree(system, side, &state, &session).map_err(|what| format!("step {}: {what}", at + 1))?;
    }
    if let Some((class, params)) = last {
        let class = system.classes.get(*class).ok_or("a call of no class")?;
        let tool = class.tool().and_then(|tool| system.tools.get(tool)).ok_or("a call of no tool")?;
        let arguments = class.arguments(params);
        let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &arguments };
        let mut after = session.clone();
        let verdict = after.check(&call);
        let mut row = row(policy, &session, &after, &tool.name, &tool.upstream, &arguments);
        row.verdict = verdict.decision.as_str();
        row.reason = verdict.reason_with(Texts::Shown);
        let expected = value(&system.allowed(class, Some(side)), &state, params);
        if expected != verdict.decision.permits() {
            return Err(format!("the call of `{}` is decided otherwise than in the model", tool.name));
        }
        rows.push(row);
    }
    let trace = Trace { rows, shortest, initial, end: Vec::new(), near_miss: None };
    Ok(Replayed { trace, session, state })
}

fn row(policy: &Policy, before: &Session, after: &Session, tool: &str, upstream: &str, arguments: &Json) -> Row {
    let state = variables(policy, after);
    Row {
        tool: tool.to_owned(),
        upstream: upstream.to_owned(),
        arguments: serde_json::Value::from(arguments),
        result: None,
        answers: None,
        verdict: "allow",
        reason: None,
        changed: changed(&variables(policy, before), &state),
        state,
    }
}

fn variables_before(row: &Row) -> Map<String, serde_json::Value> {
    let mut state = row.state.clone();
    for (name, before, _) in &row.changed {
        state.insert(name.clone(), before.clone());
    }
    state
}

type State = Map<String, serde_json::Value>;

fn changed(before: &State, after: &State) -> Vec<(String, serde_json::Value, serde_json::Value)> {
    let differs = |(name, new): (&String, &serde_json::Value)| {
        let old = before.get(name)?;
        (old != new).then(|| (name.clone(), old.clone(), new.clone()))
    };
    after.iter().filter_map(differs).collect()
}

/// Every variable of the session by name.
pub(super) fn variables(policy: &Policy, session: &Session) -> State {
    let named = policy.typed().state.iter().zip(session.state());
    named
        .map(|(var, value)| (var.name.to_string(), serde_json::to_value(value).unwrap_or(serde_json::Value::Null)))
        .collect()
}

/// The model's state after a step.
pub(super) fn next(system: &System, state: &[i64], step: &Step) -> Option<Vec<i64>> {
    let class = system.classes.get(step.class)?;
    let outcome = class.outcomes.get(step.outcome)?;
    let mut mid = state.to_vec();
    for (var, term) in class.committed() {
        *mid.get_mut(var)? = term.value(state, &step.params).ok()?;
    }
    let mut after = mid.clone();
    let mut faulted = false;
    for change in &outcome.changes {
        match change.term.value(&mid, &step.params) {
            Ok(value) => *after.get_mut(change.var)? = value,
            Err(_) => faulted = true,
        }
    }
    if faulted {
        let fault = system.fault?;
        *mid.get_mut(fault)? = 1;
        return Some(mid);
    }
    Some(after)
}

/// A condition in a state; one without a value does not hold.
pub(super) fn value(term: &Term, state: &[i64], params: &[i64]) -> bool {
    term.value(state, params).is_ok_and(|value| value != 0)
}

/// Compares the model's state with the session's.
fn agree(system: &System, side: usize, state: &[i64], session: &Session) -> Result<(), String> {
    for (var, value) in system.vars.iter().zip(state) {
        let Some((of, id)) = var.origin else { continue };
        if var.capped || of != side {
            continue;
        }
        let Some(real) = session.state().get(id.0 as usize) else { continue };
        let same = match real {
            Value::Bool(real) => i64::from(*real) == *value,
            Value::Int(real) => real.as_i64() == Some(*value),
            Value::Str(real) => usize::try_from(*value).ok().and_then(|at| system.texts.get(at)) == Some(real),
        };
        if !same {
            return Err(format!("`{}` is {real}, and {value} in the model", var.name));
        }
    }
    if let Some(fault) = system.fault
        && session.fault().is_some() != (state.get(fault) == Some(&1))
    {
        return Err("the session is faulted in one of the two only".to_owned());
    }
    Ok(())
}

/// The variables that a term reads, by name.
pub(super) fn reads(policy: &ir::Policy, expr: &ir::Expr) -> Vec<ir::VarId> {
    let mut found = Vec::new();
    expr.walk(&mut |node| {
        if let ir::ExprKind::State(id) = node.kind
            && !found.contains(&id)
            && policy.var(id).is_some()
        {
            found.push(id);
        }
    });
    found
}
