//! How long one decision takes, and how long it takes to compile a policy.
//!
//! Every iteration decides on a fresh copy of the session, made outside the measured part. An argument is
//! parsed before too: the front end does so once, whatever the policy.
#![allow(clippy::unwrap_used)]

#[path = "../tests/properties/large.rs"]
mod large;

use divan::Bencher;
use praxiom::eval::{Call, Decision, Policy, Session};
use praxiom::json::{self, Json};
use praxiom::text::FileId;

const README: &str = include_str!("../tests/fixtures/readme.yaml");

fn main() {
    divan::main();
}

fn compiled(text: &str) -> Policy {
    Policy::compile(text, FileId(0)).policy.unwrap()
}

fn arguments(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap()
}

/// Arguments whose payload has `length` bytes, all of it plain prose.
fn prose(length: usize) -> Json {
    let frame = r#"{"path": "/work/notes.txt", "text": ""}"#.len();
    let text: String = "The quick brown fox jumps over the lazy dog. ".chars().cycle().take(length - frame).collect();
    arguments(&format!(r#"{{"path": "/work/notes.txt", "text": "{text}"}}"#))
}

fn decide(bencher: Bencher, session: &Session, tool: &str, arguments: &Json, wanted: Decision) {
    let upstream = tool.split_once("__").unwrap().0;
    let call = Call { tool, upstream, arguments };
    assert_eq!(session.clone().check(&call).decision, wanted);
    bencher.with_inputs(|| session.clone()).bench_refs(|session| session.check(&call));
}

#[divan::bench(args = [100, 64 * 1024, 1024 * 1024])]
fn readme_allow(bencher: Bencher, payload: usize) {
    decide(bencher, &compiled(README).session(), "fs__read_file", &prose(payload), Decision::Allow);
}

/// A session that has read a secret.
fn tainted() -> Session {
    let mut session = compiled(README).session();
    let secret = arguments(r#"{"path": "/home/me/.ssh/id_rsa"}"#);
    session.check(&Call { tool: "fs__read_file", upstream: "fs", arguments: &secret });
    session
}

#[divan::bench(args = [100, 64 * 1024, 1024 * 1024])]
fn readme_deny(bencher: Bencher, payload: usize) {
    decide(bencher, &tainted(), "fs__write_file", &prose(payload), Decision::Deny);
}

/// The denial together with its text for the agent.
#[divan::bench]
fn readme_deny_with_reason(bencher: Bencher) {
    let session = tainted();
    let arguments = prose(100);
    let call = Call { tool: "fs__write_file", upstream: "fs", arguments: &arguments };
    bencher.with_inputs(|| session.clone()).bench_refs(|session| session.check(&call).reason());
}

#[divan::bench]
fn readme_uncovered(bencher: Bencher) {
    decide(bencher, &compiled(README).session(), "web__search", &prose(100), Decision::Pass);
}

#[divan::bench]
fn readme_compile() -> Policy {
    compiled(README)
}

#[divan::bench]
fn large_allow(bencher: Bencher) {
    let session = compiled(&large::policy(200, 50, 20)).session();
    let arguments = arguments(r#"{"path": "/work/notes.txt", "amount": 12, "note": "quarterly report"}"#);
    decide(bencher, &session, &large::tool(30), &arguments, Decision::Allow);
}

#[divan::bench]
fn large_deny(bencher: Bencher) {
    let session = compiled(&large::policy(200, 50, 20)).session();
    let arguments = arguments(r#"{"path": "/etc/passwd", "amount": 12, "note": "quarterly report"}"#);
    decide(bencher, &session, &large::tool(30), &arguments, Decision::Deny);
}

#[divan::bench]
fn large_compile(bencher: Bencher) {
    let text = large::policy(200, 50, 20);
    bencher.bench(|| Policy::compile(&text, FileId(0)));
}
