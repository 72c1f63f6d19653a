//! Questions answered in processes of their own: a solver that overruns its time or its memory is ended, and the
//! others go on. Knows nothing of what the questions are for.

mod process;
mod work;

use super::{Found, Limits};
use crate::model::{Goal, System};
use process::{Process, Reply};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use work::work;

/// A question about one of several systems.
#[derive(Clone, Debug)]
pub struct Job {
    /// Index into the systems.
    pub system: usize,
    pub goal: Goal,
    pub limits: Limits,
}

/// How many processes, and by when all answers are there.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub workers: usize,
    /// Wall-clock time for all jobs together.
    pub deadline: Duration,
}

/// Bounds and policies nest; their terms are read by recursion.
const STACK: usize = 64 << 20;
/// A solver is ended this long after its time, and after the deadline.
const GRACE: Duration = Duration::from_millis(300);
/// Less time than this is not worth a question, unless it is asked for.
const LEAST: Duration = Duration::from_millis(200);

/// What the parent sends, one line each.
#[derive(Debug, Serialize, Deserialize)]
enum Request<S, G> {
    System(S),
    Reach(G, Limits),
}

/// Answers the jobs, in their order, with children that run `program solve`. A job gets its own time or its share
/// of what is left, whichever is less, and a second try with what the others leave over; all answers are there by the deadline and a fraction of a second.
#[must_use]
pub fn reach_in_child(program: &Path, systems: &[System], jobs: &[Job], plan: Plan) -> Vec<Found> {
    let start = Instant::now();
    let end = start.checked_add(plan.deadline).unwrap_or(start + Duration::from_secs(86_400));
    let workers = plan.workers.clamp(1, jobs.len().max(1));
    let queue = Mutex::new((0..jobs.len()).map(|at| (at, true)).collect::<VecDeque<_>>());
    let answers = Mutex::new(vec![None; jobs.len()]);
    let crew = Crew { program, systems, jobs, workers, end, queue: &queue, answers: &answers };
    thread::scope(|scope| {
        for _ in 0..workers {
            let builder = thread::Builder::new().stack_size(STACK);
            // Without a thread the jobs stay unanswered, which is said below.
            let _ = builder.spawn_scoped(scope, || crew.run());
        }
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unanswered =
        || unknown(format!("no time was left before the deadline of {}", super::reach::shown(plan.deadline)));
    answers.into_iter().map(|answer| answer.unwrap_or_else(unanswered)).collect()
}

fn unknown(why: String) -> Found {
    Found::Unknown { why, depth: None }
}

struct Crew<'c> {
    program: &'c Path,
    systems: &'c [System],
    jobs: &'c [Job],
    workers: usize,
    end: Instant,
    /// Jobs, and whether it is the first try.
    queue: &'c Mutex<VecDeque<(usize, bool)>>,
    answers: &'c Mutex<Vec<Option<Found>>>,
}

impl Crew<'_> {
    fn run(&self) {
        // A child, and the system it has been told.
        let mut child: Option<(Process, usize)> = None;
        while let Some((at, first, share)) = self.next() {
            let Some(job) = self.jobs.get(at) else { continue };
            let limits = Limits { time: job.limits.time.min(share), ..job.limits };
            let found = match self.child(&mut child, job) {
                Ok(process) => ask(process, &job.goal, limits, self.end),
                Err(why) => unknown(why),
            };
            // A solver that gave up is worn out: its memory is full of the attempt.
            if matches!(found, Found::Unknown { .. }) {
                child = None;
                if first && limits.time < job.limits.time {
                    // What the others leave over is for those that had no answer in their share.
                    self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back((at, false));
                }
            }
            if let Some(answer) = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
                // A second try that was ended knows less than the first.
                if answer.is_none() || !matches!(found, Found::Unknown { depth: None, .. }) {
                    *answer = Some(found);
                }
            }
        }
    }

    /// The next job, and how much time it may take so that the others get theirs.
    fn next(&self) -> Option<(usize, bool, Duration)> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let rounds = u32::try_from(queue.len().div_ceil(self.workers)).unwrap_or(u32::MAX).max(1);
        let share = (left / rounds).max(LEAST).min(left);
        queue.pop_front().map(|(at, first)| (at, first, share))
    }

    /// A child that knows the job's system.
    fn child<'p>(&self, child: &'p mut Option<(Process, usize)>, job: &Job) -> Result<&'p mut Process, String> {
        let told = child.as_ref().is_some_and(|(_, system)| *system == job.system);
        if !told {
            let system = self.systems.get(job.system).ok_or("the job names a system that is not there")?;
            let process = match child.take() {
                Some((process, _)) => process,
                None => Process::start(self.program, job.limits.memory_mb)?,
            };
            process.send(&Request::<&System, &Goal>::System(system))?;
            *child = Some((process, job.system));
        }
        child.as_mut().map(|(process, _)| process).ok_or_else(|| "no solver".to_owned())
    }
}

fn ask(process: &mut Process, goal: &Goal, limits: Limits, end: Instant) -> Found {
    if let Err(why) = process.send(&Request::<&System, &Goal>::Reach(goal, limits)) {
        return unknown(why);
    }
    let until = Instant::now().checked_add(limits.time).map_or(end, |own| own.min(end)) + GRACE;
    match process.receive(until) {
        Reply::Found(found) => found,
        Reply::Late => unknown(super::reach::LATE.to_owned()),
        Reply::Gone(how) => {
            unknown(format!("the solver ended without an answer ({how}); it may use {} MB", limits.memory_mb))
        }
    }
}
