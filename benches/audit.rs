//! What the audit adds to a call: a record in a file and a line for a person.
#![allow(clippy::unwrap_used)]

use divan::Bencher;
use praxiom::audit::{Audit, Decision, Event, Key, Log, LogArguments, Options, Outcome, Returned, Start};
use praxiom::eval::{Answer, Call, Policy};
use praxiom::json::{self, Json};
use std::fs::File;
use std::time::{Duration, SystemTime};

const README: &str = include_str!("../tests/fixtures/readme.yaml");

fn main() {
    divan::main();
}

fn audit(arguments: LogArguments) -> Audit {
    let options = Options { arguments, ..Options::default() };
    let path = std::env::temp_dir().join(format!("praxiom-bench-{}-{}", std::process::id(), arguments.as_str()));
    let log = Log::open(&path, Start::default(), options, SystemTime::now()).unwrap();
    std::fs::remove_file(&path).unwrap();
    Audit::new(options, Some(log), Box::new(File::options().write(true).open("/dev/null").unwrap()))
}

/// The record of a decision and the record and the line of its answer.
fn call(bencher: Bencher, arguments: LogArguments, result: &Json) {
    let policy = Policy::from_text("readme.yaml", README).unwrap();
    let mut audit = audit(arguments);
    let sent = json::parse(br#"{"path": "/work/notes.txt", "head": 20}"#).unwrap();
    let call = Call { tool: "fs__read_file", upstream: "fs", arguments: &sent };
    let mut session = policy.session();
    let before = session.state().to_vec();
    let verdict = session.check(&call);
    let observation = session.observe(&call, Answer::Result(result));
    let key = Key { principal: "local", session: None, connection: None };
    let (method, name, latency) = ("tools/call", "fs__read_file", Duration::from_micros(70));
    bencher.bench_local(|| {
        let state = (before.as_slice(), session.state());
        let decision = Decision {
            key,
            method,
            name,
            call,
            policy: &policy,
            verdict: &verdict,
            before: state.0,
            after: state.1,
            latency,
        };
        let of = audit.record(&Event::Decision(decision)).unwrap();
        let returned = Returned {
            key,
            method,
            name,
            call,
            policy: &policy,
            verdict: &verdict,
            of,
            outcome: Outcome::Answer(Answer::Result(result)),
            observation: Some(&observation),
            code: None,
            filtered: false,
            before: state.0,
            after: state.1,
            latency,
        };
        audit.record(&Event::Returned(returned)).unwrap()
    });
}

fn result(length: usize) -> Json {
    let text = "The quick brown fox. ".chars().cycle().take(length).collect::<String>();
    json::parse(format!(r#"{{"content": [{{"type": "text", "text": "{text}"}}]}}"#).as_bytes()).unwrap()
}

#[divan::bench]
fn redacted(bencher: Bencher) {
    call(bencher, LogArguments::Redacted, &result(100));
}

#[divan::bench(args = [100, 64 * 1024, 1024 * 1024])]
fn full(bencher: Bencher, length: usize) {
    call(bencher, LogArguments::Full, &result(length));
}
