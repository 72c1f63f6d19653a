//! What of the servers as they were seen the gateway would offer, and why not the rest. The same code
//! judges as while serving.

use super::Seen;
use crate::boundary::{Offered, Refusal, Route, Target};
use crate::catalogue::{Lock, pin};
use crate::config::{Config, Server};
use crate::gateway::admit::{Admitted, admit};
use crate::gateway::started;
use crate::gateway::table::{Part, Table};
use crate::json::Json;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why something is not offered: the code that the audit would have, and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) code: Option<Refusal>,
    pub(crate) why: String,
}

/// What the gateway would make of one server.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Why it would not be contacted at all.
    pub(crate) refused: Option<Reason>,
    /// In the order of the list.
    pub(crate) tools: Vec<ToolRow>,
    /// Names, with the name that a client sees, if it sees any.
    pub(crate) prompts: Vec<(String, Option<String>)>,
    /// URIs and templates, and whether they would be read.
    pub(crate) resources: Vec<(String, bool)>,
    /// What else the operator would be told of.
    pub(crate) remarks: Vec<String>,
}

/// One tool of a server's list.
#[derive(Debug)]
pub(crate) struct ToolRow {
    /// `None`: it has none, or one that is no text.
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// The digest to pin it by, of one that could be offered.
    pub(crate) pin: Option<String>,
    /// The name that a client would see, or why it would see none.
    pub(crate) offered: Result<String, Reason>,
}

/// `seen` as the survey of the same configuration gave it; for a server that was not seen all is empty.
/// Besides: what is to be said of all servers together, such as shortened names.
pub(crate) fn judge(config: &Config, seen: &[Result<Seen, String>], lock: Option<&Lock>) -> (Vec<Judged>, Vec<String>) {
    let mut parts = Vec::new();
    let mut refusals = Vec::new();
    for (server, seen) in config.servers.iter().zip(seen) {
        let refused = refusal(server, lock);
        let admitted = match (seen, &server.trust, &refused) {
            (Ok(seen), Some(trust), None) => {
                admit(&seen.listing, trust, lock.and_then(|lock| lock.servers.get(&server.name)))
            }
            _ => Admitted::default(),
        };
        parts.push(Part { server: server.name.clone(), expose: server.expose, admitted: Arc::new(admitted) });
        refusals.push(refused);
    }
    let table = Table::new(&parts, config.name_budget);
    let servers = config.servers.iter().zip(seen).zip(&parts).zip(refusals);
    let judged = servers.map(|(((server, seen), part), refused)| match seen {
        Ok(seen) => judged(server, seen, &part.admitted, &table, refused),
        Err(_) => Judged { refused, ..Judged::default() },
    });
    (judged.collect(), table.remarks.into_iter().map(|remark| remark.text).collect())
}

/// Why the gateway would not contact a server, if it would not.
fn refusal(server: &Server, lock: Option<&Lock>) -> Option<Reason> {
    if server.trust.is_none() {
        let why = "nothing of the server is declared under `trust`".to_owned();
        return Some(Reason { code: Some(Refusal::ServerNotTrusted), why });
    }
    let differences = lock?.diff_start(&server.name, &started(server));
    (!differences.is_empty()).then(|| {
        let why = "what is started is not what the lock has; `praxiom tools diff` shows it".to_owned();
        Reason { code: Some(Refusal::ToolDefinitionChanged), why }
    })
}

fn judged(server: &Server, seen: &Seen, admitted: &Admitted, table: &Table, refused: Option<Reason>) -> Judged {
    let target = |name: &str| Target { server: server.name.clone(), name: name.to_owned() };
    let mut remarks: Vec<String> =
        admitted.findings.iter().filter(|finding| !finding.tool).map(|finding| finding.text.clone()).collect();
    remarks.extend(seen.remarks.iter().filter(|remark| !admitted.findings.iter().any(|f| f.text == **remark)).cloned());
    let prompt = |name: &String| (name.clone(), table.prompt_name(&target(name)).map(str::to_owned));
    let resource = |offered: &Offered| {
        let ours = matches!(table.reference(&offered.name), Route::Server(owner) if owner == server.name);
        (offered.name.clone(), ours)
    };
    let why_not = |name: &str| {
        if let Some(refused) = &refused {
            return refused.clone();
        }
        if let Some(withheld) = admitted.withheld.get(name) {
            return Reason { code: withheld.code, why: withheld.why.clone() };
        }
        if admitted.tools.iter().any(|tool| tool.name == name) {
            return Reason { code: None, why: "another tool would have the same name".to_owned() };
        }
        Reason { code: None, why: "it is not declared under `trust`".to_owned() }
    };
    Judged {
        tools: rows(seen, |name| {
            table.tool_name(&target(name)).map_or_else(|| Err(why_not(name)), |n| Ok(n.to_owned()))
        }),
        prompts: seen.prompts.offered.iter().map(|prompt| &prompt.name).map(prompt).collect(),
        resources: seen.resources.offered.iter().chain(&seen.templates.offered).map(resource).collect(),
        remarks,
        refused,
    }
}

/// A row a tool of the list. `offer`: the name that a well-formed one goes out under.
fn rows(seen: &Seen, offer: impl Fn(&str) -> Result<String, Reason>) -> Vec<ToolRow> {
    let text = |tool: &Json, key: &str| tool.get(key).and_then(Json::as_str).map(str::to_owned);
    let sound: BTreeSet<&str> = seen.tools.offered.iter().map(|tool| tool.name.as_str()).collect();
    // The findings about tools that are withheld are in the order of the list, as those are.
    let mut faults = seen.tools.findings.iter().filter(|finding| finding.withheld);
    let row = |tool: &Value| {
        let tool = Json::from(tool);
        let name = text(&tool, "name");
        let good = name.as_deref().filter(|name| sound.contains(name));
        let offered = match good {
            Some(name) => offer(name),
            None => Err(Reason {
                code: None,
                why: faults.next().map_or_else(String::new, |finding| finding.reasons.join("; ")),
            }),
        };
        let pin = good.is_some().then(|| pin(&tool));
        ToolRow { description: text(&tool, "description"), pin, offered, name }
    };
    seen.listing.tools.iter().map(row).collect()
}
