//! The typed policy: what a policy file means once names are resolved and types are checked.
//! Knows nothing of YAML's shape and never decides a call.

pub mod builtin;
pub mod digest;
pub mod expr;
pub mod glob;
pub mod int;
mod json_literal;
mod lower;
pub mod policy;
mod scope;
pub mod types;
pub mod value;

pub use builtin::{BUILTINS, Builtin};
pub use expr::{ArgId, Context, Expr, ExprKind, ListId, VarId};
pub use glob::Glob;
pub use int::{Int, IntError};
pub use json_literal::can_occur_in_payload;
pub use lower::compile;
pub(crate) use lower::int_literal;
pub use policy::{
    Action, Argument, Assignment, Check, CheckKind, Event, Guard, Invariant, Policy, StateVar, Terminal, TextList,
};
pub use types::Type;
pub use value::Value;
