//! The model checker: what a policy can and cannot do over all sequences of calls. It asks each question of every
//! reachable state, and shows a run only after the evaluator has replayed it. Does no I/O of its own; the solver runs
//! in a child process that `smt` starts.

mod blockers;
mod blocks;
mod branches;
mod compare;
mod confirm;
mod findings;
mod ghost;
mod near_miss;
mod picture;
mod plan;
mod solve;
mod still;
mod terms;
mod verify;

use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::explicit::Graph;
pub use crate::proof::InFlight;
use crate::proof::{self, Certificate, Evidence, Level};
use crate::text::{Code, Diagnostic, Severity, Span, Verdict, counted};
pub use compare::{Comparison, compare};
pub use picture::{Edge, Node, NodeKind, Picture, picture};
use solve::{How, Reach, Solved};
use std::path::PathBuf;
use std::time::{Duration, Instant};
pub use verify::verify;

/// Bounds of a run.
#[derive(Clone, Debug)]
pub struct Options {
    pub in_flight: InFlight,
    /// For all questions of a policy together.
    pub time: Duration,
    /// States that are visited one by one.
    pub states: usize,
    /// The program that runs the solver: praxiom itself. `None`: no solver.
    pub solver: Option<PathBuf>,
    /// Lasting blocks that `terminal:` does not declare are errors.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            in_flight: InFlight::Many,
            time: Duration::from_secs(10),
            states: 2_000_000,
            solver: None,
            strict: false,
        }
    }
}

/// One question and what came of it.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Stable within a policy, e.g. `deadlock`, `check:budget`, `allowed:read_files`.
    pub id: String,
    pub verdict: Verdict,
    /// How bad it is if it fails.
    pub level: Level,
    /// How it is known, for a person.
    pub how: String,
    /// How it is known, for a certificate.
    pub evidence: Option<Evidence>,
}

/// Everything that is known of a policy.
#[derive(Debug, Default)]
pub struct Report {
    pub diagnostics: Vec<Diagnostic>,
    /// Distinct reachable states and allowed transitions with one call at a time; `None` if not all were visited.
    pub counts: Option<(usize, u64)>,
    pub answered: Vec<Answered>,
    /// Questions neither proved nor refuted.
    pub undecided: usize,
    /// What every proof takes for granted, for a person.
    pub assumptions: Vec<String>,
    /// `explicit`, or `symbolic` if any answer rests on the solver.
    pub engine: &'static str,
}

/// Asks every question of a policy. `place` is where findings about the policy as a whole point. `progress` hears the
/// number of states visited so far.
pub fn check(
    policy: &Policy,
    place: Span,
    catalogue: Option<&Catalogue>,
    options: &Options,
    progress: &mut dyn FnMut(usize),
) -> Report {
    let deadline = Instant::now() + options.time;
    let (tools, gaps) = plan::tools(policy, catalogue);
    let mut report = Report { engine: "explicit", ..Report::default() };
    still::check(policy, &tools, &mut report.diagnostics);
    let mut groups = plan::groups(policy, &tools);
    let mut undecided: Vec<(String, String)> = Vec::new();
    let mut seen = None;
    for group in &mut groups {
        group.system.gaps.extend(gaps.iter().cloned());
    }
    for (at, mut solved) in solve::solve(groups, options, deadline, progress).into_iter().enumerate() {
        findings::doubt(policy, place, &mut solved, &mut report.diagnostics);
        if at == 0 {
            let graph = &solved.graph;
            if graph.complete() {
                report.counts = Some((graph.states(), graph.transitions()));
            } else {
                seen = Some(bound(graph));
            }
        }
        for (question, reach) in solved.questions.iter().zip(&solved.reaches) {
            let verdict = match question.wants.satisfied(reach) {
                Some(true) => Verdict::Proved,
                Some(false) => Verdict::Refuted,
                None => Verdict::Unknown,
            };
            if let Reach::Never(How::Symbolic { .. }) = reach {
                report.engine = "symbolic";
            }
            if let Reach::Unknown(why) = reach {
                undecided.push((question.id.clone(), why.clone()));
            }
            report.answered.push(Answered {
                id: question.id.clone(),
                verdict,
                level: question.subject.level(),
                how: how(&solved, reach),
                evidence: evidence(&solved, reach),
            });
        }
        findings::of(policy, place, &solved, &mut report.diagnostics);
        if at == 0 {
            blocks::check(policy, place, &solved, options, &mut report, &mut undecided);
        }
    }
    report.undecided = undecided.len();
    report.diagnostics.extend(undecided_findings(place, undecided, seen.as_deref(), options.strict));
    report.assumptions = assumptions(policy, catalogue, options);
    if report.counts.is_none() && report.engine == "explicit" {
        report.engine = "symbolic";
    }
    for diagnostic in &mut report.diagnostics {
        if diagnostic.verdict.is_none() {
            // What is told without a run was proved of every run.
            diagnostic.verdict = Some(Verdict::Proved);
        }
    }
    report
}

/// How an answer is known, for a person.
fn how(solved: &Solved, reach: &Reach) -> String {
    match reach {
        Reach::Reached(hit) => {
            let calls = hit.steps.len() + usize::from(hit.call.is_some());
            format!("a run of {}", counted(calls, "step"))
        }
        Reach::Never(How::Explicit { states, part, .. }) => visited(solved, *states, *part),
        Reach::Never(How::Symbolic { engine, invariant, .. }) => {
            format!("{engine}: {}", solved.spaces.widest().shown(invariant))
        }
        Reach::Unknown(why) => why.clone(),
    }
}

