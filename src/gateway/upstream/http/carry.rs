//! Messages on their way through rmcp's worker, which would read them into types of its own and lose
//! what these do not know: each travels as one text within a message that the worker cannot change.

use crate::gateway::upstream::book::Book;
use crate::gateway::wire;
use rmcp::model::{
    CustomNotification, CustomRequest, CustomResult, ErrorCode, ErrorData, GetExtensions, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::InboundStreamOrigin;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The method of requests and notifications that hold another one.
const METHOD: &str = "praxiom/carried";

/// What the text of a carried answer is, told by its first character.
const RESULT: char = 'r';
const ERROR: char = 'e';
const UNREADABLE: char = 'x';

/// Packs the text of a server's message. An error without an id is the answer to `about`, the request
/// whose HTTP response it came in.
pub(super) fn pack(text: &str, about: Option<&RequestId>) -> Result<ServerJsonRpcMessage, String> {
    // Of two equal keys the last one counts, as everywhere.
    let members: HashMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))?;
    let id =
        members.get("id").and_then(|id| wire::lenient(id.get().as_bytes()).ok()).and_then(|id| wire::identifier(&id));
    if members.contains_key("method") {
        let params = Some(json!({ "text": text }));
        if !members.contains_key("id") {
            let note = CustomNotification::new(METHOD, params);
            return Ok(ServerJsonRpcMessage::notification(ServerNotification::CustomNotification(note)));
        }
        let id = id.ok_or("`id` is neither a string nor an integer")?;
        return Ok(ServerJsonRpcMessage::request(ServerRequest::CustomRequest(CustomRequest::new(METHOD, params)), id));
    }
    if let Some(result) = members.get("result") {
        return Ok(answer(id.ok_or("a response without a usable `id`")?, RESULT, result.get()));
    }
    let error = members.get("error").ok_or("neither a request, a response nor a notification")?;
    let id = id.or_else(|| about.cloned()).ok_or("an error without a usable `id`")?;
    Ok(answer(id, ERROR, error.get()))
}

/// Stands for an answer that came and is of no use.
pub(super) fn unreadable(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    answer(id, UNREADABLE, why)
}

fn answer(id: RequestId, kind: char, text: &str) -> ServerJsonRpcMessage {
    let mut carried = String::with_capacity(1 + text.len());
    carried.push(kind);
    carried.push_str(text);
    ServerJsonRpcMessage::response(ServerResult::CustomResult(CustomResult(Value::String(carried))), id)
}

/// The answer to a request of the handshake, which rmcp reads.
pub(super) fn handshake(text: &[u8], about: &RequestId) -> Result<ServerJsonRpcMessage, String> {
    let value = wire::lenient(text).map_err(|error| format!("its answer is not JSON: {error}"))?;
    let Value::Object(mut message) = value else { return Err("its answer is no JSON object".to_owned()) };
    if message.contains_key("error") && !message.contains_key("result") {
        // Who refuses a request unread cannot repeat its id.
        message.insert("id".to_owned(), serde_json::to_value(about).unwrap_or_default());
    }
    match wire::from_server(message, |_| true) {
        Ok(message @ (ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))) => Ok(message),
        Ok(_) => Err("its answer is none to our request".to_owned()),
        Err(why) => Err(why),
    }
}

/// What the worker hands over, unpacked and brought where it belongs.
pub(super) fn unpack(book: &mut Book, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
    match message {
        ServerJsonRpcMessage::Response(response) if !book.shaking(&response.id) => match &response.result {
            ServerResult::CustomResult(CustomResult(Value::String(text))) => unpack_answer(book, response.id, text),
            _ => book.noise(b"", "an answer that was not packed"),
        },
        // The worker's own: the stream of an answer ended without one.
        ServerJsonRpcMessage::Error(error) if !error.id.as_ref().is_some_and(|id| book.shaking(id)) => {
            book.lost(error.id?, "the connection ended before the answer came")
        }
        ServerJsonRpcMessage::Request(request) => {
            let ServerRequest::CustomRequest(custom) = &request.request else { return None };
            let mut message = book.take(text(custom.params.as_ref())?.as_bytes())?;
            if let ServerJsonRpcMessage::Request(unpacked) = &mut message
                && let Some(origin) = custom.extensions.get::<InboundStreamOrigin>()
            {
                unpacked.request.extensions_mut().insert(origin.clone());
            }
            Some(message)
        }
        ServerJsonRpcMessage::Notification(note) => {
            let ServerNotification::CustomNotification(custom) = &note.notification else { return None };
            book.take(text(custom.params.as_ref())?.as_bytes())
        }
        shaken => book.route(shaken),
    }
}

fn unpack_answer(book: &mut Book, id: RequestId, text: &str) -> Option<ServerJsonRpcMessage> {
    let mut chars = text.chars();
    let kind = chars.next();
    let text = chars.as_str();
    if kind == Some(UNREADABLE) {
        return book.unreadable(id, text);
    }
    match wire::lenient(text.as_bytes()) {
        Ok(value) if kind == Some(RESULT) => {
            book.route(ServerJsonRpcMessage::response(ServerResult::CustomResult(CustomResult(value)), id))
        }
        Ok(value) => book.route(ServerJsonRpcMessage::error(wire::error_data(value), Some(id))),
        Err(error) => book.unreadable(id, &format!("it is not JSON: {error}")),
    }
}

fn text(params: Option<&Value>) -> Option<&str> {
    params?.get("text")?.as_str()
}

/// Tells rmcp that the server knows nothing of `server/discover`, whatever it said instead.
pub(super) fn unknown_discover(id: RequestId, why: String) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::INVALID_REQUEST, why, None), Some(id))
}
