//! What of a server is judged like a call beside its tools. Knows the names alone.

/// The names behind `server__`, in the order in which messages list them. Every server has them, whether it
/// makes use of them or not, and no tool's name begins with `@`.
pub const DOORS: [&str; 6] = ["@read_resource", "@get_prompt", "@complete", "@elicit", "@sample", "@roots"];
