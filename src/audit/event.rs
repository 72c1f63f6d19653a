//! What can be audited, as the gateway tells it: borrowed, and before anything is redacted.

use crate::eval::{Answer, Call, Observation, Policy, Value, Verdict};
use crate::json::Json;
use std::time::Duration;

/// How much of arguments, results and text values is written, to the line and to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogArguments {
    /// Nothing of them.
    None,
    /// Arguments without the values of keys that look like credentials, and long texts cut; no results.
    #[default]
    Redacted,
    /// Everything, secrets included.
    Full,
}

impl LogArguments {
    pub const ALL: [Self; 3] = [Self::None, Self::Redacted, Self::Full];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Redacted => "redacted",
            Self::Full => "full",
        }
    }
}

/// How serious an event is. `--log-level` drops the lines below it, never the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    #[default]
    Info,
    Warning,
    Error,
    Critical,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub arguments: LogArguments,
    pub level: Level,
    pub color: bool,
    /// Denials of the policy are forwarded all the same.
    pub dry_run: bool,
    /// Name the principal in each line; of use where there is more than one.
    pub principals: bool,
}

/// What a process that opens a file says of itself.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// As it was given on the command line.
    pub policy_path: String,
    /// `sha256:…` of the policy's meaning.
    pub policy_digest: String,
    /// `sha256:…` of the tool lock, where there is one.
    pub lock_digest: Option<String>,
}

/// Whose state a call is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// Verified, never self-reported.
    pub principal: &'a str,
    /// The partition below the principal, where its state is partitioned.
    pub session: Option<&'a str>,
    /// Which of several connections that share the state; for the reader only.
    pub connection: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    Decision(Decision<'a>),
    Refused(Refused<'a>),
    Returned(Returned<'a>),
    Note(Note<'a>),
}

/// The policy decided a call, or any other request that it covers.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    pub key: Key<'a>,
    /// The request's method, e.g. `tools/call` or `resources/read`.
    pub method: &'a str,
    /// The name that the client used; the call has the full one.
    pub name: &'a str,
    pub call: Call<'a>,
    pub policy: &'a Policy,
    pub verdict: &'a Verdict,
    pub before: &'a [Value],
    pub after: &'a [Value],
    /// How long deciding took.
    pub latency: Duration,
}

/// A call that was answered before any policy saw it: an unknown tool, a server that is down.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    pub key: Key<'a>,
    pub method: &'a str,
    pub name: &'a str,
    pub arguments: Option<&'a Json>,
    /// `Deny` or `Error`.
    pub word: Word,
    /// The stable code, e.g. `tool_denied`.
    pub code: &'a str,
    /// In our words: no text out of arguments or results.
    pub why: &'a str,
}

/// A forwarded call came back, or never will.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    pub key: Key<'a>,
    pub method: &'a str,
    pub name: &'a str,
    pub call: Call<'a>,
    pub policy: &'a Policy,
    /// The decision on the call.
    pub verdict: &'a Verdict,
    /// The number of the record of the decision.
    pub of: u64,
    pub outcome: Outcome<'a>,
    /// What `on_result` did, where it ran: on the whole answer, before caps and filters.
    pub observation: Option<&'a Observation>,
    /// The stable code, where the client got something else than the answer: `result_too_large`.
    pub code: Option<&'a str>,
    /// A filter changed a text of the answer.
    pub filtered: bool,
    pub before: &'a [Value],
    pub after: &'a [Value],
    /// How long the upstream took.
    pub latency: Duration,
}

#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    Answer(Answer<'a>),
    /// There is no answer, or none that can be read.
    Failed {
        /// In our words: no text out of arguments or results.
        why: &'a str,
        /// What the upstream or its transport said; shown only where everything is.
        said: Option<&'a str>,
    },
}

/// Something that is no call.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    pub kind: NoteKind,
    pub level: Level,
    pub key: Option<Key<'a>>,
    pub server: Option<&'a str>,
    /// What happened, in a word: `up`, `down`, `refused`, `changed`.
    pub event: &'a str,
    pub code: Option<&'a str>,
    /// In our words.
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The process stops in order.
    Stop,
    /// A server is up, down or refused.
    Server,
    /// Something was left out of a list.
    Withheld,
    /// A client connected, or is gone.
    Client,
    Other,
}

impl NoteKind {
    pub const ALL: [Self; 5] = [Self::Stop, Self::Server, Self::Withheld, Self::Client, Self::Other];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Server => "server",
            Self::Withheld => "withheld",
            Self::Client => "client",
            Self::Other => "note",
        }
    }
}

/// What stands first in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Allow,
    Deny,
    Pass,
    Error,
}

impl Word {
    pub(super) fn of(verdict: &Verdict) -> Self {
        match verdict.decision {
            crate::eval::Decision::Allow => Self::Allow,
            crate::eval::Decision::Deny => Self::Deny,
            crate::eval::Decision::Pass => Self::Pass,
        }
    }

    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Pass => "pass",
            Self::Error => "error",
        }
    }
}

impl Returned<'_> {
    /// An upstream's JSON-RPC error is an error; a tool result that says `isError` is an answer.
    pub(super) fn word(&self) -> Word {
        match self.outcome {
            Outcome::Answer(Answer::Result(_)) => Word::of(self.verdict),
            Outcome::Answer(Answer::Error(_)) | Outcome::Failed { .. } => Word::Error,
        }
    }

    /// The state is one that the policy calls unsafe, or nobody knows.
    pub(super) fn locks(&self) -> bool {
        self.observation.is_some_and(|seen| seen.fault.is_some() || !seen.violated.is_empty())
    }
}

impl Event<'_> {
    #[must_use]
    pub fn level(&self) -> Level {
        let of = |word| if word == Word::Allow { Level::Info } else { Level::Warning };
        match self {
            Self::Decision(decision) => of(Word::of(decision.verdict)),
            Self::Refused(refused) => of(refused.word),
            Self::Returned(returned) if returned.locks() || returned.code.is_some() => Level::Warning,
            Self::Returned(returned) => of(returned.word()),
            Self::Note(note) => note.level,
        }
    }
}
