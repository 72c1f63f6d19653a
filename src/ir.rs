//! What a policy means once it is read: values and patterns that the compiler, the solver and the
//! gateway share. Knows nothing of YAML, expressions or messages to people.

pub mod glob;
pub mod int;
