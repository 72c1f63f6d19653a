//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.

pub mod eval;
pub mod ir;
pub mod json;
pub mod policy;
pub mod syntax;
pub mod text;
pub mod yaml;
