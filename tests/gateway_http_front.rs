//! The gateway's HTTP endpoint as clients meet it: raw requests to a gateway in this process with two
//! servers behind it, one of each era, and two more for the tests that want a server to themselves.
#![cfg(feature = "gateway")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

use praxiom::config::{self, Environment};
use praxiom::eval::Policy;
use praxiom::gateway::Gateway;
use praxiom::text::FileId;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

const CONFIG: &str = r#"
servers:
  old:
    command: python3
    args: [tests/conformance/server.py, --era, legacy]
    trust: {tools: "*", prompts: "*", frame: false, reverse: [elicitation]}
  new:
    command: python3
    args: [tests/conformance/server.py, --era, modern]
    trust: {tools: "*", resources: true, frame: false, reverse: [elicitation]}
  asks:
    command: python3
    args: [tests/conformance/server.py, --era, legacy]
    trust: {tools: "*", frame: false, reverse: [elicitation]}
  slow:
    command: python3
    args: [tests/conformance/server.py, --era, legacy]
    trust: {tools: "*", frame: false}
"#;

const POLICY: &str = r#"
default: allow
actions:
  - {name: no_pictures, match: "*__test_image_content", requires: false}
"#;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-06-18";
const META: &str = "io.modelcontextprotocol/";

fn gateway() -> Gateway {
    let environment = Environment::new(std::env::vars_os());
    let config = config::read(CONFIG, FileId(0), Path::new("."), &environment).config.unwrap();
    let policy = Policy::compile(POLICY, FileId(1)).policy.unwrap();
    Gateway::builder(config, policy).start()
}

/// One gateway for all tests here; its servers end with this process.
fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let gateway = gateway();
                gateway.settled().await;
                let bound = |address| sender.send(address).unwrap();
                gateway.serve_http("127.0.0.1:0".parse().unwrap(), bound).await.unwrap();
            });
        });
        receiver.recv_timeout(Duration::from_secs(30)).unwrap()
    })
}

