//! Recorded calls as JSON: one document, or one call a line. Each call is judged by the strict
//! reader, as the gateway would judge the message it came in.

mod split;

use crate::eval::{Answer, Call};
use crate::json::{self, Json};

pub use split::{Calls, MAX_CALLS, split};

/// A longer call is refused, as a longer message is.
pub const MAX_CALL_BYTES: usize = 16 * 1024 * 1024;

/// Keys that a call is often given by mistake, and the ones that are meant.
const SLIPS: [(&str, &str); 13] = [
    ("args", "arguments"),
    ("argument", "arguments"),
    ("arg", "arguments"),
    ("Arguments", "arguments"),
    ("params", "arguments"),
    ("parameters", "arguments"),
    ("input", "arguments"),
    ("results", "result"),
    ("output", "result"),
    ("response", "result"),
    ("Result", "result"),
    ("server", "upstream"),
    ("isError", "is_error"),
];

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

/// The server of a tool that is named alone: the text before the first `__`.
#[must_use]
pub fn upstream_of(tool: &str) -> &str {
    tool.split_once("__").map_or("", |(upstream, _)| upstream)
}

/// Every entry of a recording. `Err`: a document that cannot be taken apart.
pub fn read(bytes: &[u8]) -> Result<Vec<Recorded>, String> {
    Ok(split(bytes)?.map(decode).collect())
}

/// One entry of a recording, from its bytes.
#[must_use]
pub fn decode(bytes: &[u8]) -> Recorded {
    if bytes.len() > MAX_CALL_BYTES {
        let reason = format!("{} bytes, more than the limit of {MAX_CALL_BYTES}", bytes.len());
        return Recorded::Malformed { tool: split::member(bytes, "tool").and_then(text), reason };
    }
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(malformed) => {
            let tool = split::member(bytes, "tool").and_then(text);
            return Recorded::Malformed { tool, reason: malformed.to_string() };
        }
    };
    let Some(object) = value.as_object() else {
        let reason = format!("a call is an object, not {}", value.python_type());
        return Recorded::Malformed { tool: None, reason };
    };
    let tool = object.get("tool").and_then(Json::as_str).map(str::to_owned);
    let malformed = |reason: &str| Recorded::Malformed { tool: tool.clone(), reason: reason.to_owned() };
    let Some(name) = tool.clone() else { return malformed("`tool` is missing or no text") };
    // A misspelt key would leave the call without what it says.
    for (wrong, right) in SLIPS {
        if object.get(wrong).is_some() && object.get(right).is_none() {
            return malformed(&format!("`{wrong}` is no key of a call; write `{right}`"));
        }
    }
    let upstream = match object.get("upstream") {
        None | Some(Json::Null) => upstream_of(&name).to_owned(),
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
    if is_error
        && let Some(Json::Object(answer)) = &result
        && answer.get("content").is_some()
        && answer.get("message").is_some()
    {
        return malformed("`result` is a tool result and a JSON-RPC error at once");
    }
    Recorded::Call(Record { tool: name, upstream, arguments, result, is_error })
}

fn text(bytes: &[u8]) -> Option<String> {
    json::parse(bytes).ok()?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let name = |recorded: &Recorded| match recorded {
            Recorded::Call(record) => record.tool.clone(),
            Recorded::Malformed { tool, .. } => format!("!{}", tool.clone().unwrap_or_default()),
        };
        read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}")).iter().map(name).collect()
    }

    #[test]
    fn documents_and_lines() {
        for (text, expected) in [
            ("", vec![]),
            ("\n \r\n", vec![]),
            ("[]", vec![]),
            (r#"[{"tool":"a"},{"tool":"b"}]"#, vec!["a", "b"]),
            ("\u{feff}[{\"tool\":\"a\"}]\n", vec!["a"]),
            (r#"{"policy":null,"calls":[{"tool":"a"}]}"#, vec!["a"]),
            (
                "{\n \"calls\": [\n  {\"tool\": \"a\", \"arguments\": {\"x\": NaN}},\n  {\"tool\": \"b\"}\n ]\n}",
                vec!["!a", "b"],
            ),
            ("{\"tool\":\"a\"}\n\nnonsense\n{\"tool\":\"b\",\"arguments\":{\"calls\":[]}}", vec!["a", "!", "b"]),
            (r#"{"tool":"a","arguments":{"x":1,"x":2}}"#, vec!["!a"]),
            (r#"{"tool":"a","args":{"x":1}}"#, vec!["!a"]),
            (r#"[{"tool":"a","arguments":{"x":"\ud800"}},3,{"tool":"]"}]"#, vec!["!a", "!", "]"]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn a_document_that_cannot_be_taken_apart_is_refused() {
        for text in [
            "[",
            "[1 2]",
            "[1,]",
            r#"{"calls":[{"tool":"a"}"#,
            r#"{"calls":[{"tool":"a"}],"calls":[]}"#,
            r#"{"calls":[{"tool":"a"}],"c\u0061lls":[]}"#,
            r#"{"calls":{}}"#,
            r#"[{"tool":"a"}] x"#,
            r#"{"calls":[]} {"tool":"a"}"#,
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
