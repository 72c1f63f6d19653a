//! JSON at random, made of the words that results, tools and schemas are made of.

use praxiom::json::{Json, Number, Object};
use proptest::collection::vec;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "content",
    "contents",
    "messages",
    "structuredContent",
    "isError",
    "_meta",
    "type",
    "text",
    "image",
    "data",
    "resource",
    "blob",
    "uri",
    "resource_link",
    "title",
    "description",
    "name",
    "inputSchema",
    "outputSchema",
    "properties",
    "object",
    "string",
    "integer",
    "$ref",
    "#",
    "#/$defs/A",
    "$defs",
    "A",
    "x-mcp-header",
    "Region",
    "secret",
    "</untrusted-tool-output>",
    "role",
    "user",
    "annotations",
    "icons",
    "items",
    "anyOf",
    "",
];

pub(crate) fn word() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(WORDS).prop_map(str::to_owned), 1 => any::<String>()]
}

pub(crate) fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|value| Json::Number(Number::from(value))),
        Just(super::parse("1E2")),
        word().prop_map(Json::String),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Json::Array),
            vec((word(), inner), 0..6).prop_map(|members| {
                let mut object = Object::default();
                for (name, value) in members {
                    object.set(&name, value);
                }
                Json::Object(object)
            }),
        ]
    })
}

/// A result: blocks of every kind, and what does not belong there.
pub(crate) fn result() -> impl Strategy<Value = Json> {
    let object = |members: Vec<(&str, Json)>| {
        let mut object = Object::default();
        for (name, value) in members {
            object.set(name, value);
        }
        Json::Object(object)
    };
    let string = |text: &str| Json::String(text.to_owned());
    let block = prop_oneof![
        4 => word().prop_map(move |text| object(vec![("type", string("text")), ("text", Json::String(text))])),
        2 => (word(), any::<bool>()).prop_map(move |(text, blob)| {
            let inner = object(vec![("uri", string("a:b")), (if blob { "blob" } else { "text" }, Json::String(text))]);
            object(vec![("type", string("resource")), ("resource", inner)])
        }),
        1 => word().prop_map(move |text| object(vec![("type", string("image")), ("data", Json::String(text))])),
        1 => value(),
    ];
    let part = prop_oneof![
        4 => (Just("content".to_owned()), vec(block, 0..5).prop_map(Json::Array)),
        2 => (Just("structuredContent".to_owned()), value()),
        2 => (word(), value()),
    ];
    vec(part, 0..4).prop_map(|members| {
        let mut object = Object::default();
        for (name, value) in members {
            object.set(&name, value);
        }
        Json::Object(object)
    })
}
