//! A run that differs in its last step only and does not end in the finding.

use super::blockers::{is_open, some_params};
use super::confirm::{next, value};
use crate::model::{Class, Goal, Kind, Outcome, Step, System};

/// Words for another last step, of the same tool if there is one.
pub(super) fn near_miss(
    system: &System,
    goal: &Goal,
    steps: &[Step],
    call: Option<&(usize, Vec<i64>)>,
) -> Option<String> {
    let mut state = system.initial();
    let (before, last) = if let Some((class, params)) = call {
        (steps, (*class, 0, params.clone()))
    } else {
        let (last, before) = steps.split_last()?;
        (before, (last.class, last.outcome, last.params.clone()))
    };
    for step in before {
        state = next(system, &state, step)?;
    }
    let number = before.len() + 1;
    let own = system.classes.get(last.0)?;
    let tool = own.tool()?;
    let mut best: Option<(usize, String)> = None;
    let mut offer = |rank: usize, words: String| {
        if best.as_ref().is_none_or(|(known, _)| rank < *known) {
            best = Some((rank, words));
        }
    };
    for (at, class) in system.classes.iter().enumerate() {
        if class.tool() != Some(tool) || !class.witnessed || !matches!(class.kind, Kind::Call { .. }) {
            continue;
        }
        let params = if at == last.0 { last.2.clone() } else { some_params(class, &state) };
        let allowed = value(&system.allowed(class, None), &state, &params);
        if call.is_some() {
            if at != last.0 && allowed && !reached_by_call(goal, at, &state, &params) {
                offer(0, format!("{} is allowed", words(system, class, &params, None)));
            }
            continue;
        }
        if !allowed {
            continue;
        }
        for (which, outcome) in class.outcomes.iter().enumerate().filter(|(_, outcome)| outcome.witnessed) {
            if (at, which) == (last.0, last.1) {
                continue;
            }
            let step = Step { class: at, outcome: which, params: params.clone() };
            let Some(after) = next(system, &state, &step) else { continue };
            if reached_in(system, goal, &after) {
                continue;
            }
            let open = system.classes.iter().filter(|class| is_open(system, class, &after)).count();
            if open == 0 {
                continue;
            }
            // The same call with another answer is nearest.
            let rank = usize::from(at != last.0);
            let had_answer = own.outcomes.get(last.1).is_some_and(|outcome| outcome.answer.is_some());
            let differs = if at == last.0 && outcome.answer.is_none() && had_answer {
                format!("without such an answer step {number} leaves the session open")
            } else {
                format!("step {number} as {} leaves the session open", words(system, class, &params, Some(outcome)))
            };
            offer(rank, differs);
        }
    }
    best.map(|(_, words)| words)
}

fn words(system: &System, class: &Class, params: &[i64], outcome: Option<&Outcome>) -> String {
    let tool = class.tool().and_then(|tool| system.tools.get(tool)).map_or("?", |tool| &tool.name);
    let mut out = format!("{tool} ");
    crate::json::write_python(&class.arguments(params), false, &mut out);
    if let Some(answer) = outcome.and_then(|outcome| outcome.answer.as_ref()) {
        out.push_str(" with the result ");
        crate::json::write_python(&answer.0, false, &mut out);
    }
    out
}

fn reached_by_call(goal: &Goal, class: usize, state: &[i64], params: &[i64]) -> bool {
    match goal {
        Goal::Call(calls) => calls.iter().any(|(at, term)| *at == class && value(term, state, params)),
        Goal::State(_) | Goal::Stuck { .. } => false,
    }
}

/// Whether the state is one that the goal asks for.
pub(super) fn reached_in(system: &System, goal: &Goal, state: &[i64]) -> bool {
    match goal {
        Goal::State(term) => value(term, state, &[]),
        Goal::Stuck { state: term, classes } => {
            value(term, state, &[])
                && !classes.iter().filter_map(|at| system.classes.get(*at)).any(|class| is_open(system, class, state))
        }
        Goal::Call(_) => false,
    }
}
