//! The side that clients see: their requests as rmcp hands them over, whatever they came by.

mod client;
mod http;
mod service;
mod stdio;

pub(super) use client::{Client, logged, progress_note};
pub(super) use http::serve as serve_http;
pub(super) use service::Front;
pub(super) use stdio::Stdio;
