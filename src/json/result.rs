//! What a tool answered, as text. Knows the shape of MCP results and JSON-RPC errors, and nothing
//! of how they travel or what is done with them.

use super::text::{Lines, push_all_unfolded, push_unfolded};
use super::{Json, write_python};

/// A piece of an answer.
enum Part<'a> {
    Text(&'a str),
    Other(&'a Json),
}

/// The policy value `result`: text blocks as they are and other blocks as JSON, in order, then
/// structured content as JSON, joined by line ends. JSON here is Python's spelling, keys as sent.
///
/// `result` is `{"content": [block…], "structuredContent": …}`, either of them optional; a string
/// is one text block, and any other value is one block that is not text.
#[must_use]
pub fn result_text(result: &Json) -> String {
    text(&result_parts(result))
}

/// The policy value `call.result_text`: of each text block the text, of other blocks and of structured
/// content every string; and where one of these is itself JSON, its strings too, unfolded in turn. One
/// a line. The shapes are those of [`result_text`].
#[must_use]
pub fn result_strings(result: &Json) -> String {
    all_strings(&result_parts(result))
}

/// The policy value `result` of a JSON-RPC error `{"code", "message", "data"}`: its message, then
/// its data, if any, as JSON. An error without a message in text is given as JSON.
#[must_use]
pub fn error_text(error: &Json) -> String {
    text(&error_parts(error))
}

/// The policy value `call.result_text` of a JSON-RPC error: its message as a text block, then every
/// string of its data.
#[must_use]
pub fn error_strings(error: &Json) -> String {
    all_strings(&error_parts(error))
}

fn result_parts(result: &Json) -> Vec<Part<'_>> {
    if let Json::String(text) = result {
        return vec![Part::Text(text)];
    }
    let member = |name| result.as_object().and_then(|object| object.get(name));
    let structured = member("structuredContent").filter(|value| **value != Json::Null);
    let blocks = match (member("content"), structured) {
        (Some(Json::Array(blocks)), _) => blocks.as_slice(),
        (None, Some(_)) => &[],
        // Not a tool result: nothing of it may be lost on a policy.
        _ => return vec![Part::Other(result)],
    };
    blocks.iter().map(block).chain(structured.map(Part::Other)).collect()
}

fn block(block: &Json) -> Part<'_> {
    let member = |name| block.as_object().and_then(|object| object.get(name)).and_then(Json::as_str);
    match (member("type"), member("text")) {
        (Some("text"), Some(text)) => Part::Text(text),
        _ => Part::Other(block),
    }
}

fn error_parts(error: &Json) -> Vec<Part<'_>> {
    let member = |name| error.as_object().and_then(|object| object.get(name));
    match member("message").and_then(Json::as_str) {
        Some(message) => {
            let data = member("data").filter(|value| **value != Json::Null);
            std::iter::once(Part::Text(message)).chain(data.map(Part::Other)).collect()
        }
        None => vec![Part::Other(error)],
    }
}

fn text(parts: &[Part]) -> String {
    let mut out = String::new();
    let mut lines = Lines::new(&mut out);
    for part in parts {
        match part {
            Part::Text(text) => lines.push(text),
            Part::Other(json) => write_python(json, false, lines.start()),
        }
    }
    out
}

fn all_strings(parts: &[Part]) -> String {
    let mut out = String::new();
    let mut lines = Lines::new(&mut out);
    for part in parts {
        match part {
            Part::Text(text) => push_unfolded(text, &mut lines),
            Part::Other(json) => push_all_unfolded(json, &mut lines),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn results_are_read_as_text_and_as_strings() {
        for (result, text, strings) in [
            (r#""plain""#, "plain", "plain"),
            (r#"{"content":[]}"#, "", ""),
            (
                r#"{"content":[{"type":"text","text":"a\nb"},{"type":"text","text":""},{"type":"text","text":"c"}]}"#,
                "a\nb\n\nc",
                "a\nb\n\nc",
            ),
            (
                r#"{"content":[{"type":"image","data":"QQ==","_size":1e2},{"type":"text","text":"{\"k\":\"v\\t\"}"}],
                    "structuredContent":{"b":1,"a":"\"s\""},"isError":false}"#,
                "{\"type\": \"image\", \"data\": \"QQ==\", \"_size\": 100.0}\n{\"k\":\"v\\t\"}\n{\"b\": 1, \"a\": \"\\\"s\\\"\"}",
                "_size\ndata\nQQ==\ntype\nimage\n{\"k\":\"v\\t\"}\nk\nv\t\na\n\"s\"\ns\nb",
            ),
            (
                r#"{"content":[{"type":"text","text":1},"x"],"structuredContent":null}"#,
                "{\"type\": \"text\", \"text\": 1}\n\"x\"",
                "text\ntype\ntext\nx",
            ),
            (r#"{"structuredContent":["s"]}"#, "[\"s\"]", "s"),
            (
                r#"{"content":"odd","structuredContent":["s"]}"#,
                "{\"content\": \"odd\", \"structuredContent\": [\"s\"]}",
                "content\nodd\nstructuredContent\ns",
            ),
            ("[1]", "[1]", ""),
        ] {
            let json = parse(result.as_bytes()).unwrap();
            assert_eq!(result_text(&json), text, "{result}");
            assert_eq!(result_strings(&json), strings, "{result}");
        }
    }

    #[test]
    fn errors_are_read_as_text_and_as_strings() {
        for (error, text, strings) in [
            (r#"{"code":-32000,"message":"no"}"#, "no", "no"),
            (r#"{"code":1,"message":"no","data":null}"#, "no", "no"),
            (r#"{"code":1,"message":"no","data":{"z":"\n","a":2}}"#, "no\n{\"z\": \"\\n\", \"a\": 2}", "no\na\nz\n\n"),
            (r#"{"code":1}"#, "{\"code\": 1}", "code"),
        ] {
            let json = parse(error.as_bytes()).unwrap();
            assert_eq!(error_text(&json), text, "{error}");
            assert_eq!(error_strings(&json), strings, "{error}");
        }
    }
}
