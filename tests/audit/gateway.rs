//! A gateway in miniature: it decides, commits and records as the real one does.

use praxiom::audit::{Audit, Event, Key, Level, Log, LogArguments, Note, NoteKind, Options, Outcome, Start};
use praxiom::audit::{Decision, Refused, Returned, Word};
use praxiom::eval::{Answer, Call, Policy, Session, Verdict};
use praxiom::json::{self, Json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

pub(crate) const POLICY: &str = "
default: deny
patterns: {secrets: [PRIVATE, .env]}
state:
  tainted: {type: bool, init: false}
  reads: {type: int, init: 0}
  last: {type: str, init: ''}
invariants: [{name: few, expr: reads <= 6}]
actions:
  - name: read
    match: fs__read
    effect: {reads: reads + 1}
    on_result: {tainted: \"tainted or matches(result, secrets)\", reads: \"reads + ite(contains(result, 'long'), 3, 0)\"}
  - name: note
    match: fs__note
    args: {say: str}
    effect: {last: say}
    on_result: {last: \"ite(contains(result, 'again'), say, last)\"}
  - name: publish
    match: hub__*
    requires: not tainted
";

pub(crate) fn policy(text: &str) -> Policy {
    Policy::from_text("policy.yaml", text).unwrap()
}

pub(crate) fn parse(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap()
}

/// Collects what is written for a person.
#[derive(Clone, Default)]
pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Screen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// An empty folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("audit-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn options(arguments: LogArguments) -> Options {
    Options { arguments, level: Level::Debug, ..Options::default() }
}

pub(crate) fn start(policy: &Policy) -> Start {
    Start { policy_path: "policy.yaml".to_owned(), policy_digest: policy.digest().to_owned(), lock_digest: None }
}

fn clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(1_790_000_000_123_456)
}

/// A call on its way.
pub(crate) struct Sent {
    principal: String,
    tool: String,
    arguments: Json,
    verdict: Verdict,
    of: u64,
}

pub(crate) struct Gateway {
    pub(crate) policy: Policy,
    pub(crate) audit: Audit,
    pub(crate) screen: Screen,
    sessions: BTreeMap<String, Session>,
}

pub(crate) fn key(principal: &str) -> Key<'_> {
    Key { principal, session: None, connection: Some("c1") }
}

fn upstream(tool: &str) -> &str {
    tool.split_once("__").unwrap().0
}

impl Gateway {
    pub(crate) fn new(policy_text: &str, log: Option<&Path>, options: Options) -> Self {
        let policy = policy(policy_text);
        let screen = Screen::default();
        let log = log.map(|path| Log::open(path, start(&policy), options, clock()).unwrap());
        let audit = Audit::new(options, log, Box::new(screen.clone())).with_clock(clock);
        Self { policy, audit, screen, sessions: BTreeMap::new() }
    }

    /// The call, if it was forwarded.
    pub(crate) fn call(&mut self, principal: &str, tool: &str, arguments: &str) -> Option<Sent> {
        let arguments = parse(arguments);
        let call = Call { tool, upstream: upstream(tool), arguments: &arguments };
        let session = self.sessions.entry(principal.to_owned()).or_insert_with(|| self.policy.session());
        let before = session.state().to_vec();
        let verdict = session.check(&call);
        let decision = Decision {
            key: key(principal),
            method: "tools/call",
            name: tool,
            call,
            policy: &self.policy,
            verdict: &verdict,
            before: &before,
            after: session.state(),
            latency: Duration::from_micros(7),
        };
        let of = self.audit.record(&Event::Decision(decision)).unwrap();
        let forwarded = verdict.decision.permits() || self.audit.options().dry_run;
        let (principal, tool) = (principal.to_owned(), tool.to_owned());
        forwarded.then_some(Sent { principal, tool, arguments, verdict, of })
    }

    /// `Err`: a JSON-RPC error.
    pub(crate) fn answer(&mut self, sent: &Sent, answer: Result<&str, &str>) {
        let json = parse(answer.unwrap_or_else(|error| error));
        let answer = if answer.is_ok() { Answer::Result(&json) } else { Answer::Error(&json) };
        self.came(sent, Outcome::Answer(answer));
    }

    pub(crate) fn came(&mut self, sent: &Sent, outcome: Outcome<'_>) {
        let call = Call { tool: &sent.tool, upstream: upstream(&sent.tool), arguments: &sent.arguments };
        let session = self.sessions.get_mut(&sent.principal).unwrap();
        let before = session.state().to_vec();
        let observation = match outcome {
            Outcome::Answer(answer) if sent.verdict.decision.permits() => Some(session.observe(&call, answer)),
            _ => None,
        };
        let returned = Returned {
            key: key(&sent.principal),
            method: "tools/call",
            name: &sent.tool,
            call,
            policy: &self.policy,
            verdict: &sent.verdict,
            of: sent.of,
            outcome,
            observation: observation.as_ref(),
            code: matches!(outcome, Outcome::Failed { .. }).then_some("server_timed_out"),
            filtered: false,
            before: &before,
            after: session.state(),
            latency: Duration::from_millis(12),
        };
        self.audit.record(&Event::Returned(returned)).unwrap();
    }

    pub(crate) fn refuse(&mut self, principal: &str, name: &str, arguments: &str) {
        let arguments = parse(arguments);
        let refused = Refused {
            key: key(principal),
            method: "tools/call",
            name,
            arguments: Some(&arguments),
            word: Word::Deny,
            code: "tool_denied",
            why: "no server offers this tool",
        };
        self.audit.record(&Event::Refused(refused)).unwrap();
    }

    pub(crate) fn note(&mut self, kind: NoteKind, level: Level, event: &str, text: &str) {
        let note = Note { kind, level, key: None, server: Some("fs"), event, code: None, text };
        self.audit.record(&Event::Note(note)).unwrap();
    }
}
