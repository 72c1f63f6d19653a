//! A certificate checked again, without search: invariants by three plain queries, explored states by visiting them
//! anew, runs by replaying them.

use super::confirm::{replay, value};
use super::near_miss::reached_in;
use super::plan::{self, Group, Question, Wants};
use super::solve::{How, Reach, Spaces, spaces};
use super::{InFlight, Options};
use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::model::{Goal, System};
use crate::proof::{Certificate, Evidence, Verdict};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Why the certificate is not right about the policy; empty if every answer in it was confirmed. Whether its verdicts
/// are good ones is another question: [`Certificate::objections`].
#[must_use]
pub fn verify(
    policy: &Policy,
    catalogue: Option<&Catalogue>,
    certificate: &Certificate,
    time: Duration,
    progress: &mut dyn FnMut(usize),
) -> Vec<String> {
    let options = Options { in_flight: certificate.in_flight, time, solver: None, ..Options::default() };
    let deadline = Instant::now() + time;
    let (tools, gaps) = plan::tools(policy, catalogue);
    let mut claims: HashMap<&str, &crate::proof::Question> =
        certificate.questions.iter().map(|question| (question.id.as_str(), question)).collect();
    let mut wrong = Vec::new();
    if claims.len() != certificate.questions.len() {
        wrong.push("a question is answered twice".to_owned());
    }
    for mut group in plan::groups(policy, &tools) {
        group.system.gaps.extend(gaps.iter().cloned());
        let mut mine = Vec::new();
        for question in &group.questions {
            match claims.remove(question.id.as_str()) {
                Some(claim) => mine.push(claim),
                None => wrong.push(format!("`{}` is not answered", question.id)),
            }
        }
        verify_group(policy, group, &mine, &options, deadline, progress, &mut wrong);
    }
    let assumptions = super::assumptions(policy, catalogue, &options);
    if certificate.assumptions != assumptions {
        wrong.push("its assumptions are not those of this policy".to_owned());
    }
    wrong.extend(claims.keys().map(|id| format!("`{id}` is no question of this policy")));
    wrong.sort();
    wrong
}

fn verify_group(
    policy: &Policy,
    group: Group,
    claims: &[&crate::proof::Question],
    options: &Options,
    deadline: Instant,
    progress: &mut dyn FnMut(usize),
    wrong: &mut Vec<String>,
) {
    let gap = group.system.gaps.first().map(|gap| gap.why.clone());
    let spaces = spaces(&group, options);
    let Group { questions, .. } = group;
    let explored = |claim: &&crate::proof::Question| matches!(claim.by, Some(Evidence::Explored { part: false, .. }));
    let graph = claims.iter().any(explored).then(|| spaces.explore_widest(options, deadline, progress));
    for question in &questions {
        let Some(claim) = claims.iter().find(|claim| claim.id == question.id) else { continue };
        if claim.level != question.subject.level() {
            wrong.push(format!("`{}`: its level is {:?}", question.id, question.subject.level()).to_lowercase());
        }
        let told = match (&claim.by, claim.verdict) {
            (None, Verdict::Unknown) => continue,
            (None, _) => Err("nothing is given for it".to_owned()),
            (Some(_), Verdict::Unknown) => Err("it is undecided, and evidence is given".to_owned()),
            (Some(evidence), verdict) => {
                let reached = matches!(evidence, Evidence::Run { .. });
                let good = (question.wants == Wants::Reachable) == reached;
                if good != (verdict == Verdict::Holds) {
                    Err("the evidence says the contrary of the verdict".to_owned())
                } else if let (true, Some(why)) = (!reached || matches!(question.goal, Goal::Stuck { .. }), &gap) {
                    Err(format!("the model cannot show it: {why}"))
                } else {
                    match evidence {
                        Evidence::Explored { states, transitions, part: true } => {
                            let how = How::Explicit { states: *states, transitions: *transitions, part: true };
                            match spaces.part(&question.goal, options, deadline, progress) {
                                Some(Reach::Never(found)) if found == how => Ok(()),
                                _ => Err("the part that it depends on has other states".to_owned()),
                            }
                        }
                        _ => confirm(policy, question, evidence, &spaces, graph.as_ref()),
                    }
                }
            }
        };
        if let Err(why) = told {
            wrong.push(format!("`{}`: {why}", question.id));
        }
    }
}

fn confirm(
    policy: &Policy,
    question: &Question,
    evidence: &Evidence,
    spaces: &Spaces,
    graph: Option<&crate::explicit::Graph>,
) -> Result<(), String> {
    match evidence {
        Evidence::Run { steps, call, overlapping } => {
            let system = if *overlapping { spaces.many.as_ref().ok_or("calls do not overlap")? } else { &spaces.one };
            let replayed = replay(policy, 0, system, steps, call.as_ref(), false)?;
            if ends(system, &question.goal, &replayed.state, call.as_ref()) {
                Ok(())
            } else {
                Err("the run does not end as claimed".to_owned())
            }
        }
        Evidence::Explored { states, transitions, .. } => {
            let graph = graph.ok_or("no states")?;
            if !graph.complete() {
                return Err("the states could not all be visited again".to_owned());
            }
            if graph.states() != *states || graph.transitions() != *transitions {
                return Err(format!(
                    "{states} states and {transitions} transitions are claimed, {} and {} were found",
                    graph.states(),
                    graph.transitions()
                ));
            }
            match spaces.first(graph, &question.goal) {
                Reach::Never(How::Explicit { .. }) => Ok(()),
                _ => Err("a state that was to be excluded is reachable".to_owned()),
            }
        }
        #[cfg(feature = "smt")]
        Evidence::Invariant { k, term, .. } => crate::smt::recheck(spaces.widest(), &question.goal, term, *k),
        #[cfg(not(feature = "smt"))]
        Evidence::Invariant { .. } => Err("this praxiom was built without a solver".to_owned()),
    }
}

fn ends(system: &System, goal: &Goal, state: &[i64], call: Option<&(usize, Vec<i64>)>) -> bool {
    match (goal, call) {
        (Goal::Call(calls), Some((class, params))) => {
            calls.iter().any(|(at, term)| at == class && value(term, state, params))
        }
        (Goal::Call(_), None) => false,
        (goal, None) => reached_in(system, goal, state),
        (_, Some(_)) => false,
    }
}

/// Whether calls may overlap under the mode.
#[must_use]
pub(super) fn overlaps(in_flight: InFlight, system: &System) -> bool {
    in_flight == InFlight::Many && system.classes.iter().any(|class| class.outcomes.len() > 1)
}
