//! JSON values inside what `serde_json` writes. Knows nothing of who embeds them.

use super::{Json, Number, Object};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use std::io;

/// Through `serde_json` numbers keep their spelling and keys their order.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

/// Through `serde_json` keys keep their order.
impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Bytes of the value as `serde_json` writes it: no spaces, numbers and keys as they were sent.
#[must_use]
pub fn size(json: &impl Serialize) -> usize {
    let mut bytes = Bytes(0);
    // Counting never fails.
    let _ = serde_json::to_writer(&mut bytes, json);
    bytes.0
}

struct Bytes(usize);

impl io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Only `serde_json` understands the raw spelling.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(value) = self.as_i64() {
            return serializer.serialize_i64(value);
        }
        RawValue::from_string(self.spelling().into_owned()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{parse, size};

    #[test]
    fn spelling_and_order_survive_embedding() {
        let text = r#"{"z":[-0,1E5,0.10,1e-400,123456789012345678901234567890],"a":{"b":null,"a":"é\n"},"":true}"#;
        let json = parse(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(size(&json), text.len());
    }
}
