//! The servers behind the gateway: connections, their requests, what they list. Knows nothing of
//! policies, clients or trust.

mod book;
mod child;
mod client;
mod events;
mod http;
mod link;
mod list;
mod pipe;
mod progress;

pub(crate) use client::{Host, Nobody};
pub(crate) use events::{Note, Shared};
pub(crate) use link::{Failure, Link, Opened, Running, Terms};
pub(crate) use list::{Listing, list};

use rmcp::model::ErrorData;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Errors that the transport makes carry this, which no server can guess.
fn nonce() -> &'static Value {
    static NONCE: OnceLock<Value> = OnceLock::new();
    NONCE.get_or_init(|| json!({ "praxiom/own": super::nonce::nonce() }))
}

fn mark(error: ErrorData) -> ErrorData {
    ErrorData { data: Some(nonce().clone()), ..error }
}

fn is_ours(error: &ErrorData) -> bool {
    error.data.as_ref() == Some(nonce())
}
