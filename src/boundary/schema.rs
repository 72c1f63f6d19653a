//! Sorts a server's list of tools or prompts into what is offered, what is repaired and what is withheld,
//! one by one: nothing good is lost because of a neighbour. Knows nothing of trust or pins.

use super::references;
use crate::json::{Json, Object, size};
use crate::text::{is_invisible, visible};
use std::collections::BTreeMap;
use std::fmt;

/// The deepest schema that is offered, in arrays and objects.
const MAX_DEPTH: usize = 64;

/// The largest schema that is offered, in bytes of JSON.
const MAX_SCHEMA: usize = 256 * 1024;

/// The largest definition that is offered, schemas and texts together, in bytes of JSON.
const MAX_DEFINITION: usize = 512 * 1024;

/// A list, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    /// What may be offered, in the order of the list.
    pub offered: Vec<Offered>,
    /// One for each that is not offered as it was sent, in the order of the list.
    pub findings: Vec<Finding>,
}

/// A tool or prompt that may be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    pub name: String,
    /// As the server sent it: what pins and the lock are about.
    pub sent: Json,
    /// As a client may see it, where that is something else.
    pub repaired: Option<Json>,
}

impl Offered {
    /// As a client may see it.
    #[must_use]
    pub fn shown(&self) -> &Json {
        self.repaired.as_ref().unwrap_or(&self.sent)
    }
}

/// Why something is withheld or repaired, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name with invisible characters spelled out, or the place in the list.
    pub subject: String,
    pub withheld: bool,
    pub reasons: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.withheld { "withheld" } else { "repaired" };
        write!(f, "{} is {outcome}: {}", self.subject, self.reasons.join("; "))
    }
}

/// Sorts the tools of a list.
#[must_use]
pub fn tools(list: Vec<Json>) -> Triage {
    triage(list, "tool", |tool| {
        let mut repairs = Vec::new();
        repair_members(tool, &mut repairs);
        repair_input(tool, &mut repairs)?;
        let output = tool.get("outputSchema").map(|schema| match schema {
            Json::Object(_) => sound(schema),
            _ => Err("it is no object".to_owned()),
        });
        if let Some(Err(why)) = output {
            tool.remove("outputSchema");
            repairs.push(format!("its output schema is left out: {why}"));
        }
        Ok(repairs)
    })
}

/// Sorts the prompts of a list.
#[must_use]
pub fn prompts(list: Vec<Json>) -> Triage {
    triage(list, "prompt", |prompt| {
        let mut repairs = Vec::new();
        repair_members(prompt, &mut repairs);
        if prompt.get("arguments").is_some_and(|arguments| arguments.as_array().is_none()) {
            return Err("its `arguments` are no list".to_owned());
        }
        Ok(repairs)
    })
}

/// `inspect` repairs a definition and says what it did, or why it is withheld.
fn triage(list: Vec<Json>, what: &str, inspect: impl Fn(&mut Object) -> Result<Vec<String>, String>) -> Triage {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in list.iter().filter_map(|item| item.get("name").and_then(Json::as_str)) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    let mut triage = Triage::default();
    for (at, item) in list.into_iter().enumerate() {
        let name = item.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        let subject = match shown(&name) {
            name if name.is_empty() => format!("{what} {} of the list", at + 1),
            name => format!("the {what} `{name}`"),
        };
        let twice = counts.get(&name).is_some_and(|count| *count > 1);
        let verdict = match (&item, bad_name(&item, &name, twice)) {
            (_, Some(why)) => Err(why.to_owned()),
            (Json::Object(_), None) if size(&item) > MAX_DEFINITION => {
                Err(format!("it is larger than {} KiB", MAX_DEFINITION / 1024))
            }
            // One level for the definition itself.
            (Json::Object(_), None) if !within(&item, MAX_DEPTH + 1) => {
                Err(format!("it is nested more than {MAX_DEPTH} deep"))
            }
            (Json::Object(object), None) => {
                let mut repaired = object.clone();
                inspect(&mut repaired).map(|repairs| (repaired, repairs))
            }
            (_, None) => Err("it is no object".to_owned()),
        };
        match verdict {
            Ok((_, repairs)) if repairs.is_empty() => triage.offered.push(Offered { name, sent: item, repaired: None }),
            Ok((repaired, reasons)) => {
                triage.findings.push(Finding { subject, withheld: false, reasons });
                triage.offered.push(Offered { name, sent: item, repaired: Some(Json::Object(repaired)) });
            }
            Err(why) => triage.findings.push(Finding { subject, withheld: true, reasons: vec![why] }),
        }
    }
    triage
}

