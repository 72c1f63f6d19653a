//! Walks through a system that is too large to visit: runs to a goal that need not be the shortest.

use super::graph::{Graph, Limits, Stop};
use super::search::{Hit, Test};
use super::step::Scratch;
use crate::model::{Goal, Step, System};
use std::time::Instant;

/// Steps of one walk.
const LENGTH: usize = 20_000;
/// Walks at most; the deadline ends them earlier.
const WALKS: usize = 10_000;

/// Runs to the goals, where walks come upon them before the deadline. The same seed gives the same walks.
#[must_use]
pub fn dive(system: &System, goals: &[Goal], limits: &Limits, seed: u64) -> Vec<Option<Hit>> {
    // A graph of one state has the machine and the tests.
    let none = Limits { states: 1, edges: usize::MAX, deadline: limits.deadline };
    let mut graph = Graph::explore(system, &none, false, &mut |_| {});
    graph.machine.few_values = true;
    let tests: Vec<Test> = goals.iter().map(|goal| Test::new(system, goal)).collect();
    let mut found: Vec<Option<Hit>> = vec![None; goals.len()];
    let mut open: Vec<usize> = (0..goals.len()).collect();
    let mut random = seed | 1;
    let mut scratch = Scratch::until(limits.deadline);
    for walk in 0..WALKS {
        if open.is_empty() || Instant::now() >= limits.deadline {
            break;
        }
        let mut state = system.initial();
        let mut steps: Vec<Step> = Vec::new();
        let mut favourite: Option<(usize, usize)> = None;
        for length in 0..LENGTH {
            if length % 64 == 63 && Instant::now() >= limits.deadline {
                break;
            }
            let Ok(safe) = graph.machine.is_safe(&state, &mut scratch) else { break };
            open.retain(|at| {
                let hit = tests.get(*at).map(|test| graph.test(test, None, &state, safe, &mut scratch));
                let Some(Ok(Some(class))) = hit else { return true };
                if let Some(slot) = found.get_mut(*at) {
                    *slot = Some(Hit { steps: steps.clone(), state: 0, class });
                }
                false
            });
            if open.is_empty() {
                break;
            }
            let mut options: Vec<(Step, Vec<i64>)> = Vec::new();
            let stepped = graph.machine.steps(&state, false, &mut scratch, &mut |class, params, outcome, after| {
                if after != state.as_slice() {
                    options.push((Step { class, outcome, params: params.to_vec() }, after.to_vec()));
                }
                Ok(options.len() < 2_000)
            });
            if matches!(stepped, Err(Stop::Overflow | Stop::Time)) || options.is_empty() {
                break;
            }
            // Even walks go on with one kind of call until it is denied: that exhausts budgets.
            let last = favourite.filter(|_| walk % 2 == 0);
            let same = last.and_then(|last| options.iter().rposition(|(step, _)| (step.class, step.outcome) == last));
            let choice = same.unwrap_or_else(|| below(&mut random, options.len()));
            let (step, after) = options.swap_remove(choice);
            favourite = Some((step.class, step.outcome));
            steps.push(step);
            state = after;
        }
    }
    found
}

fn below(random: &mut u64, limit: usize) -> usize {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    usize::try_from(*random >> 33).unwrap_or(0) % limit.max(1)
}
