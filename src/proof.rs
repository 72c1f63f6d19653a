//! Certificates: what the model checker has shown of a policy, in a form that can be checked again without search and,
//! as far as digests and verdicts go, without a solver. Knows nothing of how a question is answered.

use crate::catalogue::Catalogue;
use crate::json::{self, Json};
use crate::model::{Step, Term};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The version of the format.
pub const VERSION: u32 = 1;

/// One certificate: a policy, the tools it was proved for, and each question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    pub version: u32,
    /// Of the policy's meaning, `sha256:…`.
    pub policy: String,
    /// Of the tool list, `sha256:…`; `None`: proved for the tools that the policy's globs tell apart.
    pub tools: Option<String>,
    pub in_flight: InFlight,
    /// What the proofs take for granted, for a person.
    pub assumptions: Vec<String>,
    /// Reachable states with one call at a time, where all were visited.
    pub states: Option<usize>,
    /// Error-level findings of all stages.
    pub errors: usize,
    pub questions: Vec<Question>,
}

/// How calls may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InFlight {
    /// Each call returns before the next is decided.
    One,
    /// Calls may be decided while earlier ones are under way: what an answer changes comes at any later time.
    Many,
}

/// One question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Stable within a policy, e.g. `deadlock`, `check:budget`.
    pub id: String,
    pub verdict: Verdict,
    /// How bad it is if it fails.
    pub level: Level,
    /// `None` where nothing is claimed.
    pub by: Option<Evidence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Holds,
    Fails,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Info,
}

/// What an answer rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Evidence {
    /// All states were visited and none is the one in question; `part`: all states of the part of the system that the
    /// question depends on.
    Explored { states: usize, transitions: u64, part: bool },
    /// A condition that holds at the start, is kept by every step (of `k` in a row) and excludes what is in question.
    Invariant { engine: String, k: usize, term: Term, text: String },
    /// A run that ends in what is in question.
    Run { steps: Vec<Step>, call: Option<(usize, Vec<i64>)>, overlapping: bool },
}

impl Certificate {
    /// The certificate in a file; `Err` says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let certificate: Self = serde_json::from_str(text).map_err(|error| format!("no certificate: {error}"))?;
        if certificate.version != VERSION {
            return Err(format!("a certificate of version {}; this praxiom reads {VERSION}", certificate.version));
        }
        Ok(certificate)
    }

    /// Why the certificate does not vouch for this policy with these tools; empty if it does. `overlapping`: calls may
    /// be decided while others are under way.
    #[must_use]
    pub fn objections(&self, policy: &str, tools: Option<&str>, overlapping: bool) -> Vec<String> {
        let mut all = Vec::new();
        if self.policy != policy {
            all.push(format!("it is of another policy: {}, not {policy}", self.policy));
        }
        match (&self.tools, tools) {
            (Some(own), Some(tools)) if own != tools => {
                all.push(format!("it is of other tools: {own}, not {tools}"));
            }
            (Some(_), None) => all.push("it was made with a tool list, and there is none here".to_owned()),
            _ => {}
        }
        if overlapping && self.in_flight == InFlight::One {
            all.push("it was made for one call at a time, and calls can overlap here".to_owned());
        }
        if self.errors > 0 {
            let what = if self.errors == 1 { "1 error was".to_owned() } else { format!("{} errors were", self.errors) };
            all.push(format!("{what} found when it was made"));
        }
        for question in &self.questions {
            match (question.verdict, question.level) {
                (Verdict::Holds | Verdict::Fails, _) if question.by.is_none() => {
                    all.push(format!("nothing is given for `{}`", question.id));
                }
                (Verdict::Unknown, _) => all.push(format!("`{}` is undecided", question.id)),
                (Verdict::Fails, Level::Error) => all.push(format!("`{}` does not hold", question.id)),
                _ => {}
            }
        }
        all
    }
}

/// `sha256:…` of what the servers offer, as far as a proof depends on it: the names of the tools and the schemas of
/// their arguments.
#[must_use]
pub fn tools_digest(catalogue: &Catalogue) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_be_bytes());
        hash.update(text.as_bytes());
    };
    for (server, tools) in &catalogue.servers {
        add(server);
        for (name, tool) in tools {
            add(name);
            let mut schema = String::new();
            json::write_python(tool.input_schema.as_ref().unwrap_or(&Json::Null), true, &mut schema);
            add(&schema);
        }
        add("");
    }
    let mut out = String::from("sha256:");
    for byte in hash.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
