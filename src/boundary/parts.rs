//! Where the texts of a result stand. Knows the shapes of tool, resource and prompt results, and nothing
//! of what is done with their texts.

use crate::json::Json;

/// What kind of place a text was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A text block or an embedded text resource.
    Text,
    /// Text in a place that the protocol has no text block for: a block of an unknown type, the title of a
    /// link, a content that is no list.
    Other,
}

type Change<'a> = &'a mut dyn FnMut(Place, String) -> String;

/// Changes every text of a result but those of `structuredContent`; all else stays as it is.
pub(super) fn map_texts(result: Json, change: Change) -> Json {
    match result {
        Json::Object(object) => Json::Object(object.map_values(|name, value| match name {
            "content" => each(value, change, block),
            "contents" => each(value, change, resource),
            "messages" => each(value, change, message),
            "description" => text(Place::Other, value, change),
            _ => value,
        })),
        Json::String(text) => Json::String(change(Place::Text, text)),
        other => map_strings(other, &mut |text| change(Place::Other, text)),
    }
}

/// Changes every string of a value and, of an object, every name: a secret in a name reaches the model
/// like any other. The recursion is as deep as the value, which the reader bounds.
pub(super) fn map_strings(json: Json, change: &mut dyn FnMut(String) -> String) -> Json {
    match json {
        Json::String(text) => Json::String(change(text)),
        Json::Array(items) => Json::Array(items.into_iter().map(|item| map_strings(item, change)).collect()),
        Json::Object(object) => {
            let object = object.map_names(&mut *change);
            Json::Object(object.map_values(|_, value| map_strings(value, change)))
        }
        other => other,
    }
}

/// A list of parts, or one part where a list should be.
fn each(json: Json, change: Change, part: fn(Json, Change) -> Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.into_iter().map(|item| part(item, change)).collect()),
        other => part(other, change),
    }
}

fn message(json: Json, change: Change) -> Json {
    match json {
        Json::Object(object) => Json::Object(object.map_values(|name, value| match name {
            "content" => each(value, change, block),
            _ => value,
        })),
        other => block(other, change),
    }
}

fn block(json: Json, change: Change) -> Json {
    let kind = json.get("type").and_then(Json::as_str).map(str::to_owned);
    match json {
        Json::Object(object) => Json::Object(object.map_values(|name, value| match (kind.as_deref(), name) {
            (_, "type") => value,
            (_, "text") => text(Place::Text, value, change),
            (_, "resource") => resource(value, change),
            (Some("resource_link"), "name" | "title" | "description") => text(Place::Other, value, change),
            (Some("text" | "image" | "audio" | "resource" | "resource_link"), _) => value,
            _ => map_strings(value, &mut |text| change(Place::Other, text)),
        })),
        other => text(Place::Text, other, change),
    }
}

fn resource(json: Json, change: Change) -> Json {
    match json {
        Json::Object(object) => Json::Object(object.map_values(|name, value| match name {
            "text" => text(Place::Text, value, change),
            _ => value,
        })),
        other => text(Place::Text, other, change),
    }
}

/// A text, or the strings of whatever stands in its place.
fn text(place: Place, json: Json, change: Change) -> Json {
    match json {
        Json::String(text) => Json::String(change(place, text)),
        other => map_strings(other, &mut |text| change(Place::Other, text)),
    }
}
