//! The same calls through two policies: where the verdicts differ.

use super::run::{Row, rows};
use crate::eval::Policy;
use crate::recording::Recorded;
use serde::Serialize;
use std::borrow::Borrow;

/// A call on which two policies disagree.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// From 1, in the order of the recording.
    pub call: usize,
    pub tool: Option<String>,
    pub old: Side,
    pub new: Side,
}

/// What one policy said.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    pub verdict: &'static str,
    pub reason: Option<String>,
}

/// Each policy replays the calls in a session of its own, so a difference can have later ones follow.
pub fn compare<C: Borrow<Recorded>>(
    old: &Policy,
    new: &Policy,
    calls: impl IntoIterator<Item = C> + Clone,
) -> impl Iterator<Item = Difference> {
    let side = |row: Row| Side { verdict: row.verdict, reason: row.reason };
    let pairs = rows(old, calls.clone(), 0).zip(rows(new, calls, 0)).enumerate();
    pairs.filter(|(_, (old, new))| old.verdict != new.verdict).map(move |(at, (old, new))| Difference {
        call: at + 1,
        tool: new.tool.clone(),
        old: side(old),
        new: side(new),
    })
}
