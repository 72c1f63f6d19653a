//! How many states have been visited, on a terminal, once a run takes longer than a moment.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Nothing is shown before.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Progress {
    name: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(name: &str) -> Self {
        Self { name: crate::text::visible(name), started: Instant::now(), bar: None }
    }

    /// Hears that so many states have been visited.
    pub(super) fn at(&mut self, states: usize) {
        if self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let name = self.name.clone();
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}: {human_pos} states, {elapsed}") {
                bar.set_style(style);
            }
            bar.set_message(name);
            bar
        });
        bar.set_position(states as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
