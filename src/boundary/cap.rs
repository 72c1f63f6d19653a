//! How large a result is, and whether that is too large. Never cuts anything; knows nothing of where the
//! limits are written.

use crate::json::{Json, Object, size};
use std::fmt;
use thiserror::Error;

/// JSON around one block, `{"type":"text","text":""},`: a list of empty blocks is not free.
const BLOCK: u64 = 26;

/// What a result holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The UTF-8 of text blocks and embedded text, and whatever else the result holds, as JSON.
    pub text_bytes: u64,
    /// `structuredContent` as JSON.
    pub structured_bytes: u64,
    /// The base64 of images, audio and embedded resources, as it was sent.
    pub blob_bytes: u64,
}

impl Sizes {
    /// Structured content repeats the text, so the larger of the two counts.
    #[must_use]
    pub fn result_bytes(&self) -> u64 {
        self.text_bytes.max(self.structured_bytes)
    }
}

/// A result over its limit. The message holds nothing of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the {what} holds {size} bytes of {part}, and {key} is {limit}: ask for less, or raise `{key}` in the server's `trust`",
    what = part.of()
)]
pub struct TooLarge {
    pub part: Part,
    pub size: u64,
    pub limit: u64,
    /// The key of the configuration that sets the limit.
    pub key: &'static str,
}

/// The part of a result that is over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Text,
    Structured,
    Blob,
    /// All of something that is no result.
    Whole,
}

impl Part {
    fn of(self) -> &'static str {
        if self == Self::Whole { "message" } else { "result" }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Structured => "structured content",
            Self::Blob => "base64 data",
            Self::Whole => "JSON",
        })
    }
}

/// Refuses a tool, resource or prompt result that is over a limit, given in bytes.
pub fn check(result: &Json, max_result_bytes: u64, max_blob_bytes: u64) -> Result<(), TooLarge> {
    let sizes = measure(result);
    let part = if sizes.structured_bytes > sizes.text_bytes { Part::Structured } else { Part::Text };
    if sizes.result_bytes() > max_result_bytes {
        let key = "max_result_bytes";
        return Err(TooLarge { part, size: sizes.result_bytes(), limit: max_result_bytes, key });
    }
    if sizes.blob_bytes > max_blob_bytes {
        let key = "max_blob_bytes";
        return Err(TooLarge { part: Part::Blob, size: sizes.blob_bytes, limit: max_blob_bytes, key });
    }
    Ok(())
}

/// Refuses a JSON value that is no result, such as the parameters of a notification or a server's question,
/// if it is larger than so many bytes of JSON.
pub fn check_value(value: &Json, max_result_bytes: u64) -> Result<(), TooLarge> {
    let size = bytes(value);
    if size > max_result_bytes {
        return Err(TooLarge { part: Part::Whole, size, limit: max_result_bytes, key: "max_result_bytes" });
    }
    Ok(())
}

/// Measures a tool, resource or prompt result. What has no size of its own in the protocol (unknown
/// blocks, `_meta`, further members) counts as text, so that nothing gets past a limit by hiding.
#[must_use]
pub fn measure(result: &Json) -> Sizes {
    let mut count = Count::default();
    match result {
        Json::Object(object) => count.result(object),
        other => count.text(other),
    }
    count.sizes.text_bytes = count.sizes.text_bytes.max(count.blocks.saturating_mul(BLOCK));
    count.sizes
}

#[derive(Default)]
struct Count {
    sizes: Sizes,
    blocks: u64,
}

impl Count {
    fn result(&mut self, result: &Object) {
        for (name, value) in result.iter() {
            match (name, value) {
                ("content", _) => self.each(value, Self::block),
                ("contents", _) => self.each(value, Self::resource),
                ("messages", _) => self.each(value, Self::message),
                ("structuredContent", Json::Null) | ("isError", Json::Bool(_)) => {}
                ("structuredContent", _) => self.sizes.structured_bytes = bytes(value),
                ("resultType", Json::String(kind)) if kind == "complete" => {}
                ("description", Json::String(_)) => self.text(value),
                _ => self.member(name, value),
            }
        }
    }

    fn each(&mut self, parts: &Json, part: fn(&mut Self, &Json)) {
        let parts = parts.as_array().unwrap_or(std::slice::from_ref(parts));
        for json in parts {
            self.blocks = self.blocks.saturating_add(1);
            part(self, json);
        }
    }

    fn message(&mut self, message: &Json) {
        let Some(object) = message.as_object() else { return self.block(message) };
        for (name, value) in object.iter() {
            match (name, value.as_str()) {
                ("role", Some("user" | "assistant")) => {}
                ("content", _) => self.each(value, Self::block),
                _ => self.member(name, value),
            }
        }
    }

    fn block(&mut self, block: &Json) {
        let Some(object) = block.as_object() else { return self.text(block) };
        let kind = block.get("type").and_then(Json::as_str);
        for (name, value) in object.iter() {
            match (kind, name, value) {
                (Some("text" | "image" | "audio" | "resource" | "resource_link"), "type", _) => {}
                (Some("text"), "text", Json::String(_)) => self.text(value),
                (Some("image" | "audio"), "data", Json::String(data)) => self.blob(data),
                (Some("resource"), "resource", Json::Object(_)) => self.resource(value),
                _ => self.member(name, value),
            }
        }
    }

    fn resource(&mut self, resource: &Json) {
        let Some(object) = resource.as_object() else { return self.text(resource) };
        for (name, value) in object.iter() {
            match (name, value) {
                ("text", Json::String(_)) => self.text(value),
                ("blob", Json::String(data)) => self.blob(data),
                _ => self.member(name, value),
            }
        }
    }

    fn text(&mut self, json: &Json) {
        let more = match json {
            Json::String(text) => text.len() as u64,
            other => bytes(other),
        };
        self.sizes.text_bytes = self.sizes.text_bytes.saturating_add(more);
    }

    /// `"name":value`
    fn member(&mut self, name: &str, value: &Json) {
        let more = (name.len() as u64 + 3).saturating_add(bytes(value));
        self.sizes.text_bytes = self.sizes.text_bytes.saturating_add(more);
    }

    fn blob(&mut self, data: &str) {
        self.sizes.blob_bytes = self.sizes.blob_bytes.saturating_add(data.len() as u64);
    }
}

fn bytes(json: &Json) -> u64 {
    size(json) as u64
}
