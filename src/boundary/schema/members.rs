//! Members of definitions that clients know the types of. Those of another type are left out, over which a
//! client could refuse the whole list.

use crate::json::{Json, Object};

/// Names of members, each with whether a value is what it should be.
pub(super) type Wanted = &'static [(&'static str, fn(&Json) -> bool)];

/// Of tools, prompts and templates; what one kind has alone the others have no other meaning for.
pub(super) const ITEM: Wanted = &[
    ("title", text),
    ("description", text),
    ("mimeType", text),
    ("annotations", object),
    ("icons", icons),
    ("execution", execution),
    ("_meta", object),
];

pub(super) const RESOURCE: Wanted = &[
    ("title", text),
    ("description", text),
    ("mimeType", text),
    ("size", count),
    ("annotations", object),
    ("icons", icons),
    ("_meta", object),
];

/// Of one argument of a prompt.
pub(super) const ARGUMENT: Wanted = &[("title", text), ("description", text), ("required", flag)];

const ANNOTATIONS: Wanted = &[
    ("title", text),
    ("readOnlyHint", flag),
    ("destructiveHint", flag),
    ("idempotentHint", flag),
    ("openWorldHint", flag),
    ("audience", audience),
    ("priority", share),
    ("lastModified", text),
];

const ICON: Wanted = &[("mimeType", text), ("sizes", texts), ("theme", text)];

/// Leaves out what has the wrong type, and says so.
pub(super) fn repair(definition: &mut Object, wanted: Wanted) -> Vec<String> {
    let mut repairs = leave_out(definition, wanted, "");
    // Member by member: a hint is worth keeping beside a title that is none.
    if let Some(Json::Object(annotations)) = definition.get("annotations") {
        let mut annotations = annotations.clone();
        let lost = leave_out(&mut annotations, ANNOTATIONS, "annotations.");
        if !lost.is_empty() {
            definition.set("annotations", Json::Object(annotations));
            repairs.extend(lost);
        }
    }
    repairs
}

fn leave_out(object: &mut Object, wanted: Wanted, prefix: &str) -> Vec<String> {
    let mut repairs = Vec::new();
    for (name, sound) in wanted {
        if object.get(name).is_some_and(|value| !sound(value)) {
            object.remove(name);
            repairs.push(format!("its `{prefix}{name}` is left out, which has the wrong type"));
        }
    }
    repairs
}

fn all(value: &Json, wanted: Wanted) -> bool {
    value.as_object().is_some_and(|object| wanted.iter().all(|(name, sound)| object.get(name).is_none_or(sound)))
}

fn text(value: &Json) -> bool {
    value.as_str().is_some()
}

fn texts(value: &Json) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(text))
}

fn object(value: &Json) -> bool {
    value.as_object().is_some()
}

fn flag(value: &Json) -> bool {
    matches!(value, Json::Bool(_))
}

fn count(value: &Json) -> bool {
    matches!(value, Json::Number(number) if number.as_i64().is_some_and(|number| number >= 0))
}

fn share(value: &Json) -> bool {
    matches!(value, Json::Number(number) if (0.0..=1.0).contains(&number.to_f64()))
}

fn audience(value: &Json) -> bool {
    value.as_array().is_some_and(|roles| roles.iter().all(|role| matches!(role.as_str(), Some("user" | "assistant"))))
}

fn icons(value: &Json) -> bool {
    let icon = |icon: &Json| icon.get("src").is_some_and(text) && all(icon, ICON);
    value.as_array().is_some_and(|icons| icons.iter().all(icon))
}

fn execution(value: &Json) -> bool {
    let known = |support: &Json| matches!(support.as_str(), Some("forbidden" | "optional" | "required"));
    value.as_object().is_some_and(|execution| execution.get("taskSupport").is_none_or(known))
}
