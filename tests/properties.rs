//! Properties that hold for every input, tried on random ones.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

#[path = "properties/expressions.rs"]
mod expressions;
#[path = "properties/large.rs"]
mod large;
#[path = "properties/payload.rs"]
mod payload;
#[path = "properties/printing.rs"]
mod printing;
#[path = "properties/reference.rs"]
mod reference;
#[path = "properties/robust.rs"]
mod robust;
#[path = "properties/semantics.rs"]
mod semantics;
