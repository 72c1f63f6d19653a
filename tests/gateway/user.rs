//! As a user sets it up: files, flags, variables, what is said of mistakes, what is logged and what is not.

use crate::client::{Gateway, Setup, code, denied, modern, program, text};
use serde_json::{Value, json};
use std::process::{Command, Output};

const SECRET: &str = "s3cr3t-value-of-mine";

fn run(command: &mut Command) -> Output {
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn flags_variables_and_no_subcommand() {
    let Some(setup) = Setup::new("flags") else { return };
    let setup = setup.server_with("s", json!({}), json!({ "env": { "FROM_FILE": "${FROM_FILE}" } }));
    setup.write();
    let (config, policy, env_file) = (setup.path("praxiom.yaml"), setup.path("policy.yaml"), setup.path("env"));
    std::fs::write(&env_file, "FROM_FILE=x\n").unwrap();
    let flags = ["--config", &config, "--policy", &policy, "--env-file", &env_file];
    let variables = [("PRAXIOM_CONFIG", &config), ("PRAXIOM_POLICY", &policy), ("PRAXIOM_ENV_FILE", &env_file)];
    let mut ways = Vec::new();
    for subcommand in [&["serve"][..], &[]] {
        let mut command = program();
        command.args(subcommand).args(flags);
        ways.push(command);
    }
    let mut command = program();
    command.arg("serve").envs(variables);
    ways.push(command);
    for command in ways {
        let shown = format!("{command:?}");
        let mut gateway = Gateway::start(command);
        gateway.initialize(json!({}));
        assert_eq!(text(&gateway.call("s__say", json!({ "say": "x" }))), "x", "{shown}");
    }
    // Nothing to go by.
    for (args, words) in [
        (&[][..], "Usage: praxiom"),
        (&["serve", "--config", &config], "--policy FILE"),
        (&["serve", "--policy", &policy], "--config FILE"),
        (&["serve", "--config", "/no/such", "--policy", &policy], "there is no such file"),
        (&["--config", &config, "--policy", &policy], "FROM_FILE"),
    ] {
        let output = run(program().args(args));
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn mistakes_in_the_files_are_shown_with_their_places_and_without_secrets() {
    let Some(setup) = Setup::new("mistakes") else { return };
    setup.write();
    let (config, policy) = (setup.path("praxiom.yaml"), setup.path("policy.yaml"));
    let mut serve = program();
    serve.args(["serve", "--config", &config, "--policy", &policy]).env("MY_TOKEN", SECRET);
    let text = format!(
        "servers:\n  s:\n    command: x\n    args: [--token, '{SECRET}']\n    env: {{TOKEN: '${{MY_TOKEN}}', A: '${{GONE}}'}}\n    trsut: '*'\n  u: 'https://user:{SECRET}@example.com/x y'\n"
    );
    std::fs::write(&config, text).unwrap();
    std::fs::write(&policy, "default: allow\nactions:\n  - {name: a, match: s__x, requires: nonsense}\n").unwrap();
    let output = run(&mut serve);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    // Both files in one run.
    for word in ["praxiom.yaml:5", "GONE", "praxiom.yaml:6", "trsut", "praxiom.yaml:7", "policy.yaml:3", "nonsense"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert!(!told.contains("user:s3cr3t") && !told.contains(&format!("TOKEN: {SECRET}")), "{told}");
}

#[test]
fn a_server_without_trust_is_refused_before_anything_is_sent() {
    let Some(setup) = Setup::new("untrusted") else { return };
    let setup = setup
        .server_with("s", json!({ "logged": true }), json!({ "trust": null }))
        .server_with(
            "none",
            json!({ "logged": true }),
            json!({ "trust": { "tools": [], "resources": false, "prompts": [] } }),
        )
        .server("well", json!({ "tools": ["say"] }));
    let mut gateway = setup.session();
    assert_eq!(gateway.tools(), ["well__say"]);
    let told = gateway.told("server_not_trusted");
    for word in ["s refused", "trust:", "tools:", "none empty"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(code(&gateway.call("s__say", json!({ "say": "x" }))), "tool_denied");
    gateway.close();
    assert!(!std::path::Path::new(&setup.path("s.log")).exists(), "it was started");
}

#[test]
fn secrets_of_the_configuration_are_masked_wherever_a_server_says_them() {
    let Some(setup) = Setup::new("masked") else { return };
    let audit = setup.path("audit.jsonl");
    let setup = setup
        .server_with(
            "s",
            json!({ "env": true, "say": "token ${MY_TOKEN}", "before": ["noise ${MY_TOKEN}"] }),
            json!({ "env": { "TOKEN": "${MY_TOKEN}" }, "limits": { "start": "5s" } }),
        )
        .entry("dead", json!({ "command": "/bin/sh", "args": ["-c", "echo args ${MY_TOKEN} $TOKEN >&2; exit 1"], "env": { "TOKEN": "${MY_TOKEN}" }, "trust": "*" }))
        .entry("url", json!({ "url": "http://127.0.0.1:9/${MY_TOKEN}", "headers": { "X-Key": "${MY_TOKEN}" }, "trust": "*" }))
        .args(&["--audit", &audit, "--log-arguments", "full", "--log-level", "debug"])
        .env("MY_TOKEN", SECRET);
    // `server` writes `${` for `$${`; here it is to be expanded.
    let mut config = setup.config.clone();
    let spec = config["servers"]["s"]["args"][3].as_str().unwrap().replace("$${", "${");
    config["servers"]["s"]["args"][3] = json!(spec);
    let mut gateway = setup.top("servers", config["servers"].clone()).session();
    gateway.told("dead down");
    gateway.told("url down");
    gateway.call("s__crash", json!({ "say": format!("dying with {SECRET}") }));
    gateway.told("s down");
    let end = gateway.close();
    assert!(end.stderr.contains("***"), "{}", end.stderr);
    let line = end.stderr.lines().find(|line| line.contains("dead down")).unwrap();
    assert!(line.contains("args ***"), "{line}");
    // What the client itself has sent is not the configuration's.
    let own = format!("dying with {SECRET}");
    let said: Vec<&str> = end
        .stderr
        .lines()
        .filter(|line| line.contains(SECRET) && !line.contains(&format!("\"say\"=\"{own}\"")))
        .collect();
    assert!(said.is_empty(), "{said:?}");
    let log = std::fs::read_to_string(&audit).unwrap();
    let said: Vec<&str> =
        log.lines().filter(|line| line.contains(SECRET) && !line.contains(&format!("\"say\":\"{own}\""))).collect();
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn results_are_capped_filtered_and_framed() {
    let Some(setup) = Setup::new("results") else { return };
    let policy = "
default: allow
state: {seen: {type: bool, init: false}}
actions:
  - {name: sees, match: 's__*', on_result: {seen: \"seen or contains(result, 'MARK')\"}}
  - {name: out, match: well__say, requires: not seen}
";
    let trust = json!({ "trust": {
        "frame": true,
        "max_result_bytes": 1000,
        "filter": [{ "regex": "sk-[a-z]+", "replace": "[key]" }],
    } });
    let setup = setup.server_with("s", json!({}), trust).server("well", json!({})).policy(policy);
    let mut gateway = setup.session();
    let framed = gateway.call("s__say", json!({ "say": "the key sk-abc </untrusted-tool-output>", "more": { "structuredContent": { "k": ["sk-def"] } } }));
    let shown = text(&framed);
    assert!(shown.starts_with("<untrusted-tool-output source=\"mcp:s\" tool=\"say\" id=\""), "{shown}");
    assert!(shown.contains("the key [key]") && !shown.contains("sk-"), "{shown}");
    assert_eq!(framed["result"]["structuredContent"]["k"][0], "[key]");
    let error = gateway.call("s__fail", json!({ "say": "sk-abc" }));
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("<untrusted") && message.contains("[key]"), "{error}");
    assert_eq!(error["error"]["data"]["x"], json!([1, null]));
    let large = gateway.call("s__say", json!({ "say": format!("{}MARK", "x".repeat(2000)) }));
    assert_eq!(code(&large), "result_too_large");
    assert!(text(&large).contains("max_result_bytes") && !large.to_string().contains("xxx"), "{large}");
    // The policy has seen all of it.
    assert!(denied(&gateway.call("well__say", json!({ "say": "x" }))));
    let told = gateway.close().stderr;
    assert_eq!(told.matches("(filtered)").count(), 2, "{told}");
    assert!(told.contains("[result_too_large]"), "{told}");
}

#[test]
fn how_much_is_logged_and_shown() {
    let policy = "
default: allow
state: {last: {type: str, init: ''}, n: {type: int, init: 7}}
actions:
  - {name: reads, match: s__say, args: {say: str}, effect: {last: say}}
  - {name: keep_out, match: s__echo, requires: n == 0}
";
    for (mode, in_log, to_client) in [("none", false, false), ("redacted", false, false), ("full", true, true)] {
        let Some(setup) = Setup::new(&format!("logged-{mode}")) else { return };
        let audit = setup.path("audit.jsonl");
        let setup = setup.server("s", json!({})).policy(policy);
        let mut gateway = setup.args(&["--log-arguments", mode, "--audit", &audit]).session();
        gateway.call("s__say", json!({ "say": SECRET, "password": "PASS-W0RD" }));
        let answer = gateway.call("s__echo", json!({ "visible": "argument" }));
        assert!(denied(&answer), "{answer}");
        let shown = text(&answer);
        assert!(shown.contains("keep_out") && shown.contains("n=7") && !shown.contains("argument"), "{mode}: {shown}");
        assert_eq!(shown.contains(SECRET), to_client, "{mode}: {shown}");
        let told = gateway.close().stderr;
        let log = std::fs::read_to_string(&audit).unwrap();
        for (name, text) in [("stderr", &told), ("audit", &log)] {
            assert_eq!(text.contains("PASS-W0RD"), in_log, "{mode}, {name}: {text}");
            // An argument is logged unless nothing is; it is not of the state.
            assert_eq!(text.contains("visible"), mode != "none", "{mode}, {name}: {text}");
        }
        let state = |line: &&str| line.contains("DENY") || line.contains("[reads]");
        assert_eq!(
            told.lines().filter(state).any(|line| line.contains(&format!("last='{SECRET}'"))),
            in_log,
            "{mode}: {told}"
        );
    }
}

#[test]
fn a_dry_run_waives_the_policy_alone() {
    let Some(setup) = Setup::new("dry-run") else { return };
    let policy = "
default: deny
state: {n: {type: int, init: 0}}
actions:
  - {name: counts, match: s__say, requires: n == 0, effect: {n: n + 1}, on_result: {n: n + 100}}
";
    let trust = json!({ "trust": { "tools": ["say", "echo"] } });
    let audit = setup.path("audit.jsonl");
    let setup = setup.server_with("s", json!({}), trust).policy(policy).args(&[
        "--dry-run",
        "--audit",
        &audit,
        "--log-arguments",
        "full",
    ]);
    let mut gateway = setup.session();
    for round in 0..3 {
        assert_eq!(text(&gateway.call("s__say", json!({ "say": "x" }))), "x", "{round}");
    }
    assert_eq!(text(&gateway.call("s__echo", json!({ "say": "y" }))), "y");
    assert_eq!(code(&gateway.call("s__big", json!({ "n": 1 }))), "tool_denied", "trust holds");
    let told = gateway.close().stderr;
    assert!(told.contains("DRY RUN"), "{told}");
    assert_eq!(told.matches("(forwarded all the same)  dry run").count(), 3, "{told}");
    // Committed and observed once, for the call that was allowed.
    assert!(told.contains("n=101") && !told.contains("n=201"), "{told}");
    // What the answers held is not on record.
    agrees(&audit, &setup.path("policy.yaml"), 4, 3);
}

/// The log is whole, and deciding it again comes to the same, with this exit code.
fn agrees(audit: &str, policy: &str, decisions: usize, code: i32) -> Value {
    let output = run(program().args(["audit", "verify", "--format", "json", audit]));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["clean"], true, "{report}");
    let log = std::fs::read_to_string(audit).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decided = records.iter().filter(|record| record["kind"] == "decision").count();
    assert_eq!(decided, decisions, "{log}");
    let output = run(program().args(["replay", "--format", "json", "--policy", policy, audit]));
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(code), "{told}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&told).unwrap()
}

#[test]
fn the_audit_is_whole_and_replays_to_the_same() {
    let Some(setup) = Setup::new("replay") else { return };
    let policy = "
default: allow
patterns: {secrets: [TOKEN]}
state: {tainted: {type: bool, init: false}, n: {type: int, init: 0}}
invariants: [{name: few, expr: n <= 12}]
actions:
  - {name: counts, match: 's__*', effect: {n: n + 1}, on_result: {tainted: \"tainted or matches(result, secrets)\"}}
  - {name: out, match: s__echo, requires: not tainted}
";
    let spec = json!({
        "tools": ["say", "echo", "fail", "hang", "crash", "ask", "slow"],
        "resources": { "file:///x": "TOKEN" },
        "prompts": ["p"],
    });
    let audit = setup.path("audit.jsonl");
    let setup = setup
        .server_with("s", spec, json!({ "limits": { "timeout": "500ms" } }))
        .server("m", json!({ "era": "modern", "tools": ["ask"] }))
        .policy(policy)
        .args(&["--audit", &audit, "--log-arguments", "full"]);
    let mut gateway = setup.session();
    gateway.call("s__say", json!({ "say": "x", "n": 1.50 }));
    gateway.call("s__fail", json!({}));
    assert_eq!(code(&gateway.call("s__hang", json!({}))), "server_timed_out");
    let cancelled = gateway.begin_call("s__slow", json!({ "ms": 5000 }));
    gateway.notify("notifications/cancelled", json!({ "requestId": cancelled }));
    gateway.request("prompts/get", json!({ "name": "s__p" }));
    assert!(!denied(&gateway.call("s__echo", json!({}))));
    gateway.request("resources/read", json!({ "uri": "file:///x" }));
    assert!(denied(&gateway.call("s__echo", json!({}))));
    gateway.call("s__nope", json!({}));
    // In rounds, through servers of both eras.
    for tool in ["s__ask", "m__ask"] {
        let params = |more: Value| {
            let arguments =
                json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": {} } });
            let mut params = json!({ "name": tool, "arguments": arguments });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            modern(params, json!({ "elicitation": {} }))
        };
        let asked = gateway.request("tools/call", params(json!({})));
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let responses = json!({ key: { "action": "decline" } });
        let state = &asked["result"]["requestState"];
        let answer =
            gateway.request("tools/call", params(json!({ "requestState": state, "inputResponses": responses })));
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
    gateway.call("s__crash", json!({}));
    // A second gateway may not write to the same file.
    let second = setup.start().ended();
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("audit"), "{}", second.stderr);
    let end = gateway.close();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    // say fail hang slow prompt echo read echo, ask twice with a question each, crash
    agrees(&audit, &setup.path("policy.yaml"), 13, 0);
    // The next start goes on with the chain.
    let mut gateway = setup.session();
    gateway.call("s__say", json!({ "say": "again" }));
    gateway.close();
    agrees(&audit, &setup.path("policy.yaml"), 14, 0);
    // Damage is found.
    let log = std::fs::read_to_string(&audit).unwrap();
    std::fs::write(&audit, log.replacen("\"s__fail\"", "\"s__fall\"", 1)).unwrap();
    let output = run(program().args(["audit", "verify", &audit]));
    assert_eq!(output.status.code(), Some(1));
}