fn bad_name(item: &Json, name: &str, twice: bool) -> Option<&'static str> {
    match item.get("name") {
        _ if item.as_object().is_none() => Some("it is no object"),
        None => Some("it has no name"),
        Some(Json::String(_)) if name.is_empty() => Some("its name is empty"),
        Some(Json::String(_)) if name.starts_with('@') => {
            Some("its name begins with `@`, which praxiom keeps for itself")
        }
        Some(Json::String(_)) if name.contains(is_invisible) => {
            Some("its name holds control characters or others that do not show")
        }
        Some(Json::String(_)) if twice => Some("the list has several of this name"),
        Some(Json::String(_)) => None,
        Some(_) => Some("its name is no text"),
    }
}

/// The name as it is shown to people, cut where it is very long.
fn shown(name: &str) -> String {
    let mut shown = visible(&name.chars().take(128).collect::<String>());
    if name.chars().nth(128).is_some() {
        shown.push('…');
    }
    shown
}

/// Leaves out members of the wrong type, over which a client could refuse the whole list.
fn repair_members(definition: &mut Object, repairs: &mut Vec<String>) {
    for name in ["title", "description", "annotations", "icons", "execution", "_meta"] {
        let sound = match (name, definition.get(name)) {
            (_, None) => true,
            ("title" | "description", Some(value)) => value.as_str().is_some(),
            ("icons", Some(value)) => value.as_array().is_some(),
            (_, Some(value)) => value.as_object().is_some(),
        };
        if !sound {
            definition.remove(name);
            repairs.push(format!("its `{name}` is left out, which has the wrong type"));
        }
    }
}

fn repair_input(tool: &mut Object, repairs: &mut Vec<String>) -> Result<(), String> {
    let sent = tool.get("inputSchema");
    let mut schema = match sent {
        None | Some(Json::Null) => Object::default(),
        Some(Json::Object(schema)) => schema.clone(),
        Some(_) => return Err("its input schema is no object".to_owned()),
    };
    if let Some(sent) = sent {
        sound(sent).map_err(|why| format!("its input schema cannot be used: {why}"))?;
    }
    let before = repairs.len();
    match schema.get("type") {
        None => {
            schema.set("type", Json::String("object".to_owned()));
            repairs.push(
                match sent {
                    None | Some(Json::Null) => "it has no input schema: `{\"type\": \"object\"}` stands in for it",
                    Some(_) => "its input schema has no `type`: it gets `\"type\": \"object\"`",
                }
                .to_owned(),
            );
        }
        Some(kind) if kind.as_str() == Some("object") => {}
        Some(_) => return Err("its input schema is of another type than object".to_owned()),
    }
    match schema.get("properties") {
        None | Some(Json::Object(_)) => {}
        Some(Json::Array(items)) if items.is_empty() => {
            schema.set("properties", Json::Object(Object::default()));
            repairs
                .push("the `properties` of its input schema are an empty list, taken for an empty object".to_owned());
        }
        Some(_) => return Err("the `properties` of its input schema are no object".to_owned()),
    }
    if repairs.len() > before {
        tool.set("inputSchema", Json::Object(schema));
    }
    Ok(())
}

/// Whether a client can read a schema to its end.
fn sound(schema: &Json) -> Result<(), String> {
    if size(schema) > MAX_SCHEMA {
        return Err(format!("it is larger than {} KiB", MAX_SCHEMA / 1024));
    }
    references::check(schema)
}

fn within(json: &Json, depth: usize) -> bool {
    match json {
        Json::Array(items) => depth > 0 && items.iter().all(|item| within(item, depth - 1)),
        Json::Object(object) => depth > 0 && object.iter().all(|(_, value)| within(value, depth - 1)),
        _ => true,
    }
}
