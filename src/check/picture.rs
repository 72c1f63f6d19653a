//! The reachable states as a picture that a reviewer can read: states in which the same calls are allowed and that
//! differ in counters only are drawn as one.

use super::confirm::value;
use super::plan;
use super::solve::{Spaces, spaces};
use super::terms::{holds, safe};
use super::{InFlight, Options};
use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::explicit::{Graph, Limits};
use crate::json;
use crate::model::{Class, Step, System, VarType};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// States and what leads from one to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub title: String,
    /// The first one holds the state before the first call.
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// What is not in the picture, for a person.
    pub remarks: Vec<String>,
}

/// One state, or several that differ in counters only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Lines such as `tainted = true` and `writes = 0 … 19`.
    pub lines: Vec<String>,
    pub kind: NodeKind,
    /// Calls until it is reached.
    pub depth: usize,
    /// Calls that do not leave it.
    pub stays: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Plain,
    /// No call is allowed.
    Deadlock,
    /// A lock-down that the policy declares.
    Terminal,
    /// An invariant is broken, or the session is faulted.
    Unsafe,
}

/// Calls that lead from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// One line each: the actions, and what is special about the call.
    pub labels: Vec<String>,
}

/// States that are looked at; a picture of more says nothing.
const MAX_STATES: usize = 200_000;

/// The picture, or why there is none.
pub fn picture(
    policy: &Policy,
    title: &str,
    catalogue: Option<&Catalogue>,
    options: &Options,
) -> Result<Picture, String> {
    let (tools, _) = plan::tools(policy, catalogue);
    let options = Options { in_flight: InFlight::One, ..options.clone() };
    let group = plan::groups(policy, &tools).into_iter().next().ok_or("nothing to draw")?;
    let Spaces { one: system, .. } = spaces(&group, &options);
    let limits = Limits { states: MAX_STATES, ..Limits::until(Instant::now() + options.time) };
    let graph = Graph::explore(&system, &limits, false, &mut |_| {});
    if let Some(stop) = graph.stopped() {
        return Err(stop.to_string());
    }
    Ok(draw(policy, &system, &graph, title))
}

/// States that are drawn as one.
struct Members {
    states: Vec<usize>,
    depth: usize,
}

fn draw(policy: &Policy, system: &System, graph: &Graph, title: &str) -> Picture {
    let mut numbers: HashMap<(Vec<i64>, Vec<usize>), usize> = HashMap::new();
    let mut groups: Vec<Members> = Vec::new();
    let mut group_of: Vec<usize> = Vec::with_capacity(graph.states());
    for state in 0..graph.states() {
        let values = graph.state(state);
        let mut open: Vec<usize> = Vec::new();
        graph.steps(state, |step, _| {
            if open.last() != Some(&step.class) {
                open.push(step.class);
            }
        });
        let fixed: Vec<i64> =
            system.vars.iter().zip(values).filter(|(var, _)| var.ty != VarType::Int).map(|(_, value)| *value).collect();
        let number = *numbers.entry((fixed, open)).or_insert(groups.len());
        if number == groups.len() {
            groups.push(Members { states: Vec::new(), depth: graph.depth(state) });
        }
        if let Some(group) = groups.get_mut(number) {
            group.states.push(state);
            group.depth = group.depth.min(graph.depth(state));
        }
        group_of.push(number);
    }
    // A label for each pair of groups and actions; a call that stands for it.
    let mut calls: BTreeMap<(usize, usize), BTreeMap<String, Step>> = BTreeMap::new();
    let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
    for state in 0..graph.states() {
        known.insert(graph.state(state).to_vec(), state);
    }
    for state in 0..graph.states() {
        let Some(from) = group_of.get(state).copied() else { continue };
        graph.steps(state, |step, after| {
            let Some(to) = known.get(after).and_then(|next| group_of.get(*next)).copied() else { return };
            let label = actions(policy, system, &step);
            calls.entry((from, to)).or_default().entry(label).or_insert(step);
        });
    }
    let mut leads: HashMap<(usize, &str), usize> = HashMap::new();
    for ((from, _), labels) in &calls {
        for label in labels.keys() {
            *leads.entry((*from, label.as_str())).or_default() += 1;
        }
    }
    let words = |from: usize, labels: &BTreeMap<String, Step>| -> Vec<String> {
        let one = |(label, step): (&String, &Step)| {
            let several = leads.get(&(from, label.as_str())).is_some_and(|count| *count > 1);
            if several { format!("{label}{}", example(system, step)) } else { label.clone() }
        };
        labels.iter().map(one).collect()
    };
    let nodes = groups.iter().enumerate().map(|(at, members)| Node {
        lines: lines(system, graph, members),
        kind: kind(policy, system, graph, members),
        depth: members.depth,
        stays: calls.get(&(at, at)).map(|labels| words(at, labels)).unwrap_or_default(),
    });
    let edges = calls.iter().filter(|((from, to), _)| from != to).map(|((from, to), labels)| Edge {
        from: *from,
        to: *to,
        labels: words(*from, labels),
    });
    let mut remarks = vec![format!("{} states, {} transitions", graph.states(), graph.transitions())];
    if groups.len() < graph.states() {
        remarks.push("states that differ in counters only and allow the same calls are drawn as one".to_owned());
    }
    Picture { title: title.to_owned(), nodes: nodes.collect(), edges: edges.collect(), remarks }
}

