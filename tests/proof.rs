//! Certificates: what was proved is confirmed, and nothing else is; a gateway starts only with what was proved.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const POLICY: &str = r#"
default: deny
state: {tainted: {type: bool, init: false}, a: {type: int, init: 0}, b: {type: int, init: 0}}
actions:
  - {name: read, match: fs__read, effect: {tainted: "tainted or contains(call.text, '.env') or contains(call.text, '.ENV')"}}
  - {name: list, match: fs__list}
  - {name: lend, match: desk__lend, effect: {a: a + 1}}
  - {name: back, match: desk__back, requires: b < a, effect: {b: b + 1}}
  - {name: publish, match: "github__create_*", requires: not tainted}
checks:
  - {name: books, always: b <= a}
  - {name: closed, never: {call: "github__*"}, after: {call: fs__read, when: "contains(call.text, '.env')"}}
"#;

/// What somebody does to a certificate.
type Forge = fn(&mut Value);

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("proof-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn praxiom(folder: &Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    let output = command.args(args).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().unwrap_or(-1), text)
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn question<'v>(certificate: &'v mut Value, id: &str) -> &'v mut Value {
    let all = certificate["questions"].as_array_mut().unwrap();
    all.iter_mut().find(|question| question["id"] == id).unwrap()
}

#[test]
fn a_certificate_is_confirmed_and_a_forged_one_is_not() {
    let folder = folder("forged");
    fs::write(folder.join("p.yaml"), POLICY).unwrap();
    let (code, text) = praxiom(&folder, &["check", "p.yaml", "--time-limit", "30s", "--proof", "good.json"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = praxiom(&folder, &["verify", "good.json", "p.yaml"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("answers confirmed"), "{text}");

    let good = read(&folder.join("good.json"));
    let invariant = question(&mut good.clone(), "check:books")["by"]["invariant"].clone();
    assert!(invariant.is_object(), "the relation of two unbounded numbers needs an invariant: {good}");
    let forgeries: [(&str, Forge); 8] = [
        ("fails the three queries", |proof| {
            question(proof, "check:books")["by"]["invariant"]["term"] = json!({"Bool": true});
        }),
        ("a weaker invariant", |proof| {
            question(proof, "check:books")["by"]["invariant"]["term"] = json!({"Bool": false});
        }),
        ("a turned verdict", |proof| question(proof, "check:closed")["verdict"] = json!("fails")),
        ("another number of states", |proof| {
            let closed = question(proof, "check:closed");
            closed["by"] = json!({"explored": {"states": 1, "transitions": 1, "part": false}});
        }),
        ("a run that ends elsewhere", |proof| {
            let call = question(proof, "allowed:publish");
            call["by"]["run"]["steps"] = json!([]);
            call["by"]["run"]["call"] = json!([0, []]);
        }),
        ("an answer left out", |proof| {
            proof["questions"].as_array_mut().unwrap().retain(|question| question["id"] != "deadlock");
        }),
        ("an answer too many", |proof| {
            let mut extra = proof["questions"][0].clone();
            extra["id"] = json!("check:other");
            proof["questions"].as_array_mut().unwrap().push(extra);
        }),
        ("nothing to rest on", |proof| question(proof, "deadlock")["by"] = Value::Null),
    ];
    for (what, forge) in forgeries {
        let mut forged = good.clone();
        forge(&mut forged);
        fs::write(folder.join("forged.json"), forged.to_string()).unwrap();
        let (code, text) = praxiom(&folder, &["verify", "forged.json", "p.yaml"]);
        assert!(code == 1 && text.contains("PX4020"), "{what}: {code} {text}");
    }
    for text in ["", "{}", "[]", "{\"version\": 2}", "nonsense"] {
        fs::write(folder.join("forged.json"), text).unwrap();
        let (code, told) = praxiom(&folder, &["verify", "forged.json", "p.yaml"]);
        assert!(code == 1 && told.contains("PX4020"), "{text}: {code} {told}");
    }
    // Another layout is the same policy; another rule is not.
    fs::write(folder.join("same.yaml"), format!("# a remark\n{POLICY}")).unwrap();
    assert_eq!(praxiom(&folder, &["verify", "good.json", "same.yaml"]).0, 0);
    fs::write(folder.join("other.yaml"), POLICY.replace("requires: not tainted", "requires: \"true\"")).unwrap();
    let (code, text) = praxiom(&folder, &["verify", "good.json", "other.yaml"]);
    assert!(code == 1 && text.contains("of another policy"), "{text}");
}

#[cfg(feature = "gateway")]
#[test]
fn a_gateway_starts_only_with_what_was_proved() {
    let folder = folder("serve");
    fs::write(folder.join("p.yaml"), POLICY).unwrap();
    let server = json!({"command": env!("CARGO_BIN_EXE_praxiom"), "args": ["demo-server", "files"], "trust": "*"});
    fs::write(folder.join("praxiom.yaml"), json!({"servers": {"fs": server}}).to_string()).unwrap();
    let serve = |proof: &str| {
        let args = ["serve", "--config", "praxiom.yaml", "--policy", "p.yaml", "--require-proof", proof];
        praxiom(&folder, &args)
    };
    let (code, text) = praxiom(&folder, &["check", "p.yaml", "--time-limit", "30s", "--proof", "good.json"]);
    assert_eq!(code, 0, "{text}");
    // Its client is gone at once.
    let (code, text) = serve("good.json");
    assert_eq!(code, 0, "{text}");
    let good = read(&folder.join("good.json"));
    for (change, words) in [
        (json!({"policy": "sha256:0"}), "of another policy"),
        (json!({"tools": "sha256:0"}), "tool list"),
        (json!({"in_flight": "one"}), "one call at a time"),
        (json!({"errors": 1}), "1 error was found"),
    ] {
        let mut changed = good.clone();
        for (key, value) in change.as_object().unwrap() {
            changed[key] = value.clone();
        }
        fs::write(folder.join("bad.json"), changed.to_string()).unwrap();
        let (code, text) = serve("bad.json");
        assert!(code == 2 && text.contains(words), "{code} {text}");
    }
    let mut unknown = good.clone();
    question(&mut unknown, "deadlock")["verdict"] = json!("unknown");
    fs::write(folder.join("bad.json"), unknown.to_string()).unwrap();
    let (code, text) = serve("bad.json");
    assert!(code == 2 && text.contains("`deadlock` is undecided"), "{code} {text}");
    let (code, text) = serve("missing.json");
    assert!(code == 2 && text.contains("missing.json"), "{code} {text}");
    fs::write(folder.join("p.yaml"), POLICY.replace("requires: not tainted", "requires: \"true\"")).unwrap();
    let (code, text) = serve("good.json");
    assert!(code == 2 && text.contains("does not vouch"), "{code} {text}");
}
