//! A server over HTTP behind the gateway, in both eras: what is sent to it, what comes of its answers,
//! and what of its failures. The server is a script in this process; the client speaks over a pipe.
#![cfg(feature = "gateway")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Response};
use futures::StreamExt as _;
use praxiom::audit::{Audit, LogArguments, Options};
use praxiom::config::{self, Environment};
use praxiom::eval::Policy;
use praxiom::gateway::Gateway;
use praxiom::text::FileId;
use serde_json::{Value, json};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// What the server gets.
struct Seen {
    verb: Method,
    headers: HeaderMap,
    message: Value,
}

impl Seen {
    fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// A JSON answer to this request, its result as written.
    fn result(&self, result: &str) -> Response<Body> {
        reply(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.message["id"]))
    }

    /// The same as the last event of a stream.
    fn events(&self, before: &[&str], result: &str) -> Response<Body> {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.message["id"]);
        let events = before.iter().copied().chain([answer.as_str()]);
        let events: Vec<String> = events.map(|event| format!("event: message\ndata: {event}\n\n")).collect();
        reply(200, "text/event-stream", events.concat())
    }
}

fn reply(status: u16, media: &str, text: String) -> Response<Body> {
    Response::builder().status(status).header("content-type", media).body(Body::from(text)).unwrap()
}

const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},"size":{"type":"integer","x-mcp-header":"Size"}}}}]}"#;

const DONE: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

/// What a server of the older era says to everything but tool calls.
fn legacy(seen: &Seen) -> Response<Body> {
    match (seen.verb.as_str(), seen.method()) {
        ("POST", "server/discover") => reply(400, "text/plain", "no session".to_owned()),
        ("POST", "initialize") => {
            let mut response = seen.result(
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#,
            );
            response.headers_mut().insert("mcp-session-id", "s1".parse().unwrap());
            response
        }
        ("POST", "tools/list") => seen.result(TOOLS),
        ("POST", _) => reply(202, "application/json", String::new()),
        ("DELETE", _) => reply(200, "text/plain", String::new()),
        _ => reply(405, "text/plain", String::new()),
    }
}

