//! Digests of a tool's definition as its server sent it. Knows nothing of who compares them.

use crate::json::{Json, Object, write_compact};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The pin: `sha256:` and 32 hexadecimal digits over what makes up the tool in every version of the
/// protocol: `{description, inputSchema, name, title}`. A description that is absent or no text counts
/// as `""`, a title as null, a schema that is no object as `{}`. Annotations, `_meta` and the output
/// schema are left out; [`full_digest`] has them. Floats and integers of one value differ: `1.0` is not `1`.
#[must_use]
pub fn pin(tool: &Json) -> String {
    let text = |name: &str| tool.get(name).filter(|value| value.as_str().is_some()).cloned();
    let schema = tool.get("inputSchema").filter(|value| value.as_object().is_some()).cloned();
    let pinned = BTreeMap::from([
        ("description".to_owned(), text("description").unwrap_or_else(|| Json::String(String::new()))),
        ("inputSchema".to_owned(), schema.unwrap_or_else(|| Json::Object(Object::default()))),
        ("name".to_owned(), text("name").unwrap_or_else(|| Json::String(String::new()))),
        ("title".to_owned(), text("title").unwrap_or(Json::Null)),
    ]);
    digest(&Json::Object(pinned.into()), 16)
}

/// `sha256:` and 64 hexadecimal digits over the whole definition, whatever members it has.
#[must_use]
pub fn full_digest(tool: &Json) -> String {
    digest(tool, 32)
}

/// The first `bytes` of SHA-256 over the compact spelling.
fn digest(json: &Json, bytes: usize) -> String {
    let mut text = String::new();
    write_compact(json, &mut text);
    let mut out = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()).iter().take(bytes) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
