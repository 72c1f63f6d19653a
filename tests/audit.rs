//! The gateway's audit: what a person reads, what the file holds, that damage is found, and that deciding a
//! log again comes to what is on record.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "audit/chain.rs"]
mod chain;
#[path = "audit/gateway.rs"]
mod gateway;
#[path = "audit/lines.rs"]
mod lines;
#[path = "audit/redaction.rs"]
mod redaction;
#[path = "audit/replaying.rs"]
mod replaying;
