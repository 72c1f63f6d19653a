//! What the protocol's era forces on a result; nothing else of it is touched.

use serde_json::{Value, json};

/// Makes a result one of the era of the client. Newer clients need to be told what kind of result it is
/// and how long a list may be kept; older ones do not know these members.
pub(super) fn fit(method: &str, mut result: Value, modern: bool) -> Value {
    let Value::Object(members) = &mut result else { return result };
    if !modern {
        if members.get("resultType").and_then(Value::as_str) == Some("complete") {
            members.shift_remove("resultType");
            if cached(method) {
                members.shift_remove("ttlMs");
                members.shift_remove("cacheScope");
            }
        }
        return result;
    }
    if !members.contains_key("resultType") {
        members.insert("resultType".to_owned(), json!("complete"));
    }
    if cached(method) && members.get("resultType").and_then(Value::as_str) == Some("complete") {
        members.entry("ttlMs").or_insert(json!(0));
        // What one client may see is nothing for a shared cache.
        members.insert("cacheScope".to_owned(), json!("private"));
    }
    result
}

fn cached(method: &str) -> bool {
    method.ends_with("/list") || method == "resources/read"
}
