//! Test files of a policy: reading them, running them, what they exercise of the policy.
//! Does no I/O: callers bring the texts and print what was found.

mod coverage;
mod decode;
mod failure;
mod names;
mod outcome;
mod run;
mod values;
mod written;
mod yaml_json;

pub use coverage::{Coverage, Item, Kind, Tally};
pub use decode::decode;
pub use names::resolve;
pub use outcome::{FileRun, TestRun};
pub use run::run;
pub use written::{Expect, StateValue, Suite, Test, TestCall};
