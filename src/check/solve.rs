//! One answer for each goal: the explicit engine first, the symbolic one where it does not finish. What calls that
//! overlap can do is asked too. Nothing is concluded from a bound that was reached.

use super::plan::{Group, Question, Wants};
use super::{InFlight, Options};
use crate::explicit::{Found as Seen, Graph, Hit as Place, Limits, Stop, dive};
use crate::model::{Goal, Kind, Step, System, Term, cap, overlapping};
use std::time::{Duration, Instant};

/// Calls in flight at once in the search for traces.
const IN_FLIGHT: u32 = 3;

/// What is known of one goal.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    Reached(Hit),
    Never(How),
    Unknown(String),
}

/// A way to a goal.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) steps: Vec<Step>,
    /// The call that the goal is about, after the steps.
    pub(super) call: Option<(usize, Vec<i64>)>,
    pub(super) shortest: bool,
    /// Only calls that overlap lead there: the steps are of the overlapping system.
    pub(super) overlapping: bool,
}

/// Why a goal cannot be reached.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum How {
    /// Every state was visited.
    Explicit { states: usize, transitions: u64 },
    /// An invariant that holds from the start, is kept by every step and excludes the goal.
    Symbolic { engine: String, invariant: Term, k: usize },
}

/// One group with its systems and what was found.
#[derive(Debug)]
pub(super) struct Solved {
    /// Calls one at a time.
    pub(super) one: System,
    /// Calls that overlap, as traces use it; `None` where that makes no difference.
    pub(super) many: Option<System>,
    /// The states with one call at a time, calls without a witness left out.
    pub(super) graph: Graph,
    /// The states that proofs rest on: all calls, overlapping where that is asked.
    pub(super) widest: Option<(System, Graph)>,
    pub(super) questions: Vec<Question>,
    pub(super) reaches: Vec<Reach>,
}

impl Solved {
    /// The system that the steps of a hit belong to.
    pub(super) fn system_of(&self, hit: &Hit) -> &System {
        if hit.overlapping { self.many.as_ref().unwrap_or(&self.one) } else { &self.one }
    }

    /// The system and graph that hold every behaviour.
    pub(super) fn proof_space(&self) -> (&System, &Graph) {
        self.widest.as_ref().map_or((&self.one, &self.graph), |(system, graph)| (system, graph))
    }
}

/// Answers every goal of a group by `deadline`.
pub(super) fn solve(group: Group, options: &Options, deadline: Instant, progress: &mut dyn FnMut(usize)) -> Solved {
    let Group { system, questions } = group;
    let goals: Vec<&Goal> = questions.iter().map(|question| &question.goal).collect();
    let terms: Vec<&Term> = goals.iter().flat_map(|goal| terms(goal)).collect();
    let one = cap(&system, &terms);
    let explicit = Limits {
        states: options.states,
        deadline: share(deadline, 0.5),
        ..Limits::default()
    };
    let graph = Graph::explore(&one, &explicit, false, progress);
    let goals: Vec<Goal> = goals.into_iter().cloned().collect();
    let mut reaches: Vec<Option<Reach>> = graph
        .search(&one, &goals)
        .into_iter()
        .map(|seen| match seen {
            Seen::Found(place) => Some(reached(place, true, false)),
            Seen::Absent | Seen::Open(_) => None,
        })
        .collect();

    let overlaps = options.in_flight == InFlight::Many && system.classes.iter().any(|class| class.outcomes.len() > 1);
    let unwitnessed = system.classes.iter().any(|class| !class.witnessed || class.outcomes.iter().any(|o| !o.witnessed));
    let widest = (overlaps || unwitnessed).then(|| {
        let widest = if overlaps { cap(&overlapping(&system, None), &terms) } else { one.clone() };
        let graph = Graph::explore(&widest, &Limits { deadline: share(deadline, 0.5), ..explicit }, true, progress);
        (widest, graph)
    });
    let (proof_system, proof_graph) = widest.as_ref().map_or((&one, &graph), |(system, graph)| (system, graph));

    let open: Vec<usize> = (0..goals.len()).filter(|at| reaches.get(*at).is_some_and(Option::is_none)).collect();
    let mut spurious: Vec<usize> = Vec::new();
    let mut left: Vec<(usize, Option<Stop>)> = Vec::new();
    let asked: Vec<Goal> = open.iter().filter_map(|at| goals.get(*at).cloned()).collect();
    for (at, seen) in open.iter().zip(proof_graph.search(proof_system, &asked)) {
        match seen {
            Seen::Absent => {
                let (states, transitions) = (proof_graph.states(), proof_graph.transitions());
                set(&mut reaches, *at, Reach::Never(How::Explicit { states, transitions }));
            }
            Seen::Found(_) => spurious.push(*at),
            Seen::Open(stop) => left.push((*at, Some(stop))),
        }
    }

    // Found where calls overlap, or with calls that nobody has made: is there a real run?
    let many = overlaps.then(|| cap(&overlapping(&system, Some(IN_FLIGHT)), &terms));
    let unsure: Vec<usize> = spurious.iter().copied().chain(left.iter().map(|(at, _)| *at)).collect();
    if let Some(many) = &many
        && !unsure.is_empty()
    {
        let limits = Limits { deadline: share(deadline, 0.5), ..explicit };
        let graph = Graph::explore(many, &limits, false, progress);
        let asked: Vec<Goal> = unsure.iter().filter_map(|at| goals.get(*at).cloned()).collect();
        for (at, seen) in unsure.iter().zip(graph.search(many, &asked)) {
            if let Seen::Found(place) = seen {
                set(&mut reaches, *at, reached(place, true, true));
            }
        }
    }
    for at in spurious {
        if reaches.get(at).is_some_and(Option::is_none) {
            let why = if overlaps {
                format!("only runs with more than {IN_FLIGHT} calls in flight, or calls that could not be built, lead there")
            } else {
                "a combination of texts that could not be witnessed leads there".to_owned()
            };
            set(&mut reaches, at, Reach::Unknown(why));
        }
    }
    left.retain(|(at, _)| reaches.get(*at).is_some_and(Option::is_none));
    if !left.is_empty() {
        symbolic(&one, proof_system, &goals, &left, options, deadline, &mut reaches);
    }

    let gap = system.gaps.first().map(|gap| gap.why.clone());
    let reaches = reaches
        .into_iter()
        .map(|reach| match (reach, &gap) {
            (Some(Reach::Never(_)), Some(why)) => Reach::Unknown(why.clone()),
            (Some(reach), _) => reach,
            (None, _) => Reach::Unknown("no engine answered".to_owned()),
        })
        .collect();
    Solved { one, many, graph, widest, questions, reaches }
}

