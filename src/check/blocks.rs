//! PX4006: states from which an action is never allowed again, and whether the policy declares them.

use super::blockers::{Nature, blocked, cause, lines, main_rule, rule_name};
use super::confirm::replay;
use super::findings::{after, count, internal};
use super::plan::{is_ban, takes_part};
use super::solve::{FEW_STATES, Solved};
use super::terms::holds;
use super::{Answered, Options, Report};
use crate::eval::Policy;
use crate::explicit::{Graph, Limits, Traps};
use crate::model::{Class, Goal, Step, System, Term, slice};
use crate::proof::Level;
use crate::text::{Code, Diagnostic, Severity, Span, Verdict};
use std::collections::HashMap;
use std::time::Instant;

/// How the question is called.
pub(super) const ID: &str = "permanent-blocks";

/// Actions that one run closes for good.
struct Trap {
    steps: Vec<Step>,
    actions: Vec<usize>,
}

/// The states with one call at a time, beside those that proofs rest on.
struct Space<'s> {
    system: &'s System,
    graph: &'s Graph,
    /// For each wide state the number of those that differ only in what is in flight; `None` where nothing is.
    kinds: Option<Kinds<'s>>,
}

/// The number of each part that stands apart from what is in flight, and for each wide state that of its part.
type Kinds<'s> = (HashMap<&'s [i64], usize>, Vec<usize>);

impl<'s> Space<'s> {
    fn new(system: &'s System, graph: &'s Graph, wide_system: &System, wide: &'s Graph) -> Self {
        let kinds = (!std::ptr::eq(wide, graph)).then(|| {
            let mut known: HashMap<&[i64], usize> = HashMap::new();
            let number = |state| {
                let next = known.len();
                *known.entry(project(wide_system, system, wide.state(state))).or_insert(next)
            };
            let numbers = (0..wide.states()).map(number).collect();
            (known, numbers)
        });
        Self { system, graph, kinds }
    }

    /// For each state with one call at a time whether the group is closed from there on, whatever is in flight.
    fn trapped(&self, closed: &Traps, group: usize) -> Vec<bool> {
        let Some((known, numbers)) = &self.kinds else {
            return (0..self.graph.states()).map(|state| closed.is_trapped(group, state)).collect();
        };
        let mut all = vec![true; known.len()];
        for (state, number) in numbers.iter().enumerate() {
            if let Some(slot) = all.get_mut(*number) {
                *slot &= closed.is_trapped(group, state);
            }
        }
        let of = |state| known.get(self.graph.state(state)).and_then(|number| all.get(*number)).copied();
        (0..self.graph.states()).map(|state| of(state).unwrap_or(false)).collect()
    }
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
    let wide = (solved.spaces.widest(), solved.proof_graph());
    let whole = wide.1.complete() && solved.graph.complete();
    let mut first: Vec<(usize, Option<Vec<Step>>)> = Vec::new();
    let mut open = !solved.gaps.is_empty();
    if whole && !open {
        let groups: Vec<Vec<usize>> = actions.iter().map(|action| of_action(wide.0, *action)).collect();
        let closed = wide.1.traps(wide.0, &groups);
        let space = Space::new(system, &solved.graph, wide.0, wide.1);
        for (at, action) in actions.iter().enumerate() {
            first.push((*action, first_trap(policy, &space, *action, &closed, at)));
        }
    } else if !open {
        // The part that an action depends on may be small enough.
        let deadline = Instant::now() + options.time.mul_f64(0.1);
        for action in &actions {
            match part(policy, solved, *action, options, deadline) {
                Part::Trap(steps) => first.push((*action, Some(steps))),
                Part::NoTrap => {}
                Part::TooLarge => open = true,
            }
        }
    }
    let mut answered = |verdict, how: String| {
        report.answered.push(Answered { id: ID.to_owned(), verdict, level: Level::Info, how, evidence: None });
    };
    if open {
        let gap = solved.gaps.first().map(|gap| gap.why.clone());
        let why = gap.unwrap_or_else(|| "permanent blocks are found only where every state can be visited".to_owned());
        answered(Verdict::Unknown, why.clone());
        undecided.push((ID.to_owned(), why));
    } else {
        let how = if whole {
            super::visited(solved, wide.1.states(), false)
        } else {
            "all states visited of the parts that the actions depend on".to_owned()
        };
        let blocked = first.iter().any(|(_, steps)| steps.is_some());
        answered(if blocked { Verdict::Refuted } else { Verdict::Proved }, how);
    }
    let mut traps: Vec<Trap> = Vec::new();
    for (action, steps) in first {
        let Some(steps) = steps else { continue };
        match traps.iter_mut().find(|trap| trap.steps == steps) {
            Some(trap) => trap.actions.push(action),
            None => traps.push(Trap { steps, actions: vec![action] }),
        }
    }
    for trap in traps {
        match told(policy, place, solved, &trap, options) {
            Ok(Some(diagnostic)) => report.diagnostics.push(diagnostic),
            Ok(None) => {}
            Err(why) => report.diagnostics.push(internal(place, ID, &why)),
        }
    }
}