/// That every state was visited.
fn visited(solved: &Solved, states: usize, part: bool) -> String {
    let of = if part { " of the part that it depends on" } else { "" };
    // More than with one call at a time, which is what is counted elsewhere.
    let calls = if solved.spaces.many.is_some() { ", calls under way included" } else { "" };
    format!("all {} visited{of}{calls}", counted(states, "state"))
}

/// How an answer is known, for a certificate.
fn evidence(solved: &Solved, reach: &Reach) -> Option<Evidence> {
    Some(match reach {
        Reach::Reached(hit) => {
            Evidence::Run { steps: hit.steps.clone(), call: hit.call.clone(), overlapping: hit.overlapping }
        }
        Reach::Never(How::Explicit { states, transitions, part }) => {
            Evidence::Explored { states: *states, transitions: *transitions, part: *part }
        }
        Reach::Never(How::Symbolic { engine, invariant, k }) => Evidence::Invariant {
            engine: engine.clone(),
            k: *k,
            text: solved.spaces.widest().shown(invariant).to_string(),
            term: invariant.clone(),
        },
        Reach::Unknown(_) => return None,
    })
}

impl Report {
    /// The certificate of what is known. `errors`: error-level findings of all stages.
    #[must_use]
    pub fn certificate(
        &self,
        policy: &Policy,
        catalogue: Option<&Catalogue>,
        in_flight: InFlight,
        errors: usize,
    ) -> Certificate {
        let question = |answered: &Answered| proof::Question {
            id: answered.id.clone(),
            verdict: match answered.verdict {
                Verdict::Proved => proof::Verdict::Holds,
                Verdict::Refuted => proof::Verdict::Fails,
                Verdict::Unknown => proof::Verdict::Unknown,
            },
            level: answered.level,
            by: answered.evidence.clone(),
        };
        Certificate {
            version: proof::VERSION,
            policy: policy.digest().to_owned(),
            tools: catalogue.map(proof::tools_digest),
            in_flight,
            assumptions: self.assumptions.clone(),
            states: self.counts.map(|(states, _)| states),
            errors,
            // What closes for good is told, not judged.
            questions: self.answered.iter().filter(|answered| answered.id != blocks::ID).map(question).collect(),
        }
    }
}

/// Words of the reasons that more time or bounds can help with.
const TIMELY: [&str; 4] = ["in time", "states", "bounded", "64 bits"];

/// One finding for each reason, with the questions that it leaves open. What would only be told, not complained of, is
/// no worse when it stays open.
fn undecided_findings(
    place: Span,
    undecided: Vec<(String, String)>,
    seen: Option<&str>,
    strict: bool,
) -> Vec<Diagnostic> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for (id, why) in undecided {
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, ids)) => ids.push(id),
            None => by_reason.push((why, vec![id])),
        }
    }
    let finding = |(why, ids): (String, Vec<String>)| {
        let what = if ids.len() == 1 { "1 question is".to_owned() } else { format!("{} questions are", ids.len()) };
        let shown: Vec<String> = ids.iter().take(8).map(|id| format!("`{id}`")).collect();
        let more =
            if ids.len() > shown.len() { format!(" and {} more", ids.len() - shown.len()) } else { String::new() };
        let mild = !strict && ids.iter().all(|id| *id == blocks::ID);
        let finding = Diagnostic::new(Code::PX4017, place.at_start(), format!("{what} undecided: {why}"))
            .note(format!("neither proved nor refuted: {}{more}", shown.join(", ")));
        let timely = TIMELY.iter().any(|word| why.contains(word));
        seen.into_iter()
            .filter(|_| timely)
            .fold(finding, Diagnostic::note)
            .help(if timely {
                "give it more time with `--time-limit`, bound the numbers by guards, or accept it with `--allow-unknown`"
            } else {
                "change what the reason names, or accept it with `--allow-unknown`"
            })
            .verdict(Verdict::Unknown)
            .with_severity(if mild { Severity::Info } else { Severity::Warning })
    };
    by_reason.into_iter().map(finding).collect()
}

/// How far the states were visited. Those of the last depth may be some of many.
fn bound(graph: &Graph) -> String {
    let last = graph.states().saturating_sub(1);
    let calls = graph.depth(last).saturating_sub(1);
    let (states, calls) = (counted(graph.states(), "state"), counted(calls, "call"));
    format!("{states} visited, among them all that up to {calls} lead to")
}

fn assumptions(policy: &Policy, catalogue: Option<&Catalogue>, options: &Options) -> Vec<String> {
    let tools = match catalogue {
        Some(catalogue) => {
            let tools: usize = catalogue.servers.values().map(std::collections::BTreeMap::len).sum();
            format!("the servers offer the {tools} tools of the list and no others")
        }
        None => "the tools are those that the policy's globs tell apart, and one that none matches".to_owned(),
    };
    let answers = policy.typed().actions.iter().any(|action| !action.on_result.is_empty());
    let calls = match (answers, options.in_flight) {
        (false, _) | (true, InFlight::Many) => "calls may overlap, and answers may come late or never",
        (true, InFlight::One) => "each call is answered, or given up, before the next is decided",
    };
    vec![tools, calls.to_owned(), "calls around the gateway are not seen".to_owned()]
}
