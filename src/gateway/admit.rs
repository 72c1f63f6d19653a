//! What of a server's lists is offered: declared, unchanged since it was pinned or locked, and well
//! formed. Each item is judged by itself, and every refusal is named.

use super::upstream::Listing;
use crate::boundary::{self, Mirrors, Refusal};
use crate::catalogue::{LockedServer, full_digest, pin};
use crate::config::{Allow, Trust};
use crate::json::Json;
use crate::text::visible;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A tool that is offered.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    /// As the server names it.
    pub(super) name: String,
    /// As a client may see it, but for its name.
    pub(super) shown: Value,
    pub(super) mirrors: Mirrors,
}

/// What one server offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Admitted {
    pub(super) tools: Vec<Tool>,
    /// By the server's own name.
    pub(super) prompts: Vec<(String, Value)>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    pub(super) findings: Vec<Finding>,
    /// Names that are known and not offered, with the reason: for the audit.
    pub(super) withheld: BTreeMap<String, Option<Refusal>>,
}

/// What was left out, changed or is odd, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) code: Option<Refusal>,
    pub(super) text: String,
}

impl Admitted {
    fn find(&mut self, code: Option<Refusal>, text: impl Into<String>) {
        self.findings.push(Finding { code, text: text.into() });
    }

    fn withhold(&mut self, name: &str, code: Option<Refusal>) {
        self.withheld.insert(name.to_owned(), code);
    }
}

/// `locked`: what the lock has of this server, where there is a lock.
pub(super) fn admit(listing: &Listing, trust: &Trust, locked: Option<&LockedServer>) -> Admitted {
    let mut admitted = Admitted::default();
    for remark in &listing.remarks {
        admitted.find(None, remark.clone());
    }
    tools(listing, trust, locked, &mut admitted);
    prompts(listing, trust, locked, &mut admitted);
    if trust.resources {
        admitted.resources = named(&listing.resources, "uri");
        admitted.templates = named(&listing.templates, "uriTemplate");
    }
    admitted
}

fn tools(listing: &Listing, trust: &Trust, locked: Option<&LockedServer>, admitted: &mut Admitted) {
    if trust.tools.is_nothing() {
        return;
    }
    let triage = boundary::tools(listing.tools.iter().map(Json::from).collect());
    for finding in &triage.findings {
        admitted.find(None, finding.to_string());
    }
    let mut missing: BTreeSet<&str> = match &trust.tools {
        Allow::All => trust.pins.keys().map(String::as_str).collect(),
        Allow::Only(names) => names.iter().map(String::as_str).collect(),
    };
    for offered in &triage.offered {
        let name = offered.name.as_str();
        let shown_name = visible(name);
        if !trust.tools.allows(name) {
            admitted.withhold(name, None);
            continue;
        }
        missing.remove(name);
        if let Some(expected) = trust.pins.get(name) {
            let found = pin(&offered.sent);
            if found != *expected {
                let text = format!(
                    "the tool `{shown_name}` is refused: its definition has changed since it was pinned \
                     (pinned {expected}, found {found}); `praxiom tools diff` shows what is new"
                );
                admitted.find(Some(Refusal::ToolDefinitionChanged), text);
                admitted.withhold(name, Some(Refusal::ToolDefinitionChanged));
                continue;
            }
        }
        if let Some(locked) = locked
            && let Err(why) = agrees(locked.tools.get(name), &offered.sent)
        {
            let text = format!("the tool `{shown_name}` is refused: {why}; `praxiom tools diff` shows what is new");
            admitted.find(Some(Refusal::ToolDefinitionChanged), text);
            admitted.withhold(name, Some(Refusal::ToolDefinitionChanged));
            continue;
        }
        match Mirrors::read(offered.shown().get("inputSchema").unwrap_or(&Json::Null)) {
            Ok(mirrors) => {
                let shown = Value::from(offered.shown());
                admitted.tools.push(Tool { name: name.to_owned(), shown, mirrors });
            }
            Err(why) => {
                // One that was asked for by name is missed; one among all is only left out.
                let asked = matches!(trust.tools, Allow::Only(_));
                let code = asked.then_some(Refusal::MirroredParameterRefused);
                admitted.find(code, format!("the tool `{shown_name}` is left out: its mirrored parameters: {why}"));
                admitted.withhold(name, Some(Refusal::MirroredParameterRefused));
            }
        }
    }
    for name in missing {
        admitted.find(None, format!("the tool `{}` is declared, but the server does not list it", visible(name)));
    }
}

fn prompts(listing: &Listing, trust: &Trust, locked: Option<&LockedServer>, admitted: &mut Admitted) {
    if trust.prompts.is_nothing() {
        return;
    }
    let triage = boundary::prompts(listing.prompts.iter().map(Json::from).collect());
    for finding in &triage.findings {
        admitted.find(None, finding.to_string());
    }
    for offered in &triage.offered {
        if !trust.prompts.allows(&offered.name) {
            continue;
        }
        let known = |locked: &LockedServer| {
            let same = |prompt: &&Json| prompt.get("name").and_then(Json::as_str) == Some(&offered.name);
            agrees(locked.prompts.iter().find(same), &offered.sent)
        };
        if let Some(Err(why)) = locked.map(known) {
            let text = format!("the prompt `{}` is refused: {why}", visible(&offered.name));
            admitted.find(Some(Refusal::ToolDefinitionChanged), text);
        } else {
            admitted.prompts.push((offered.name.clone(), Value::from(offered.shown())));
        }
    }
    if let Allow::Only(names) = &trust.prompts {
        for name in names.iter().filter(|name| !triage.offered.iter().any(|offered| offered.name == **name)) {
            admitted.find(None, format!("the prompt `{}` is declared, but the server does not list it", visible(name)));
        }
    }
}

/// Whether a definition is the one that the lock has.
fn agrees(locked: Option<&Json>, sent: &Json) -> Result<(), &'static str> {
    match locked {
        None => Err("the lock does not have it"),
        Some(locked) if full_digest(locked) == full_digest(sent) => Ok(()),
        Some(_) => Err("its definition is not the one in the lock"),
    }
}

/// The items that have a text under `key`; nothing else can be routed.
fn named(items: &[Value], key: &str) -> Vec<Value> {
    items.iter().filter(|item| item.get(key).is_some_and(Value::is_string)).cloned().collect()
}
