//! From the bytes of one message to rmcp's message types, and what is wrong with the bytes. What the
//! policy judges is read here, so a text with two meanings goes no further.
//!
//! Only what rmcp's own loops look at becomes a typed message (the handshake, `ping`, cancellation);
//! all else stays JSON, so that nothing is lost that a typed model does not know.

mod write;

pub(super) use write::{to_client, to_server};

use super::ident;
use crate::json::{self, Json, Malformed};
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, CustomNotification,
    CustomRequest, CustomResult, DiscoverRequest, ErrorCode, ErrorData, GetExtensions, InitializeRequest,
    InitializedNotification, NotificationMetaObject, PingRequest, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    ServerNotification, ServerRequest, ServerResult,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A message that is not taken in.
#[derive(Debug)]
pub(super) struct Refused {
    /// Of the request, where it can be read.
    pub(super) id: Option<RequestId>,
    /// Whether the sender is owed an answer: a response or notification gets none.
    pub(super) answer: bool,
    pub(super) error: ErrorData,
}

impl Refused {
    fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { id, answer: true, error: ErrorData::new(code, message.into(), None) })
    }

    /// The same for what is owed no answer.
    fn silent(code: ErrorCode, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { id: None, answer: false, error: ErrorData::new(code, message.into(), None) })
    }
}

/// The arguments of a call as they were read, in a request's extensions: what the policy judges.
#[derive(Clone, Debug)]
pub(super) struct Arguments(pub(super) Arc<Json>);

/// A message of the client. The text must have one meaning only: duplicate keys, lone surrogates,
/// numbers beyond a float and invalid UTF-8 are refused.
pub(super) fn from_client(text: &[u8]) -> Result<ClientJsonRpcMessage, Box<Refused>> {
    let json = json::parse(text).map_err(|malformed| {
        let id = ident::find(text).and_then(|id| identifier(&id));
        Refused::new(id, ErrorCode::PARSE_ERROR, format!("the message is refused: {malformed}"))
    })?;
    let Json::Object(_) = &json else {
        let what = if matches!(json, Json::Array(_)) { "batches are not taken" } else { "a message is a JSON object" };
        return Err(Refused::new(None, ErrorCode::INVALID_REQUEST, what));
    };
    let arguments = json.get("params").and_then(|params| params.get("arguments")).cloned();
    let Value::Object(message) = Value::from(json) else {
        return Err(Refused::new(None, ErrorCode::INTERNAL_ERROR, "an object became something else"));
    };
    let mut message = client_message(message)?;
    if let (Some(arguments), ClientJsonRpcMessage::Request(request)) = (arguments, &mut message) {
        request.request.extensions_mut().insert(Arguments(Arc::new(arguments)));
    }
    Ok(message)
}

fn client_message(mut message: Map<String, Value>) -> Result<ClientJsonRpcMessage, Box<Refused>> {
    let id = message.get("id").map(identifier);
    let known = id.clone().flatten();
    // What has a method and no `id` is a notification, however wrong it is.
    let note = id.is_none() && message.get("method").is_some_and(Value::is_string);
    let refused = |code, what: &str| {
        if note { Refused::silent(code, what) } else { Refused::new(known.clone(), code, what) }
    };
    let invalid = |what: &str| refused(ErrorCode::INVALID_REQUEST, what);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("`jsonrpc` is not \"2.0\""));
    }
    let Some(method) = message.get("method") else {
        return client_response(message, known);
    };
    let Some(method) = method.as_str().map(str::to_owned) else { return Err(invalid("`method` is not a string")) };
    let mut params = message.remove("params").filter(|params| !params.is_null());
    if !matches!(params, None | Some(Value::Object(_))) {
        return Err(refused(ErrorCode::INVALID_PARAMS, "`params` is not an object"));
    }
    let meta = take_meta(&mut params).map_err(|what| refused(ErrorCode::INVALID_PARAMS, what))?;
    match id {
        None => client_notification(&method, params, meta)
            .map(ClientJsonRpcMessage::notification)
            .map_err(|what| Refused::silent(ErrorCode::INVALID_PARAMS, what)),
        Some(None) => Err(invalid("`id` is neither a string nor an integer")),
        Some(Some(id)) => client_request(&method, params, meta)
            .map(|request| ClientJsonRpcMessage::request(request, id.clone()))
            .map_err(|what| Refused::new(Some(id), ErrorCode::INVALID_PARAMS, what)),
    }
}