/// Goals that the states could not answer: walks for a trace, then the solver.
fn symbolic(
    one: &System,
    proof_system: &System,
    goals: &[Goal],
    left: &[(usize, Option<Stop>)],
    options: &Options,
    deadline: Instant,
    reaches: &mut [Option<Reach>],
) {
    let asked: Vec<Goal> = left.iter().filter_map(|(at, _)| goals.get(*at).cloned()).collect();
    let limits = Limits { deadline: share(deadline, 0.2), ..Limits::default() };
    for ((at, _), place) in left.iter().zip(dive(one, &asked, &limits, 1)) {
        if let Some(place) = place {
            set(reaches, *at, reached(place, false, false));
        }
    }
    let left: Vec<&(usize, Option<Stop>)> =
        left.iter().filter(|(at, _)| reaches.get(*at).is_some_and(Option::is_none)).collect();
    let why = |stop: &Option<Stop>| stop.as_ref().map_or_else(|| "not all states were visited".to_owned(), Stop::to_string);
    #[cfg(feature = "smt")]
    if let Some(solver) = &options.solver {
        use crate::smt::{self, Found};
        let asked: Vec<Goal> = left.iter().filter_map(|(at, _)| goals.get(*at).cloned()).collect();
        let limits = smt::Limits::until(deadline);
        let found = smt::child::reach_in_child(solver, proof_system, &asked, &limits, deadline);
        for ((at, stop), found) in left.into_iter().zip(found) {
            let reach = match found {
                Found::Never { invariant, how, k } => Reach::Never(How::Symbolic { engine: how, invariant, k }),
                Found::Reached { steps, class, minimal } if real(one, proof_system, &steps) => Reach::Reached(Hit {
                    steps,
                    call: class,
                    shortest: minimal,
                    overlapping: false,
                }),
                Found::Reached { .. } => {
                    Reach::Unknown("only calls that could not be built, or that overlap, lead there".to_owned())
                }
                Found::Unknown { why: reason, .. } => Reach::Unknown(format!("{}; the solver: {reason}", why(stop))),
            };
            set(reaches, *at, reach);
        }
        return;
    }
    let _ = (proof_system, options);
    for (at, stop) in left {
        set(reaches, *at, Reach::Unknown(format!("{}, and no solver is at hand", why(stop))));
    }
}

/// Whether steps of the proof system are steps with one call at a time, with real calls and answers only.
#[cfg(feature = "smt")]
fn real(one: &System, proof_system: &System, steps: &[Step]) -> bool {
    let same = one.classes.len() == proof_system.classes.len();
    same && steps.iter().all(|step| {
        one.classes.get(step.class).is_some_and(|class| {
            class.witnessed
                && matches!(class.kind, Kind::Call { .. })
                && class.outcomes.get(step.outcome).is_some_and(|outcome| outcome.witnessed)
        })
    })
}

fn set(reaches: &mut [Option<Reach>], at: usize, reach: Reach) {
    if let Some(slot) = reaches.get_mut(at) {
        *slot = Some(reach);
    }
}

fn reached(place: Place, shortest: bool, overlapping: bool) -> Reach {
    Reach::Reached(Hit { steps: place.steps, call: place.class, shortest, overlapping })
}

/// The terms of a goal: counters are told apart as far as they look.
fn terms(goal: &Goal) -> Vec<&Term> {
    match goal {
        Goal::State(term) | Goal::Stuck { state: term, .. } => vec![term],
        Goal::Call(calls) => calls.iter().map(|(_, term)| term).collect(),
    }
}

/// A moment before the deadline: this share of the time that is left.
fn share(deadline: Instant, part: f64) -> Instant {
    let now = Instant::now();
    let left: Duration = deadline.saturating_duration_since(now);
    now + left.mul_f64(part)
}

impl Wants {
    /// Whether the answer is the good one; `None`: undecided.
    pub(super) fn satisfied(self, reach: &Reach) -> Option<bool> {
        match (self, reach) {
            (_, Reach::Unknown(_)) => None,
            (Self::Unreachable, Reach::Never(_)) | (Self::Reachable, Reach::Reached(_)) => Some(true),
            _ => Some(false),
        }
    }
}
