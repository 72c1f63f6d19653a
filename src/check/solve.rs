//! One answer for each goal: the explicit engine first, the symbolic one where it does not finish. What calls that
//! overlap can do is asked too. Nothing is concluded from a bound that was reached.

use super::Options;
use super::plan::{Group, Question, Wants};
use super::verify::overlaps;
use crate::explicit::{Found as Seen, Graph, Hit as Place, Limits, Stop, dive};
use crate::model::{Class, Gap, Goal, Step, System, Term, cap, overlapping, slice};
use std::time::{Duration, Instant};

/// Calls in flight at once in the search for traces.
const IN_FLIGHT: u32 = 3;

/// Memory of one solver, and the longest run that it looks for.
#[cfg(feature = "smt")]
const SOLVER_MEMORY_MB: u32 = 2_048;
#[cfg(feature = "smt")]
const SOLVER_DEPTH: usize = 200;
#[cfg(feature = "smt")]
const GRACE: Duration = Duration::from_millis(300);

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
    /// Every state was visited; `part`: of the part of the system that the goal depends on.
    Explicit { states: usize, transitions: u64, part: bool },
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

    /// The answer from the part of the system that the goal depends on, if that is small enough.
    pub(super) fn part(
        &self,
        goal: &Goal,
        options: &Options,
        deadline: Instant,
        progress: &mut dyn FnMut(usize),
    ) -> Option<Reach> {
        let limits = limits(&Options { states: options.states.min(FEW_STATES), ..options.clone() }, deadline);
        let one = slice(&self.one, goal)?;
        let graph = Graph::explore(&one, &limits, false, progress);
        match graph.search(&one, std::slice::from_ref(goal)).pop() {
            Some(Seen::Found(place)) => return Some(reached(place, true, false)),
            Some(Seen::Absent) => {}
            Some(Seen::Open(_)) | None => return None,
        }
        let widest = slice(self.widest(), goal)?;
        let graph = Graph::explore(&widest, &limits, true, progress);
        let seen = graph.search(&widest, std::slice::from_ref(goal)).pop();
        matches!(seen, Some(Seen::Absent)).then(|| {
            Reach::Never(How::Explicit { states: graph.states(), transitions: graph.transitions(), part: true })
        })
    }

    /// What a graph of the widest system says of one goal.
    pub(super) fn first(&self, graph: &Graph, goal: &Goal) -> Reach {
        match graph.search(self.widest(), std::slice::from_ref(goal)).pop() {
            Some(Seen::Found(place)) => reached(place, true, false),
            Some(Seen::Absent) => {
                Reach::Never(How::Explicit { states: graph.states(), transitions: graph.transitions(), part: false })
            }
            Some(Seen::Open(_)) | None => Reach::Unknown("not all states were visited".to_owned()),
        }
    }
}

fn limits(options: &Options, deadline: Instant) -> Limits {
    Limits { states: options.states, ..Limits::until(deadline) }
}

/// One group on its way: what the states have said, and what they left open.
struct Open {
    solved: Solved,
    reaches: Vec<Option<Reach>>,
    left: Vec<(usize, Option<Stop>)>,
}

/// States of a group that are visited where those of the first group are too many.
pub(super) const FEW_STATES: usize = 100_000;

/// Answers every goal of every group by `deadline`. The first group is about the policy as it stands; if its states
/// cannot all be visited, neither can those of the others, which have more.
pub(super) fn solve(
    groups: Vec<Group>,
    options: &Options,
    deadline: Instant,
    progress: &mut dyn FnMut(usize),
) -> Vec<Solved> {
    let mut open: Vec<Open> = Vec::new();
    let count = groups.len();
    for (at, group) in groups.into_iter().enumerate() {
        let first = open.first().map(|first| first.solved.graph.complete());
        let (options, part) = match first {
            None => (options.clone(), 0.3),
            Some(true) => (options.clone(), 0.5 / usize_f64(count - at)),
            Some(false) => (Options { states: options.states.min(FEW_STATES), ..options.clone() }, 0.05),
        };
        open.push(visit(group, &options, share(deadline, part), progress));
    }
    walk(&mut open, deadline);
    ask_solver(&mut open, options, deadline);
    open.into_iter().map(Open::closed).collect()
}

