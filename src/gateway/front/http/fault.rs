//! Why a request is not taken in: a status and a JSON-RPC error, with the request's id where it is known.

use super::super::super::wire::Refused;
use super::reply;
use axum::response::Response;
use http::StatusCode;
use http::header::{ALLOW, HeaderValue};
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};

#[derive(Debug)]
pub(super) struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    id: Option<RequestId>,
    error: ErrorData,
    allow: Option<&'static str>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, id: Option<RequestId>, error: ErrorData) -> Self {
        Self(Box::new(Parts { status, id, error, allow: None }))
    }

    /// One that is about the HTTP request, before its body has been read.
    pub(super) fn plain(status: StatusCode, text: impl Into<String>) -> Self {
        Self::new(status, None, ErrorData::new(ErrorCode::INVALID_REQUEST, text.into(), None))
    }

    pub(super) fn bad(id: Option<RequestId>, error: ErrorData) -> Self {
        Self::new(StatusCode::BAD_REQUEST, id, error)
    }

    /// Header and body differ.
    pub(super) fn mismatch(id: Option<RequestId>, text: impl Into<String>) -> Self {
        Self::bad(id, ErrorData::header_mismatch(text.into(), None))
    }

    pub(super) fn method(allow: &'static str) -> Self {
        let mut fault = Self::plain(StatusCode::METHOD_NOT_ALLOWED, format!("only {allow} is served here"));
        fault.0.allow = Some(allow);
        fault
    }

    pub(super) fn busy(id: Option<RequestId>, text: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, id, ErrorData::internal_error(text, None))
    }

    pub(super) fn into_response(self) -> Response {
        let Parts { status, id, error, allow } = *self.0;
        let mut response = reply::message(status, &ServerJsonRpcMessage::error(error, id));
        if let Some(allow) = allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        response
    }
}

impl From<Box<Refused>> for Fault {
    fn from(refused: Box<Refused>) -> Self {
        Self::bad(refused.id, refused.error)
    }
}
