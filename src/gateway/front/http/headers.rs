//! What the headers of a request say, and whether its body says the same.

use super::super::super::core::Core;
use super::fault::Fault;
use super::reply::{EVENTS, JSON};
use crate::json::Json;
use crate::text::visible;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcRequest, ProtocolVersion, RequestId,
};
use rmcp::transport::common::http_header::{
    BASE64_HEADER_PREFIX, BASE64_HEADER_SUFFIX, HEADER_LAST_EVENT_ID, HEADER_MCP_METHOD, HEADER_MCP_NAME,
    HEADER_MCP_PARAM_PREFIX, HEADER_MCP_PROTOCOL_VERSION, HEADER_SESSION_ID,
};
use serde_json::Value;

/// So many characters of a value that does not fit are shown.
const SHOWN: usize = 100;

/// How a message wants to be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// It begins a session.
    Handshake,
    /// It belongs to a session.
    Sessions,
    /// It says all about itself, and there are no sessions.
    Alone,
}

/// Whether a POST says that it sends JSON and can read both forms of an answer.
pub(super) fn posts(headers: &HeaderMap) -> Result<(), Fault> {
    if !(accepts(headers, JSON) && accepts(headers, EVENTS)) {
        let text = format!("`Accept` must list both {JSON} and {EVENTS}");
        return Err(Fault::plain(StatusCode::NOT_ACCEPTABLE, text));
    }
    let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !essence(sent).eq_ignore_ascii_case(JSON) {
        return Err(Fault::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("`Content-Type` must be {JSON}")));
    }
    Ok(())
}

/// Whether a GET says that it can read a stream.
pub(super) fn streams(headers: &HeaderMap) -> Result<(), Fault> {
    if accepts(headers, EVENTS) {
        return Ok(());
    }
    Err(Fault::plain(StatusCode::NOT_ACCEPTABLE, format!("`Accept` must list {EVENTS}")))
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| essence(range).eq_ignore_ascii_case(kind) && !excluded(range))
}

/// Whether a media range has the weight 0.
fn excluded(range: &str) -> bool {
    range.split(';').skip(1).any(|parameter| {
        let weight = parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
        weight.is_some_and(|(_, weight)| weight.trim().parse::<f32>() == Ok(0.0))
    })
}

fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

pub(super) fn last_event(headers: &HeaderMap) -> Option<String> {
    headers.get(HEADER_LAST_EVENT_ID).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

pub(super) fn session(headers: &HeaderMap) -> Result<&str, Fault> {
    let text = format!("the header `{HEADER_SESSION_ID}` is missing: the answer to `initialize` has its value");
    match only(headers, HEADER_SESSION_ID) {
        Ok(Some(id)) => Ok(id),
        Ok(None) => Err(Fault::plain(StatusCode::BAD_REQUEST, text)),
        Err(why) => Err(Fault::plain(StatusCode::BAD_REQUEST, why)),
    }
}

/// Whether a request without a body is of the era with sessions.
pub(super) fn has_sessions(headers: &HeaderMap) -> Result<bool, Fault> {
    let version = only(headers, HEADER_MCP_PROTOCOL_VERSION).map_err(|why| Fault::mismatch(None, why))?;
    version.map_or(Ok(true), |version| Ok(known(version, None)?.has_initialize()))
}

/// The era of a message: what its body says, where headers and body agree.
pub(super) fn era(headers: &HeaderMap, message: &ClientJsonRpcMessage) -> Result<Era, Fault> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return has_sessions(headers).map(|sessions| if sessions { Era::Sessions } else { Era::Alone });
    };
    let id = || Some(request.id.clone());
    let header = only(headers, HEADER_MCP_PROTOCOL_VERSION).map_err(|why| Fault::mismatch(id(), why))?;
    if let ClientRequest::InitializeRequest(initialize) = &request.request {
        return handshake(headers, header, initialize.params.protocol_version.as_str(), id());
    }
    let meta = request.request.get_meta();
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    let Some(version) = meta.protocol_version() else {
        let version = header.map(|header| known(header, id())).transpose()?;
        let alone = version.is_some_and(|version| !version.has_initialize());
        if alone || matches!(request.request, ClientRequest::DiscoverRequest(_)) {
            let text = format!("`_meta` lacks {}, or it is malformed", missing.join(", "));
            return Err(Fault::bad(id(), ErrorData::invalid_params(text, None)));
        }
        return Ok(Era::Sessions);
    };
    match header {
        None => {
            let text = format!(
                "`_meta` has the protocol's version, but the header `{HEADER_MCP_PROTOCOL_VERSION}` is missing"
            );
            Err(Fault::mismatch(id(), text))
        }
        Some(header) if header != version.as_str() => {
            Err(Fault::mismatch(id(), differs(HEADER_MCP_PROTOCOL_VERSION, header, version.as_str())))
        }
        Some(_) if missing.is_empty() || !version.has_initialize() => Ok(Era::Alone),
        Some(_) => Ok(Era::Sessions),
    }
}

