//! Parameters that a request repeats in HTTP headers (`x-mcp-header` in a tool's input schema). Knows
//! nothing of how headers travel.

use crate::json::{self, Json, Number, Object};
use crate::text::visible;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeSet;

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";
const WRAP_START: &str = "=?base64?";
const WRAP_END: &str = "?=";

/// The largest integer that every reader of a header holds exactly: 2^53 - 1.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;

/// One parameter and its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// What stands behind `Mcp-Param-`, as the server spells it.
    pub header: String,
    /// The names of members from the arguments to the value.
    pub path: Vec<String>,
    /// `string`, `integer` or `boolean`.
    pub kind: &'static str,
}

/// The mirrored parameters of one tool, in the order of its schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<Mirror>);

impl Mirrors {
    /// Reads the annotations of an input schema.
    ///
    /// # Errors
    /// What breaks the rules, for people: a header name that is no HTTP token, one name twice without
    /// regard to case, another type than string, integer or boolean, an annotation that is no text or
    /// that does not stand on a chain of `properties`.
    pub fn read(schema: &Json) -> Result<Self, String> {
        let mut reader = Reader::default();
        if let Some(object) = schema.as_object() {
            if object.get(ANNOTATION).is_some() {
                return Err(format!("`{ANNOTATION}` stands on the whole schema, not on a parameter"));
            }
            reader.schema(object, true)?;
        }
        Ok(Self(reader.found))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Mirror> {
        self.0.iter()
    }

    /// The headers of a request, name and value: one for each mirrored parameter that the arguments give a
    /// text, number or boolean.
    ///
    /// # Errors
    /// A number that is no integer between -(2^53 - 1) and 2^53 - 1: ends would read it differently.
    pub fn headers(&self, arguments: &Json) -> Result<Vec<(String, String)>, String> {
        let mut headers = Vec::new();
        for mirror in &self.0 {
            if let Some(value) = mirror.value(arguments)? {
                headers.push((mirror.name(), encode(&value)));
            }
        }
        Ok(headers)
    }

    /// Holds the headers of a request, all of them, against its arguments. Names are compared without
    /// regard to case and integers by value.
    ///
    /// # Errors
    /// The header that is missing, too many, unreadable or different, without its value.
    pub fn mismatch(&self, headers: &[(&str, &str)], arguments: &Json) -> Result<(), String> {
        for mirror in &self.0 {
            let name = mirror.name();
            let parameter = mirror.parameter();
            let mut sent =
                headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(&name)).map(|(_, value)| *value);
            let header = sent.next();
            if sent.next().is_some() {
                return Err(format!("the header `{name}` stands twice"));
            }
            match (header, mirror.value(arguments)?) {
                (None, None) => {}
                (Some(_), None) => {
                    return Err(format!(
                        "the header `{name}` is sent without the parameter {parameter} that it repeats"
                    ));
                }
                (None, Some(_)) => {
                    return Err(format!("the header `{name}`, which repeats the parameter {parameter}, is missing"));
                }
                (Some(header), Some(value)) => {
                    let Some(header) = decode(header) else {
                        return Err(format!("the header `{name}` holds no readable value"));
                    };
                    if header != value && !(mirror.is_number(arguments) && same_integer(&header, &value)) {
                        return Err(format!("the header `{name}` differs from the parameter {parameter}"));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Mirror {
    /// `Mcp-Param-Region`
    #[must_use]
    pub fn name(&self) -> String {
        format!("{PREFIX}{}", self.header)
    }

    fn parameter(&self) -> String {
        format!("`{}`", visible(&self.path.join(".")))
    }

    fn argument<'a>(&self, arguments: &'a Json) -> Option<&'a Json> {
        self.path.iter().try_fold(arguments, |value, name| value.get(name))
    }

    fn is_number(&self, arguments: &Json) -> bool {
        matches!(self.argument(arguments), Some(Json::Number(_)))
    }

    /// The value as text, before it is encoded; none where there is none or where it has parts.
    fn value(&self, arguments: &Json) -> Result<Option<String>, String> {
        match self.argument(arguments) {
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(Json::Bool(value)) => Ok(Some(value.to_string())),
            Some(Json::Number(number)) => integer(number).map(Some).ok_or_else(|| {
                format!(
                    "the parameter {} is repeated in a header, so that it must be an integer between -(2^53 - 1) and 2^53 - 1",
                    self.parameter()
                )
            }),
            Some(Json::Null | Json::Array(_) | Json::Object(_)) | None => Ok(None),
        }
    }
}

/// The digits of an integer that ends agree on, however it is spelled.
fn integer(number: &Number) -> Option<String> {
    let value = number.to_f64();
    let sound = value.abs() <= MAX_INTEGER && value.fract() == 0.0;
    sound.then(|| number.as_i64().map_or_else(|| format!("{:.0}", value + 0.0), |value| value.to_string()))
}

fn same_integer(header: &str, value: &str) -> bool {
    match json::parse(header.as_bytes()) {
        Ok(Json::Number(number)) => integer(&number).is_some_and(|digits| digits == value),
        _ => false,
    }
}

/// A value as a header carries it: as it is where that is plain visible ASCII, else base64 in a wrapper.
fn encode(value: &str) -> String {
    let padded = value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']);
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if plain && !padded && !(value.starts_with(WRAP_START) && value.ends_with(WRAP_END)) {
        return value.to_owned();
    }
    format!("{WRAP_START}{}{WRAP_END}", BASE64_STANDARD.encode(value))
}

fn decode(header: &str) -> Option<String> {
    match header.strip_prefix(WRAP_START).and_then(|rest| rest.strip_suffix(WRAP_END)) {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(header.to_owned()),
    }
}

#[derive(Default)]
struct Reader {
    path: Vec<String>,
    names: BTreeSet<String>,
    found: Vec<Mirror>,
}

impl Reader {
    /// Looks through a schema and all within it. `on_chain`: only `properties` lie between it and the root.
    fn schema(&mut self, schema: &Object, on_chain: bool) -> Result<(), String> {
        for (keyword, value) in schema.iter() {
            match keyword {
                ANNOTATION if !on_chain => return Err(self.off_chain()),
                ANNOTATION => {}
                "properties" => self.schemas(value, on_chain)?,
                "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties" => {
                    self.schemas(value, false)?;
                }
                // Instances and names, not schemas.
                "default" | "const" | "enum" | "examples" | "required" | "dependentRequired" => {}
                _ => self.any(value)?,
            }
        }
        Ok(())
    }

    /// The schemas of an object from names to schemas.
    fn schemas(&mut self, named: &Json, on_chain: bool) -> Result<(), String> {
        let Some(named) = named.as_object() else { return self.any(named) };
        for (name, schema) in named.iter() {
            self.path.push(name.to_owned());
            if let Some(object) = schema.as_object() {
                if let Some(annotation) = object.get(ANNOTATION).filter(|_| on_chain) {
                    self.annotation(annotation, object)?;
                }
                self.schema(object, on_chain)?;
            } else {
                self.any(schema)?;
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Schemas somewhere within a value that is off the chain.
    fn any(&mut self, value: &Json) -> Result<(), String> {
        match value {
            Json::Object(object) => self.schema(object, false),
            Json::Array(items) => items.iter().try_for_each(|item| self.any(item)),
            _ => Ok(()),
        }
    }

    fn annotation(&mut self, annotation: &Json, schema: &Object) -> Result<(), String> {
        let parameter = format!("the parameter `{}`", visible(&self.path.join(".")));
        let Some(header) = annotation.as_str() else {
            return Err(format!("{parameter} has an `{ANNOTATION}` that is no text"));
        };
        if header.is_empty() || !header.bytes().all(is_token) {
            let shown = visible(header);
            return Err(format!("{parameter} has the `{ANNOTATION}` `{shown}`, which is no name of an HTTP header"));
        }
        let kind = ["string", "integer", "boolean"]
            .into_iter()
            .find(|kind| schema.get("type").and_then(Json::as_str) == Some(*kind));
        let Some(kind) = kind else {
            return Err(format!("{parameter} has an `{ANNOTATION}`, but its type is not string, integer or boolean"));
        };
        if !self.names.insert(header.to_ascii_lowercase()) {
            return Err(format!("two parameters have the `{ANNOTATION}` `{header}`, {parameter} among them"));
        }
        self.found.push(Mirror { header: header.to_owned(), path: self.path.clone(), kind });
        Ok(())
    }

    fn off_chain(&self) -> String {
        let place = match visible(&self.path.join(".")) {
            path if path.is_empty() => String::new(),
            path => format!(" (in `{path}`)"),
        };
        format!("an `{ANNOTATION}` stands where no chain of `properties` leads{place}")
    }
}

/// A character of an HTTP token (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
