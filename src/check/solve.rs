//! One answer for each goal: the explicit engine first, the symbolic one where it does not finish. What calls that
//! overlap can do is asked too. Nothing is concluded from a bound that was reached.

use super::Options;
use super::plan::{Group, Question, Wants};
use super::verify::overlaps;
use crate::explicit::{Found as Seen, Graph, Hit as Place, Limits, Stop, dive};
use crate::model::{Class, Gap, Goal, Step, System, Term, cap, overlapping};
use std::time::{Duration, Instant};

/// Calls in flight at once in the search for traces.
const IN_FLIGHT: u32 = 3;

/// Memory of one solver, and the longest run that it looks for.
#[cfg(feature = "smt")]
const SOLVER_MEMORY_MB: u32 = 2_048;
#[cfg(feature = "smt")]
const SOLVER_DEPTH: usize = 200;

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
    #[cfg_attr(not(feature = "smt"), expect(dead_code, reason = "only the solver gives it"))]
    Symbolic { engine: String, invariant: Term, k: usize },
}

/// One group with its systems and what was found.
#[derive(Debug)]
pub(super) struct Solved {
    pub(super) spaces: Spaces,
    pub(super) gaps: Vec<Gap>,
    /// The states with one call at a time, calls without a witness left out.
    pub(super) graph: Graph,
    /// The states of the widest system, where these are others.
    wide: Option<Graph>,
    pub(super) questions: Vec<Question>,
    pub(super) reaches: Vec<Reach>,
}

impl Solved {
    /// Calls one at a time.
    pub(super) fn one(&self) -> &System {
        &self.spaces.one
    }

    /// The system that the steps of a hit belong to.
    pub(super) fn system_of(&self, hit: &Hit) -> &System {
        if hit.overlapping { self.spaces.many.as_ref().unwrap_or(&self.spaces.one) } else { &self.spaces.one }
    }

    /// The states that proofs rest on, of the widest system.
    pub(super) fn proof_graph(&self) -> &Graph {
        self.wide.as_ref().unwrap_or(&self.graph)
    }
}

/// The systems of a group.
#[derive(Debug)]
pub(super) struct Spaces {
    /// Calls one at a time.
    pub(super) one: System,
    /// Calls that overlap, with a bound on those in flight: for traces. `None` where that makes no difference.
    pub(super) many: Option<System>,
    /// Every behaviour, where it is more than that of `one`: for proofs.
    widest: Option<System>,
    /// Whether calls without a witness are left out of `one`.
    unwitnessed: bool,
}

/// The systems of a group; counters are held where neither its rules nor its goals tell their values apart.
pub(super) fn spaces(group: &Group, options: &Options) -> Spaces {
    let system = &group.system;
    let terms: Vec<&Term> = group.questions.iter().flat_map(|question| terms(&question.goal)).collect();
    let one = cap(system, &terms);
    let overlaps = overlaps(options.in_flight, system);
    let many = overlaps.then(|| cap(&overlapping(system, Some(IN_FLIGHT)), &terms));
    let widest = overlaps.then(|| cap(&overlapping(system, None), &terms));
    let seen = |class: &Class| class.witnessed && class.outcomes.iter().all(|outcome| outcome.witnessed);
    Spaces { one, many, widest, unwitnessed: !system.classes.iter().all(seen) }
}

impl Spaces {
    /// The system that holds every behaviour.
    pub(super) fn widest(&self) -> &System {
        self.widest.as_ref().unwrap_or(&self.one)
    }

    /// All states of the widest system, calls without a witness included.
    pub(super) fn explore_widest(
        &self,
        options: &Options,
        deadline: Instant,
        progress: &mut dyn FnMut(usize),
    ) -> Graph {
        Graph::explore(self.widest(), &limits(options, deadline), true, progress)
    }

    /// What a graph of the widest system says of one goal.
    pub(super) fn first(&self, graph: &Graph, goal: &Goal) -> Reach {
        match graph.search(self.widest(), std::slice::from_ref(goal)).pop() {
            Some(Seen::Found(place)) => reached(place, true, false),
            Some(Seen::Absent) => {
                Reach::Never(How::Explicit { states: graph.states(), transitions: graph.transitions() })
            }
            Some(Seen::Open(_)) | None => Reach::Unknown("not all states were visited".to_owned()),
        }
    }
}

fn limits(options: &Options, deadline: Instant) -> Limits {
    Limits { states: options.states, ..Limits::until(deadline) }
}