fn client_request(
    method: &str,
    params: Option<Value>,
    meta: Option<Map<String, Value>>,
) -> Result<ClientRequest, String> {
    let meta = meta.map(request_meta).unwrap_or_default();
    Ok(match method {
        // The era after handshakes does not know it; there it is a method like any that is not served.
        "initialize" if meta.protocol_version().is_none_or(|version| version.has_initialize()) => {
            let mut request = message_of::<InitializeRequest>(method, params)?;
            request.extensions.insert(meta);
            ClientRequest::InitializeRequest(request)
        }
        "server/discover" => {
            let mut request = DiscoverRequest::new(rmcp::model::DiscoverRequestParams {});
            request.extensions.insert(meta);
            ClientRequest::DiscoverRequest(request)
        }
        "ping" => {
            let mut request = PingRequest::default();
            request.extensions.insert(meta);
            ClientRequest::PingRequest(request)
        }
        _ => {
            let mut request = CustomRequest::new(method, params);
            request.extensions.insert(meta);
            ClientRequest::CustomRequest(request)
        }
    })
}

fn client_notification(
    method: &str,
    params: Option<Value>,
    meta: Option<Map<String, Value>>,
) -> Result<ClientNotification, String> {
    Ok(match method {
        "notifications/initialized" => ClientNotification::InitializedNotification(InitializedNotification::default()),
        "notifications/cancelled" => {
            ClientNotification::CancelledNotification(message_of::<CancelledNotification>(method, params)?)
        }
        _ => {
            let mut note = CustomNotification::new(method, params);
            if let Some(meta) = meta {
                note.extensions.insert(notification_meta(meta));
            }
            ClientNotification::CustomNotification(note)
        }
    })
}

fn client_response(
    mut message: Map<String, Value>,
    id: Option<RequestId>,
) -> Result<ClientJsonRpcMessage, Box<Refused>> {
    let unasked = |what: &str| Refused::silent(ErrorCode::INVALID_REQUEST, what);
    if let Some(result) = message.remove("result") {
        let id = id.ok_or_else(|| unasked("a response without a usable `id`"))?;
        return Ok(ClientJsonRpcMessage::response(ClientResult::CustomResult(CustomResult(result)), id));
    }
    match message.remove("error") {
        Some(error) => Ok(ClientJsonRpcMessage::error(error_data(error), id)),
        None => Err(Refused::new(id, ErrorCode::INVALID_REQUEST, "neither a request, a response nor a notification")),
    }
}

/// JSON of a server, read leniently: of two equal keys the last one counts, and every number keeps its
/// spelling. `serde_json` itself never reads foreign text into a `Value`: see [`typed`].
pub(super) fn lenient(text: &[u8]) -> Result<Value, Malformed> {
    json::parse_lenient(text).map(Value::from)
}

