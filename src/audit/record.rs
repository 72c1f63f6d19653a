//! The record of an event: one line of JSON with the digest of the line before. Redaction is that of the
//! line, but for results, which only mode `full` writes.

use super::event::{Decision, Event, Key, LogArguments, Note, Options, Outcome, Refused, Returned, Start, Word};
use super::lines::{Hash, MAX_LINE, hex};
use super::redact::{Redacted, touches};
use super::spelling;
use crate::eval::{Answer, Observation, Policy, Texts, Value, Verdict};
use crate::json::Json;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What every record begins with.
pub(super) const BEGUN: &[u8] = b"{\"seq\":";
/// Version of the records' form.
pub(super) const FORMAT: u32 = 1;
/// Bytes of a name or remark in a record that would be too long otherwise.
const SHORT: usize = 1024;

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) seq: u64,
    pub(super) time: SystemTime,
    pub(super) prev: Hash,
}

/// What a log writes of its own accord.
#[derive(Clone, Copy, Debug)]
pub(super) enum Own<'a> {
    Start {
        start: &'a Start,
        options: Options,
        continues: bool,
    },
    /// A line that was not written to its end, and the last one that was.
    Recovered {
        bytes: u64,
        lines: u64,
        sha256: Hash,
        after: Hash,
    },
    /// Events whose records could not be written.
    Lost {
        records: u64,
    },
}

/// Appends the line of an event without its end.
pub(super) fn event(event: &Event<'_>, options: Options, place: Place, out: &mut Vec<u8>) -> io::Result<()> {
    let start = out.len();
    let mode = options.arguments;
    let dry_run = options.dry_run;
    spelling::write(&Line { place, body: &Body { event, mode, dry_run, short: false } }, out)?;
    if out.len() - start > MAX_LINE {
        // Whoever reads it must not need more memory than for the longest message.
        out.truncate(start);
        let body = Body { event, mode: LogArguments::None, dry_run, short: true };
        spelling::write(&Line { place, body: &body }, out)?;
    }
    Ok(())
}

/// Appends the line of a record of the log's own without its end.
pub(super) fn own(own: Own<'_>, place: Place, out: &mut Vec<u8>) -> io::Result<()> {
    spelling::write(&Line { place, body: &own }, out)
}

/// The members of a record between its number and the digest.
trait Members {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

struct Line<'a, B> {
    place: Place,
    body: &'a B,
}

impl<B: Members> Serialize for Line<'_, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.place.seq)?;
        let time = DateTime::<Utc>::from(self.place.time).to_rfc3339_opts(SecondsFormat::Micros, true);
        map.serialize_entry("time", &time)?;
        self.body.members(&mut map)?;
        map.serialize_entry("prev", &hex(&self.place.prev))?;
        map.end()
    }
}

impl Members for Own<'_> {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match *self {
            Self::Start { start, options, continues } => {
                map.serialize_entry("kind", "start")?;
                map.serialize_entry("format", &FORMAT)?;
                map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
                map.serialize_entry("continues", &continues)?;
                map.serialize_entry("policy", &PolicyOf(start))?;
                map.serialize_entry("lock", &start.lock_digest)?;
                map.serialize_entry("dry_run", &options.dry_run)?;
                map.serialize_entry("log_arguments", options.arguments.as_str())
            }
            Self::Recovered { bytes, lines, sha256, after } => {
                map.serialize_entry("kind", "recovered")?;
                map.serialize_entry("bytes", &bytes)?;
                map.serialize_entry("lines", &lines)?;
                map.serialize_entry("sha256", &hex(&sha256))?;
                map.serialize_entry("after", &hex(&after))
            }
            Self::Lost { records } => {
                map.serialize_entry("kind", "lost")?;
                map.serialize_entry("records", &records)
            }
        }
    }
}

struct PolicyOf<'a>(&'a Start);

impl Serialize for PolicyOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("path", &self.0.policy_path)?;
        map.serialize_entry("digest", &self.0.policy_digest)?;
        map.end()
    }
}

struct Body<'a> {
    event: &'a Event<'a>,
    mode: LogArguments,
    dry_run: bool,
    /// Everything is cut that could be long.
    short: bool,
}

impl Members for Body<'_> {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self.event {
            Event::Decision(decision) => self.decision(decision, map),
            Event::Refused(refused) => self.refused(refused, map),
            Event::Returned(returned) => self.returned(returned, map),
            Event::Note(note) => self.note(note, map),
        }
    }
}

