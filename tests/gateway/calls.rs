//! Calls: what is judged is what is sent, what is sent arrives, what a refusal looks like, and what a
//! decision costs.

use crate::client::{Gateway, PATIENCE, Setup, code, denied, hello, modern, text};
use serde_json::{Value, json};
use std::time::Duration;

fn call_line(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

#[test]
fn numbers_cross_digit_for_digit_and_are_compared_exactly() {
    let Some(setup) = Setup::new("numbers") else { return };
    let policy = "
default: deny
actions:
  - {name: small, match: db__get, args: {id: int}, requires: id <= 9007199254740992}
  - {name: any, match: db__any, args: {id: int}, requires: id >= 0}
";
    let mut gateway = setup.server("db", json!({ "tools": ["get", "any"] })).policy(policy).session();
    let rest = r#""max":9223372036854775807,"huge":123456789012345678901234567890,"ratio":1.0,"tiny":1e-7,"z":-0.0,"e":1E+5,"f":[2E5]"#;
    for (number, (id, tool, allowed)) in [
        ("9007199254740992", "get", true),
        ("9007199254740993", "get", false),
        ("123456789012345678901234567890", "any", true),
        ("123456789012345678901234567890", "get", false),
        // An `int` argument takes integers alone.
        ("1.0", "any", false),
        ("1e3", "any", false),
        ("true", "any", false),
        ("\"1\"", "any", false),
        ("null", "any", false),
    ]
    .into_iter()
    .enumerate()
    {
        let arguments = format!(r#"{{"id":{id},{rest}}}"#);
        let number = number + 100;
        gateway.send(call_line(&number.to_string(), &format!("db__{tool}"), &arguments).as_bytes());
        let answer = gateway.wait(&json!(number));
        if allowed {
            // The fixture says which text it got, and sends the same text back.
            assert_eq!(text(&answer.json), arguments);
            assert!(
                answer.raw.contains(&format!(r#""structuredContent":{{"arguments":{arguments},"#)),
                "{}",
                answer.raw
            );
        } else {
            assert!(denied(&answer.json), "{id}: {}", answer.raw);
        }
    }
}

#[test]
fn arguments_are_an_object_or_absent() {
    let Some(setup) = Setup::new("arguments") else { return };
    let policy = "
default: deny
state: {n: {type: int, init: 0}}
invariants: [{name: few, expr: n <= 4}]
actions: [{name: any, match: s__echo, effect: {n: n + 1}}]
";
    let setup = setup.server("s", json!({ "tools": ["echo"], "logged": true })).policy(policy);
    let mut gateway = setup.session();
    let mut call = |arguments: Option<Value>| {
        let mut params = json!({ "name": "s__echo" });
        params.as_object_mut().unwrap().extend(arguments.map(|arguments| ("arguments".to_owned(), arguments)));
        gateway.request("tools/call", params)
    };
    for bad in [json!([]), json!("text"), json!(7), json!(true)] {
        assert_eq!(call(Some(bad.clone()))["error"]["code"], -32602, "{bad}");
    }
    // Had one of those been counted, the last of these would be one too many.
    for good in [None, Some(Value::Null), Some(json!({})), Some(json!({ "q": "x", "lang": null }))] {
        let answer = call(good.clone());
        assert!(answer["result"]["isError"].is_null(), "{good:?}: {answer}");
    }
    assert!(denied(&call(None)));
    let got: Vec<Value> = setup.got("s", "tools/call").iter().map(|m| m["params"]["arguments"].clone()).collect();
    assert_eq!(got.len(), 4, "{got:?}");
    assert_eq!(got[3].to_string(), r#"{"q":"x","lang":null}"#);
    assert!(got[..3].iter().all(|got| got.is_null() || *got == json!({})), "{got:?}");
}

#[test]
fn messages_with_two_meanings_are_refused_and_answered() {
    let Some(setup) = Setup::new("two-meanings") else { return };
    let setup = setup.server("fs", json!({ "tools": ["read_file", "write_file"], "logged": true }));
    let mut gateway = setup.session();
    let lines: &[&[u8]] = &[
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"path":"/w/.env","path":"/w/ok"}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__write_file","name":"fs__read_file","arguments":{}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"path":"/w/.env"},"arguments":{"path":"/w/ok"}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"path":"a","p\u0061th":"b"}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","method":"ping","params":{"name":"fs__read_file"}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"n":1e400}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"n":NaN}}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"fs__read_file","arguments":{"n":"\ud800"}}}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"tools/call\",\"params\":{\"name\":\"fs__read_file\",\"arguments\":{\"n\":\"\xff\"}}}",
        br#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":[]}"#,
        br#"{"jsonrpc":"1.0","id":"d","method":"tools/call","params":{}}"#,
        br#"{"jsonrpc":"2.0","id":"d","method":7}"#,
        br#"{"jsonrpc":"2.0","id":"d"}"#,
    ];
    for line in lines {
        gateway.send(line);
        let answer = gateway.wait(&json!("d")).json;
        let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
        assert!([-32700, -32600, -32602].contains(&code), "{answer}");
        gateway.seen.clear();
    }
    // Those without an id to answer to are answered with null.
    for line in [
        "[]",
        "7",
        "{",
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    ] {
        gateway.send(line.as_bytes());
        let answer = gateway.find(PATIENCE, |message| message.json.get("error").is_some());
        assert!(answer.is_some_and(|answer| answer.json["id"].is_null()), "{line}");
        gateway.seen.clear();
    }
    assert_eq!(text(&gateway.call("fs__read_file", json!({ "say": "still there" }))), "still there");
    assert_eq!(setup.got("fs", "tools/call").len(), 1);
}

