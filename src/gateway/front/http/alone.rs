//! A request without a session: served by itself, and given up when its client goes away.

use super::super::Client;
use super::super::service::Front;
use super::fault::Fault;
use super::{Door, reply};
use axum::response::Response;
use futures::stream;
use http::StatusCode;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta, JsonRpcRequest, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::service::serve_directly_with_ct;
use rmcp::transport::OneshotTransport;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Door {
    pub(super) async fn alone(
        &self,
        principal: &str,
        request: JsonRpcRequest<ClientRequest>,
    ) -> Result<Response, Fault> {
        let id = request.id.clone();
        let Ok(place) = Arc::clone(&self.alone).try_acquire_owned() else {
            return Err(Fault::busy(Some(id), "too many requests are open"));
        };
        let malformed = !request.request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
        // A call may wait for the client's next request, so the end of this one is not the client's.
        let client = Client::new(principal, "http", false, self.core.stop.child_token());
        let core = Arc::clone(&self.core);
        // Only those who listen are told anything unasked.
        let front = match request.request.method() {
            "subscriptions/listen" => Front::new(core, client),
            _ => Front { core, client },
        };
        let (transport, mut messages) = OneshotTransport::<RoleServer>::new(ClientJsonRpcMessage::Request(request));
        let end = CancellationToken::new();
        let service = serve_directly_with_ct(front, transport, None, end.clone());
        tokio::spawn(async move {
            let _ = service.waiting().await;
            drop(place);
        });
        // Dropped when the client is gone, be it before the first message or after.
        let watch = end.drop_guard();
        let Some(first) = messages.recv().await else {
            return Err(Fault::busy(Some(id), "the gateway is stopping"));
        };
        if matches!(first, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)) {
            return Ok(reply::message(status(&first, malformed), &first));
        }
        Ok(reply::events(stream::unfold((Some(first), messages, watch), |(first, mut messages, watch)| async {
            let message = match first {
                Some(first) => first,
                None => messages.recv().await?,
            };
            Some((ServerSseMessage::from_message(message), (None, messages, watch)))
        })))
    }
}

/// The status that says the same as an answer.
fn status(answer: &ServerJsonRpcMessage, malformed: bool) -> StatusCode {
    let ServerJsonRpcMessage::Error(answer) = answer else { return StatusCode::OK };
    match answer.error.code {
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        ErrorCode::HEADER_MISMATCH
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => StatusCode::BAD_REQUEST,
        ErrorCode::INVALID_PARAMS if malformed => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
