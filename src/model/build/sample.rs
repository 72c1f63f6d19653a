//! Natural values for arguments, from a tool's schema where there is one. Knows nothing of rules.

use crate::json::{Json, Object};

fn properties(schema: Option<&Json>) -> impl Iterator<Item = (&str, &Json)> {
    schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object).into_iter().flat_map(Object::iter)
}

fn choices(property: &Json) -> impl Iterator<Item = &str> {
    property.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// The texts that the schema names for an argument.
pub(super) fn texts(schema: Option<&Json>, name: &str) -> Vec<String> {
    let property = properties(schema).find(|(known, _)| *known == name);
    property.into_iter().flat_map(|(_, property)| choices(property)).map(str::to_owned).take(16).collect()
}

/// Names of arguments that could hold the text, best first.
pub(super) fn names(schema: Option<&Json>, text: &str) -> Vec<String> {
    let is_text = |property: &Json| property.get("type").and_then(Json::as_str) == Some("string");
    let mut names: Vec<String> =
        properties(schema).filter(|(_, property)| is_text(property)).map(|(name, _)| name.to_owned()).take(6).collect();
    let path = text.starts_with(['/', '.', '\\', '~']);
    for name in if path { ["path", "text", "q", "~"] } else { ["text", "path", "q", "~"] } {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The arguments that the schema requires, with plain values.
pub(super) fn required(schema: Option<&Json>) -> Vec<(String, Json)> {
    let required = schema.and_then(|schema| schema.get("required")).and_then(Json::as_array).unwrap_or_default();
    let names = required.iter().filter_map(Json::as_str);
    names
        .map(|name| {
            let property = properties(schema).find(|(known, _)| *known == name).map(|(_, property)| property);
            (name.to_owned(), property.map_or(Json::String("x".to_owned()), |property| value(name, property)))
        })
        .collect()
}

fn value(name: &str, property: &Json) -> Json {
    if let Some(choice) = choices(property).next() {
        return Json::String(choice.to_owned());
    }
    match property.get("type").and_then(Json::as_str) {
        Some("number" | "integer") => Json::Number(1.into()),
        Some("boolean") => Json::Bool(false),
        Some("array") => Json::Array(Vec::new()),
        Some("object") => Json::Object(Object::default()),
        _ => Json::String(super::signs::texts(&[], name, &[], 1).pop().unwrap_or_default()),
    }
}
