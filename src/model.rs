//! A policy as a finite description of what calls can do to its state: the transition system that the
//! engines explore. Texts are gone from it; what remains are truth values, whole numbers, and texts by
//! number. It decides no call and searches nothing.

pub mod build;
mod cap;
mod overlap;
mod slice;
pub mod system;
pub mod term;
pub mod universe;

pub(crate) use build::critical;
pub use build::{Mark, Request, build};
pub use cap::cap;
pub use overlap::overlapping;
pub use slice::slice;
pub use system::{
    Answer, Assign, Class, Gap, Goal, Guard, Invariant, Kind, Label, Outcome, Param, Step, System, Tool, Var, VarType,
    after,
};
pub use term::{NoValue, Term};
pub use universe::{ToolName, universe};