/// A handshake may go without the headers, but what they say must be what it says.
fn handshake(headers: &HeaderMap, header: Option<&str>, version: &str, id: Option<RequestId>) -> Result<Era, Fault> {
    if let Some(header) = header {
        if header != version {
            let text = differs(HEADER_MCP_PROTOCOL_VERSION, header, version);
            return Err(Fault::bad(id, ErrorData::invalid_request(text, None)));
        }
        known(header, id.clone())?;
    }
    match only(headers, HEADER_MCP_METHOD) {
        Ok(None | Some("initialize")) => Ok(Era::Handshake),
        Ok(Some(method)) => Err(Fault::mismatch(id, differs(HEADER_MCP_METHOD, method, "initialize"))),
        Err(why) => Err(Fault::mismatch(id, why)),
    }
}

fn known(version: &str, id: Option<RequestId>) -> Result<&'static ProtocolVersion, Fault> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    known.iter().find(|known| known.as_str() == version).ok_or_else(|| {
        let requested = serde_json::from_value(Value::from(version)).unwrap_or(ProtocolVersion::V_2026_07_28);
        Fault::bad(id, ErrorData::unsupported_protocol_version(requested, known))
    })
}

/// Holds the headers that repeat a request's method, name and parameters against its body.
pub(super) async fn mirrored(
    headers: &HeaderMap,
    request: &JsonRpcRequest<ClientRequest>,
    core: &Core,
) -> Result<(), Fault> {
    // Versions before this one know no such headers.
    if request.request.get_meta().protocol_version().is_none_or(|version| version.has_initialize()) {
        return Ok(());
    }
    let method = request.request.method();
    let params = match &request.request {
        ClientRequest::CustomRequest(request) => request.params.as_ref(),
        _ => None,
    };
    let checked = named(headers, method, params);
    let checked = match (checked, method) {
        (Ok(()), "tools/call") => parameters(headers, params, core).await,
        (checked, _) => checked,
    };
    checked.map_err(|why| Fault::mismatch(Some(request.id.clone()), why))
}

/// Whether `Mcp-Method` and `Mcp-Name` say what the body says.
fn named(headers: &HeaderMap, method: &str, params: Option<&Value>) -> Result<(), String> {
    match only(headers, HEADER_MCP_METHOD)? {
        None => return Err(format!("the header `{HEADER_MCP_METHOD}` is missing")),
        Some(header) if header != method => return Err(differs(HEADER_MCP_METHOD, header, method)),
        Some(_) => {}
    }
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    let Some(name) = params.and_then(|params| params.get(key)).and_then(Value::as_str) else { return Ok(()) };
    let Some(header) = only(headers, HEADER_MCP_NAME)? else {
        return Err(format!("the header `{HEADER_MCP_NAME}` is missing"));
    };
    match decoded(header) {
        Some(header) if header == name => Ok(()),
        Some(header) => Err(differs(HEADER_MCP_NAME, &header, name)),
        None => Err(format!("the header `{HEADER_MCP_NAME}` holds no readable value")),
    }
}

/// Whether the headers that repeat a tool's parameters say what the body says.
async fn parameters(headers: &HeaderMap, params: Option<&Value>, core: &Core) -> Result<(), String> {
    let Some(name) = params.and_then(|params| params.get("name")).and_then(Value::as_str) else { return Ok(()) };
    if core.table().tool(name).is_none() {
        // Its server may still be starting, and what it repeats is not known before.
        core.settled().await;
    }
    let table = core.table();
    let Some(mirrors) = table.tool(name).and_then(|target| table.mirrors(target)) else { return Ok(()) };
    if mirrors.is_empty() {
        return Ok(());
    }
    let prefix = HEADER_MCP_PARAM_PREFIX.to_ascii_lowercase();
    let mut sent = Vec::new();
    for (name, value) in headers.iter().filter(|(name, _)| name.as_str().starts_with(&prefix)) {
        let value = value.to_str().map_err(|_| format!("the header `{name}` holds no readable value"))?;
        sent.push((name.as_str(), value));
    }
    let arguments = params.and_then(|params| params.get("arguments")).unwrap_or(&Value::Null);
    mirrors.mismatch(&sent, &Json::from(arguments))
}

/// The value of a header that may stand there once.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("the header `{name}` stands twice"));
    }
    value.to_str().map(Some).map_err(|_| format!("the header `{name}` holds no readable value"))
}

/// A value that could not stand in a header as it is comes wrapped in base64.
fn decoded(header: &str) -> Option<String> {
    match header.strip_prefix(BASE64_HEADER_PREFIX).and_then(|rest| rest.strip_suffix(BASE64_HEADER_SUFFIX)) {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(header.to_owned()),
    }
}

fn differs(name: &str, header: &str, body: &str) -> String {
    let shown = |text: &str| visible(text).chars().take(SHOWN).collect::<String>();
    format!("the header `{name}` says `{}`, the body `{}`", shown(header), shown(body))
}