/// What a server of the newer era says to everything but tool calls.
fn modern(seen: &Seen) -> Response<Body> {
    match seen.method() {
        "server/discover" => seen.result(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#,
        ),
        "tools/list" => seen.result(&TOOLS.replacen('{', r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#, 1)),
        method => panic!("{method}"),
    }
}

/// Serves the script; ends with the returned task.
async fn serve<F, R>(address: &str, script: F) -> (SocketAddr, tokio::task::JoinHandle<()>)
where
    F: Fn(Seen) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<Body>> + Send + 'static,
{
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(move |verb: Method, headers: HeaderMap, body: Bytes| {
        script(Seen { verb, headers, message: serde_json::from_slice(&body).unwrap_or_default() })
    });
    (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

/// The same with a script that answers at once.
async fn script(script: impl Fn(Seen) -> Response<Body> + Clone + Send + Sync + 'static) -> SocketAddr {
    serve("127.0.0.1:0", move |seen| std::future::ready(script(seen))).await.0
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A gateway with one server, and a client of the older era.
struct Client {
    gateway: Arc<Gateway>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    log: Log,
    next: u64,
    /// Every line the client got.
    got: Vec<String>,
}

impl Client {
    async fn new(address: SocketAddr, more: &str) -> Self {
        let text = format!(
            "start_wait: 2s\nservers:\n  web:\n    url: http://{address}/mcp?key=hidden-in-query\n    trust: {{tools: \"*\", frame: false}}\n{more}"
        );
        let environment = Environment::new([("SECRET".into(), "tok-123456".into())]);
        let reading = config::read(&text, FileId(0), Path::new("."), &environment);
        let config = reading.config.unwrap_or_else(|| panic!("{:?}", reading.diagnostics));
        let policy = Policy::from_text("policy.yaml", "default: deny\nactions: [{name: all, match: \"*\"}]\n").unwrap();
        let log = Log::default();
        let audit =
            Audit::new(Options { arguments: LogArguments::Full, ..Options::default() }, None, Box::new(log.clone()));
        let gateway = Arc::new(Gateway::builder(config, policy).audit(audit).start());
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = split(theirs);
        let served = Arc::clone(&gateway);
        tokio::spawn(async move { served.serve(reader, writer).await });
        let (reader, writer) = split(ours);
        let lines = BufReader::new(reader).lines();
        let mut client = Self { gateway, lines, writer, log, next: 0, got: Vec::new() };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}});
        client.ask("initialize", &hello).await;
        client.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client.gateway.settled().await;
        client
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line());
        let line = line.await.unwrap_or_else(|_| panic!("no answer: {}", self.log())).unwrap().unwrap();
        self.got.push(line.clone());
        line
    }

    async fn start(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.write(&message.to_string()).await;
        self.next
    }

    /// The line that answers the request.
    async fn answer(&mut self, id: u64) -> String {
        if let Some(line) = self.got.iter().find(|line| is_answer(line, id)) {
            return line.clone();
        }
        loop {
            let line = self.line().await;
            if is_answer(&line, id) {
                return line;
            }
        }
    }

    async fn ask(&mut self, method: &str, params: &Value) -> String {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    async fn call(&mut self, arguments: Value) -> String {
        self.ask("tools/call", &json!({"name": "web__echo", "arguments": arguments})).await
    }

    fn log(&self) -> String {
        String::from_utf8(self.log.0.lock().unwrap().clone()).unwrap()
    }

    /// Waits until the audit says so.
    async fn logged(&self, text: &str) {
        let end = Instant::now() + Duration::from_secs(15);
        while !self.log().contains(text) {
            assert!(Instant::now() < end, "`{text}` is not in: {}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn stop(self) -> Duration {
        let Self { gateway, lines, writer, .. } = self;
        drop((lines, writer));
        let began = Instant::now();
        let mut gateway = gateway;
        loop {
            match Arc::try_unwrap(gateway) {
                Ok(gateway) => {
                    let waited = Instant::now();
                    gateway.stop(false).await;
                    return waited.elapsed();
                }
                Err(shared) => gateway = shared,
            }
            assert!(began.elapsed() < Duration::from_secs(5));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn is_answer(line: &str, id: u64) -> bool {
    let message: Value = serde_json::from_str(line).unwrap();
    message["id"] == json!(id) && message.get("method").is_none()
}

fn failed_with(line: &str, code: &str) -> bool {
    let message: Value = serde_json::from_str(line).unwrap();
    message["result"]["isError"] == json!(true) && message["result"]["_meta"]["praxiom/code"] == json!(code)
}

#[tokio::test]
async fn odd_results_arrive_as_they_were_sent_in_json_and_in_events() {
    // Of two equal keys the last one counts.
    let twice = r#"{"content":[],"dup":1,"a":1e400,"dup":-0.0}"#;
    let odd = r#"{"z":1E5,"content":[{"text":"é\n","more":null,"type":"text"}],"a":123456789012345678901234567890,"structuredContent":{"b":1.0,"a":-0.0}}"#;
    let noise = [
        "not JSON",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/odd","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":0.10}}"#,
    ];
    let address =
        script(move |seen: Seen| match (seen.method(), seen.message["params"]["arguments"]["how"].as_str()) {
            ("tools/call", Some("json")) => seen.result(odd),
            ("tools/call", Some("events")) => seen.events(&noise, odd),
            ("tools/call", Some("twice")) => seen.events(&[], twice),
            ("tools/call", _) => seen.result("\"a text\""),
            _ => legacy(&seen),
        })
        .await;
    let mut client = Client::new(address, "").await;
    for how in ["json", "events"] {
        let line = client.call(json!({ "how": how })).await;
        assert_eq!(line, format!(r#"{{"jsonrpc":"2.0","id":{},"result":{odd}}}"#, client.next), "{how}");
    }
    let line = client.call(json!({ "how": "twice" })).await;
    assert!(line.contains(r#"{"content":[],"dup":-0.0,"a":1e400}"#), "{line}");
    let line = client.call(json!({ "how": "text" })).await;
    assert!(failed_with(&line, "protocol_failure"), "{line}");
    assert!(client.got.iter().any(|line| line.contains(r#""data":0.10"#)), "{:?}", client.got);
    assert!(!client.got.iter().any(|line| line.contains("null}")), "{:?}", client.got);
}

#[tokio::test]
async fn a_forgotten_session_is_renewed_once_and_no_other_failure_is_tried_again() {
    let (session, begun, listed, executed) = (
        Arc::new(AtomicUsize::new(1)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
    );
    let count = |counter: &Arc<AtomicUsize>| counter.load(Ordering::SeqCst);
    let shared = (Arc::clone(&session), Arc::clone(&begun), Arc::clone(&listed), Arc::clone(&executed));
    let address = script(move |seen: Seen| {
        let (session, begun, listed, executed) = &shared;
        let now = format!("s{}", session.load(Ordering::SeqCst));
        if !matches!(seen.method(), "server/discover" | "initialize") && seen.header("mcp-session-id") != now {
            return reply(404, "application/json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"who?"}}"#.to_owned());
        }
        match seen.method() {
            "initialize" => {
                begun.fetch_add(1, Ordering::SeqCst);
                let mut response = legacy(&seen);
                response.headers_mut().insert("mcp-session-id", now.parse().unwrap());
                response
            }
            "tools/list" => {
                listed.fetch_add(1, Ordering::SeqCst);
                legacy(&seen)
            }
            "tools/call" => {
                executed.fetch_add(1, Ordering::SeqCst);
                match seen.message["params"]["arguments"]["how"].as_str() {
                    Some("500") => reply(500, "text/plain", "secret trace".to_owned()),
                    Some("error") => {
                        let id = &seen.message["id"];
                        reply(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"broke","data":1E5}}}}"#))
                    }
                    Some("cut") => reply(200, "text/event-stream", "data: {\n".to_owned()),
                    _ => seen.result(DONE),
                }
            }
            _ => legacy(&seen),
        }
    })
    .await;
    let mut client = Client::new(address, "").await;
    assert_eq!((count(&begun), count(&listed)), (1, 1));

    session.store(2, Ordering::SeqCst);
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(client.start("tools/call", &json!({"name": "web__echo", "arguments": {}})).await);
    }
    for id in ids {
        let line = client.answer(id).await;
        assert!(line.contains("done"), "{line}\n{}", client.log());
    }
    assert_eq!((count(&begun), count(&listed), count(&executed)), (2, 2, 5), "{}", client.log());

    for (how, code) in [("500", "transport_failure"), ("cut", "transport_failure")] {
        let before = count(&executed);
        let line = client.call(json!({ "how": how })).await;
        assert!(failed_with(&line, code) && line.contains("may have been carried out"), "{line}");
        assert_eq!(count(&executed), before + 1);
    }
    let line = client.call(json!({ "how": "error" })).await;
    assert!(line.contains(r#""code":-32603"#) && line.contains(r#""data":1E5"#) && line.contains("broke"), "{line}");
    assert_eq!((count(&begun), count(&executed)), (2, 8));
    assert!(client.log().contains("HTTP 500") && !client.log().contains("secret trace"), "{}", client.log());
}

#[tokio::test]
async fn the_newer_era_gets_its_headers() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen_calls = Arc::clone(&calls);
    let address = script(move |seen: Seen| {
        assert_eq!(seen.header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(seen.header("mcp-method"), seen.method());
        if seen.method() != "tools/call" {
            return modern(&seen);
        }
        let headers = ["mcp-name", "mcp-param-region", "mcp-param-size", "mcp-session-id"]
            .map(|name| seen.header(name).to_owned());
        seen_calls.lock().unwrap().push(headers);
        seen.events(&[], r#"{"resultType":"complete","content":[]}"#)
    })
    .await;
    let mut client = Client::new(address, "").await;
    let line = client.call(json!({"region": "köln", "size": 7})).await;
    assert!(line.contains(r#""result":{"content":[]}"#), "{line}");
    let line = client.call(json!({"size": 9_007_199_254_740_993_u64})).await;
    assert!(failed_with(&line, "mirrored_parameter_refused"), "{line} {calls:?}");
    let expected = ["echo", "=?base64?a8O2bG4=?=", "7", ""].map(str::to_owned);
    assert_eq!(*calls.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn credentials_are_sent_and_never_shown() {
    let refuse = Arc::new(AtomicUsize::new(0));
    let refusing = Arc::clone(&refuse);
    let address = script(move |seen: Seen| {
        if seen.header("authorization") != "Bearer tok-123456" || seen.header("x-team") != "team-654321" {
            return reply(401, "text/plain", "no".to_owned());
        }
        match (seen.method(), refusing.load(Ordering::SeqCst)) {
            ("tools/call", 0) => seen.result(DONE),
            ("tools/call", status) => reply(u16::try_from(status).unwrap(), "text/html", "tok-123456".to_owned()),
            _ => legacy(&seen),
        }
    })
    .await;
    let keys = "    token_env: SECRET\n    headers: {X-Team: team-654321}\n";
    let mut client = Client::new(address, keys).await;
    let line = client.call(json!({})).await;
    assert!(line.contains("done"), "{line}");
    for status in [401, 403, 407] {
        refuse.store(status, Ordering::SeqCst);
        let line = client.call(json!({})).await;
        assert!(failed_with(&line, "transport_failure"), "{line}");
        client.logged(&format!("HTTP {status}")).await;
    }
    client.logged("it refuses the credential of the variable `SECRET` (token_env) (HTTP 401)").await;

    let mut other = Client::new(address, "").await;
    let line = other.call(json!({})).await;
    assert!(failed_with(&line, "transport_failure"), "{line}");
    other.logged("it wants a credential (HTTP 401) and none is configured").await;
    for client in [client, other] {
        let all = client.log() + &client.got.join("\n");
        for secret in ["tok-123456", "team-654321", "hidden-in-query"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }
}

#[tokio::test]
async fn answers_over_the_limit_fail_by_themselves() {
    let address = script(|seen: Seen| match (seen.method(), seen.message["params"]["arguments"]["how"].as_str()) {
        ("tools/call", Some("json")) => seen.result(&format!("{{\"x\":\"{}\"}}", "x".repeat(17 << 20))),
        ("tools/call", Some("events")) => seen.events(&[], &format!("{{\"x\":\"{}\"}}", "x".repeat(17 << 20))),
        ("tools/call", _) => seen.result(DONE),
        _ => legacy(&seen),
    })
    .await;
    let mut client = Client::new(address, "").await;
    for how in ["json", "events"] {
        let line = client.call(json!({ "how": how })).await;
        assert!(failed_with(&line, "protocol_failure"), "{how}: {line}");
        assert!(line.contains("longer than 16 MiB"), "{how}: {line}");
        let line = client.call(json!({})).await;
        assert!(line.contains("done"), "{line}");
    }
}

#[tokio::test]
async fn what_is_no_server_is_said_in_a_line() {
    let hits = Arc::new(AtomicUsize::new(0));
    let hit = Arc::clone(&hits);
    let target = script(move |seen: Seen| {
        hit.fetch_add(1, Ordering::SeqCst);
        legacy(&seen)
    })
    .await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let redirect = script(move |_| {
        let mut response = reply(307, "text/plain", String::new());
        response.headers_mut().insert("location", format!("http://{target}/x?key=hidden-in-query").parse().unwrap());
        response
    })
    .await;
    let cases = [
        (redirect, "it answers with a redirect to http://"),
        (script(|_| reply(200, "text/html; charset=utf-8", "<html>".to_owned())).await, "it answers with a web page"),
        (
            script(|_| reply(200, "x/y", String::new())).await,
            "its answer has the content type `x/y`, not `application/json`",
        ),
        (script(|_| reply(503, "text/plain", String::new())).await, "it answers with HTTP 503"),
        (script(|_| reply(200, "application/json", "{".to_owned())).await, "its answer is not JSON"),
        (closed, "it cannot be reached: Connection refused"),
    ];
    for (address, text) in cases {
        let mut client = Client::new(address, "    token: tok-123456\n").await;
        client.logged(text).await;
        let line = client.call(json!({})).await;
        assert!(failed_with(&line, "transport_failure"), "{line}");
        let log = client.log();
        assert!(!log.contains("hidden-in-query") && !log.contains("tok-123456"), "{log}");
        let down = log.lines().find(|line| line.contains(text)).unwrap();
        assert!(down.len() < 400, "{down}");
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

/// A body whose events the test sends.
fn live() -> (mpsc::UnboundedSender<String>, Response<Body>) {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let stream = futures::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|text| (Ok::<_, std::io::Error>(text), receiver))
    });
    let mut response = reply(200, "text/event-stream", String::new());
    *response.body_mut() = Body::from_stream(stream.boxed());
    (sender, response)
}

#[tokio::test]
async fn progress_comes_in_order_and_questions_are_answered() {
    let open = Arc::new(Mutex::new(None::<(mpsc::UnboundedSender<String>, Value)>));
    let shared = Arc::clone(&open);
    let address = script(move |seen: Seen| {
        if seen.method() == "tools/call" {
            let token = &seen.message["params"]["_meta"]["progressToken"];
            let (events, response) = live();
            for step in 0..20 {
                let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step, "odd": [1]}});
                events.send(format!("data: {note}\n\n")).unwrap();
            }
            let ask = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}},"odd":0.10}}"#;
            events.send(format!("data: {ask}\n\n")).unwrap();
            *shared.lock().unwrap() = Some((events, seen.message["id"].clone()));
            return response;
        }
        if seen.message["id"] == json!("q") {
            let (events, id) = shared.lock().unwrap().take().unwrap();
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "got": seen.message["result"]}});
            events.send(format!("data: {answer}\n\n")).unwrap();
        }
        legacy(&seen)
    })
    .await;
    let mut client = Client::new(address, "").await;
    let call = json!({"name": "web__echo", "arguments": {}, "_meta": {"progressToken": "mine"}});
    let id = client.start("tools/call", &call).await;
    let mut steps = Vec::new();
    let question: Value = loop {
        let line = client.line().await;
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["method"].as_str() {
            Some("notifications/progress") => {
                assert_eq!(message["params"]["progressToken"], json!("mine"));
                assert_eq!(message["params"]["odd"], json!([1]));
                steps.push(message["params"]["progress"].as_u64().unwrap());
            }
            Some("elicitation/create") => {
                assert!(line.contains(r#""odd":0.10"#), "{line}");
                break message;
            }
            _ => {}
        }
    };
    assert!(steps.is_sorted(), "{steps:?}");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"a": 1}}});
    client.write(&answer.to_string()).await;
    let line = client.answer(id).await;
    assert!(line.contains(r#""got":{"action":"accept","content":{"a":1}}"#), "{line}");
    let progress = client.got.iter().filter(|line| line.contains("notifications/progress")).count();
    assert_eq!(progress, 20);
}

#[tokio::test]
async fn a_stream_is_taken_up_where_it_broke() {
    let id = Arc::new(Mutex::new(Value::Null));
    let address = script(move |seen: Seen| match (seen.verb.as_str(), seen.method()) {
        ("POST", "tools/call") => {
            *id.lock().unwrap() = seen.message["id"].clone();
            reply(200, "text/event-stream", "id: e1\nretry: 1\ndata:\n\n".to_owned())
        }
        ("GET", _) if seen.header("last-event-id") == "e1" => {
            let answer = json!({"jsonrpc": "2.0", "id": *id.lock().unwrap(), "result": {"content": [], "late": true}});
            reply(200, "text/event-stream", format!("data: {answer}\n\n"))
        }
        _ => legacy(&seen),
    })
    .await;
    let mut client = Client::new(address, "").await;
    let line = client.call(json!({})).await;
    assert!(line.contains(r#""late":true"#), "{line}");
}

#[tokio::test]
async fn a_server_that_goes_away_is_down_until_it_is_back() {
    let answer = |seen: Seen| {
        std::future::ready(if seen.method() == "tools/call" {
            let mut response = seen.result(r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#);
            response.headers_mut().insert("connection", "close".parse().unwrap());
            response
        } else {
            let mut response = modern(&seen);
            response.headers_mut().insert("connection", "close".parse().unwrap());
            response
        })
    };
    let (address, server) = serve("127.0.0.1:0", answer).await;
    let mut client = Client::new(address, "").await;
    let line = client.call(json!({})).await;
    assert!(line.contains("done"), "{line}");

    server.abort();
    let _ = server.await;
    let line = client.call(json!({})).await;
    assert!(failed_with(&line, "transport_failure") && line.contains("nothing was sent"), "{line}");
    client.logged("down: it cannot be reached: Connection refused").await;
    let line = client.call(json!({})).await;
    assert!(line.contains("is down; nothing was sent to it"), "{line}");

    let (_, _server) = serve(&address.to_string(), answer).await;
    let end = Instant::now() + Duration::from_secs(15);
    while !client.call(json!({})).await.contains("done") {
        assert!(Instant::now() < end, "{}", client.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_session_that_will_not_end_does_not_hold_up_the_end() {
    let deleted = Arc::new(AtomicUsize::new(0));
    let deletes = Arc::clone(&deleted);
    let (address, _server) = serve("127.0.0.1:0", move |seen: Seen| {
        let deletes = Arc::clone(&deletes);
        async move {
            if seen.verb == Method::DELETE {
                assert_eq!(seen.header("mcp-session-id"), "s1");
                deletes.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            legacy(&seen)
        }
    })
    .await;
    let client = Client::new(address, "").await;
    let took = client.stop().await;
    assert!(took < Duration::from_millis(1200), "{took:?}");
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_listener_that_is_cut_off_listens_again_and_reads_the_lists_again() {
    let listens = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&listens);
    let address = script(move |seen: Seen| match seen.method() {
        "server/discover" => seen.result(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}"#,
        ),
        "subscriptions/listen" if shared.fetch_add(1, Ordering::SeqCst) == 0 => {
            reply(200, "text/event-stream", ": hello\n\n".to_owned())
        }
        "subscriptions/listen" => {
            let (events, response) = live();
            std::mem::forget(events);
            response
        }
        "tools/list" if shared.load(Ordering::SeqCst) > 0 => {
            seen.result(r#"{"resultType":"complete","tools":[{"name":"late","inputSchema":{"type":"object"}}]}"#)
        }
        _ => modern(&seen),
    })
    .await;
    let mut client = Client::new(address, "").await;
    let end = Instant::now() + Duration::from_secs(10);
    while !client.ask("tools/list", &json!({})).await.contains("web__late") {
        assert!(Instant::now() < end, "{}", client.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(client.got.iter().any(|line| line.contains("list_changed")));
    while listens.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