impl Body<'_> {
    fn decision<M: SerializeMap>(&self, decision: &Decision<'_>, map: &mut M) -> Result<(), M::Error> {
        let Decision { policy, verdict, call, .. } = decision;
        let word = Word::of(verdict);
        self.head("decision", decision.key, decision.method, map)?;
        let (arguments, redacted) = self.arguments(Some(call.arguments));
        let name = (decision.name != call.tool).then(|| self.cut(decision.name));
        let (tool, upstream) = (self.cut(call.tool), Some(self.cut(call.upstream)));
        map.serialize_entry("call", &CallOf { tool, cut: self.short, name, upstream, arguments, redacted })?;
        map.serialize_entry("verdict", word.as_str())?;
        map.serialize_entry("code", &())?;
        let reason = verdict.reason_with(self.texts());
        map.serialize_entry("reason", &reason.as_deref().map(|reason| self.cut(reason)))?;
        map.serialize_entry("failed", &FailedOf(verdict))?;
        map.serialize_entry("actions", &ActionsOf(policy, verdict))?;
        map.serialize_entry("forwarded", &(word != Word::Deny || self.dry_run))?;
        let faulted = verdict.failures.iter().any(|failure| matches!(failure, crate::eval::Failure::Faulted { .. }));
        map.serialize_entry("faulted", &faulted)?;
        map.serialize_entry("state", &self.states(policy, decision.before, decision.after))?;
        map.serialize_entry("latency_us", &micros(decision.latency))
    }

    fn refused<M: SerializeMap>(&self, refused: &Refused<'_>, map: &mut M) -> Result<(), M::Error> {
        self.head("refused", refused.key, refused.method, map)?;
        let (arguments, redacted) = self.arguments(refused.arguments);
        map.serialize_entry(
            "call",
            &CallOf { tool: self.cut(refused.name), cut: self.short, name: None, upstream: None, arguments, redacted },
        )?;
        map.serialize_entry("verdict", refused.word.as_str())?;
        map.serialize_entry("code", refused.code)?;
        map.serialize_entry("reason", self.cut(refused.why))
    }

    fn returned<M: SerializeMap>(&self, returned: &Returned<'_>, map: &mut M) -> Result<(), M::Error> {
        let Returned { policy, verdict, call, .. } = returned;
        self.head("result", returned.key, returned.method, map)?;
        map.serialize_entry("of", &returned.of)?;
        let (tool, upstream) = (self.cut(call.tool), Some(self.cut(call.upstream)));
        map.serialize_entry(
            "call",
            &CallOf { tool, cut: self.short, name: None, upstream, arguments: None, redacted: false },
        )?;
        map.serialize_entry("verdict", returned.word().as_str())?;
        map.serialize_entry("code", &returned.code)?;
        let full = self.mode == LogArguments::Full;
        match returned.outcome {
            Outcome::Failed { why, said } => {
                map.serialize_entry("reason", self.cut(why))?;
                if let Some(said) = said.filter(|_| full) {
                    map.serialize_entry("said", self.cut(said))?;
                }
            }
            Outcome::Answer(Answer::Result(result)) => {
                let is_error = result.as_object().and_then(|object| object.get("isError")) == Some(&Json::Bool(true));
                map.serialize_entry("is_error", &is_error)?;
                if full {
                    map.serialize_entry("result", result)?;
                } else {
                    map.serialize_entry("redacted", &true)?;
                }
            }
            Outcome::Answer(Answer::Error(error)) => {
                map.serialize_entry("is_error", &true)?;
                if full {
                    map.serialize_entry("error", error)?;
                } else {
                    map.serialize_entry("redacted", &true)?;
                }
            }
        }
        map.serialize_entry("observed", &returned.observation.map(|seen| Observed(policy, seen)))?;
        map.serialize_entry("filtered", &returned.filtered)?;
        // What a denial learns is not decided on.
        map.serialize_entry("actions", &ActionsOf(policy, verdict))?;
        map.serialize_entry("state", &self.states(policy, returned.before, returned.after))?;
        map.serialize_entry("latency_us", &micros(returned.latency))
    }

    fn note<M: SerializeMap>(&self, note: &Note<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("kind", note.kind.as_str())?;
        if let Some(key) = note.key {
            self.key(key, map)?;
        }
        map.serialize_entry("server", &note.server.map(|server| self.cut(server)))?;
        map.serialize_entry("event", self.cut(note.event))?;
        map.serialize_entry("code", &note.code)?;
        map.serialize_entry("text", self.cut(note.text))
    }

    fn head<M: SerializeMap>(&self, kind: &str, key: Key<'_>, method: &str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("kind", kind)?;
        self.key(key, map)?;
        map.serialize_entry("method", self.cut(method))
    }

    fn key<M: SerializeMap>(&self, key: Key<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("principal", self.cut(key.principal))?;
        map.serialize_entry("session", &key.session.map(|session| self.cut(session)))?;
        map.serialize_entry("connection", &key.connection.map(|connection| self.cut(connection)))
    }

    /// The arguments as they may be written, and whether that is less than they are.
    fn arguments<'j>(&self, arguments: Option<&'j Json>) -> (Option<Arguments<'j>>, bool) {
        let Some(arguments) = arguments else { return (None, false) };
        match self.mode {
            LogArguments::None => (None, true),
            LogArguments::Redacted if touches(arguments) => (Some(Arguments::Redacted(Redacted(arguments))), true),
            LogArguments::Redacted | LogArguments::Full => (Some(Arguments::Whole(arguments)), false),
        }
    }

    fn states<'s>(&self, policy: &'s Policy, before: &'s [Value], after: &'s [Value]) -> States<'s> {
        let texts = self.texts();
        States { before: StateOf { policy, values: before, texts }, after: StateOf { policy, values: after, texts } }
    }

    fn texts(&self) -> Texts {
        if self.mode == LogArguments::Full { Texts::Shown } else { Texts::Hidden }
    }

    fn cut<'t>(&self, text: &'t str) -> &'t str {
        if !self.short || text.len() <= SHORT {
            return text;
        }
        let end = (0..=SHORT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.get(..end).unwrap_or_default()
    }
}

