//! PX4006: states from which an action is never allowed again, and whether the policy declares them.

use super::blockers::{Nature, blocked, cause, lines, main_rule, rule_name};
use super::confirm::replay;
use super::findings::{after, count, internal};
use super::plan::{is_ban, takes_part};
use super::solve::Solved;
use super::terms::holds;
use super::{Answered, Options, Report};
use crate::eval::Policy;
use crate::model::{Class, System};
use crate::proof::{Evidence, Level};
use crate::text::{Code, Diagnostic, Severity, Span, Verdict};
use std::collections::HashMap;

/// Actions that one state closes for good.
struct Trap {
    /// A state of the graph of calls one at a time.
    state: usize,
    actions: Vec<usize>,
}

pub(super) fn check(
    policy: &Policy,
    place: Span,
    solved: &Solved,
    options: &Options,
    report: &mut Report,
    undecided: &mut Vec<(String, String)>,
) {
    let typed = policy.typed();
    let system = solved.one();
    let (proof_system, proof_graph) = (solved.spaces.widest(), solved.proof_graph());
    let actions: Vec<usize> = typed
        .actions
        .iter()
        .enumerate()
        .filter(|(at, action)| !is_ban(action) && system.classes.iter().any(|class| takes_part(system, class, *at)))
        .map(|(at, _)| at)
        .collect();
    if actions.is_empty() {
        return;
    }
    let mut answered = |verdict, how: String, evidence| {
        let id = "permanent-blocks".to_owned();
        report.answered.push(Answered { id, verdict, level: Level::Info, how, evidence });
    };
    if !proof_graph.complete() || !solved.graph.complete() || !solved.gaps.is_empty() {
        let why = "permanent blocks are found only where every state can be visited".to_owned();
        answered(Verdict::Unknown, why.clone(), None);
        undecided.push(("permanent-blocks".to_owned(), why));
        return;
    }
    let of_action = |action: usize| -> Vec<usize> {
        let classes = proof_system.classes.iter().enumerate();
        classes.filter(|(_, class)| takes_part(proof_system, class, action)).map(|(at, _)| at).collect()
    };
    let groups: Vec<Vec<usize>> = actions.iter().map(|action| of_action(*action)).collect();
    let closed = proof_graph.traps(proof_system, &groups);
    let mut traps: Vec<Trap> = Vec::new();
    for (at, action) in actions.iter().enumerate() {
        // A state counts if the action is closed in all states that differ only in what is in flight.
        let mut all: HashMap<&[i64], bool> = HashMap::new();
        let same = std::ptr::eq(proof_graph, &solved.graph);
        for state in if same { 0..0 } else { 0..proof_graph.states() } {
            let known = project(proof_system, system, proof_graph.state(state));
            let trapped = closed.is_trapped(at, state);
            all.entry(known).and_modify(|all| *all &= trapped).or_insert(trapped);
        }
        let trapped = |state: usize| {
            if same {
                closed.is_trapped(at, state)
            } else {
                all.get(solved.graph.state(state)).copied().unwrap_or(false)
            }
        };
        if trapped(0) {
            // Never allowed at all: told elsewhere.
            continue;
        }
        let undeclared = |state: usize| trapped(state) && !declared(policy, system, *action, solved.graph.state(state));
        let Some(first) = (0..solved.graph.states()).find(|state| undeclared(*state)) else { continue };
        match traps.iter_mut().find(|trap| trap.state == first) {
            Some(trap) => trap.actions.push(*action),
            None => traps.push(Trap { state: first, actions: vec![*action] }),
        }
    }
    let (states, transitions) = (proof_graph.states(), proof_graph.transitions());
    let evidence = Evidence::Explored { states, transitions, part: false };
    answered(Verdict::Proved, format!("all {states} states visited"), Some(evidence));
    for trap in traps {
        match told(policy, place, solved, &trap, options) {
            Ok(Some(diagnostic)) => report.diagnostics.push(diagnostic),
            Ok(None) => {}
            Err(why) => report.diagnostics.push(internal(place, "permanent-blocks", &why)),
        }
    }
}

/// The part of a state that both systems have; what is in flight stands behind it.
fn project<'s>(proof_system: &System, system: &System, state: &'s [i64]) -> &'s [i64] {
    debug_assert!(proof_system.vars.len() >= system.vars.len());
    state.get(..system.vars.len()).unwrap_or(state)
}

/// Whether `terminal:` says that these states close every tool of the action.
fn declared(policy: &Policy, system: &System, action: usize, state: &[i64]) -> bool {
    let tools: Vec<&str> = system
        .tools
        .iter()
        .filter(|tool| tool.actions.first().is_some_and(|actions| actions.contains(&action)))
        .map(|tool| tool.name.as_str())
        .collect();
    policy.typed().terminal.iter().zip(&system.watched).any(|(terminal, when)| {
        super::confirm::value(&holds(when), state, &[])
            && tools.iter().all(|tool| terminal.blocks.iter().any(|(glob, _)| glob.matches(tool)))
    })
}

fn told(
    policy: &Policy,
    place: Span,
    solved: &Solved,
    trap: &Trap,
    options: &Options,
) -> Result<Option<Diagnostic>, String> {
    let typed = policy.typed();
    let system = solved.one();
    let steps = solved.graph.path(trap.state);
    let mut replayed = replay(policy, 0, system, &steps, None, true)?;
    // Where nothing is allowed any more a deadlock has been told, or a lock-down declared.
    if solved.graph.next(trap.state).is_empty() {
        return Ok(None);
    }
    let wanted = |class: &Class| trap.actions.iter().any(|action| takes_part(system, class, *action));
    let groups = blocked(policy, system, &replayed.state, &replayed.session, &wanted)?;
    replayed.trace.end = lines(policy, &groups, true);
    let nature = Nature::of(policy, &groups);
    let names: Vec<String> = trap
        .actions
        .iter()
        .filter_map(|at| typed.actions.get(*at))
        .map(|action| format!("'{}'", action.name))
        .collect();
    let names = match names.as_slice() {
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
        [] => return Ok(None),
    };
    let verb = if trap.actions.len() == 1 { "is" } else { "are" };
    let message = format!("{} {names} {verb} never allowed again: {}", after(count(&replayed)), nature.shown());
    let rule = main_rule(policy, &groups);
    let expr = rule.and_then(|rule| policy.expression(rule));
    let mut diagnostic = Diagnostic::new(Code::PX4006, expr.map_or(place.at_start(), |expr| expr.span), message);
    if let Some(rule) = rule {
        diagnostic = diagnostic.label(format!("{} denies from here on", rule_name(policy, rule)));
    }
    if let Some((span, words)) = expr.and_then(|expr| cause(policy, system, &steps, expr)) {
        diagnostic = diagnostic.also(span, words);
    }
    if options.strict {
        diagnostic = diagnostic.with_severity(Severity::Error);
    }
    Ok(Some(
        diagnostic
            .help("if that is meant, declare it: `terminal: [{when: …, blocks: [\"…\"], reason: …}]`")
            .trace(replayed.trace),
    ))
}
