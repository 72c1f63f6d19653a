//! A policy file as it was written: its sections, names and expressions, each with its place.
//! Knows the file's shape, not the meaning of its names.

pub mod changes;
mod decode;
mod shape;
pub mod written;

pub use decode::decode;
pub use shape::{Fields, Reader};
pub use written::{
    Action, Check, CheckForm, Default, Event, ExprText, Literal, LiteralKind, Named, PatternList, PolicyFile, StateVar,
    Terminal, Text,
};
