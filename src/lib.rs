//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.

pub mod cli;
pub mod eval;
pub mod ir;
pub mod json;
pub mod policy;
pub mod replay;
pub mod report;
#[cfg(feature = "smt")]
pub mod smt;
pub mod suite;
pub mod syntax;
pub mod text;
pub mod yaml;
