//! The trust boundary: what of a server reaches a model, in which form and under which name.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "boundary/any.rs"]
mod any;
#[path = "boundary/lock.rs"]
mod lock;
#[path = "boundary/names.rs"]
mod names;
#[path = "boundary/results.rs"]
mod results;
#[path = "boundary/tools.rs"]
mod tools;

use praxiom::json::{self, Json};

fn parse(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// As it was sent: order, spelling and all.
fn text(json: &Json) -> String {
    serde_json::to_string(json).unwrap()
}