fn of_action(system: &System, action: usize) -> Vec<usize> {
    let classes = system.classes.iter().enumerate();
    classes.filter(|(_, class)| takes_part(system, class, action)).map(|(at, _)| at).collect()
}

/// What the part of the system that an action depends on says of it.
enum Part {
    /// A shortest run after which the action is never allowed again, though nothing declares it.
    Trap(Vec<Step>),
    NoTrap,
    TooLarge,
}

fn part(policy: &Policy, solved: &Solved, action: usize, options: &Options, deadline: Instant) -> Part {
    let limits = Limits { states: options.states.min(FEW_STATES), ..Limits::until(deadline) };
    let declared = |system: &System| Term::or(system.watched.iter().take(policy.typed().terminal.len()).map(holds));
    let cut =
        |system: &System| slice(system, &Goal::Stuck { state: declared(system), classes: of_action(system, action) });
    let (Some(one), Some(wide)) = (cut(solved.one()), cut(solved.spaces.widest())) else { return Part::TooLarge };
    let graph = Graph::explore(&one, &limits, false, &mut |_| {});
    let wide_graph = Graph::explore(&wide, &limits, true, &mut |_| {});
    if !graph.complete() || !wide_graph.complete() {
        return Part::TooLarge;
    }
    let closed = wide_graph.traps(&wide, &[of_action(&wide, action)]);
    let space = Space::new(&one, &graph, &wide, &wide_graph);
    first_trap(policy, &space, action, &closed, 0).map_or(Part::NoTrap, Part::Trap)
}

fn first_trap(policy: &Policy, space: &Space<'_>, action: usize, closed: &Traps, group: usize) -> Option<Vec<Step>> {
    let trapped = space.trapped(closed, group);
    if trapped.first() != Some(&false) {
        // Never allowed at all: told elsewhere.
        return None;
    }
    let trapped = |state: usize| trapped.get(state).copied().unwrap_or(false);
    let undeclared = |state: usize| trapped(state) && !declared(policy, space.system, action, space.graph.state(state));
    let first = (0..space.graph.states()).find(|state| undeclared(*state))?;
    Some(space.graph.path(first))
}

/// The part of a state that both systems have; what is in flight stands behind it.
fn project<'s>(wide: &System, system: &System, state: &'s [i64]) -> &'s [i64] {
    debug_assert!(wide.vars.len() >= system.vars.len());
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
    let steps = &trap.steps;
    let mut replayed = replay(policy, 0, system, steps, None, true)?;
    // Where nothing is allowed any more a deadlock has been told, or a lock-down declared.
    if blocked(policy, system, &replayed.state, &replayed.session, &|_| true).is_ok() {
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
    if let Some((span, words)) = expr.and_then(|expr| cause(policy, system, steps, expr)) {
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
