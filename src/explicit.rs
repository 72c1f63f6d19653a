//! The explicit engine: visits every reachable state of a system, breadth first, and so finds shortest runs. Bounds
//! that stop it are told; nothing is concluded from them.

mod graph;
mod program;
mod search;
mod step;
mod traps;
mod walk;

pub use graph::{Graph, Limits, Stop};
pub use search::{Found, Hit};
pub use traps::Traps;
pub use walk::dive;
