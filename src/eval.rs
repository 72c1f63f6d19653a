//! The one meaning of a policy: it decides calls and observes results. The gateway, tests, replay and
//! the checker all call it. Does no I/O and never asks a solver.

mod call;
mod changes;
mod decide;
mod evidence;
mod observe;
mod policy;
mod reason;
mod run;
mod search;
mod session;
mod verdict;

pub use crate::ir::Value;
pub use call::{Answer, Call};
pub use evidence::{Found, RuleEvidence, Step};
pub use policy::{Compiled, Policy};
pub use reason::{Texts, state_text, variables_text};
pub use session::{Fault, Session};
pub use verdict::{Decision, Failed, FailedKind, Failure, Observation, Rule, Undefined, Verdict};
