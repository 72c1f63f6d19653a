//! Servers that start badly, list badly or stop reading: what is lost is said, and no more is lost.

use crate::client::{PATIENCE, Setup, code, text};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

#[test]
fn odd_lists_lose_no_tools() {
    let Some(setup) = Setup::new("odd-lists") else { return };
    let error = |code: i64| json!({ "error": { "code": code, "message": "no" } });
    let all = json!({ "tools": {}, "prompts": {}, "resources": {} });
    let setup = setup
        .server("null", json!({ "results": { "tools/list": { "tools": null } } }))
        .server("absent", json!({ "results": { "tools/list": {} } }))
        .server("unknown", json!({ "results": { "tools/list": error(-32601) } }))
        .server("promptless", json!({ "capabilities": { "prompts": {} } }))
        .server(
            "text",
            json!({ "tools": ["say"], "capabilities": all, "results": {
            "prompts/list": { "prompts": null }, "resources/list": { "resources": "none" },
            "resources/templates/list": error(-32000),
        } }),
        )
        .server_with(
            "mute",
            json!({ "tools": ["say"], "capabilities": all, "mute": ["prompts/list", "resources/list"] }),
            json!({ "limits": { "start": "1s" } }),
        );
    let began = Instant::now();
    let mut gateway = setup.session();
    let mut tools = gateway.tools();
    tools.sort();
    assert_eq!(tools, ["mute__say", "text__say"]);
    assert!(began.elapsed() < PATIENCE / 4, "one time for all lists: {:?}", began.elapsed());
    assert_eq!(text(&gateway.call("text__say", json!({ "say": "x" }))), "x");
    let end = gateway.close();
    for (server, words) in [
        ("null", vec!["no list `tools`"]),
        ("absent", vec!["no list `tools`"]),
        ("unknown", vec!["knows no tools/list"]),
        ("promptless", vec!["announces no tools"]),
        ("text", vec!["no list `prompts`", "no list `resources`", "resources/templates/list cannot be read"]),
        ("mute", vec!["prompts/list cannot be read", "resources/list cannot be read"]),
    ] {
        assert!(!end.stderr.contains(&format!("{server} down")), "{}", end.stderr);
        for word in words {
            let told = |line: &str| line.contains(&format!("{server} ")) && line.contains(word);
            assert!(end.stderr.lines().any(told), "{server} {word}: {}", end.stderr);
        }
    }
}

#[test]
fn why_a_server_does_not_start_is_said() {
    let Some(setup) = Setup::new("unstarted") else { return };
    let plain = setup.path("plain.sh");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    let orphan = setup.path("orphan.sh");
    std::fs::write(&orphan, "#!/no/such/shell\n").unwrap();
    std::fs::set_permissions(&orphan, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cases: [(&str, Value, &str); 7] = [
        ("typo", json!({ "command": "nodee" }), "`nodee` is not found on PATH"),
        ("spaced", json!({ "command": "python3 -V" }), "`python3 -V` is not found on PATH; arguments go into `args`"),
        ("gone", json!({ "command": "/no/such/program" }), "`/no/such/program` does not exist"),
        (
            "homeless",
            json!({ "command": "python3", "cwd": "/no/such/folder" }),
            "`/no/such/folder` (`cwd`) does not exist",
        ),
        ("folder", json!({ "command": "/usr/bin/" }), "`/usr/bin/` is a folder"),
        ("plain", json!({ "command": plain }), "is not executable"),
        ("orphan", json!({ "command": orphan }), "first line"),
    ];
    let mut setup = setup;
    for (name, entry, _) in &cases {
        let mut entry = entry.clone();
        entry["trust"] = json!("*");
        setup = setup.entry(name, entry);
    }
    let gateway = setup.session();
    for (name, _, words) in &cases {
        let told = gateway.told(&format!("{name} down"));
        let line = told.lines().find(|line| line.contains(&format!("{name} down"))).unwrap();
        assert!(line.contains(words), "{name}: {line}");
    }
}

#[test]
fn a_wrong_handshake_is_told_and_not_taken_for_the_end_of_the_server() {
    let Some(setup) = Setup::new("handshake") else { return };
    let wrong = json!({ "protocolVersion": "2025-06-18", "serverInfo": { "name": "a", "version": "1" } });
    let setup = setup.server("s", json!({ "logged": true, "results": { "initialize": wrong } }));
    let gateway = setup.session();
    let told = gateway.told("s down");
    let line = told.lines().find(|line| line.contains("s down")).unwrap();
    assert!(line.contains("missing field `capabilities`") && !line.contains("exit status"), "{line}");
    assert_eq!(setup.got("s", "initialize").len(), 1, "it is not started twice over it");
}

#[test]
fn a_server_that_stops_reading_holds_up_no_call_for_longer_than_its_time() {
    let Some(setup) = Setup::new("deaf") else { return };
    let limits = json!({ "limits": { "timeout": "500ms", "max_in_flight": 1 } });
    let setup = setup.server_with("deaf", json!({ "deaf": "hang" }), limits).server("good", json!({}));
    let mut gateway = setup.session();
    gateway.tools();
    // More than the pipe holds.
    let big = "x".repeat(3 << 20);
    let began = Instant::now();
    for arguments in [json!({}), json!({ "big": big }), json!({ "big": big }), json!({})] {
        let answer = gateway.call("deaf__hang", arguments);
        assert_eq!(code(&answer), "server_timed_out", "{answer}");
        assert_eq!(text(&gateway.call("good__say", json!({ "say": "x" }))), "x");
    }
    assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    let end = gateway.close();
    assert_eq!((end.code, end.left.len()), (Some(0), 0), "{}", end.stderr);
}
