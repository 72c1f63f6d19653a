//! Sorts a server's list of tools, prompts, resources or templates into what is offered, what is repaired and what is withheld,
//! one by one: nothing good is lost because of a neighbour. Knows nothing of trust or pins.

mod members;

use super::references;
use crate::json::{Json, Object, size};
use crate::text::{is_invisible, visible};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The deepest schema that is offered, in arrays and objects.
const MAX_DEPTH: usize = 64;

/// The largest schema that is offered, in bytes of JSON.
const MAX_SCHEMA: usize = 256 * 1024;

/// The largest definition that is offered, schemas and texts together, in bytes of JSON.
const MAX_DEFINITION: usize = 512 * 1024;

/// So many repairs of one definition are named one by one.
const MAX_REASONS: usize = 8;

/// A list, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    /// What may be offered, in the order of the list.
    pub offered: Vec<Offered>,
    /// One for each that is not offered as it was sent, in the order of the list.
    pub findings: Vec<Finding>,
}

/// One of the list that may be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Of a resource its `uri`, of a template its `uriTemplate`.
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
    triage(list, &TOOL, |tool| {
        let mut repairs = members::repair(tool, members::ITEM);
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
    triage(list, &PROMPT, |prompt| {
        let mut repairs = members::repair(prompt, members::ITEM);
        let Some(arguments) = prompt.get("arguments") else { return Ok(repairs) };
        let Some(arguments) = arguments.as_array() else { return Err("its `arguments` are no list".to_owned()) };
        let before = repairs.len();
        let mut kept = Vec::with_capacity(arguments.len());
        for (at, argument) in arguments.iter().enumerate() {
            match argument {
                Json::Object(argument) if argument.get("name").and_then(Json::as_str).is_some() => {
                    let mut argument = argument.clone();
                    let lost = members::repair(&mut argument, members::ARGUMENT);
                    repairs.extend(lost.into_iter().map(|lost| format!("of its argument {}, {lost}", at + 1)));
                    kept.push(Json::Object(argument));
                }
                _ => repairs.push(format!("its argument {} is left out, which has no name", at + 1)),
            }
        }
        if repairs.len() > before {
            prompt.set("arguments", Json::Array(kept));
        }
        Ok(repairs)
    })
}

/// Sorts the resources of a list, by their URIs.
#[must_use]
pub fn resources(list: Vec<Json>) -> Triage {
    triage(list, &RESOURCE, |resource| Ok(repair_named(resource, RESOURCE.key, members::RESOURCE)))
}

/// Sorts the resource templates of a list, by their URI templates.
#[must_use]
pub fn templates(list: Vec<Json>) -> Triage {
    triage(list, &TEMPLATE, |template| Ok(repair_named(template, TEMPLATE.key, members::ITEM)))
}

/// What a list is of.
struct Kind {
    what: &'static str,
    /// The member that says which of them it is.
    key: &'static str,
}

const TOOL: Kind = Kind { what: "tool", key: "name" };
const PROMPT: Kind = Kind { what: "prompt", key: "name" };
const RESOURCE: Kind = Kind { what: "resource", key: "uri" };
const TEMPLATE: Kind = Kind { what: "resource template", key: "uriTemplate" };

/// `inspect` repairs a definition and says what it did, or why it is withheld.
fn triage(list: Vec<Json>, kind: &Kind, inspect: impl Fn(&mut Object) -> Result<Vec<String>, String>) -> Triage {
    let key = |item: &Json| item.get(kind.key).and_then(Json::as_str).map(str::to_owned);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in list.iter().filter_map(key) {
        *counts.entry(name).or_default() += 1;
    }
    let mut seen = BTreeSet::new();
    let mut triage = Triage::default();
    for (at, item) in list.into_iter().enumerate() {
        let name = key(&item).unwrap_or_default();
        let subject = match shown(&name) {
            name if name.is_empty() => format!("{} {} of the list", kind.what, at + 1),
            name => format!("the {} `{name}`", kind.what),
        };
        let twice = match kind.key {
            // Of two definitions nobody knows which is called; a URI leads to the same text whatever is said of it.
            "name" => counts.get(&name).is_some_and(|count| *count > 1),
            _ => !seen.insert(name.clone()),
        };
        let verdict = match (&item, bad_key(&item, kind.key, &name, twice)) {
            (_, Some(why)) => Err(why),
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
            Ok((repaired, repairs)) => {
                let reasons = few(repairs);
                triage.findings.push(Finding { subject, withheld: false, reasons });
                triage.offered.push(Offered { name, sent: item, repaired: Some(Json::Object(repaired)) });
            }
            Err(why) => triage.findings.push(Finding { subject, withheld: true, reasons: vec![why] }),
        }
    }
    triage
}

/// The first reasons: a definition can be wrong in thousands of places.
fn few(mut reasons: Vec<String>) -> Vec<String> {
    let more = reasons.len().saturating_sub(MAX_REASONS);
    reasons.truncate(MAX_REASONS);
    if more > 0 {
        reasons.push(format!("and {more} more of the kind"));
    }
    reasons
}

fn bad_key(item: &Json, key: &str, name: &str, twice: bool) -> Option<String> {
    let named = key == "name";
    let label = if named { "name".to_owned() } else { format!("`{key}`") };
    if item.as_object().is_none() {
        return Some("it is no object".to_owned());
    }
    match item.get(key) {
        None => Some(format!("it has no {label}")),
        Some(Json::String(_)) if name.is_empty() => Some(format!("its {label} is empty")),
        Some(Json::String(_)) if named && name.starts_with('@') => {
            Some("its name begins with `@`, which praxiom keeps for itself".to_owned())
        }
        Some(Json::String(_)) if name.contains(is_invisible) => {
            Some(format!("its {label} holds control characters or others that do not show"))
        }
        Some(Json::String(_)) if key == "uri" && !has_scheme(name) => {
            Some("its `uri` begins with no scheme such as `file:`".to_owned())
        }
        Some(Json::String(_)) if twice && named => Some("the list has several of this name".to_owned()),
        Some(Json::String(_)) if twice => Some(format!("one before it in the list has this {label}")),
        Some(Json::String(_)) => None,
        Some(_) => Some(format!("its {label} is no text")),
    }
}

/// Clients that read a `uri` as one refuse the whole list over one that is none.
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A resource or template without a name goes by its `key`.
fn repair_named(definition: &mut Object, key: &str, wanted: members::Wanted) -> Vec<String> {
    let mut repairs = members::repair(definition, wanted);
    let why = match definition.get("name") {
        Some(Json::String(_)) => return repairs,
        None => "it has no name",
        Some(_) => "its name is no text",
    };
    if let Some(uri) = definition.get(key).cloned() {
        definition.set("name", uri);
        repairs.insert(0, format!("{why}: its `{key}` stands in for it"));
    }
    repairs
}

/// The name as it is shown to people, cut where it is very long.
fn shown(name: &str) -> String {
    let mut shown = visible(&name.chars().take(128).collect::<String>());
    if name.chars().nth(128).is_some() {
        shown.push('…');
    }
    shown
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
