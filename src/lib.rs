//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.

pub mod catalogue;
pub mod cli;
pub mod eval;
pub mod ir;
pub mod json;
pub mod lint;
pub mod policy;
pub mod replay;
pub mod report;
#[cfg(feature = "smt")]
pub mod smt;
pub mod syntax;
pub mod text;
pub mod yaml;