/// A message of a server. Read leniently, as its readers do: of two equal keys the last one counts,
/// and only that one goes on.
pub(super) fn from_server(
    mut message: Map<String, Value>,
    handshake: impl Fn(&RequestId) -> bool,
) -> Result<ServerJsonRpcMessage, String> {
    let id = message.get("id").and_then(identifier);
    if let Some(method) = message.remove("method") {
        let method = method.as_str().ok_or("`method` is not a string")?.to_owned();
        let mut params = message.remove("params").filter(|params| !params.is_null());
        let meta = take_meta(&mut params)?;
        return if message.contains_key("id") {
            let request = if method == "ping" {
                ServerRequest::PingRequest(PingRequest::default())
            } else {
                let mut request = CustomRequest::new(method, params);
                request.extensions.insert(meta.map(request_meta).unwrap_or_default());
                ServerRequest::CustomRequest(request)
            };
            Ok(ServerJsonRpcMessage::request(request, id.ok_or("`id` is neither a string nor an integer")?))
        } else if method == "notifications/cancelled" {
            let note = message_of::<CancelledNotification>(&method, params)?;
            Ok(ServerJsonRpcMessage::notification(ServerNotification::CancelledNotification(note)))
        } else {
            let mut note = CustomNotification::new(method, params);
            if let Some(meta) = meta {
                note.extensions.insert(notification_meta(meta));
            }
            Ok(ServerJsonRpcMessage::notification(ServerNotification::CustomNotification(note)))
        };
    }
    if let Some(result) = message.remove("result") {
        let id = id.ok_or("a response without a usable `id`")?;
        let result = if handshake(&id) {
            hello(result).map_err(|why| format!("the answer to the handshake is malformed: {why}"))?
        } else {
            ServerResult::CustomResult(CustomResult(result))
        };
        return Ok(ServerJsonRpcMessage::response(result, id));
    }
    match message.remove("error") {
        Some(error) => Ok(ServerJsonRpcMessage::error(error_data(error), id)),
        None => Err("neither a request, a response nor a notification".to_owned()),
    }
}

/// What a server says of itself, in either era.
fn hello(result: Value) -> Result<ServerResult, String> {
    match typed(result.clone())? {
        known @ (ServerResult::InitializeResult(_) | ServerResult::DiscoverResult(_)) => Ok(known),
        // rmcp takes everything for some result, so what is wrong has to be asked for.
        _ if result.get("supportedVersions").is_some() => typed(result).map(ServerResult::DiscoverResult),
        _ => typed(result).map(ServerResult::InitializeResult),
    }
}

/// An error object as far as it can be read: nobody is left without an answer over a missing code.
pub(super) fn error_data(error: Value) -> ErrorData {
    let Value::Object(mut error) = error else {
        return ErrorData::new(ErrorCode::INTERNAL_ERROR, "an error that is no object", Some(error));
    };
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = match error.remove("message") {
        Some(Value::String(message)) => message,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    ErrorData::new(code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode), message, error.remove("data"))
}

/// A JSON-RPC id: a string or an integer.
pub(super) fn identifier(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

fn take_meta(params: &mut Option<Value>) -> Result<Option<Map<String, Value>>, &'static str> {
    match params.as_mut().and_then(Value::as_object_mut).and_then(|params| params.shift_remove("_meta")) {
        None | Some(Value::Null) => Ok(None),
        // rmcp reads members of it into types of its own.
        Some(Value::Object(meta)) if meta.iter().any(|(key, value)| is_reserved(key, value)) => Err(RESERVED),
        Some(Value::Object(meta)) => Ok(Some(meta)),
        Some(_) => Err("`_meta` is not an object"),
    }
}

fn request_meta(meta: Map<String, Value>) -> RequestMetaObject {
    let mut object = RequestMetaObject::new();
    object.0.0.extend(meta);
    object
}

fn notification_meta(meta: Map<String, Value>) -> NotificationMetaObject {
    let mut object = NotificationMetaObject::new();
    object.0.0.extend(meta);
    object
}

fn message_of<T: DeserializeOwned>(method: &str, params: Option<Value>) -> Result<T, String> {
    let mut message = Map::new();
    message.insert("method".to_owned(), method.into());
    message.extend(params.map(|params| ("params".to_owned(), params)));
    typed(Value::Object(message)).map_err(|error| format!("{method}: {error}"))
}

/// Foreign JSON as one of rmcp's types.
///
/// # Errors
/// Also for what holds a key of `serde_json`'s own: it would read the text under it as JSON, that in it
/// as well, and so on until the stack is full.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    if reserved(&value) {
        return Err(RESERVED.to_owned());
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

const RESERVED: &str = "a key that begins with `$serde_json::private::` has no place here";

/// Whether there is such a key. The recursion is as deep as the value, which the reader bounds.
pub(super) fn reserved(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(reserved),
        Value::Object(members) => members.iter().any(|(key, value)| is_reserved(key, value)),
        _ => false,
    }
}

fn is_reserved(key: &str, value: &Value) -> bool {
    key.starts_with("$serde_json::private::") || reserved(value)
}

#[cfg(test)]
mod tests;
