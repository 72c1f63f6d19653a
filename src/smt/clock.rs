//! The time of one question, cut into slices.

use std::time::{Duration, Instant};
use z3::Params;

/// An end in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    end: Instant,
}

impl Clock {
    pub(super) fn new(time: Duration) -> Self {
        // A time beyond what the clock can count is a day.
        let now = Instant::now();
        Self { end: now.checked_add(time).unwrap_or(now + Duration::from_secs(86_400)) }
    }

    pub(super) fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub(super) fn is_over(self) -> bool {
        self.left().is_zero()
    }

    /// A part of what is left, in percent.
    pub(super) fn slice(self, percent: u32) -> Self {
        Self::new(self.left() * percent / 100)
    }

    /// Parameters for one query: the time that is left, and a fixed seed.
    pub(super) fn params(self) -> Params {
        let mut params = Params::new();
        params.set_u32("timeout", self.millis());
        params.set_u32("random_seed", 0);
        params
    }

    /// At least one: zero is no limit at all for the solver.
    pub(super) fn millis(self) -> u32 {
        u32::try_from(self.left().as_millis()).unwrap_or(u32::MAX - 1).max(1)
    }
}
