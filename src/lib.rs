//! praxiom: policy for AI agents, proven before it runs and enforced while it runs.

pub mod text;
pub mod yaml;
