//! The `id` of a message that is no valid JSON, so that its sender is still answered. Never used to
//! read anything else out of such a text.

use serde_json::Value;

/// The first `id` on the top level of what looks like an object: a number or a string. `None` if there
/// is none to be found.
pub(super) fn find(text: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.trim_start().strip_prefix('{')?;
    let mut depth = 1_u32;
    let mut key_next = true;
    while depth > 0 {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        if first == '"' {
            let (string, after) = string(rest)?;
            rest = after;
            if depth == 1 && key_next && string == "id" {
                return value(rest.trim_start().strip_prefix(':')?.trim_start());
            }
            key_next = false;
            continue;
        }
        match first {
            '{' | '[' => depth = depth.checked_add(1)?,
            '}' | ']' => depth -= 1,
            ',' => key_next = true,
            _ => {}
        }
        rest = rest.get(first.len_utf8()..)?;
    }
    None
}

/// The string that `text` begins with, decoded, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    });
    let (literal, rest) = text.split_at_checked(end?.0 + 1)?;
    // An escape that is not valid JSON makes a string that is no `id` and no key we look for.
    Some((serde_json::from_str(literal).unwrap_or_default(), rest))
}

fn value(text: &str) -> Option<Value> {
    if text.starts_with('"') {
        return string(text).map(|(id, _)| Value::String(id));
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(text.len());
    text.get(..end)?.parse::<i64>().ok().map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_id_is_found_in_what_is_no_json() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"params":{"a":NaN}}"#.as_bytes(), Some(json!(7))),
            (br#"{"params":{"id":1,"a":[{"id":2}]}, "id" : "x\"y" ,"b":1e400}"#, Some(json!("x\"y"))),
            (b"{\"method\":\"id\",\"x\":\"\xff\",\"id\":-3", Some(json!(-3))),
            (br#"{"method":"id","k":"id"}"#, None),
            (br#"[{"id":1}]"#, None),
            (br#"{"id":1.5}"#, Some(json!(1))),
            (br#"{"id":{}}"#, None),
            (b"{", None),
            (b"", None),
            (br#"{"a\"#, None),
        ] {
            assert_eq!(find(text), id, "{}", String::from_utf8_lossy(text));
        }
    }
}
