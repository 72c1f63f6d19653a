//! Recorded calls through a policy: deciding them in order, comparing two policies, deciding what a
//! gateway decided again.

pub mod audited;
pub mod compare;
pub mod run;

pub use crate::recording::{Record, Recorded, decode, read, split};
pub use audited::{Audited, AuditedRow, Summary, Unknown};
pub use compare::{Difference, compare};
pub use run::{Observed, Row, Timing, replay, rows};
