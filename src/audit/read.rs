//! Records as data again. A record that another version wrote may have more members; what is missing or
//! has another form makes it unreadable, never something else.

use super::event::NoteKind;
use super::record::BEGUN;
use crate::json::{self, Json, Object};
use serde::Serialize;

/// Whether the first line of a file is one of an audit log: a record, or one that was torn.
#[must_use]
pub fn is_record(line: &[u8]) -> bool {
    let torn = || line.starts_with(BEGUN) && json::parse(line).is_err();
    // Parsing a document of megabytes for nothing takes its time.
    (memchr::memmem::find(line, b"\"prev\"").is_some() && super::chain::stamp(line).is_some()) || torn()
}

/// A record, as far as deciding again needs it.
#[derive(Clone, Debug)]
pub enum Entry {
    Start {
        /// The states of the file before go on.
        continues: bool,
        policy_digest: String,
    },
    Decided(Decided),
    Answered(Answered),
    /// A call that no policy saw.
    Refused,
    /// Something happened that is not on record.
    Gap,
    /// Nothing that a state depends on.
    Other,
}

/// A number and an entry.
#[derive(Clone, Debug)]
pub struct Read {
    pub seq: u64,
    pub entry: Entry,
}

/// Whose state it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedKey {
    pub principal: String,
    pub session: Option<String>,
}

/// A decision as it was recorded.
#[derive(Clone, Debug)]
pub struct Decided {
    pub key: RecordedKey,
    pub tool: String,
    pub upstream: String,
    /// `None`: redacted, in whole or in part.
    pub arguments: Option<Json>,
    /// The tool's name is not the whole one.
    pub cut: bool,
    pub verdict: String,
    /// Kind and name of what failed.
    pub failed: Vec<(String, String)>,
    pub forwarded: bool,
    pub faulted: bool,
    /// Variables and values; null is a hidden one.
    pub before: Object,
    pub after: Object,
}

/// What came back, as it was recorded.
#[derive(Clone, Debug)]
pub struct Answered {
    pub key: RecordedKey,
    /// Number of the decision's record.
    pub of: u64,
    pub tool: String,
    pub cut: bool,
    pub answer: Option<RecordedAnswer>,
    /// `on_result` ran: what it did.
    pub observed: Option<Observed>,
    pub after: Object,
}

/// The answer itself.
#[derive(Clone, Debug)]
pub enum RecordedAnswer {
    Result(Json),
    Error(Json),
    Redacted,
}

/// What an answer did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observed {
    pub changed: bool,
    pub faulted: bool,
    pub violated: Vec<String>,
}

impl Read {
    /// Takes a record apart. `Err`: what is missing.
    pub fn of(record: &Json) -> Result<Self, String> {
        let members = Members(record.as_object().ok_or("it is no object")?);
        let seq = members.number("seq")?;
        let entry = match members.text("kind")? {
            "start" => Entry::Start {
                continues: members.flag("continues")?,
                policy_digest: members.within("policy")?.text("digest")?.to_owned(),
            },
            "decision" => Entry::Decided(Decided::of(&members)?),
            "result" => Entry::Answered(Answered::of(&members)?),
            "refused" => Entry::Refused,
            kind if NoteKind::ALL.iter().any(|known| known.as_str() == kind) => Entry::Other,
            // `lost`, `recovered`, and what a later version may do to a state.
            _ => Entry::Gap,
        };
        Ok(Self { seq, entry })
    }
}

impl Decided {
    fn of(members: &Members<'_>) -> Result<Self, String> {
        let call = members.within("call")?;
        let redacted = call.flag_or_false("redacted")?;
        let arguments = match call.0.get("arguments") {
            Some(arguments @ Json::Object(_)) if !redacted => Some(arguments.clone()),
            _ if redacted => None,
            _ => return Err("`arguments` is missing or no object".to_owned()),
        };
        let mut failed = Vec::new();
        for one in members.list("failed")? {
            let one = Members(one.as_object().ok_or("an entry of `failed` is no object")?);
            failed.push((one.text("kind")?.to_owned(), one.text("name")?.to_owned()));
        }
        let state = members.within("state")?;
        Ok(Self {
            key: members.key()?,
            tool: call.text("tool")?.to_owned(),
            upstream: call.text("upstream")?.to_owned(),
            arguments,
            cut: call.flag_or_false("cut")?,
            verdict: members.text("verdict")?.to_owned(),
            failed,
            forwarded: members.flag("forwarded")?,
            faulted: members.flag("faulted")?,
            before: state.object("before")?.clone(),
            after: state.object("after")?.clone(),
        })
    }
}

impl Answered {
    fn of(members: &Members<'_>) -> Result<Self, String> {
        let call = members.within("call")?;
        let answer = if members.flag_or_false("redacted")? {
            Some(RecordedAnswer::Redacted)
        } else if let Some(result) = members.0.get("result") {
            Some(RecordedAnswer::Result(result.clone()))
        } else {
            members.0.get("error").map(|error| RecordedAnswer::Error(error.clone()))
        };
        let observed = match members.0.get("observed") {
            None | Some(Json::Null) => None,
            Some(_) => {
                let seen = members.within("observed")?;
                let names = seen.list("violated")?.iter().map(|name| name.as_str().map(str::to_owned));
                Some(Observed {
                    changed: seen.flag("changed")?,
                    faulted: seen.flag("faulted")?,
                    violated: names.collect::<Option<_>>().ok_or("a name in `violated` is no text")?,
                })
            }
        };
        Ok(Self {
            key: members.key()?,
            of: members.number("of")?,
            tool: call.text("tool")?.to_owned(),
            cut: call.flag_or_false("cut")?,
            answer,
            observed,
            after: members.within("state")?.object("after")?.clone(),
        })
    }
}

/// The members of an object that must be there.
struct Members<'j>(&'j Object);

impl<'j> Members<'j> {
    fn key(&self) -> Result<RecordedKey, String> {
        let session = match self.0.get("session") {
            None | Some(Json::Null) => None,
            Some(_) => Some(self.text("session")?.to_owned()),
        };
        Ok(RecordedKey { principal: self.text("principal")?.to_owned(), session })
    }

    fn text(&self, name: &str) -> Result<&'j str, String> {
        self.0.get(name).and_then(Json::as_str).ok_or_else(|| format!("`{name}` is missing or no text"))
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        let number = match self.0.get(name) {
            Some(Json::Number(number)) => number.as_i64().and_then(|value| u64::try_from(value).ok()),
            _ => None,
        };
        number.ok_or_else(|| format!("`{name}` is missing or no number"))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            Some(Json::Bool(flag)) => Ok(*flag),
            _ => Err(format!("`{name}` is missing or no boolean")),
        }
    }

    fn flag_or_false(&self, name: &str) -> Result<bool, String> {
        if self.0.get(name).is_none() { Ok(false) } else { self.flag(name) }
    }

    fn list(&self, name: &str) -> Result<&'j [Json], String> {
        self.0.get(name).and_then(Json::as_array).ok_or_else(|| format!("`{name}` is missing or no list"))
    }

    fn object(&self, name: &str) -> Result<&'j Object, String> {
        self.0.get(name).and_then(Json::as_object).ok_or_else(|| format!("`{name}` is missing or no object"))
    }

    fn within(&self, name: &str) -> Result<Members<'j>, String> {
        self.object(name).map(Members)
    }
}
