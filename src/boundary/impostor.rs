//! Takes out of what a server sends what only the gateway says: members named `praxiom/…`. Knows nothing
//! of what these mean.

use crate::json::{Json, Object};

const OWN: &str = "praxiom/";

/// The data of an error, or a `_meta`, without members of the gateway's names; and whether it had any. What
/// stands deeper is the server's own affair.
#[must_use]
pub fn strip(json: Json) -> (Json, bool) {
    match json {
        Json::Object(object) if object.iter().any(|(name, _)| name.starts_with(OWN)) => {
            let rest: Vec<_> = object.into_iter().filter(|(name, _)| !name.starts_with(OWN)).collect();
            // A part of distinct names has distinct names.
            (Json::Object(Object::try_from(rest).unwrap_or_default()), true)
        }
        other => (other, false),
    }
}

/// A result whose `_meta` is stripped, and whether that had any.
#[must_use]
pub fn strip_result(result: Json) -> (Json, bool) {
    let Json::Object(object) = result else { return (result, false) };
    let mut stripped = false;
    let object = object.map_values(|name, value| {
        if name != "_meta" {
            return value;
        }
        let (value, found) = strip(value);
        stripped = found;
        value
    });
    (Json::Object(object), stripped)
}