fn usize_f64(count: usize) -> f64 {
    u32::try_from(count.max(1)).map_or(f64::MAX, f64::from)
}

/// What the states of a group say; visiting them, and looking among them, takes until `deadline` and half as long again.
fn visit(group: Group, options: &Options, deadline: Instant, progress: &mut dyn FnMut(usize)) -> Open {
    let again = deadline + deadline.saturating_duration_since(Instant::now()).mul_f64(0.5);
    let spaces = spaces(&group, options);
    let Group { system, questions } = group;
    let goals: Vec<Goal> = questions.iter().map(|question| question.goal.clone()).collect();
    let mut graph = Graph::explore(&spaces.one, &limits(options, deadline), false, progress);
    graph.search_until(again);
    let found = |seen| match seen {
        Seen::Found(place) => Some(reached(place, true, false)),
        Seen::Absent | Seen::Open(_) => None,
    };
    let mut reaches: Vec<Option<Reach>> = graph.search(&spaces.one, &goals).into_iter().map(found).collect();

    let wide = (spaces.widest.is_some() || spaces.unwitnessed).then(|| {
        // What is more than too much is not visited again.
        let until = if graph.complete() { deadline } else { Instant::now() };
        let mut wide = spaces.explore_widest(options, until, progress);
        wide.search_until(again);
        wide
    });
    let proof_graph = wide.as_ref().unwrap_or(&graph);
    let open: Vec<usize> = (0..goals.len()).filter(|at| reaches.get(*at).is_some_and(Option::is_none)).collect();
    let mut spurious: Vec<usize> = Vec::new();
    let mut left: Vec<(usize, Option<Stop>)> = Vec::new();
    let pick = |places: &[usize]| -> Vec<Goal> { places.iter().filter_map(|at| goals.get(*at).cloned()).collect() };
    if wide.is_none() && !graph.complete() {
        // They have been looked at.
        left.extend(open.iter().map(|at| (*at, graph.stopped())));
    } else {
        for (at, seen) in open.iter().zip(proof_graph.search(spaces.widest(), &pick(&open))) {
            match seen {
                Seen::Absent => {
                    let (states, transitions) = (proof_graph.states(), proof_graph.transitions());
                    set(&mut reaches, *at, Reach::Never(How::Explicit { states, transitions, part: false }));
                }
                Seen::Found(_) => spurious.push(*at),
                Seen::Open(stop) => left.push((*at, Some(stop))),
            }
        }
    }

    // Found where calls overlap, or with calls that nobody has made: is there a real run?
    let unsure: Vec<usize> = spurious.iter().copied().chain(left.iter().map(|(at, _)| *at)).collect();
    if let Some(many) = &spaces.many
        && !unsure.is_empty()
    {
        let mut graph = Graph::explore(many, &limits(options, deadline), false, progress);
        graph.search_until(again);
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
    for (at, goal) in left.iter().filter_map(|(at, _)| Some((*at, goals.get(*at)?))) {
        if let Some(reach) = spaces.part(goal, options, again, progress) {
            set(&mut reaches, at, reach);
        }
    }
    left.retain(|(at, _)| reaches.get(*at).is_some_and(Option::is_none));
    let solved = Solved { spaces, gaps: system.gaps, graph, wide, questions, reaches: Vec::new() };
    Open { solved, reaches, left }
}

impl Open {
    fn closed(self) -> Solved {
        let gap = self.solved.gaps.first().map(|gap| gap.why.clone());
        let reaches = self
            .reaches
            .into_iter()
            .zip(&self.solved.questions)
            .map(|(reach, question)| match (reach, &gap) {
                (Some(Reach::Never(_)), Some(why)) => Reach::Unknown(why.clone()),
                // That nothing is allowed is known of the calls of the model alone.
                (Some(Reach::Reached(_)), Some(why)) if matches!(question.goal, Goal::Stuck { .. }) => {
                    Reach::Unknown(why.clone())
                }
                (Some(reach), _) => reach,
                (None, _) => Reach::Unknown("no engine answered".to_owned()),
            })
            .collect();
        Solved { reaches, ..self.solved }
    }

    fn goal(&self, at: usize) -> Option<&Goal> {
        self.solved.questions.get(at).map(|question| &question.goal)
    }
}

/// Walks for a run to what the states left open: deeper than a search in breadth can go.
fn walk(open: &mut [Open], deadline: Instant) {
    let mut waiting = open.iter().filter(|group| !group.left.is_empty()).count();
    let until = share(deadline, 0.2);
    for group in open.iter_mut().filter(|group| !group.left.is_empty()) {
        let goals: Vec<Goal> = group.left.iter().filter_map(|(at, _)| group.goal(*at).cloned()).collect();
        let limits = Limits::until(share(until, 1.0 / usize_f64(waiting)));
        waiting -= 1;
        let found = dive(&group.solved.spaces.one, &goals, &limits, 1);
        for ((at, _), place) in group.left.iter().zip(found) {
            if let Some(place) = place {
                set(&mut group.reaches, *at, reached(place, false, false));
            }
        }
        group.left.retain(|(at, _)| group.reaches.get(*at).is_some_and(Option::is_none));
    }
}

/// The solver, in processes of its own, for what is still open.
fn ask_solver(open: &mut [Open], options: &Options, deadline: Instant) {
    let why =
        |stop: &Option<Stop>| stop.as_ref().map_or_else(|| "not all states were visited".to_owned(), Stop::to_string);
    #[cfg(feature = "smt")]
    if let Some(solver) = options.solver.as_ref().filter(|_| open.iter().any(|group| !group.left.is_empty())) {
        use crate::smt::{self, Found};
        // A child may overrun its time a little before it is ended.
        let time = deadline.saturating_duration_since(Instant::now()).saturating_sub(GRACE);
        let limits = smt::Limits { time, memory_mb: SOLVER_MEMORY_MB, depth: SOLVER_DEPTH };
        let systems: Vec<System> = open.iter().map(|group| group.solved.spaces.widest().clone()).collect();
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for (system, group) in open.iter().enumerate() {
            for (at, stop) in &group.left {
                let Some(goal) = group.goal(*at) else { continue };
                jobs.push(smt::child::Job { system, goal: goal.clone(), limits });
                places.push((system, *at, *stop));
            }
        }
        let plan = smt::child::Plan { workers: 2, deadline: time };
        let found = smt::child::reach_in_child(solver, &systems, &jobs, plan);
        for ((system, at, stop), found) in places.into_iter().zip(found) {
            let Some(group) = open.get_mut(system) else { continue };
            let reach = match found {
                Found::Never { invariant, how, k } => Reach::Never(How::Symbolic { engine: how, invariant, k }),
                Found::Reached { steps, class, minimal } if real(&group.solved.spaces, &steps) => {
                    Reach::Reached(Hit { steps, call: class, shortest: minimal, overlapping: false })
                }
                Found::Reached { .. } => {
                    Reach::Unknown("only calls that could not be built, or that overlap, lead there".to_owned())
                }
                Found::Unknown { why: reason, .. } => Reach::Unknown(format!("{}; the solver: {reason}", why(&stop))),
            };
            set(&mut group.reaches, at, reach);
        }
        return;
    }
    let _ = (options, deadline);
    for group in open {
        for (at, stop) in &group.left {
            set(&mut group.reaches, *at, Reach::Unknown(format!("{}, and no solver is at hand", why(stop))));
        }
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
