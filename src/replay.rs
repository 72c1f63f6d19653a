//! Recorded calls through a policy: reading them, deciding them in order, comparing two policies.

pub mod compare;
pub mod record;
pub mod run;

pub use compare::{Difference, compare};
pub use record::{Record, Recorded, read};
pub use run::{Observed, Row, Timing, replay};
