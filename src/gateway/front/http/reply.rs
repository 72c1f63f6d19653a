//! Answers as HTTP: one JSON message, a stream of events, or nothing.

use crate::gateway::wire;
use axum::body::Body;
use axum::response::Response;
use futures::{Stream, StreamExt as _, stream};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::timeout;

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// A stream on which nothing happens sends a comment so often, or it would be taken for dead.
const QUIET: Duration = Duration::from_secs(15);

/// How long a client waits before it takes up a stream again.
pub(super) const RETRY: Duration = Duration::from_secs(3);

pub(super) fn accepted() -> Response {
    with_status(StatusCode::ACCEPTED, Body::empty())
}

pub(super) fn gone() -> Response {
    with_status(StatusCode::NO_CONTENT, Body::empty())
}

pub(super) fn message(status: StatusCode, message: &ServerJsonRpcMessage) -> Response {
    match wire::to_client(message) {
        Ok(bytes) => {
            let mut response = with_status(status, Body::from(bytes));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            response
        }
        Err(_) => with_status(StatusCode::INTERNAL_SERVER_ERROR, Body::empty()),
    }
}

/// A stream of server-sent events that lasts as long as its messages do.
pub(super) fn events(messages: impl Stream<Item = ServerSseMessage> + Send + 'static) -> Response {
    let frames = stream::unfold(Box::pin(messages), |mut messages| async {
        let frame = match timeout(QUIET, messages.next()).await {
            Ok(message) => event(&message?),
            Err(_) => b":\n\n".to_vec(),
        };
        Some((Ok::<_, Infallible>(frame), messages))
    });
    let mut response = with_status(StatusCode::OK, Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that collect what passes through them are asked not to.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Event ids are rmcp's own and JSON has no line feeds, so that nothing can break out of its line.
fn event(message: &ServerSseMessage) -> Vec<u8> {
    let mut frame = Vec::new();
    if let Some(id) = &message.event_id {
        frame.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    if let Some(retry) = message.retry {
        frame.extend_from_slice(format!("retry: {}\n", retry.as_millis()).as_bytes());
    }
    frame.extend_from_slice(b"data: ");
    if let Some(message) = &message.message {
        let start = frame.len();
        if serde_json::to_writer(&mut frame, message.as_ref()).is_err() {
            frame.truncate(start);
        }
    }
    frame.extend_from_slice(b"\n\n");
    frame
}

fn with_status(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
