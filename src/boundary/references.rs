//! Whether the references inside a JSON Schema lead somewhere. Knows nothing of the rest of the schema.

use crate::json::{Json, Object};
use crate::text::visible;
use std::collections::BTreeSet;

/// References that lead from one to the next before this counts as a circle.
const MAX_STEPS: usize = 64;

/// Looks for references that a client could not follow: out of the document, to nothing, or round in a
/// circle without a schema on the way. References of a schema to itself are sound.
pub(super) fn check(schema: &Json) -> Result<(), String> {
    let mut found = Found::default();
    found.any(schema);
    for reference in &found.references {
        follow(reference, schema, &found.anchors)?;
    }
    if found.odd { Err("it has a `$ref` that is no text".to_owned()) } else { Ok(()) }
}

#[derive(Default)]
struct Found<'s> {
    references: BTreeSet<&'s str>,
    anchors: BTreeSet<&'s str>,
    odd: bool,
}

impl<'s> Found<'s> {
    fn any(&mut self, value: &'s Json) {
        match value {
            Json::Object(object) => self.schema(object),
            Json::Array(items) => items.iter().for_each(|item| self.any(item)),
            _ => {}
        }
    }

    fn schema(&mut self, schema: &'s Object) {
        for (keyword, value) in schema.iter() {
            match (keyword, value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Json::String(reference)) => {
                    self.references.insert(reference);
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => self.odd = true,
                ("$anchor" | "$dynamicAnchor", Json::String(name)) => {
                    self.anchors.insert(name);
                }
                // Objects from names to schemas: a name may well be `$ref`.
                (
                    "properties" | "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties",
                    Json::Object(named),
                ) => named.iter().for_each(|(_, schema)| self.any(schema)),
                // Instances, not schemas.
                ("default" | "const" | "enum" | "examples", _) => {}
                _ => self.any(value),
            }
        }
    }
}

fn follow(reference: &str, schema: &Json, anchors: &BTreeSet<&str>) -> Result<(), String> {
    let shown = || visible(&reference.chars().take(200).collect::<String>());
    let mut next = reference;
    for _ in 0..MAX_STEPS {
        let Some(fragment) = next.strip_prefix('#') else {
            return Err(format!("its reference `{}` leads out of the schema", shown()));
        };
        if anchors.contains(fragment) {
            return Ok(());
        }
        let target = match resolve(fragment, schema) {
            Some(target @ Json::Object(_)) => target,
            Some(Json::Bool(_)) => return Ok(()),
            Some(_) => return Err(format!("its reference `{}` leads to no schema", shown())),
            None => return Err(format!("its reference `{}` leads to nothing", shown())),
        };
        match target.get("$ref").and_then(Json::as_str) {
            Some(further) => next = further,
            None => return Ok(()),
        }
    }
    Err(format!("its reference `{}` leads round in a circle", shown()))
}

/// What a JSON pointer, percent-encoded as in a URI, points to.
fn resolve<'s>(fragment: &str, schema: &'s Json) -> Option<&'s Json> {
    let pointer = percent_decoded(fragment)?;
    let mut steps = pointer.split('/');
    if steps.next() != Some("") {
        return None;
    }
    steps.try_fold(schema, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match value {
            Json::Object(object) => object.get(&step),
            Json::Array(items) => step.parse().ok().and_then(|at: usize| items.get(at)),
            _ => None,
        }
    })
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok()
}
