//! The start and the end: nobody waits for a slow server, nothing is left behind.

use crate::client::{End, Gateway, PATIENCE, Setup, code, descendants, hello, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CHANGED: &str = "notifications/tools/list_changed";

#[test]
fn the_handshake_is_answered_while_servers_start() {
    let Some(setup) = Setup::new("start") else { return };
    // Each takes its time; both together take no more.
    let mut gateway = setup
        .server("a", json!({ "delay": 1.5, "tools": ["say"] }))
        .server("b", json!({ "delay": 1.5, "tools": ["say"] }))
        .start();
    let began = Instant::now();
    let answer = gateway.initialize(json!({}));
    assert!(began.elapsed() < Duration::from_millis(1200), "{:?}", began.elapsed());
    for kind in ["tools", "resources", "prompts", "completions", "logging"] {
        assert!(answer["result"]["capabilities"][kind].is_object(), "{answer}");
    }
    // The first list and a call wait for them.
    let call = gateway.begin_call("a__say", json!({ "say": "at once" }));
    assert_eq!(gateway.tools(), ["a__say", "b__say"]);
    assert_eq!(text(&gateway.wait(&call).json), "at once");
    assert!(began.elapsed() < Duration::from_millis(2900), "{:?}", began.elapsed());
}

#[test]
fn a_late_server_joins_and_a_dead_one_is_named() {
    let Some(setup) = Setup::new("late") else { return };
    let setup = setup
        .top("start_wait", json!("1s"))
        .server("late", json!({ "delay": 3, "tools": ["say"] }))
        .server("dead", json!({ "exit": 1, "say": "no database\u{1b}[2J" }))
        .entry("missing", json!({ "command": "/no/such/program", "trust": "*" }))
        .server("well", json!({ "tools": ["say"] }));
    let mut gateway = setup.session();
    let began = Instant::now();
    assert_eq!(gateway.tools(), ["well__say"]);
    assert!(began.elapsed() < Duration::from_millis(2500), "{:?}", began.elapsed());
    gateway.seen.clear();
    for (tool, refusal, word) in [("late__say", "server_timed_out", "starting"), ("dead__say", "transport_failure", "down")] {
        let answer = gateway.call(tool, json!({ "say": "x" }));
        assert_eq!(code(&answer), refusal, "{answer}");
        assert!(text(&answer).contains(word), "{answer}");
        assert!(!answer.to_string().contains("database"), "{answer}");
    }
    let told = gateway.told("dead down");
    let line = told.lines().find(|line| line.contains("dead down")).unwrap();
    assert!(line.contains("exit status: 1") && line.contains("no database\\u{1b}"), "{line}");
    assert!(told.contains("missing down"), "{told}");
    assert!(gateway.find(PATIENCE, |message| message.json["method"] == CHANGED).is_some());
    let mut tools = gateway.tools();
    tools.sort();
    assert_eq!(tools, ["late__say", "well__say"]);
    assert_eq!(text(&gateway.call("late__say", json!({ "say": "x" }))), "x");
}

#[test]
fn strict_ends_the_start_over_any_server() {
    let refused = json!({ "trust": null });
    for (name, spec, more, words) in [
        ("dead", json!({ "exit": 1, "say": "no database" }), json!({}), vec!["exit status: 1", "no database"]),
        ("mute", json!({ "delay": 60 }), json!({ "limits": { "start": "300ms" } }), vec!["300ms"]),
        ("untrusted", json!({}), refused, vec!["server_not_trusted", "trust:", "tools:"]),
    ] {
        let Some(setup) = Setup::new(&format!("strict-{name}")) else { return };
        let setup = setup.server("well", json!({})).server_with("bad", spec, more).args(&["--strict"]);
        let end = setup.start().ended();
        assert_eq!(end.code, Some(2), "{name}: {}", end.stderr);
        for word in words {
            assert!(end.stderr.contains(word), "{name}: {}", end.stderr);
        }
        assert!(end.left.is_empty(), "{name}");
    }
}

#[test]
fn a_dead_server_is_started_again_and_its_calls_are_not_made_twice() {
    let Some(setup) = Setup::new("again") else { return };
    let setup = setup.server("s", json!({ "logged": true }));
    let mut gateway = setup.session();
    let pid = |gateway: &mut Gateway| gateway.call("s__echo", json!({}))["result"]["structuredContent"]["pid"].clone();
    let first = pid(&mut gateway);
    let answer = gateway.call("s__crash", json!({}));
    assert_eq!(code(&answer), "transport_failure", "{answer}");
    assert!(text(&answer).contains("may have been carried out"), "{answer}");
    gateway.told("last words");
    let deadline = Instant::now() + PATIENCE;
    let second = loop {
        let again = pid(&mut gateway);
        if !again.is_null() {
            break again;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_ne!(first, second);
    let crashes = setup.got("s", "tools/call").iter().filter(|call| call["params"]["name"] == "crash").count();
    assert_eq!(crashes, 1);
}

#[test]
fn at_the_end_of_the_input_answers_that_come_soon_are_written() {
    let Some(setup) = Setup::new("eof") else { return };
    let mut gateway = setup.server("s", json!({ "logged": true })).session();
    gateway.tools();
    let soon = gateway.begin_call("s__slow", json!({ "ms": 400 }));
    let never = gateway.begin_call("s__hang", json!({}));
    gateway.hang_up();
    assert_eq!(text(&gateway.wait(&soon).json), "slow");
    let _ = never;
    let End { code, left, took, stderr } = gateway.ended();
    assert_eq!((code, left.len()), (Some(0), 0), "{stderr}");
    assert!(took < Duration::from_millis(3500), "{took:?}");
}

/// A server whose wrapper and itself go on after everything but KILL, with a child of its own.
fn stubborn(setup: Setup) -> Setup {
    let mut setup = setup.server("s", json!({ "stubborn": true }));
    let mut args = vec![json!("-c"), json!("trap '' TERM; sleep 60 & \"$@\" & wait; wait"), json!("sh"), json!("python3")];
    args.extend(setup.config["servers"]["s"]["args"].as_array().unwrap().clone());
    setup.config["servers"]["s"]["command"] = json!("/bin/sh");
    // A background job of a shell has no input but what is given to it.
    args[1] = json!("trap '' TERM; sleep 60 & exec 3<&0; \"$@\" <&3 & wait; wait");
    setup.config["servers"]["s"]["args"] = Value::Array(args);
    setup
}

#[test]
fn nothing_is_left_behind_however_it_ends() {
    std::thread::scope(|scope| {
        for (how, limit) in [("EOF", 3500), ("TERM", 2500), ("INT", 2500), ("HUP", 2500)] {
            scope.spawn(move || {
                let Some(setup) = Setup::new(&format!("end-{how}")) else { return };
                let mut gateway = stubborn(setup).session();
                assert_eq!(text(&gateway.call("s__say", json!({ "say": "x" }))), "x");
                let servers = descendants(gateway.pid());
                assert!(servers.len() >= 3, "{servers:?}");
                gateway.begin_call("s__hang", json!({}));
                let began = Instant::now();
                let end = match how {
                    "EOF" => gateway.close(),
                    signal => {
                        gateway.signal(signal);
                        gateway.ended()
                    }
                };
                let took = began.elapsed();
                assert_eq!((end.code, &end.left), (Some(0), &Vec::new()), "{how}: {}", end.stderr);
                assert!(took < Duration::from_millis(limit), "{how}: {took:?}");
                let left: Vec<_> =
                    servers.iter().filter(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()).collect();
                assert!(left.is_empty(), "{how}: {left:?}");
            });
        }
    });
}

#[test]
fn a_client_that_never_begins_or_leaves_at_once() {
    let Some(setup) = Setup::new("leaves") else { return };
    let setup = setup.server("s", json!({ "delay": 30 }));
    let end = setup.start().close();
    assert_eq!((end.code, end.left.len()), (Some(0), 0), "{}", end.stderr);
    // The servers are still starting and the client leaves in the middle of its first request.
    let mut gateway = setup.start();
    gateway.request("initialize", hello("2025-06-18", json!({})));
    gateway.begin("tools/list", json!({}));
    let end = gateway.close();
    assert_eq!((end.code, end.left.len()), (Some(0), 0), "{}", end.stderr);
    assert!(end.took < Duration::from_millis(3500), "{:?}", end.took);
    // A call before the handshake is told what is missing; notifications before it do no harm.
    let mut gateway = setup.start();
    gateway.notify("notifications/initialized", json!({}));
    let answer = gateway.call("s__say", json!({}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("initialize"), "{answer}");
    assert!(gateway.initialize(json!({}))["result"].is_object());
}