/// Answers every goal of a group by `deadline`.
pub(super) fn solve(group: Group, options: &Options, deadline: Instant, progress: &mut dyn FnMut(usize)) -> Solved {
    let spaces = spaces(&group, options);
    let Group { system, questions } = group;
    let goals: Vec<Goal> = questions.iter().map(|question| question.goal.clone()).collect();
    let graph = Graph::explore(&spaces.one, &limits(options, share(deadline, 0.5)), false, progress);
    let found = |seen| match seen {
        Seen::Found(place) => Some(reached(place, true, false)),
        Seen::Absent | Seen::Open(_) => None,
    };
    let mut reaches: Vec<Option<Reach>> = graph.search(&spaces.one, &goals).into_iter().map(found).collect();

    let wide = (spaces.widest.is_some() || spaces.unwitnessed)
        .then(|| spaces.explore_widest(options, share(deadline, 0.5), progress));
    let proof_graph = wide.as_ref().unwrap_or(&graph);
    let open: Vec<usize> = (0..goals.len()).filter(|at| reaches.get(*at).is_some_and(Option::is_none)).collect();
    let mut spurious: Vec<usize> = Vec::new();
    let mut left: Vec<(usize, Option<Stop>)> = Vec::new();
    let pick = |places: &[usize]| -> Vec<Goal> { places.iter().filter_map(|at| goals.get(*at).cloned()).collect() };
    for (at, seen) in open.iter().zip(proof_graph.search(spaces.widest(), &pick(&open))) {
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
    let unsure: Vec<usize> = spurious.iter().copied().chain(left.iter().map(|(at, _)| *at)).collect();
    if let Some(many) = &spaces.many
        && !unsure.is_empty()
    {
        let graph = Graph::explore(many, &limits(options, share(deadline, 0.5)), false, progress);
        for (at, seen) in unsure.iter().zip(graph.search(many, &pick(&unsure))) {
            if let Seen::Found(place) = seen {
                set(&mut reaches, *at, reached(place, true, true));
            }
        }
    }
    for at in spurious {
        if reaches.get(at).is_some_and(Option::is_none) {
            let why = if spaces.many.is_some() {
                format!(
                    "only runs with more than {IN_FLIGHT} calls in flight, or calls that could not be built, lead there"
                )
            } else {
                "only calls that could not be built lead there".to_owned()
            };
            set(&mut reaches, at, Reach::Unknown(why));
        }
    }
    left.retain(|(at, _)| reaches.get(*at).is_some_and(Option::is_none));
    if !left.is_empty() {
        symbolic(&spaces, &goals, &left, options, deadline, &mut reaches);
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
    Solved { spaces, gaps: system.gaps, graph, wide, questions, reaches }
}

/// Goals that the states could not answer: walks for a trace, then the solver.
fn symbolic(
    spaces: &Spaces,
    goals: &[Goal],
    left: &[(usize, Option<Stop>)],
    options: &Options,
    deadline: Instant,
    reaches: &mut [Option<Reach>],
) {
    let asked: Vec<Goal> = left.iter().filter_map(|(at, _)| goals.get(*at).cloned()).collect();
    let limits = Limits::until(share(deadline, 0.2));
    for ((at, _), place) in left.iter().zip(dive(&spaces.one, &asked, &limits, 1)) {
        if let Some(place) = place {
            set(reaches, *at, reached(place, false, false));
        }
    }
    let left: Vec<&(usize, Option<Stop>)> =
        left.iter().filter(|(at, _)| reaches.get(*at).is_some_and(Option::is_none)).collect();
    let why =
        |stop: &Option<Stop>| stop.as_ref().map_or_else(|| "not all states were visited".to_owned(), Stop::to_string);
    #[cfg(feature = "smt")]
    if let Some(solver) = &options.solver {
        use crate::smt::{self, Found};
        let time = deadline.saturating_duration_since(Instant::now());
        let limits = smt::Limits { time, memory_mb: SOLVER_MEMORY_MB, depth: SOLVER_DEPTH };
        let job = |(at, _): &&(usize, Option<Stop>)| {
            Some(smt::child::Job { system: 0, goal: goals.get(*at)?.clone(), limits })
        };
        let jobs: Vec<smt::child::Job> = left.iter().filter_map(job).collect();
        let plan = smt::child::Plan { workers: 2, deadline: time };
        let found = smt::child::reach_in_child(solver, std::slice::from_ref(spaces.widest()), &jobs, plan);
        for ((at, stop), found) in left.into_iter().zip(found) {
            let reach = match found {
                Found::Never { invariant, how, k } => Reach::Never(How::Symbolic { engine: how, invariant, k }),
                Found::Reached { steps, class, minimal } if real(spaces, &steps) => {
                    Reach::Reached(Hit { steps, call: class, shortest: minimal, overlapping: false })
                }
                Found::Reached { .. } => {
                    Reach::Unknown("only calls that could not be built, or that overlap, lead there".to_owned())
                }
                Found::Unknown { why: reason, .. } => Reach::Unknown(format!("{}; the solver: {reason}", why(stop))),
            };
            set(reaches, *at, reach);
        }
        return;
    }
    let _ = options;
    for (at, stop) in left {
        set(reaches, *at, Reach::Unknown(format!("{}, and no solver is at hand", why(stop))));
    }
}

/// Whether steps of the widest system are steps with one call at a time, with real calls and answers only.
#[cfg(feature = "smt")]
fn real(spaces: &Spaces, steps: &[Step]) -> bool {
    spaces.widest.is_none()
        && steps.iter().all(|step| {
            spaces.one.classes.get(step.class).is_some_and(|class| {
                class.witnessed && class.outcomes.get(step.outcome).is_some_and(|outcome| outcome.witnessed)
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
