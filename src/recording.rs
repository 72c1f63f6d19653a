//! Recorded calls as JSON: one document, or one call a line. Each call is judged by the strict
//! reader, as the gateway would judge the message it came in.

use crate::eval::{Answer, Call};
use crate::json::{self, Json};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// One entry of a recording.
#[derive(Clone, Debug)]
pub enum Recorded {
    Call(Record),
    /// The gateway would refuse this message; the tool's name where it can be read.
    Malformed {
        tool: Option<String>,
        reason: String,
    },
}

/// A call as it was recorded.
#[derive(Clone, Debug)]
pub struct Record {
    pub tool: String,
    pub upstream: String,
    /// An object.
    pub arguments: Json,
    /// The answer, where the call returned.
    pub result: Option<Json>,
    pub is_error: bool,
}

impl Record {
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        Call { tool: &self.tool, upstream: &self.upstream, arguments: &self.arguments }
    }

    #[must_use]
    pub fn answer(&self) -> Option<Answer<'_>> {
        let result = self.result.as_ref()?;
        // A JSON-RPC error has a message where a tool result has content.
        let member = |name| result.as_object().and_then(|object| object.get(name));
        let rpc_error = self.is_error && member("content").is_none() && member("message").is_some();
        Some(if rpc_error { Answer::Error(result) } else { Answer::Result(result) })
    }
}

/// A call takes many times its bytes once it is read: three bytes are one that is malformed.
pub const MAX_CALLS: usize = 1_000_000;

/// Reads a recording. `Err`: a document that cannot be taken apart at all, or more than [`MAX_CALLS`].
pub fn read(bytes: &[u8]) -> Result<Vec<Recorded>, String> {
    // Some editors put a byte order mark in front.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let calls: Vec<&[u8]> = if let Some(calls) = document(bytes)? {
        calls.into_iter().map(|call| call.get().as_bytes()).collect()
    } else {
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).collect()
    };
    if calls.len() > MAX_CALLS {
        return Err(format!("it has {} calls, more than {MAX_CALLS}", calls.len()));
    }
    Ok(calls.into_iter().map(one).collect())
}

/// The calls of a document; `None` if the bytes are one call a line.
fn document(bytes: &[u8]) -> Result<Option<Vec<&RawValue>>, String> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<&RawValue>();
    let Some(Ok(first)) = values.next() else { return Ok(None) };
    let calls = if first.get().starts_with('[') {
        serde_json::from_str::<Vec<&RawValue>>(first.get()).map_err(|error| error.to_string())?
    } else {
        let Ok(members) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(first.get()) else {
            return Ok(None);
        };
        let Some(calls) = members.get("calls") else { return Ok(None) };
        serde_json::from_str::<Vec<&RawValue>>(calls.get())
            .map_err(|error| format!("`calls` is not a list: {error}"))?
    };
    let end = values.byte_offset();
    if bytes.get(end..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
        return Err(format!("something follows the document at byte {end}"));
    }
    Ok(Some(calls))
}

fn one(bytes: &[u8]) -> Recorded {
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(malformed) => return Recorded::Malformed { tool: None, reason: malformed.to_string() },
    };
    let Some(object) = value.as_object() else {
        let reason = format!("a call is an object, not {}", value.python_type());
        return Recorded::Malformed { tool: None, reason };
    };
    let tool = object.get("tool").and_then(Json::as_str).map(str::to_owned);
    let malformed = |reason: &str| Recorded::Malformed { tool: tool.clone(), reason: reason.to_owned() };
    let Some(name) = tool.clone() else { return malformed("`tool` is missing or no text") };
    let upstream = match object.get("upstream") {
        None | Some(Json::Null) => name.split_once("__").map_or("", |(upstream, _)| upstream).to_owned(),
        Some(Json::String(upstream)) => upstream.clone(),
        Some(_) => return malformed("`upstream` is no text"),
    };
    let arguments = match object.get("arguments") {
        None => Json::Object(json::Object::default()),
        Some(arguments @ Json::Object(_)) => arguments.clone(),
        Some(_) => return malformed("`arguments` is no object"),
    };
    let result = match object.get("result") {
        None | Some(Json::Null) => None,
        Some(result @ (Json::String(_) | Json::Object(_))) => Some(result.clone()),
        Some(_) => return malformed("`result` is neither a text nor an object"),
    };
    let is_error = match object.get("is_error") {
        None | Some(Json::Null) => false,
        Some(Json::Bool(is_error)) => *is_error,
        Some(_) => return malformed("`is_error` is no boolean"),
    };
    Recorded::Call(Record { tool: name, upstream, arguments, result, is_error })
}