#[test]
fn noise_and_floods_reach_nobody() {
    let Some(setup) = Setup::new("noise") else { return };
    let before = ["🚀 ready", "", "\u{feff}{\"level\":\"info\"}", "[1]", r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#];
    let spec = json!({ "before": before, "eol": "\r\n", "flood": 262_144 });
    let mut gateway = setup.server("n", spec).session();
    for round in 0..3 {
        assert_eq!(text(&gateway.call("n__say", json!({ "say": format!("é {round}") }))), format!("é {round}"));
    }
    let answer =
        gateway.call("n__write", json!({ "pieces": ["{no json}\n", "\u{ff}\n"], "latin1": true, "answer": true }));
    assert_eq!(text(&answer), "answered");
    // `find` has seen that every line was JSON; none of these was from the server itself.
    assert!(gateway.seen.iter().all(|message| message.json["jsonrpc"] == "2.0" && message.json["id"] != 99999));
    let end = gateway.close();
    let noise: Vec<&str> = end.stderr.lines().filter(|line| line.contains("n noise")).collect();
    assert_eq!(noise.len(), 2, "the first line and the count: {noise:?}");
    assert!(noise[0].contains("🚀 ready"), "{noise:?}");
    assert!(noise[1].contains("6 lines skipped"), "{noise:?}");
    assert!(!end.stderr.contains("fffff"), "{}", end.stderr);
}

#[test]
fn long_split_and_forged_lines() {
    let Some(setup) = Setup::new("lines") else { return };
    let large = json!({ "trust": { "max_result_bytes": 20_000_000 } });
    let mut gateway = setup.server_with("s", json!({}), large).server("other", json!({})).session();
    let large = gateway.call("s__big", json!({ "n": 12 << 20 }));
    assert_eq!(text(&large).len(), 12 << 20);
    // One message in three writes, cut in the middle of `é`.
    let pieces = [
        r#"{"jsonrpc":"2.0","id":@ID@,"result":{"con"#,
        "tent\":[{\"type\":\"text\",\"text\":\"\u{c3}",
        "\u{a9}\"}]}}\n",
    ];
    let split = gateway.call("s__write", json!({ "pieces": pieces, "latin1": true, "pause": 0.05 }));
    assert_eq!(text(&split), "é");
    // A line beyond the limit whose tail would be an answer.
    let filler = "x".repeat(1 << 20);
    let forged = r#"{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"FORGED"}]}}"#;
    let pieces =
        [r#"{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":""#, filler.as_str(), forged, "\n"];
    let other = gateway.begin_call("other__slow", json!({ "ms": 300 }));
    let long = gateway.call("s__write", json!({ "pieces": pieces, "repeat": filler, "times": 17 }));
    assert_eq!(code(&long), "protocol_failure", "{long}");
    for word in ["`s`", "16 MiB"] {
        assert!(text(&long).contains(word), "{long}");
    }
    assert_eq!(text(&gateway.wait(&other).json), "slow");
    assert_eq!(text(&gateway.call("s__say", json!({ "say": "goes on" }))), "goes on");
    assert!(gateway.seen.iter().all(|message| !message.raw.contains("FORGED")));
    // The same from the client.
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"ping\",\"params\":{{\"a\":\"{}\"}}}}",
        "x".repeat(17 << 20)
    );
    gateway.send(line.as_bytes());
    let answer = gateway.wait(&json!("long")).json;
    assert!(answer["error"]["message"].as_str().unwrap().contains("16 MiB"), "{answer}");
}

#[test]
fn a_denial_on_the_wire() {
    let Some(setup) = Setup::new("denial") else { return };
    let policy = "
default: allow
state: {s: {type: str, init: hidden-state}}
actions: [{name: keep_out, match: s__write, args: {path: str}, requires: \"path == s\"}]
";
    let setup = setup.server("s", json!({ "tools": ["write", "say"], "logged": true })).policy(policy);
    let mut gateway = setup.session();
    for id in [json!(7), json!("7")] {
        gateway.send(call_line(&id.to_string(), "s__write", r#"{"path":"hidden-argument"}"#).as_bytes());
        let answer = gateway.wait(&id).json;
        assert!(denied(&answer), "{answer}");
        assert_eq!(answer["id"], id);
        assert!(answer.get("error").is_none());
        assert!(text(&answer).contains("keep_out"), "{answer}");
        assert!(!answer.to_string().contains("hidden-"), "{answer}");
    }
    let seen = gateway.seen.len();
    gateway.send(br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"s__say","arguments":{"say":"x"}}}"#);
    gateway.send(br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"s__write","arguments":{"path":"x"}}}"#);
    gateway.settle();
    assert_eq!(gateway.seen.len(), seen + 1, "a notification is answered");
    assert_eq!(text(&gateway.call("s__say", json!({ "say": "allowed" }))), "allowed");
    // Unknown, and known but denied, are told apart in the audit alone.
    let unknown = [gateway.call("s__nope", json!({})), gateway.call("zz__x", json!({})), gateway.call("", json!({}))];
    assert!(unknown.iter().all(|answer| answer["result"] == unknown[0]["result"] && code(answer) == "tool_denied"));
    assert_eq!(setup.got("s", "tools/call").len(), 1);
    let end = gateway.close();
    for word in ["s__nope", "zz__x", "DENY  s__write"] {
        assert!(end.stderr.contains(word), "{}", end.stderr);
    }
    assert!(!end.stderr.contains("hidden-state"), "{}", end.stderr);
}

#[test]
fn progress_and_cancellation() {
    let Some(setup) = Setup::new("progress") else { return };
    let policy = "
default: allow
state: {tainted: {type: bool, init: false}}
actions:
  - {name: taints, match: s__progress, effect: {tainted: true}}
  - {name: out, match: s__say, requires: not tainted}
";
    let setup = setup.server("s", json!({ "tools": ["progress", "say", "slow"], "logged": true })).policy(policy);
    let mut gateway = setup.session();
    let params = |n: u32, token: Value| json!({ "name": "s__progress", "arguments": { "n": n, "pause": 0.01 }, "_meta": { "progressToken": token } });
    let first = gateway.begin("tools/call", params(100_000, json!(7)));
    let second = gateway.begin("tools/call", params(30, json!("7")));
    let note = |token: Value, step: u64| {
        move |message: &crate::client::Message| {
            message.json["method"] == "notifications/progress"
                && message.json["params"]["progressToken"] == token
                && message.json["params"]["progress"] == step
        }
    };
    assert!(gateway.find(PATIENCE, note(json!(7), 3)).is_some());
    gateway.notify("notifications/cancelled", json!({ "requestId": first }));
    assert_eq!(text(&gateway.wait(&second).json), "done");
    let of = |token: Value, seen: &Gateway| -> Vec<u64> {
        let notes = seen.notes("notifications/progress");
        let own = notes.iter().filter(|note| note["params"]["progressToken"] == token);
        own.map(|note| note["params"]["progress"].as_u64().unwrap()).collect()
    };
    assert_eq!(of(json!("7"), &gateway), (0..30).collect::<Vec<_>>());
    // The server was told of the right one.
    let sent = setup.got("s", "tools/call");
    let own = sent.iter().find(|call| call["params"]["arguments"]["n"] == 100_000).unwrap();
    let cancelled = &setup.got("s", "notifications/cancelled")[0];
    assert_eq!(cancelled["params"]["requestId"], own["id"]);
    gateway.settle();
    let before = of(json!(7), &gateway).len();
    // An answer that crosses its cancellation goes nowhere, and is not what a server is blamed for.
    let late = gateway.begin_call("s__slow", json!({ "ms": 30 }));
    gateway.notify("notifications/cancelled", json!({ "requestId": late }));
    assert_eq!(text(&gateway.call("s__slow", json!({ "ms": 100 }))), "slow");
    assert!(gateway.seen.iter().all(|message| message.json["id"] != late));
    assert!(!gateway.stderr().contains("noise"), "{}", gateway.stderr());
    assert_eq!(of(json!(7), &gateway).len(), before, "progress after the end");
    assert!(gateway.seen.iter().all(|message| message.json["id"] != first), "a cancelled request is answered");
    // It may have been carried out, so what it has cost stays.
    assert!(denied(&gateway.call("s__say", json!({ "say": "x" }))));
}

const ONE_WRITE: &str = "
default: allow
state: {writes: {type: int, init: 0}}
invariants: [{name: one_write, expr: writes <= 1}]
actions:
  - name: write
    match: [fs__gate, fs__fail, fs__hang, fs__crash]
    args: {path: str}
    requires: startswith(path, \"/w/\")
    effect: {writes: writes + 1}
";

#[test]
fn two_racing_calls_never_spend_one_budget_twice() {
    let Some(setup) = Setup::new("race") else { return };
    let setup = setup.server("fs", json!({ "logged": true })).policy(ONE_WRITE);
    let mut gateway = setup.session();
    assert!(denied(&gateway.call("fs__gate", json!({ "path": "/etc/a" }))), "and costs nothing");
    let first = gateway.begin_call("fs__gate", json!({ "path": "/w/a" }));
    let second = gateway.begin_call("fs__gate", json!({ "path": "/w/b" }));
    let refused = gateway.wait(&second).json;
    assert!(denied(&refused), "{refused}");
    assert_eq!(text(&gateway.call("fs__release", json!({}))), "released");
    assert_eq!(text(&gateway.wait(&first).json), "through");
    let sent = setup.got("fs", "tools/call");
    let paths: Vec<&Value> = sent.iter().map(|sent| &sent["params"]["arguments"]["path"]).collect();
    assert_eq!(paths, [&json!("/w/a"), &Value::Null]);
}

#[test]
fn what_failed_may_have_been_carried_out_and_stays_spent() {
    for (tool, refusal) in
        [("fs__fail", None), ("fs__hang", Some("server_timed_out")), ("fs__crash", Some("transport_failure"))]
    {
        let Some(setup) = Setup::new(&format!("spent-{tool}")) else { return };
        let limits = json!({ "limits": { "timeout": "300ms" } });
        let mut gateway = setup.server_with("fs", json!({}), limits).policy(ONE_WRITE).session();
        let failed = gateway.call(tool, json!({ "path": "/w/a" }));
        match refusal {
            None => assert_eq!(failed["error"]["code"], -32050, "{failed}"),
            Some(refusal) => assert_eq!(code(&failed), refusal, "{failed}"),
        }
        // Whether the server is up again or not: not a second time.
        let again = gateway.call("fs__gate", json!({ "path": "/w/a" }));
        assert!(denied(&again) || code(&again) == "transport_failure", "{again}");
    }
}

#[test]
fn two_eras_behind_one_gateway() {
    let Some(setup) = Setup::new("eras") else { return };
    let policy = "
default: allow
state: {tainted: {type: bool, init: false}}
actions:
  - {name: taints, match: '?__say', on_result: {tainted: \"tainted or contains(result, 'SECRET')\"}}
  - {name: out, match: '?__echo', requires: not tainted}
";
    let setup = setup
        .server("L", json!({ "version": "2025-06-18", "logged": true }))
        .server("M", json!({ "era": "modern", "logged": true }))
        .policy(policy);
    let mut gateway = setup.start();
    let ask = |gateway: &mut Gateway, method: &str, params: Value| gateway.request(method, modern(params, json!({})));
    let found = ask(&mut gateway, "server/discover", json!({}));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    let listed = ask(&mut gateway, "tools/list", json!({}));
    for tool in ["L__say", "M__say"] {
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(tools.iter().any(|listed| listed["name"] == tool), "{listed}");
        let answer = ask(&mut gateway, "tools/call", json!({ "name": tool, "arguments": { "say": tool } }));
        assert_eq!(text(&answer), tool);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
    // There is no session, but a state with one owner.
    ask(&mut gateway, "tools/call", json!({ "name": "M__say", "arguments": { "say": "SECRET" } }));
    assert!(denied(&ask(&mut gateway, "tools/call", json!({ "name": "L__echo", "arguments": {} }))));
    // A version that nobody knows.
    let mut params = modern(json!({}), json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unknown = gateway.request("tools/list", params);
    assert_eq!(unknown["error"]["code"], -32022, "{unknown}");
    assert!(unknown["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2025-11-25")), "{unknown}");
    gateway.close();
    assert_eq!(setup.got("L", "initialize").len(), 1);
    assert_eq!(setup.got("L", "notifications/initialized").len(), 1);
    assert_eq!(setup.got("M", "initialize").len(), 0);
    // What the newer era says of a client is nothing for an older server.
    assert!(setup.got("L", "tools/call").iter().all(|call| call["params"].get("_meta").is_none()));
    let meta = &setup.got("M", "tools/call")[0]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{meta}");
    for (asked, given) in [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")] {
        let mut gateway = setup.start();
        let answer = gateway.request("initialize", hello(asked, json!({})));
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        assert!(answer["result"].get("instructions").is_none(), "{answer}");
        gateway.notify("notifications/initialized", json!({}));
        for tool in ["L__say", "M__say"] {
            let answer = gateway.call(tool, json!({ "say": tool }));
            assert_eq!(text(&answer), tool);
            assert!(answer["result"].get("resultType").is_none(), "{answer}");
        }
        assert!(gateway.find(Duration::ZERO, |message| message.raw.contains("INSTRUCTIONS")).is_none());
    }
}
