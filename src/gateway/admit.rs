//! What of a server's lists is offered: declared, unchanged since it was pinned or locked, and well
//! formed. Each item is judged by itself, and every refusal is named.

use super::upstream::Listing;
use crate::boundary::{self, Mirrors, Refusal, Triage};
use crate::catalogue::{LockedServer, full_digest, pin};
use crate::config::{Allow, Trust};
use crate::json::Json;
use crate::text::suggest::nearest;
use crate::text::visible;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// So many resources, and so many templates, of a server are named one by one if they are not as they should be.
const MOST_NAMED: usize = 50;

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
    /// Tools that are known and not offered, by the server's own name.
    pub(super) withheld: BTreeMap<String, Withheld>,
}

/// Why a tool is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Withheld {
    pub(super) code: Option<Refusal>,
    pub(super) why: String,
}

/// What was left out, changed or is odd, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) code: Option<Refusal>,
    pub(super) text: String,
    /// Whether a tool of the list is left out over it.
    pub(super) tool: bool,
}

impl Admitted {
    fn find(&mut self, code: Option<Refusal>, text: impl Into<String>) {
        self.findings.push(Finding { code, text: text.into(), tool: false });
    }

    fn withhold(&mut self, name: &str, code: Option<Refusal>, why: impl Into<String>) {
        self.withheld.insert(name.to_owned(), Withheld { code, why: why.into() });
    }

    /// Withholds a tool that is not as somebody agreed to it.
    fn refuse(&mut self, name: &str, why: String) {
        let code = Some(Refusal::ToolDefinitionChanged);
        let text = format!("the tool `{}` is refused: {why}; `praxiom tools diff` shows what is new", visible(name));
        self.findings.push(Finding { code, text, tool: true });
        self.withhold(name, code, why);
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
        admitted.resources = shown("resources", &boundary::resources(jsons(&listing.resources)), &mut admitted);
        admitted.templates =
            shown("resource templates", &boundary::templates(jsons(&listing.templates)), &mut admitted);
    }
    admitted
}

pub(super) fn jsons(items: &[Value]) -> Vec<Json> {
    items.iter().map(Json::from).collect()
}

/// What of resources or templates clients see.
fn shown(what: &str, triage: &Triage, admitted: &mut Admitted) -> Vec<Value> {
    for finding in triage.findings.iter().take(MOST_NAMED) {
        admitted.find(None, finding.to_string());
    }
    let more = triage.findings.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        admitted.find(None, format!("{more} more of the list of {what} are withheld or repaired"));
    }
    triage.offered.iter().map(|offered| Value::from(offered.shown())).collect()
}

fn tools(listing: &Listing, trust: &Trust, locked: Option<&LockedServer>, admitted: &mut Admitted) {
    if trust.tools.is_nothing() {
        return;
    }
    let triage = boundary::tools(jsons(&listing.tools));
    for finding in &triage.findings {
        let text = finding.to_string();
        admitted.findings.push(Finding { code: None, text, tool: finding.withheld });
    }
    let mut missing: BTreeSet<&str> = match &trust.tools {
        Allow::All => trust.pins.keys().map(String::as_str).collect(),
        Allow::Only(names) => names.iter().map(String::as_str).collect(),
    };
    for offered in &triage.offered {
        let name = offered.name.as_str();
        if !trust.tools.allows(name) {
            admitted.withhold(name, None, "it is not declared under `trust`");
            continue;
        }
        missing.remove(name);
        if let Some(expected) = trust.pins.get(name) {
            let found = pin(&offered.sent);
            if found != *expected {
                let why = "its definition has changed since it was pinned";
                admitted.refuse(name, format!("{why} (pinned {expected}, found {found})"));
                continue;
            }
        }
        if let Some(locked) = locked
            && let Err(why) = agrees(locked.tools.get(name), &offered.sent)
        {
            admitted.refuse(name, why.to_owned());
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
                let why = format!("its mirrored parameters: {why}");
                let text = format!("the tool `{}` is left out: {why}", visible(name));
                admitted.findings.push(Finding { code, text, tool: true });
                admitted.withhold(name, Some(Refusal::MirroredParameterRefused), why);
            }
        }
    }
    // One that is listed and withheld is named above.
    let listed = |name: &str| listing.tools.iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(name));
    for name in missing.into_iter().filter(|name| !listed(name)) {
        admitted.find(None, unlisted("tool", name, &triage));
    }
}

fn prompts(listing: &Listing, trust: &Trust, locked: Option<&LockedServer>, admitted: &mut Admitted) {
    if trust.prompts.is_nothing() {
        return;
    }
    let triage = boundary::prompts(jsons(&listing.prompts));
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
            admitted.find(None, unlisted("prompt", name, &triage));
        }
    }
}

fn unlisted(what: &str, name: &str, triage: &Triage) -> String {
    let near = nearest(name, triage.offered.iter().map(|offered| offered.name.as_str()));
    let hint = near.map(|near| format!("; did you mean `{}`?", visible(near))).unwrap_or_default();
    format!("the {what} `{}` is declared, but the server does not list it{hint}", visible(name))
}

/// Whether a definition is the one that the lock has.
fn agrees(locked: Option<&Json>, sent: &Json) -> Result<(), &'static str> {
    match locked {
        None => Err("the lock does not have it"),
        Some(locked) if full_digest(locked) == full_digest(sent) => Ok(()),
        Some(_) => Err("its definition is not the one in the lock"),
    }
}
