//! The doors beside tool calls: resources, prompts, completions, and what servers ask of clients. Each is
//! shut, or leads through the same decision and audit.

use crate::client::{Gateway, PATIENCE, Setup, code, denied, modern, text};
use serde_json::{Value, json};

const SECRET: &str = "file:///w/.env";

fn full_of_doors() -> Value {
    json!({
        "tools": ["say", "ask", "call_tool"],
        "resources": { SECRET: "TOKEN=1", "file:///w/ok": "fine" },
        "templates": ["file:///t/{name}"],
        "prompts": ["p"],
        "logged": true,
    })
}

/// One request for each door.
fn every_door() -> Vec<(&'static str, Value)> {
    vec![
        ("resources/read", json!({ "uri": SECRET })),
        ("resources/read", json!({ "uri": "file:///t/x" })),
        ("resources/subscribe", json!({ "uri": SECRET })),
        ("resources/unsubscribe", json!({ "uri": SECRET })),
        ("prompts/get", json!({ "name": "s__p", "arguments": { "a": "b" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "s__p" }, "argument": { "name": "a", "value": "" } }),
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "file:///t/{name}" }, "argument": { "name": "name", "value": "" } }),
        ),
    ]
}

#[test]
fn what_nobody_declared_is_not_offered() {
    let Some(setup) = Setup::new("doors-shut") else { return };
    let trust = json!({ "trust": { "tools": ["say"], "resources": false, "prompts": [] } });
    let setup = setup.server_with("s", full_of_doors(), trust);
    let mut gateway = setup.session();
    assert_eq!(gateway.tools(), ["s__say"]);
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(gateway.request(method, json!({}))["result"][key], json!([]), "{method}");
    }
    for (method, params) in every_door() {
        let answer = gateway.request(method, params);
        assert_eq!(code(&answer), "tool_denied", "{method}: {answer}");
        assert!(setup.got("s", method).is_empty(), "{method}");
    }
    for method in [
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "tasks/list",
        "vendor/x",
        "resources/nope",
        "tools/call/",
    ] {
        assert_eq!(gateway.request(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    for tool in ["s__ask", "s__@read_resource", "s__@get_prompt", "ask", "@read_resource"] {
        assert_eq!(code(&gateway.call(tool, json!({ "uri": SECRET }))), "tool_denied");
    }
    let told = gateway.close().stderr;
    for word in [SECRET, "s__p", "s__ask"] {
        assert!(told.lines().any(|line| line.contains("DENY") && line.contains(word)), "{word}: {told}");
    }
}

#[test]
fn every_door_is_decided_and_recorded() {
    let Some(setup) = Setup::new("doors-decided") else { return };
    let policy = "default: deny\nactions: [{name: one, match: s__say, requires: 'true'}]\n";
    let setup = setup.server("s", full_of_doors()).policy(policy);
    let mut gateway = setup.session();
    assert_eq!(gateway.request("resources/list", json!({}))["result"]["resources"].as_array().unwrap().len(), 2);
    for (method, params) in every_door() {
        let answer = gateway.request(method, params);
        assert_eq!(answer["error"]["code"], -32000, "{method}: {answer}");
        assert_eq!(code(&answer), "policy_denied", "{method}: {answer}");
        assert!(setup.got("s", method).is_empty(), "{method}");
    }
    let told = gateway.close().stderr;
    for full in ["s__@read_resource", "s__@get_prompt", "s__@complete"] {
        assert!(told.lines().any(|line| line.contains("DENY") && line.contains(full)), "{full}: {told}");
    }
    // The same doors, open.
    let Some(setup) = Setup::new("doors-open") else { return };
    let setup = setup.server("s", full_of_doors());
    let mut gateway = setup.session();
    for (method, params) in every_door() {
        let answer = gateway.request(method, params);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert!(!setup.got("s", method).is_empty(), "{method}");
    }
    // Under the server's own name there.
    assert_eq!(setup.got("s", "prompts/get")[0]["params"]["name"], "p");
    assert_eq!(setup.got("s", "completion/complete")[0]["params"]["ref"]["name"], "p");
    for bad in [json!({}), json!({ "uri": 7 })] {
        assert_eq!(gateway.request("resources/read", bad)["error"]["code"], -32602);
    }
    assert_eq!(gateway.request("completion/complete", json!({ "ref": { "type": "ref/x" } }))["error"]["code"], -32602);
}

#[test]
fn a_secret_read_as_a_resource_taints() {
    let Some(setup) = Setup::new("doors-taint") else { return };
    let policy = "
default: allow
patterns: {secrets: [TOKEN]}
state: {tainted: {type: bool, init: false}}
actions:
  - {name: reads, match: 's__@*', on_result: {tainted: \"tainted or matches(result, secrets)\"}}
  - {name: out, match: s__say, requires: not tainted}
";
    let mut gateway = setup.server("s", full_of_doors()).policy(policy).session();
    let read = gateway.request("resources/read", json!({ "uri": "file:///w/ok" }));
    assert_eq!(read["result"]["contents"][0]["text"], "fine", "{read}");
    assert_eq!(text(&gateway.call("s__say", json!({ "say": "out" }))), "out");
    assert_eq!(gateway.request("resources/read", json!({ "uri": SECRET }))["result"]["contents"][0]["text"], "TOKEN=1");
    assert!(denied(&gateway.call("s__say", json!({ "say": "out" }))));
    // A client without a session has the same state.
    let call = modern(json!({ "name": "s__say", "arguments": { "say": "out" } }), json!({}));
    assert!(denied(&gateway.request("tools/call", call)));
}

#[test]
fn a_rule_reaches_the_tool_behind_a_tool() {
    let Some(setup) = Setup::new("doors-nested") else { return };
    let policy = "
default: deny
actions: [{name: no_deleting, match: hub__call_tool, requires: \"not contains(call.text, 'delete_repo')\"}]
";
    let setup = setup.server("hub", full_of_doors()).policy(policy);
    let mut gateway = setup.session();
    let nested = |name: &str| json!({ "name": name, "arguments": { "repo": "x" } });
    assert!(denied(&gateway.call("hub__call_tool", nested("delete_repo"))));
    assert!(denied(&gateway.call("hub__call_tool", json!({ "calls": [nested("delete_repo")] }))));
    assert!(gateway.call("hub__call_tool", nested("read_repo"))["result"]["isError"].is_null());
    assert_eq!(setup.got("hub", "tools/call").len(), 1);
    let told = gateway.close().stderr;
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("hub__call_tool  ")).collect();
    assert!(lines[0].contains("DENY") && lines[0].contains(r#""name"="delete_repo""#), "{lines:?}");
    assert!(lines[2].contains("ALLOW") && lines[2].contains("read_repo"), "{lines:?}");
}

/// Answers the next request of the gateway's with this result.
fn answer_question(gateway: &mut Gateway, method: &str, result: &Value) {
    let question = gateway.find(PATIENCE, |message| message.json["method"] == method).unwrap();
    gateway.seen.retain(|message| message.raw != question.raw);
    let answer = json!({ "jsonrpc": "2.0", "id": question.json["id"], "result": result });
    gateway.send(answer.to_string().as_bytes());
}

const ELICIT: &str = "elicitation/create";

fn question(method: &str) -> Value {
    let params = json!({ "message": "sure?", "requestedSchema": { "type": "object", "properties": {} } });
    json!({ "method": method, "params": params })
}

#[test]
fn servers_ask_only_what_they_are_trusted_to_ask() {
    for (name, era) in [("older", "legacy"), ("newer", "modern")] {
        let Some(setup) = Setup::new(&format!("doors-ask-{name}")) else { return };
        let policy = "
default: allow
state: {asked: {type: int, init: 0}}
invariants: [{name: once, expr: asked <= 1}]
actions: [{name: asks, match: 's__@elicit', effect: {asked: asked + 1}}]
";
        let setup = setup.server("s", json!({ "tools": ["ask"], "era": era })).policy(policy);
        let mut gateway = setup.start();
        gateway.initialize(json!({ "elicitation": {}, "sampling": {}, "roots": {} }));
        // Not even where the client could: nobody has declared it.
        for method in ["sampling/createMessage", "roots/list", "vendor/x"] {
            let answer = gateway.call("s__ask", question(method));
            assert!(answer.to_string().contains("not trusted to ask"), "{method}: {answer}");
        }
        let call = gateway.begin_call("s__ask", question(ELICIT));
        answer_question(&mut gateway, ELICIT, &json!({ "action": "accept", "content": { "n": 1 } }));
        let answer = gateway.wait(&call).json;
        assert!(text(&answer).contains(r#""action": "accept""#), "{answer}");
        // By the policy only once.
        let answer = gateway.call("s__ask", question(ELICIT));
        assert!(answer.to_string().contains("once"), "{answer}");
        assert!(gateway.notes("sampling/createMessage").is_empty() && gateway.notes("roots/list").is_empty());
        let told = gateway.close().stderr;
        for word in ["s__sampling/createMessage", "ALLOW s__@elicit", "DENY  s__@elicit"] {
            assert!(told.contains(word), "{name}, {word}: {told}");
        }
    }
}

#[test]
fn a_client_without_a_session_is_asked_in_rounds() {
    for (name, era) in [("older", "legacy"), ("newer", "modern")] {
        let Some(setup) = Setup::new(&format!("rounds-{name}")) else { return };
        let policy = "
default: allow
state: {calls: {type: int, init: 0}}
invariants: [{name: few, expr: calls <= 2}]
actions: [{name: counts, match: s__ask, effect: {calls: calls + 1}}]
";
        let mut gateway = setup.server("s", json!({ "tools": ["ask"], "era": era })).policy(policy).start();
        let params = |more: Value| {
            let mut params = json!({ "name": "s__ask", "arguments": question(ELICIT) });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            modern(params, json!({ "elicitation": {} }))
        };
        let asked = gateway.request("tools/call", params(json!({})));
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let requests = asked["result"]["inputRequests"].as_object().unwrap();
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!(request["method"], ELICIT);
        let state = asked["result"]["requestState"].clone();
        assert!(!state.to_string().contains("of the server"), "{asked}");
        let responses = json!({ key: { "action": "accept", "content": { "n": 1 } } });
        // A state that was made up, and the right one with another call.
        for (bad, arguments) in [(json!("made up"), question(ELICIT)), (state.clone(), json!({ "method": "other" }))] {
            let mut params = params(json!({ "requestState": bad, "inputResponses": responses }));
            params["arguments"] = arguments;
            assert_eq!(gateway.request("tools/call", params)["error"]["code"], -32602);
        }
        let answer =
            gateway.request("tools/call", params(json!({ "requestState": state, "inputResponses": responses })));
        assert!(text(&answer).contains("accept"), "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete");
        if era == "modern" {
            assert!(text(&answer).contains("of the server"), "the server has its own state back: {answer}");
        }
        // Used up.
        let again =
            gateway.request("tools/call", params(json!({ "requestState": state, "inputResponses": responses })));
        assert_eq!(again["error"]["code"], -32602);
        // The rounds were one call: there is one more.
        assert_eq!(gateway.request("tools/call", params(json!({})))["result"]["resultType"], "input_required");
        assert!(denied(&gateway.request("tools/call", params(json!({})))));
    }
}

/// A call that waits for the client does not outlive what would now deny it.
#[test]
fn a_call_that_waits_is_judged_by_what_has_happened_since() {
    let Some(setup) = Setup::new("rounds-taint") else { return };
    let policy = "
default: allow
state: {tainted: {type: bool, init: false}}
actions:
  - {name: reads, match: s__say, effect: {tainted: 'true'}}
  - {name: sends, match: s__ask, requires: not tainted}
";
    let spec = json!({ "tools": ["ask", "say"], "era": "modern", "logged": true });
    let setup = setup.server("s", spec).policy(policy);
    let mut gateway = setup.start();
    let params = |more: Value| {
        let mut params = json!({ "name": "s__ask", "arguments": question(ELICIT) });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        modern(params, json!({ "elicitation": {} }))
    };
    let asked = gateway.request("tools/call", params(json!({})));
    let state = asked["result"]["requestState"].clone();
    let say = modern(json!({ "name": "s__say", "arguments": { "say": "secret" } }), json!({}));
    assert_eq!(text(&gateway.request("tools/call", say)), "secret");
    let responses = json!({ "q": { "action": "accept", "content": {} } });
    let answer = gateway.request("tools/call", params(json!({ "requestState": state, "inputResponses": responses })));
    assert!(answer["error"]["message"].as_str().unwrap().contains("sends"), "{answer}");
    let calls = setup.got("s", "tools/call");
    assert!(!calls.iter().any(|call| call.to_string().contains("inputResponses")), "{calls:?}");
}

/// What nobody asked for goes no further, and what was asked is on record.
#[test]
fn answers_go_to_questions_only() {
    let Some(setup) = Setup::new("rounds-keys") else { return };
    let audit = setup.path("audit.jsonl");
    let policy = "default: allow\nactions: [{name: never, match: s__never, requires: 'false'}]\n";
    let spec = json!({ "tools": ["ask"], "era": "modern", "logged": true });
    let setup = setup.server("s", spec).policy(policy).args(&["--audit", &audit, "--log-arguments", "full"]);
    let mut gateway = setup.start();
    let params = |more: Value| {
        let mut params = json!({ "name": "s__ask", "arguments": question(ELICIT) });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        modern(params, json!({ "elicitation": {} }))
    };
    // Answers without a question are taken off, so the server asks.
    let asked = gateway.request("tools/call", params(json!({ "inputResponses": { "q": "SMUGGLED-1" } })));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].clone();
    let responses = json!({ "q": { "action": "accept", "content": { "n": "ANSWER" } }, "other": "SMUGGLED-2" });
    let answer = gateway.request("tools/call", params(json!({ "requestState": state, "inputResponses": responses })));
    assert!(text(&answer).contains("ANSWER"), "{answer}");
    assert!(gateway.close().stderr.contains("s__@elicit"));
    let calls = format!("{:?}", setup.got("s", "tools/call"));
    assert!(!calls.contains("SMUGGLED"), "{calls}");
    let record = std::fs::read_to_string(&audit).unwrap();
    assert!(record.contains("ANSWER") && record.contains("\"stop\""), "{record}");
}

/// The doors beside tools ask through the same trust, policy and rounds.
#[test]
fn prompts_ask_no_more_than_tools_may() {
    for reverse in [json!([]), json!(["elicitation"])] {
        let trusted = reverse != json!([]);
        let Some(setup) = Setup::new(&format!("rounds-prompt-{trusted}")) else { return };
        let policy = "default: allow\nactions: [{name: never, match: s__never, requires: 'false'}]\n";
        let spec = json!({ "tools": [], "era": "modern", "prompts": ["p"], "asks": ELICIT, "logged": true });
        let trust = json!({ "trust": { "tools": "*", "prompts": "*", "resources": true, "reverse": reverse } });
        let setup = setup.server_with("s", spec, trust).policy(policy);
        let mut gateway = setup.start();
        let params = |more: Value| {
            let mut params = json!({ "name": "s__p" });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            modern(params, json!({ "elicitation": {} }))
        };
        let smuggled = json!({ "inputResponses": { "q": "SMUGGLED" } });
        let asked = gateway.request("prompts/get", params(smuggled));
        if !trusted {
            assert!(asked["error"]["message"].as_str().unwrap().contains("not trusted to ask"), "{asked}");
            continue;
        }
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let state = asked["result"]["requestState"].clone();
        let made_up = json!({ "requestState": "made up", "inputResponses": { "q": "SMUGGLED" } });
        assert_eq!(gateway.request("prompts/get", params(made_up))["error"]["code"], -32602);
        let responses = json!({ "q": { "action": "accept", "content": { "n": "ANSWER" } } });
        let more = json!({ "requestState": state, "inputResponses": responses });
        let answer = gateway.request("prompts/get", params(more));
        assert!(answer["result"]["messages"].to_string().contains("ANSWER"), "{answer}");
        let asked = format!("{:?}", setup.got("s", "prompts/get"));
        assert!(!asked.contains("SMUGGLED"), "{asked}");
    }
}

#[test]
fn only_who_subscribed_hears_of_a_resource_and_only_which() {
    let Some(setup) = Setup::new("doors-updated") else { return };
    let policy = "default: allow\nactions: [{name: one, match: 's__@read_resource', requires: \"not contains(payload, 'x:no')\"}]";
    let spec = json!({ "tools": ["note"], "resources": { "x:a": "a", "x:b": "b", "x:no": "c" } });
    let mut gateway = setup.server("s", spec).policy(policy).session();
    let updated = "notifications/resources/updated";
    let mut said = 0;
    let mut say = |gateway: &mut Gateway, uri: &str| {
        said += 1;
        let params = json!({ "uri": uri, "title": "t", "orders": "obey", "_meta": { "a": 1 } });
        gateway.call("s__note", json!({ "method": updated, "params": params }));
        // What it says comes in order, so that this is behind it.
        let log = json!({ "level": "info", "data": said });
        gateway.call("s__note", json!({ "method": "notifications/message", "params": log }));
        gateway.find(PATIENCE, |message| message.json["params"]["data"] == said).unwrap();
    };
    say(&mut gateway, "x:a");
    assert_eq!(gateway.request("resources/subscribe", json!({ "uri": "x:a" }))["result"], json!({}));
    assert!(gateway.request("resources/subscribe", json!({ "uri": "x:no" }))["error"].is_object());
    for uri in ["x:b", "x:no"] {
        say(&mut gateway, uri);
    }
    assert_eq!(gateway.notes(updated), Vec::<Value>::new());
    say(&mut gateway, "x:a");
    assert_eq!(
        gateway.notes(updated).iter().map(|note| &note["params"]).collect::<Vec<_>>(),
        [&json!({ "uri": "x:a", "title": "t" })]
    );
    assert_eq!(gateway.request("resources/unsubscribe", json!({ "uri": "x:a" }))["result"], json!({}));
    say(&mut gateway, "x:a");
    assert_eq!(gateway.notes(updated).len(), 1);
}
