//! The gateway from end to end: the real binary over its standard streams, in front of servers that do
//! what a test wants.
#![cfg(all(target_os = "linux", feature = "gateway"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

#[path = "gateway/calls.rs"]
mod calls;
#[path = "gateway/chaos.rs"]
mod chaos;
#[path = "gateway/client.rs"]
mod client;
#[path = "gateway/doors.rs"]
mod doors;
#[path = "gateway/ends.rs"]
mod ends;
#[path = "gateway/lists.rs"]
mod lists;
#[path = "gateway/odd.rs"]
mod odd;
#[path = "gateway/sick.rs"]
mod sick;
#[path = "gateway/user.rs"]
mod user;