/// The actions of a call; of a tool that none covers, its name.
fn actions(policy: &Policy, system: &System, step: &Step) -> String {
    let tool = system.classes.get(step.class).and_then(Class::tool).and_then(|tool| system.tools.get(tool));
    let Some(tool) = tool else { return "?".to_owned() };
    let names: Vec<&str> = tool
        .actions
        .first()
        .into_iter()
        .flatten()
        .filter_map(|at| policy.typed().actions.get(*at))
        .map(|action| &*action.name)
        .collect();
    match (names.is_empty(), tool.listed) {
        (false, _) => names.join(" + "),
        (true, true) => tool.name.clone(),
        (true, false) => "any other tool".to_owned(),
    }
}

/// What is special about a call: its arguments and the answer.
fn example(system: &System, step: &Step) -> String {
    let Some(class) = system.classes.get(step.class) else { return String::new() };
    let mut out = String::from(" ");
    json::write_python(&class.arguments(&step.params), false, &mut out);
    if let Some(answer) = class.outcomes.get(step.outcome).and_then(|outcome| outcome.answer.as_ref()) {
        out.push_str(" → ");
        json::write_python(&answer.0, false, &mut out);
    }
    out
}

fn lines(system: &System, graph: &Graph, members: &Members) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, var) in system.vars.iter().enumerate() {
        let values = members.states.iter().filter_map(|state| graph.state(*state).get(at).copied());
        let (Some(low), Some(high)) = (values.clone().min(), values.max()) else { continue };
        let shown = |value: i64| match var.ty {
            VarType::Bool => (value != 0).to_string(),
            VarType::Int => value.to_string(),
            VarType::Text => {
                let text = usize::try_from(value).ok().and_then(|at| system.texts.get(at));
                text.map_or_else(|| value.to_string(), |text| format!("{text:?}"))
            }
        };
        lines.push(if low == high {
            format!("{} = {}", var.name, shown(low))
        } else {
            format!("{} = {} … {}", var.name, shown(low), shown(high))
        });
    }
    lines
}

fn kind(policy: &Policy, system: &System, graph: &Graph, members: &Members) -> NodeKind {
    let all = |test: &dyn Fn(&[i64]) -> bool| members.states.iter().all(|state| test(graph.state(*state)));
    let faulted = |state: &[i64]| system.fault.and_then(|fault| state.get(fault)).is_some_and(|value| *value != 0);
    let declared = system.watched.iter().take(policy.typed().terminal.len());
    if declared.into_iter().any(|when| all(&|state| value(&holds(when), state, &[]))) {
        return NodeKind::Terminal;
    }
    let stuck = members.states.iter().all(|state| {
        let mut open = false;
        graph.steps(*state, |_, _| open = true);
        !open
    });
    if stuck {
        return NodeKind::Deadlock;
    }
    let safe = safe(system);
    if all(&|state| faulted(state) || !value(&safe, state, &[])) { NodeKind::Unsafe } else { NodeKind::Plain }
}
