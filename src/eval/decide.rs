//! The order of one call: matching actions, arguments, guards, effects, invariants, commit.

use super::call::{Call, Facts};
use super::changes::Changes;
use super::policy::{Program, argument};
use super::run::{Env, Silent, Trace, Val, run};
use super::session::Session;
use super::verdict::{Decision, Denied, Failure, Rule, Verdict};
use crate::ir::{Action, ArgId, VarId};
use crate::policy::Default;

/// What a call would do: every failure, and the values it would assign.
pub(super) struct Outcome {
    pub(super) failures: Vec<Failure>,
    pub(super) changes: Changes,
}

pub(super) fn check(session: &mut Session, call: &Call<'_>) -> Verdict {
    let policy = session.policy.clone();
    let actions = policy.0.matching(call.tool);
    if let Some(fault) = session.fault {
        let failures = vec![Failure::Faulted { rule: fault.rule, reason: fault.reason }];
        return deny(session, call, actions, failures);
    }
    let outcome = outcome(session, call, &actions, &mut Silent, &mut |_, _| {});
    if !outcome.failures.is_empty() {
        return deny(session, call, actions, outcome.failures);
    }
    outcome.changes.commit(&mut session.state);
    session.safe = true;
    let decision = if actions.is_empty() { Decision::Pass } else { Decision::Allow };
    Verdict { decision, actions, failures: Vec::new(), denied: None, tool: String::new() }
}

fn deny(session: &Session, call: &Call<'_>, actions: Vec<u32>, failures: Vec<Failure>) -> Verdict {
    let denied = Denied { policy: session.policy.clone(), state: session.state.clone() };
    Verdict { decision: Decision::Deny, actions, failures, denied: Some(denied), tool: call.tool.to_owned() }
}

/// Runs the call over the present state without committing anything. `rule` hears of each rule
/// before `trace` hears of its values, with the values of earlier effects of the same call.
pub(super) fn outcome<T: Trace>(
    session: &Session,
    call: &Call<'_>,
    actions: &[u32],
    trace: &mut T,
    rule: &mut dyn FnMut(&mut T, Rule),
) -> Outcome {
    let program = &*session.policy.0;
    let mut failures = Vec::new();
    if actions.is_empty() && program.typed.default == Default::Deny {
        failures.push(Failure::Default);
        return Outcome { failures, changes: Changes::default() };
    }
    let matching = Matching::bind(program, call, actions, &mut failures);
    if !failures.is_empty() {
        return Outcome { failures, changes: Changes::default() };
    }
    let facts = Facts::new(*call, None);
    let env = Env { program, state: &session.state, overlay: &[], args: &[], facts: &facts };

    let mut failing = Vec::new();
    for (index, action, args) in matching.each() {
        for (at, guard) in action.guards.iter().enumerate() {
            let this = Rule::Guard { action: index, guard: at };
            rule(trace, this);
            match run(&guard.expr, &Env { args, ..env }, trace) {
                Ok(value) if value.is_true() => {}
                Ok(_) => failing.push(Failure::Guard { action: index, guard: at }),
                Err(error) => failures.push(Failure::Evaluation { rule: this, reason: error.reason }),
            }
        }
    }

    let mut changes = Changes::default();
    let mut unknown: Vec<VarId> = Vec::new();
    for (index, action, args) in matching.each() {
        for (at, assignment) in action.effect.iter().enumerate() {
            // Without the earlier action's value there is nothing to compose with.
            if unknown.contains(&assignment.variable) && assignment.expr.reads(assignment.variable) {
                continue;
            }
            let this = Rule::Effect { action: index, assignment: at };
            rule(trace, this);
            if let Err(error) = changes.assign(assignment, &Env { args, ..env }, trace) {
                failures.push(Failure::Evaluation { rule: this, reason: error.reason });
                unknown.push(assignment.variable);
            }
        }
    }

    changes.after(&env, |env| {
        for at in affected(program, session.safe, &changes) {
            let Some(invariant) = program.typed.invariants.get(at) else { continue };
            if unknown.iter().any(|id| invariant.expr.reads(*id)) {
                continue;
            }
            let this = Rule::Invariant(at);
            rule(trace, this);
            match run(&invariant.expr, env, trace) {
                Ok(value) if value.is_true() => {}
                Ok(_) => failing.push(Failure::Invariant(at)),
                Err(error) => failures.push(Failure::Evaluation { rule: this, reason: error.reason }),
            }
        }
    });
    failures.append(&mut failing);
    Outcome { failures, changes }
}

/// Invariants that may not hold after the changes: all of them where the state is already outside,
/// else those that read a changed variable.
fn affected(program: &Program, safe: bool, changes: &Changes) -> Vec<usize> {
    if !safe {
        return (0..program.typed.invariants.len()).collect();
    }
    let mut affected = Vec::new();
    for id in changes.variables() {
        if let Some(readers) = program.invariants_of.get(id.0 as usize) {
            affected.extend_from_slice(readers);
        }
    }
    affected.sort_unstable();
    affected.dedup();
    affected
}

/// The matching actions with their declared arguments taken from the call.
pub(super) struct Matching<'v> {
    actions: Vec<(usize, &'v Action, std::ops::Range<usize>)>,
    values: Vec<Val<'v>>,
}

impl<'v> Matching<'v> {
    pub(super) fn bind(program: &'v Program, call: &Call<'v>, actions: &[u32], failures: &mut Vec<Failure>) -> Self {
        let mut bound = Self { actions: Vec::with_capacity(actions.len()), values: Vec::new() };
        let object = call.arguments.as_object();
        for index in actions.iter().map(|at| *at as usize) {
            let Some(action) = program.typed.actions.get(index) else { continue };
            let start = bound.values.len();
            for (id, declared) in (0..).zip(&action.args) {
                let found = match object.and_then(|object| object.get(&declared.name)) {
                    Some(json) => argument(json, declared.ty).map_err(Some),
                    None => Err(None),
                };
                match found {
                    Ok(value) => bound.values.push(value),
                    Err(found) => failures.push(Failure::Argument { action: index, argument: ArgId(id), found }),
                }
            }
            bound.actions.push((index, action, start..bound.values.len()));
        }
        bound
    }

    pub(super) fn each(&self) -> impl Iterator<Item = (usize, &'v Action, &[Val<'v>])> {
        self.actions
            .iter()
            .map(|(index, action, range)| (*index, *action, self.values.get(range.clone()).unwrap_or_default()))
    }
}
