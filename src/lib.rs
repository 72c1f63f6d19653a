//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.

pub mod ir;
pub mod text;