enum Arguments<'a> {
    Whole(&'a Json),
    Redacted(Redacted<'a>),
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(json) => json.serialize(serializer),
            Self::Redacted(redacted) => redacted.serialize(serializer),
        }
    }
}

struct CallOf<'a> {
    tool: &'a str,
    cut: bool,
    name: Option<&'a str>,
    upstream: Option<&'a str>,
    arguments: Option<Arguments<'a>>,
    redacted: bool,
}

impl Serialize for CallOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tool", self.tool)?;
        if self.cut {
            map.serialize_entry("cut", &true)?;
        }
        if let Some(name) = self.name {
            map.serialize_entry("name", name)?;
        }
        if let Some(upstream) = self.upstream {
            map.serialize_entry("upstream", upstream)?;
        }
        if let Some(arguments) = &self.arguments {
            map.serialize_entry("arguments", arguments)?;
        }
        if self.redacted {
            map.serialize_entry("redacted", &true)?;
        }
        map.end()
    }
}

struct States<'a> {
    before: StateOf<'a>,
    after: StateOf<'a>,
}

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("before", &self.before)?;
        map.serialize_entry("after", &self.after)?;
        map.end()
    }
}

struct StateOf<'a> {
    policy: &'a Policy,
    values: &'a [Value],
    texts: Texts,
}

/// A text that is hidden is null, which no value of a state is.
impl Serialize for StateOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = |value| match value {
            &Value::Str(_) if self.texts == Texts::Hidden => None,
            value => Some(value),
        };
        let names = self.policy.typed().state.iter().map(|var| &*var.name);
        serializer.collect_map(names.zip(self.values.iter().map(shown)))
    }
}

struct FailedOf<'a>(&'a Verdict);

impl Serialize for FailedOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct One {
            kind: &'static str,
            name: Arc<str>,
        }
        serializer.collect_seq(self.0.failed().into_iter().map(|one| One { kind: one.kind.as_str(), name: one.name }))
    }
}

struct ActionsOf<'a>(&'a Policy, &'a Verdict);

impl Serialize for ActionsOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let actions = &self.0.typed().actions;
        serializer.collect_seq(self.1.actions.iter().filter_map(|at| Some(&*actions.get(*at as usize)?.name)))
    }
}

struct Observed<'a>(&'a Policy, &'a Observation);

impl Serialize for Observed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Names<'a>(&'a Policy, &'a [usize]);
        impl Serialize for Names<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let invariants = &self.0.typed().invariants;
                serializer.collect_seq(self.1.iter().filter_map(|at| Some(&*invariants.get(*at)?.name)))
            }
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("changed", &self.1.changed)?;
        map.serialize_entry("faulted", &self.1.fault.is_some())?;
        map.serialize_entry("violated", &Names(self.0, &self.1.violated))?;
        map.end()
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