/// What is sent: one request, with the headers that clients send unless told otherwise.
#[derive(Clone, Debug)]
struct Sent {
    method: &'static str,
    path: &'static str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn post(body: impl Into<Vec<u8>>) -> Sent {
    let headers = [
        ("Host", "localhost"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("Authorization", "Bearer of-nobody"),
    ];
    Sent { method: "POST", path: "/mcp", headers: owned(&headers), body: body.into() }
}

/// A request that stands alone, with the headers that repeat its body.
fn alone(method: &str, mut params: Value, id: &Value) -> Sent {
    params["_meta"][format!("{META}protocolVersion")] = json!(MODERN);
    if params["_meta"].get(format!("{META}clientCapabilities")).is_none() {
        params["_meta"][format!("{META}clientCapabilities")] = json!({ "elicitation": {} });
    }
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let sent = post(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", method);
    match name {
        Some(name) => sent.with("Mcp-Name", &name),
        None => sent,
    }
}

fn call(tool: &str, arguments: Value) -> Sent {
    alone("tools/call", json!({ "name": tool, "arguments": arguments }), &json!(1))
}

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

impl Sent {
    /// With one header more.
    fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another value of a header.
    fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    fn using(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    fn at(mut self, path: &'static str) -> Self {
        self.path = path;
        self
    }

    fn open(&self) -> Answer {
        self.open_at(address())
    }

    fn open_at(&self, address: SocketAddr) -> Answer {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "Content-Length: {}\r\nConnection: close\r\n\r\n", self.body.len()).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(&[head.as_bytes(), &self.body].concat()).unwrap();
        Answer::read(stream)
    }

    /// Status and the one message of the answer.
    fn ask(&self) -> (u16, Value) {
        let mut answer = self.open();
        let message = if answer.header("content-type") == Some("text/event-stream") {
            let last = std::iter::from_fn(|| answer.event()).last();
            last.map(|event| event.message).unwrap_or_default()
        } else {
            let body = answer.rest();
            if body.is_empty() { Value::Null } else { serde_json::from_str(&body).unwrap() }
        };
        (answer.status, message)
    }
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
    text: String,
}

#[derive(Debug, Default)]
struct Event {
    id: Option<String>,
    retry: Option<String>,
    message: Value,
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Self { status, headers, reader, text: String::new() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The next part of the body; false at its end.
    fn more(&mut self) -> bool {
        if self.header("transfer-encoding").is_none() {
            return self.reader.read_to_string(&mut self.text).unwrap() > 0;
        }
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap_or(0);
        let mut chunk = vec![0; length + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(length);
        self.text.push_str(&String::from_utf8(chunk).unwrap());
        length > 0
    }

    fn rest(&mut self) -> String {
        while self.more() {}
        std::mem::take(&mut self.text)
    }

    /// The next event that is not a comment; `None` at the end.
    fn event(&mut self) -> Option<Event> {
        loop {
            while !self.text.contains("\n\n") {
                if !self.more() {
                    return None;
                }
            }
            let (frame, rest) = self.text.split_once("\n\n").unwrap();
            let (frame, rest) = (frame.to_owned(), rest.to_owned());
            self.text = rest;
            let field = |name: &str| {
                frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
            };
            if let Some(data) = field("data") {
                let message = if data.is_empty() { Value::Null } else { serde_json::from_str(&data).unwrap() };
                return Some(Event { id: field("id"), retry: field("retry"), message });
            }
        }
    }

    /// The next message that is not empty.
    fn message(&mut self) -> Value {
        loop {
            let event = self.event().expect("the stream has ended");
            if !event.message.is_null() {
                return event.message;
            }
        }
    }
}

/// A session of the era that has them.
struct Session(String);

impl Session {
    fn begin() -> Self {
        let mut answer = initialize(LEGACY).open();
        assert_eq!(answer.status, 200);
        let session = Self(answer.header("mcp-session-id").unwrap().to_owned());
        assert_eq!(answer.message()["result"]["protocolVersion"], LEGACY);
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&note).ask(), (202, Value::Null));
        session
    }

    fn post(&self, message: &Value) -> Sent {
        post(message.to_string()).with("Mcp-Session-Id", &self.0).with("MCP-Protocol-Version", LEGACY)
    }

    fn request(&self, id: &Value, method: &str, params: &Value) -> Sent {
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn get(&self) -> Sent {
        self.post(&Value::Null).using("GET").with("Accept", "text/event-stream").bodiless()
    }

    fn delete(&self) -> Sent {
        self.get().using("DELETE")
    }
}

impl Sent {
    fn bodiless(mut self) -> Self {
        self.body.clear();
        self
    }
}

fn initialize(version: &str) -> Sent {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" },
    });
    post(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string())
}

/// How often a server's tool has been called, and how many calls its server was told to give up.
fn record(server: &str, tool: &str) -> (u64, u64) {
    let (_, answer) = call(&format!("{server}__test_record"), json!({})).ask();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let record: Value = serde_json::from_str(text).unwrap();
    (record["called"][tool].as_u64().unwrap_or_default(), record["cancelled"].as_u64().unwrap())
}

#[test]
fn each_request_has_its_status_and_its_error() {
    let list = || alone("tools/list", json!({}), &json!("a"));
    let session = Session::begin();
    let ping = || session.request(&json!(1), "ping", &json!({}));
    let said = |version: &str| {
        let mut sent = list().with("MCP-Protocol-Version", version);
        sent.body = String::from_utf8(sent.body).unwrap().replace(MODERN, version).into_bytes();
        sent
    };
    let no_meta = |method: &str| {
        post(json!({ "jsonrpc": "2.0", "id": "a", "method": method }).to_string())
            .with("MCP-Protocol-Version", MODERN)
            .with("Mcp-Method", method)
    };
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    let answer = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    let region = |value: &str| call("new__test_x_mcp_header", json!({ "region": value }));
    for (what, sent, status, code) in [
        ("a list", list(), 200, 0),
        ("discovery", alone("server/discover", json!({}), &json!("a")), 200, 0),
        ("a tool's error is a result", call("old__test_error_handling", json!({})), 200, 0),
        ("a tool that is not there too", call("nobody__knows", json!({})), 200, 0),
        ("a removed method", alone("ping", json!({}), &json!("a")), 404, -32601),
        ("the handshake of the other era", alone("initialize", json!({}), &json!("a")), 404, -32601),
        ("an unknown method", alone("no/such", json!({}), &json!("a")), 404, -32601),
        ("faulty parameters", alone("tools/call", json!({ "name": 5 }), &json!("a")), 200, -32602),
        ("no `_meta`", no_meta("tools/list"), 400, -32602),
        ("discovery without `_meta`", no_meta("server/discover").without("MCP-Protocol-Version"), 400, -32602),
        (
            "half a `_meta`",
            alone("tools/list", json!({ "_meta": { (format!("{META}clientCapabilities")): 5 } }), &json!("a")),
            400,
            -32602,
        ),
        ("a missing capability", call("new__test_missing_capability", json!({})), 400, -32021),
        ("an unknown version", said("2099-01-01"), 400, -32022),
        ("an unknown version in the header alone", ping().with("MCP-Protocol-Version", "2099-01-01"), 400, -32022),
        ("another version in the header", said("2099-01-01").with("MCP-Protocol-Version", MODERN), 400, -32020),
        ("no version in the header", list().without("MCP-Protocol-Version"), 400, -32020),
        ("two versions in the header", list().and("MCP-Protocol-Version", MODERN), 400, -32020),
        ("no method in the header", list().without("Mcp-Method"), 400, -32020),
        ("no method in the header, unknown version", said("2099-01-01").without("Mcp-Method"), 400, -32020),
        ("another method in the header", list().with("Mcp-Method", "tools/call"), 400, -32020),
        ("no name in the header", region("x").without("Mcp-Name"), 400, -32020),
        ("another name in the header", region("x").with("Mcp-Name", "old__test_simple_text"), 400, -32020),
        ("no parameter in the header", region("x"), 400, -32020),
        ("another parameter in the header", region("x").with("Mcp-Param-Region", "y"), 400, -32020),
        ("the parameter in the header", region("x").with("mcp-param-region", "x"), 200, 0),
        ("the parameter wrapped", region("ü").with("Mcp-Param-Region", "=?base64?w7w=?="), 200, 0),
        ("a name wrapped", call("x\u{fc}", json!({})).with("Mcp-Name", "=?base64?eMO8?="), 200, 0),
        (
            "a handshake that contradicts its header",
            initialize(LEGACY).with("MCP-Protocol-Version", MODERN),
            400,
            -32600,
        ),
        ("a handshake that contradicts its method", initialize(LEGACY).with("Mcp-Method", "ping"), 400, -32020),
        ("a notification without a session", post(note.to_string()).with("MCP-Protocol-Version", MODERN), 202, 0),
        ("an answer to no question", post(answer.to_string()).with("MCP-Protocol-Version", MODERN), 400, -32600),
        ("a request in a session", ping(), 200, 0),
        ("no session", ping().without("Mcp-Session-Id"), 400, -32600),
        ("an unknown session", ping().with("Mcp-Session-Id", "00000000"), 404, -32600),
        ("a notification in a session", session.post(&note), 202, 0),
        ("an answer in a session", session.post(&answer), 202, 0),
        ("an answer in no session", post(answer.to_string()), 400, -32600),
        ("GET without a session", session.get().without("Mcp-Session-Id"), 400, -32600),
        ("GET of an unknown session", session.get().with("Mcp-Session-Id", "00000000"), 404, -32600),
        ("GET in the era without sessions", session.get().with("MCP-Protocol-Version", MODERN), 405, -32600),
        ("GET of anything but a stream", session.get().with("Accept", "application/json"), 406, -32600),
        ("DELETE of an unknown session", session.delete().with("Mcp-Session-Id", "00000000"), 404, -32600),
        ("DELETE in the era without sessions", session.delete().with("MCP-Protocol-Version", MODERN), 405, -32600),
        ("another HTTP method", list().using("PUT"), 405, -32600),
        ("a preflight", list().using("OPTIONS"), 405, -32600),
        ("another path", list().at("/mcp/"), 404, -32600),
        ("a foreign Host", list().with("Host", "gateway.example"), 403, -32600),
        ("no Host", list().without("Host"), 403, -32600),
        ("a foreign Origin", list().with("Origin", "https://evil.example"), 403, -32600),
        ("a foreign Origin at another path", list().with("Origin", "null").at("/"), 403, -32600),
        ("our own Origin", list().with("Origin", "http://127.0.0.1:5173"), 200, 0),
        ("another content", list().with("Content-Type", "text/plain"), 415, -32600),
        ("content with a charset", list().with("Content-Type", "application/json; charset=utf-8"), 200, 0),
        ("half of what is accepted", list().with("Accept", "application/json"), 406, -32600),
        ("a zero weight", list().with("Accept", "application/json, text/event-stream;q=0"), 406, -32600),
    ] {
        let (got, message) = sent.ask();
        assert_eq!(got, status, "{what}: {message}");
        assert_eq!(message.pointer("/error/code").and_then(Value::as_i64).unwrap_or(0), code, "{what}: {message}");
        // Whoever has sent an id that we have read gets it back.
        let read = serde_json::from_slice::<Value>(&sent.body).ok().and_then(|sent| sent.get("id").cloned());
        let heard = message.get("id").cloned();
        assert!(heard.is_none() || heard == read, "{what}: {message}");
        assert!(
            heard.is_some() || !matches!(status, 200) && !matches!(code, -32602 | -32601 | -32021),
            "{what}: {message}"
        );
    }
    let (_, message) = said("2099-01-01").ask();
    let (_, discovered) = alone("server/discover", json!({}), &json!(1)).ask();
    assert_eq!(message["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(message["error"]["data"]["supported"], discovered["result"]["supportedVersions"]);
    assert_eq!(list().using("PUT").open().header("allow"), Some("GET, POST, DELETE"));
}

#[test]
fn a_denial_is_a_result_with_the_id_of_its_request() {
    let denied = "old__test_image_content";
    let session = Session::begin();
    for id in [json!(7), json!("7")] {
        let alone = alone("tools/call", json!({ "name": denied, "arguments": {} }), &id);
        let in_session = session.request(&id, "tools/call", &json!({ "name": denied, "arguments": {} }));
        for sent in [alone, in_session] {
            let (status, message) = sent.ask();
            assert_eq!((status, &message["id"], &message["result"]["isError"]), (200, &id, &json!(true)), "{message}");
            let text = message["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("no_pictures"), "{text}");
        }
    }
    let note = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": denied, "arguments": {} } });
    assert_eq!(session.post(&note).ask(), (202, Value::Null));
    let note = post(note.to_string()).with("MCP-Protocol-Version", MODERN).with("Mcp-Method", "tools/call");
    assert_eq!(note.ask(), (202, Value::Null));
    let (_, message) = session.request(&json!(8), "tools/call", &json!({ "name": "old__test_simple_text" })).ask();
    assert_eq!(message["result"]["content"][0]["text"], "This is a simple text response for testing.");
    assert_eq!(record("old", "test_image_content").0, 0, "the server was contacted");
}

#[test]
fn a_body_with_two_meanings_goes_nowhere() {
    let whole = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":PARAMS}"#;
    let meta = format!(r#""_meta":{{"{META}protocolVersion":"{MODERN}","{META}clientCapabilities":{{}}}}"#);
    let session = Session::begin();
    let bodies: [(&str, &[u8]); 9] = [
        ("equal keys", br#"{"name":"old__test_audio_content","arguments":{"a":1,"a":2}}"#),
        ("equal names", br#"{"name":"old__test_audio_content","name":"old__test_image_content"}"#),
        ("equal after unescaping", br#"{"name":"old__test_audio_content","arguments":{"a":1,"\u0061":2}}"#),
        ("two arguments", br#"{"name":"old__test_audio_content","arguments":{},"arguments":{"a":2}}"#),
        ("beyond a float", br#"{"name":"old__test_audio_content","arguments":{"a":1e400}}"#),
        ("half a surrogate", br#"{"name":"old__test_audio_content","arguments":{"a":"\ud800"}}"#),
        ("no UTF-8", b"{\"name\":\"old__test_audio_content\",\"arguments\":{\"a\":\"\xff\"}}"),
        ("no JSON", br#"{"name":"old__test_audio_content","arguments":{"a":NaN}}"#),
        ("a list", b"[1]"),
    ];
    for (what, params) in bodies {
        let (head, tail) = whole.split_once("PARAMS").unwrap();
        let plain = [head.as_bytes(), params, tail.as_bytes()].concat();
        let with_meta = [head.as_bytes(), b"{", meta.as_bytes(), b",", &params[1..], tail.as_bytes()].concat();
        let mut alone = call("old__test_audio_content", json!({}));
        alone.body = with_meta;
        let mut in_session = session.post(&Value::Null);
        in_session.body = plain;
        for sent in [alone, in_session] {
            let (status, message) = sent.ask();
            assert_eq!((status, &message["id"]), (400, &json!("x")), "{what}: {message}");
            assert!(message["error"]["code"].is_i64(), "{what}: {message}");
        }
    }
    for body in ["", "[]", "5", "{", r#"{"jsonrpc":"2.0"}"#, r#"{"id":1,"method":"ping"}"#] {
        let (status, message) = session.post(&Value::Null).bodiless().with_body(body).ask();
        assert_eq!(status, 400, "{body}: {message}");
    }
    assert_eq!(record("old", "test_audio_content").0, 0, "the server was contacted");
}

impl Sent {
    fn with_body(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self
    }
}

#[test]
fn a_body_that_is_too_long_is_refused_with_its_id() {
    let mut sent = call("old__test_simple_text", json!({}));
    let mut body = br#"{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"x":""#.to_vec();
    body.resize((16 << 20) + 1, b'x');
    sent.body = body;
    let (status, message) = sent.ask();
    assert_eq!((status, &message["id"], &message["error"]["code"]), (413, &json!("long"), &json!(-32600)));

    let text = "y".repeat(1 << 20);
    let arguments = json!({ "x": text });
    assert_eq!(call("old__test_simple_text", arguments).ask().0, 200);
}

#[test]
fn both_eras_reach_servers_of_both() {
    let session = Session::begin();
    let (_, listed) = session.request(&json!(1), "tools/list", &json!({})).ask();
    let (_, listed_alone) = alone("tools/list", json!({}), &json!(1)).ask();
    for (listed, modern) in [(&listed, false), (&listed_alone, true)] {
        let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("old__test_simple_text")) && names.contains(&&json!("new__test_simple_text")));
        for key in ["resultType", "ttlMs", "cacheScope"] {
            assert_eq!(listed["result"].get(key).is_some(), modern, "{key}");
        }
    }
    for server in ["old", "new"] {
        let name = format!("{server}__test_simple_text");
        let (_, message) = session.request(&json!(2), "tools/call", &json!({ "name": name })).ask();
        assert_eq!(message["result"]["content"][0]["type"], "text", "{message}");
        assert!(message["result"].get("resultType").is_none(), "{message}");
        let (_, message) = call(&name, json!({})).ask();
        assert_eq!(message["result"]["resultType"], "complete", "{message}");
    }
    for (asked, answered) in [(LEGACY, LEGACY), ("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")] {
        let (status, message) = initialize(asked).ask();
        assert_eq!((status, &message["result"]["protocolVersion"]), (200, &json!(answered)), "{message}");
    }
}

#[test]
fn a_session_lasts_from_its_handshake_to_its_end() {
    let session = Session::begin();
    let mut answer = session.request(&json!("a"), "tools/list", &json!({})).open();
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    let first = answer.event().unwrap();
    assert_eq!((first.id.is_some(), first.retry.as_deref(), &first.message), (true, Some("3000"), &Value::Null));
    assert_eq!(answer.message()["id"], "a");
    assert!(answer.event().is_none(), "the stream ends with the answer");

    let mut unasked = session.get().open();
    let first = unasked.event().unwrap();
    assert_eq!((unasked.status, first.retry.as_deref()), (200, Some("3000")));
    let mut resumed = session.get().with("Last-Event-ID", "99/99").open();
    assert_eq!(resumed.status, 200);
    assert!(resumed.event().is_none(), "nothing came after what never was");

    // A call that its client loses sight of goes on, and its answer is there when it comes back.
    let mut lost = session
        .request(
            &json!("w"),
            "tools/call",
            &json!({ "name": "old__test_wait", "arguments": { "ms": 1500 }, "_meta": { "progressToken": "t" } }),
        )
        .open();
    let seen = lost.event().unwrap().id.unwrap();
    let (status, message) = session.request(&json!("w"), "ping", &json!({})).ask();
    assert_eq!((status, &message["error"]["code"]), (400, &json!(-32600)), "an id that is in use: {message}");
    drop(lost);
    let mut found = session.get().with("Last-Event-ID", &seen).open();
    let last = std::iter::from_fn(|| found.event()).last().unwrap();
    assert_eq!(last.message["id"], "w");

    let other = Session::begin();
    assert_ne!(other.0, session.0);
    assert_eq!(session.delete().ask(), (204, Value::Null));
    assert!(std::iter::from_fn(|| unasked.event()).count() < 9, "its stream ends");
    for sent in [session.request(&json!(1), "ping", &json!({})), session.get(), session.delete()] {
        assert_eq!(sent.ask().0, 404);
    }
    assert_eq!(other.request(&json!(1), "ping", &json!({})).ask().0, 200);
}

#[test]
fn progress_comes_on_the_stream_of_its_call() {
    let session = Session::begin();
    for server in ["old", "new"] {
        let params = json!({ "name": format!("{server}__test_wait"), "arguments": { "ms": 200 }, "_meta": { "progressToken": "mine" } });
        for sent in [session.request(&json!(1), "tools/call", &params), alone("tools/call", params.clone(), &json!(1))]
        {
            let mut answer = sent.open();
            assert_eq!(answer.header("content-type"), Some("text/event-stream"));
            for step in 1..=4 {
                let note = answer.message();
                assert_eq!(note["method"], "notifications/progress", "{note}");
                assert_eq!(
                    (&note["params"]["progressToken"], note["params"]["progress"].as_f64()),
                    (&json!("mine"), Some(f64::from(step)))
                );
            }
            assert_eq!(answer.message()["result"]["content"][0]["text"], "waited");
            assert!(answer.event().is_none());
        }
    }
}

#[test]
fn a_server_asks_the_client_of_either_era() {
    let session = Session::begin();
    for server in ["asks", "new"] {
        let params = json!({ "name": format!("{server}__test_elicitation"), "arguments": { "message": "Who?" } });
        let mut answer = session.request(&json!("ask"), "tools/call", &params).open();
        let question = answer.message();
        assert_eq!(
            (&question["method"], &question["params"]["message"]),
            (&json!("elicitation/create"), &json!("Who?"))
        );
        let said = json!({ "action": "accept", "content": { "username": "kim", "email": "k@example" } });
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": said });
        assert_eq!(session.post(&reply).ask(), (202, Value::Null));
        let result = answer.message();
        assert!(result["result"]["content"][0]["text"].as_str().unwrap().contains("kim"), "{result}");

        let (status, asked) = alone("tools/call", params.clone(), &json!(1)).ask();
        assert_eq!((status, &asked["result"]["resultType"]), (200, &json!("input_required")), "{asked}");
        let requests = asked["result"]["inputRequests"].as_object().unwrap();
        let responses: serde_json::Map<_, _> = requests.keys().map(|key| (key.clone(), said.clone())).collect();
        let mut again = params.clone();
        again["inputResponses"] = responses.into();
        again["requestState"] = asked["result"]["requestState"].clone();
        let (_, result) = alone("tools/call", again, &json!(2)).ask();
        assert!(result["result"]["content"][0]["text"].as_str().unwrap().contains("kim"), "{result}");
    }
}

#[test]
fn who_listens_hears_of_changed_lists() {
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut heard = alone("subscriptions/listen", wanted, &json!("l")).open();
    let session = Session::begin();
    // Only who has asked for a list is told that it has changed.
    assert_eq!(session.request(&json!(1), "tools/list", &json!({})).ask().0, 200);
    let mut unasked = session.get().open();
    let first = heard.message();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"][format!("{META}subscriptionId")], "l", "{first}");
    for _ in 0..2 {
        let began = Instant::now();
        assert_eq!(call("old__test_trigger_tool_change", json!({})).ask().0, 200);
        let note = heard.message();
        assert_eq!(note["method"], "notifications/tools/list_changed", "{note}");
        assert_eq!(note["params"]["_meta"][format!("{META}subscriptionId")], "l", "{note}");
        assert_eq!(unasked.message()["method"], "notifications/tools/list_changed");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[test]
fn a_client_that_goes_away_ends_its_request_alone() {
    let params = json!({ "name": "slow__test_wait", "arguments": { "ms": 20_000 } });
    let before = record("slow", "test_wait");
    let quiet = alone("tools/call", params.clone(), &json!(1));
    let mut with_progress = params;
    with_progress["_meta"]["progressToken"] = json!(5);
    let mut streaming = alone("tools/call", with_progress, &json!(1)).open();
    assert_eq!(streaming.message()["method"], "notifications/progress");
    let mut stream = TcpStream::connect(address()).unwrap();
    let head = quiet
        .headers
        .iter()
        .fold("POST /mcp HTTP/1.1\r\n".to_owned(), |head, (name, value)| head + name + ": " + value + "\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", quiet.body.len()).as_bytes()).unwrap();
    stream.write_all(&quiet.body).unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    while record("slow", "test_wait").0 < before.0 + 2 {
        assert!(Instant::now() < until, "the calls did not arrive");
    }
    drop((stream, streaming));
    while record("slow", "test_wait").1 < before.1 + 2 {
        assert!(Instant::now() < until, "the calls were not cancelled");
    }
}

/// Clients that come and go without a word keep nobody out: who has been idle for longest makes room, those
/// that listen last.
#[tokio::test]
async fn the_idlest_session_makes_room() {
    // One to itself: the sessions of the other tests would go first.
    let gateway = gateway();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let serving = gateway.serve_http("127.0.0.1:0".parse().unwrap(), |address| sender.send(address).unwrap());
    let client = async {
        let address = receiver.await.unwrap();
        let came = tokio::task::spawn_blocking(move || {
            let begin = || {
                let begun = initialize(LEGACY).open_at(address);
                assert_eq!(begun.status, 200);
                Session(begun.header("mcp-session-id").unwrap().to_owned())
            };
            let status = |session: &Session| session.request(&json!(1), "ping", &json!({})).open_at(address).status;
            let (listens, used, idle) = (begin(), begin(), begin());
            let mut unasked = listens.get().open_at(address);
            unasked.event().unwrap();
            for _ in 3..1023 {
                begin();
            }
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            assert_eq!(used.post(&note).open_at(address).status, 202);
            let last = [begin(), begin(), begin()];
            assert_eq!([&listens, &used, &idle].map(status), [200, 200, 404]);
            assert_eq!(last.each_ref().map(status), [200; 3]);
        });
        came.await.unwrap();
    };
    tokio::select! {
        served = serving => panic!("{served:?}"),
        () = client => {}
    }
    gateway.stop(true).await;
}

#[tokio::test]
async fn only_loopback_is_served_and_the_end_comes_soon() {
    let gateway = gateway();
    let refused = gateway.serve_http("0.0.0.0:0".parse().unwrap(), |_| panic!("it was bound")).await.unwrap_err();
    assert!(refused.to_string().contains("no authentication"), "{refused}");

    let (sender, receiver) = tokio::sync::oneshot::channel();
    let serving = gateway.serve_http("[::1]:0".parse().unwrap(), |address| sender.send(address).unwrap());
    let client = async {
        let address = receiver.await.unwrap();
        let streams = tokio::task::spawn_blocking(move || {
            let listen = json!({ "notifications": { "toolsListChanged": true } });
            let mut heard = alone("subscriptions/listen", listen, &json!("l")).with("Host", "[::1]").open_at(address);
            heard.message();
            let mut begun = initialize(LEGACY).open_at(address);
            begun.message();
            let session = Session(begun.header("mcp-session-id").unwrap().to_owned());
            let mut unasked = session.get().open_at(address);
            unasked.event().unwrap();
            [heard, unasked]
        });
        streams.await.unwrap()
    };
    let mut streams = tokio::select! {
        served = serving => panic!("{served:?}"),
        streams = client => streams,
    };
    let began = Instant::now();
    gateway.stop(true).await;
    let ended = tokio::task::spawn_blocking(move || {
        streams.iter_mut().all(|stream| std::iter::from_fn(|| stream.event()).count() < 9)
    });
    assert!(ended.await.unwrap());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}
