//! Between our JSON and `serde_json`'s, digit for digit. Knows nothing of messages.

use super::{Json, Number, Object};
use serde_json::Value;

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => Self::Number(number.into()),
            Json::String(text) => Self::String(text.clone()),
            Json::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Json::Object(object) => {
                Self::Object(object.iter().map(|(name, value)| (name.to_owned(), Self::from(value))).collect())
            }
        }
    }
}

/// The same without copying a text.
impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number((&number).into()),
            Json::String(text) => Self::String(text),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(object) => {
                Self::Object(object.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

impl From<&Number> for serde_json::Number {
    fn from(number: &Number) -> Self {
        match number.as_i64() {
            Some(small) => small.into(),
            None => Self::from_string_unchecked(number.spelling().into_owned()),
        }
    }
}

/// The text of every number is kept, so what comes of it is what was sent.
impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => {
                let spelling = number.as_str();
                Self::Number(Number::new(spelling, !spelling.contains(['.', 'e', 'E'])))
            }
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::from(members),
        }
    }
}

impl From<&serde_json::Map<String, Value>> for Json {
    fn from(members: &serde_json::Map<String, Value>) -> Self {
        Self::Object(Object::new(members.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn there_and_back_changes_no_digit_and_no_order() {
        let text = r#"{"z":[-0,0,1E5,0.10,1e-400,123456789012345678901234567890,-7],"a":{"b":null,"a":"é\n"},"":true}"#;
        let json = parse(text.as_bytes()).unwrap();
        let value = Value::from(&json);
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        assert_eq!(Json::from(&value), json);
        assert_eq!(Value::from(json.clone()), value);
        // What `serde_json` reads itself it spells in its own way.
        assert_eq!(Json::from(&serde_json::from_str::<Value>("1E5").unwrap()), parse(b"1e+5").unwrap());
    }
}
