//! Results as odd as the protocol lets them be cross the gateway untouched, in every pair of eras.

use crate::client::{Setup, modern};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/odd.jsonl");

/// The very text of what each tool answers, under `result` or `error`.
fn odd() -> Vec<(String, &'static str, String)> {
    let rows = std::fs::read_to_string(FILE).unwrap();
    let row = |line: &str| {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(line).unwrap();
        let kind = if members.contains_key("error") { "error" } else { "result" };
        (serde_json::from_str(members["name"].get()).unwrap(), kind, members[kind].get().to_owned())
    };
    rows.lines().map(row).collect()
}

/// One spelling of each text: the digits stay.
fn spelled(json: &str) -> String {
    serde_json::from_str::<Value>(json).unwrap().to_string()
}

#[test]
fn odd_results_cross_untouched() {
    let rows = odd();
    assert!(rows.len() >= 25);
    for server in ["legacy", "modern"] {
        for client in ["legacy", "modern"] {
            let Some(setup) = Setup::new(&format!("odd-{server}-{client}")) else { return };
            let mut gateway = setup.server("o", json!({ "era": server, "odd": FILE })).start();
            let newer = client == "modern";
            if !newer {
                gateway.initialize(json!({}));
            }
            for (name, kind, sent) in &rows {
                let params = json!({ "name": format!("o__{name}"), "arguments": {} });
                let params = if newer { modern(params, json!({})) } else { params };
                let id = gateway.begin("tools/call", params);
                let answer = gateway.wait(&id);
                let mut expected = spelled(sent);
                if newer && *kind == "result" {
                    expected.pop();
                    expected.push_str(if sent == "{}" { "" } else { "," });
                    expected.push_str(r#""resultType":"complete"}"#);
                }
                let got = answer.text_of(kind);
                assert_eq!(got, expected, "{name}, server {server}, client {client}");
            }
        }
    }
}

#[test]
fn a_burst_of_progress_arrives_whole_in_order_and_before_the_answer() {
    for server in ["legacy", "modern"] {
        for client in ["legacy", "modern"] {
            let Some(setup) = Setup::new(&format!("burst-{server}-{client}")) else { return };
            let mut gateway = setup.server("o", json!({ "era": server, "odd": FILE })).start();
            let newer = client == "modern";
            if !newer {
                gateway.initialize(json!({}));
            }
            let calls = ["a", "b"].map(|token| {
                let params = json!({
                    "name": "o__plain",
                    "arguments": { "burst": 50 },
                    "_meta": { "progressToken": token, "vendor/x": 1 },
                });
                gateway.begin("tools/call", if newer { modern(params, json!({})) } else { params })
            });
            for (id, token) in calls.iter().zip(["a", "b"]) {
                gateway.wait(id);
                let answer = gateway.seen.iter().position(|message| message.json["id"] == *id).unwrap();
                let before = gateway.seen[..answer].iter().filter(|m| m.json["params"]["progressToken"] == token);
                let notes: Vec<&Value> = before.map(|message| &message.json["params"]).collect();
                assert_eq!(notes.len(), 50, "{server} {client}");
                for (at, note) in notes.iter().enumerate() {
                    assert_eq!(note["progress"], at + 1);
                    assert_eq!((&note["total"], &note["message"], &note["x"]), (&json!(50), &json!("m"), &json!(1)));
                }
            }
        }
    }
}
