//! Real servers and real clients around the gateway: what `make peers` installs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "gateway")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths under `.peers`, or `None` after saying which one is missing.
fn peers<const N: usize>(names: [&str; N]) -> Option<[String; N]> {
    let paths = names.map(|name| root().join(".peers").join(name));
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        println!("skipped: needs {} (make peers)", missing.display());
        return None;
    }
    Some(paths.map(|path| path.to_str().unwrap().to_owned()))
}

const PYTHON: &str = "python/bin/python";
const NODE: &str = "bin/node";
const FILESYSTEM: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
const MEMORY: &str = "node_modules/@modelcontextprotocol/server-memory/dist/index.js";
const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// A folder with a configuration and a policy; gone with the value.
struct Bench {
    folder: PathBuf,
}

impl Bench {
    fn new(name: &str, servers: &Value, policy: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("praxiom-peers-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("work")).unwrap();
        let config = json!({ "trust": "*", "start_wait": "20s", "servers": servers });
        let config = config.to_string().replace("@WORK@", folder.join("work").to_str().unwrap());
        fs::write(folder.join("praxiom.yaml"), config).unwrap();
        fs::write(folder.join("policy.yaml"), policy).unwrap();
        Self { folder }
    }

    fn work(&self, name: &str, text: &str) -> String {
        let path = self.folder.join("work").join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn gateway(&self) -> Vec<String> {
        let file = |name: &str| self.folder.join(name).to_str().unwrap().to_owned();
        let config = file("praxiom.yaml");
        let policy = file("policy.yaml");
        [env!("CARGO_BIN_EXE_praxiom"), "serve", "--config", &config, "--policy", &policy].map(str::to_owned).to_vec()
    }

    /// Runs a driver against the gateway over stdio; its one line of JSON.
    fn drive(&self, driver: &[&str]) -> Value {
        let mut command: Vec<String> = driver.iter().map(|&word| word.to_owned()).collect();
        command.push("--".to_owned());
        command.extend(self.gateway());
        run(&command)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn run(command: &[String]) -> Value {
    let output = Command::new(&command[0]).args(&command[1..]).current_dir(root()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last)
        .unwrap_or_else(|_| panic!("{command:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// The gateway over HTTP, and its address.
struct Http {
    child: Child,
    url: String,
}

impl Http {
    fn start(bench: &Bench) -> Self {
        let gateway = bench.gateway();
        let mut child = Command::new(&gateway[0])
            .args(&gateway[1..])
            .args(["--http", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.by_ref().find_map(|line| {
            let line = line.ok()?;
            line.split_once("listening on ").map(|(_, url)| url.trim().to_owned())
        });
        // The rest must be read, or the gateway would have nobody to tell.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.expect("the gateway says where it listens") }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn filesystem(node: &str, server: &str) -> Value {
    json!({ "command": node, "args": [server, "@WORK@"] })
}

const SPLIT: &str = r#"
default: deny
patterns:
  secrets: [".env"]
  material: ["tok_live_"]
state:
  tainted: {type: bool, init: false}
actions:
  - name: read
    match: ["fs__read_*", "fs__list_*", "memory__read_graph", "memory__search_nodes"]
    effect: {tainted: "tainted or matches(call.text, secrets)"}
    on_result: {tainted: "tainted or matches(call.result_text, material)"}
  - name: remember
    match: ["memory__create_*", "memory__add_*", "fs__write_*", "fs__edit_*"]
    requires: not tainted
"#;

fn texts(step: &Value) -> String {
    let blocks = step["content"].as_array().cloned().unwrap_or_default();
    let texts: Vec<String> = blocks.iter().map(|block| block["text"].as_str().unwrap_or_default().to_owned()).collect();
    texts.join("\n")
}

#[test]
fn the_split_attack_across_two_real_servers() {
    let Some([python, node, fs_server, memory]) = peers([PYTHON, NODE, FILESYSTEM, MEMORY]) else { return };
    let servers = json!({
        "fs": filesystem(&node, &fs_server),
        "memory": {"command": node, "args": [memory], "env": {"MEMORY_FILE_PATH": "@WORK@/memory.json"}},
    });
    let bench = Bench::new("split", &servers, SPLIT);
    let plain = bench.work("notes.txt", "Release on Friday.");
    // Not a name that the policy knows: the answer gives it away.
    let secret = bench.work("settings.txt", "API_TOKEN=tok_live_3f9a1c");
    let remember = |text: &str| {
        let entity = json!({"name": "note", "entityType": "note", "observations": [text]});
        json!({"do": "call", "name": "memory__create_entities", "arguments": {"entities": [entity]}})
    };
    let read = |path: &str| json!({"do": "call", "name": "fs__read_text_file", "arguments": {"path": path}});
    let plan = json!([read(&plain), remember("Friday"), read(&secret), remember("tok_live_3f9a1c")]).to_string();
    for mode in ["legacy", "auto"] {
        let _ = fs::remove_file(bench.folder.join("work/memory.json"));
        let out = bench.drive(&[&python, "tests/peers/client_mcp.py", "--mode", mode, &plan]);
        let steps = out["steps"].as_array().unwrap_or_else(|| panic!("{out}"));
        assert!(texts(&steps[0]).contains("Release on Friday."), "{out}");
        assert!(texts(&steps[0]).contains("<untrusted-tool-output source=\"mcp:fs\" tool=\"read_text_file\""), "{out}");
        assert_ne!(steps[1]["isError"], json!(true), "{out}");
        assert!(texts(&steps[2]).contains("tok_live_3f9a1c"), "{out}");
        assert_eq!(steps[3]["isError"], json!(true), "{out}");
        assert!(texts(&steps[3]).starts_with("blocked by policy: fails guard 'remember'"), "{out}");
        let stored = fs::read_to_string(bench.folder.join("work/memory.json")).unwrap();
        assert!(stored.contains("Friday") && !stored.contains("tok_live"), "{stored}");
    }
}

#[test]
fn everything_passes_what_it_can() {
    let Some([python, node, everything]) = peers([PYTHON, NODE, EVERYTHING]) else { return };
    let servers = json!({ "e": {"command": node, "args": [everything, "stdio"]} });
    let policy = "default: allow\nactions:\n  - {name: never, match: e__get-env, requires: 'false'}\n";
    let bench = Bench::new("everything", &servers, policy);
    let plan = json!([
        {"do": "tools"},
        {"do": "call", "name": "e__echo", "arguments": {"message": "hé"}},
        {"do": "call", "name": "e__get-env", "arguments": {}},
        {"do": "call", "name": "e__trigger-long-running-operation", "arguments": {"duration": 1, "steps": 4}},
        {"do": "resources"},
        {"do": "prompts"},
        {"do": "prompt", "name": "e__simple-prompt", "arguments": {}},
    ]);
    let stdio = ["legacy", "auto"]
        .map(|mode| bench.drive(&[&python, "tests/peers/client_mcp.py", "--mode", mode, &plan.to_string()]));
    let http = Http::start(&bench);
    let over_http = ["legacy", "auto"].map(|mode| {
        let words = [&python, "tests/peers/client_mcp.py", "--mode", mode, &plan.to_string(), "--url", &http.url];
        run(&words.map(str::to_owned))
    });
    for out in stdio.iter().chain(&over_http) {
        let steps = out["steps"].as_array().unwrap_or_else(|| panic!("{out}"));
        assert!(steps[0].to_string().contains("e__echo"), "{out}");
        assert!(texts(&steps[1]).contains("hé"), "{out}");
        assert_eq!(steps[2]["isError"], json!(true), "{out}");
        let progress: Vec<f64> = steps[3]["progress"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|note| note[0].as_f64().or(note.as_f64()))
            .collect();
        assert_eq!(progress.len(), 4, "{out}");
        assert!(progress.is_sorted(), "{out}");
        assert!(steps[4].as_array().is_some_and(|list| !list.is_empty()), "{out}");
        assert!(steps[5].to_string().contains("e__simple-prompt"), "{out}");
        assert!(steps[6].get("error").is_none(), "{out}");
    }
}

#[test]
fn git_and_time_of_the_python_kind() {
    let Some([python, git, time]) = peers([PYTHON, "python/bin/mcp-server-git", "python/bin/mcp-server-time"]) else {
        return;
    };
    let servers = json!({ "git": {"command": git}, "time": {"command": time} });
    let policy = "default: deny\nactions:\n  - {name: look, match: ['git__git_log', 'git__git_status', 'time__*']}\n";
    let bench = Bench::new("git", &servers, policy);
    let repository = bench.folder.join("work");
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(["-c", "init.defaultBranch=main", "init", "-q"])
        .current_dir(&repository)
        .status()
        .unwrap();
    assert!(done.success());
    bench.work("a.txt", "a");
    for words in [
        ["add", "-A"].as_slice(),
        &["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "first one"],
    ] {
        assert!(Command::new("git").args(words).current_dir(&repository).status().unwrap().success());
    }
    let repository = repository.to_str().unwrap();
    let plan = json!([
        {"do": "call", "name": "git__git_log", "arguments": {"repo_path": repository}},
        {"do": "call", "name": "git__git_reset", "arguments": {"repo_path": repository}},
        {"do": "call", "name": "time__get_current_time", "arguments": {"timezone": "Europe/Berlin"}},
    ]);
    for mode in ["legacy", "auto", "2026-07-28"] {
        let out = bench.drive(&[&python, "tests/peers/client_mcp.py", "--mode", mode, &plan.to_string()]);
        let steps = out["steps"].as_array().unwrap_or_else(|| panic!("{out}"));
        assert!(texts(&steps[0]).contains("first one"), "{out}");
        assert!(texts(&steps[1]).starts_with("blocked by policy"), "{out}");
        assert!(texts(&steps[2]).contains("Europe/Berlin"), "{out}");
    }
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some([python, node, fs_server, _]) =
        peers([PYTHON, NODE, FILESYSTEM, "node_modules/@modelcontextprotocol/inspector"])
    else {
        return;
    };
    let bench = Bench::new("inspector", &json!({ "fs": filesystem(&node, &fs_server) }), SPLIT);
    let path = bench.work("notes.txt", "Release on Friday.");
    let list = bench.drive(&[&python, "tests/peers/inspector.py", "tools/list"]);
    assert!(list["result"].to_string().contains("fs__read_text_file"), "{list}");
    let argument = format!("path={path}");
    let call = ["tools/call", "--tool-name", "fs__read_text_file", "--tool-arg", &argument];
    for era in ["legacy", "modern"] {
        let mut driver = vec![python.as_str(), "tests/peers/inspector.py", "--era", era];
        driver.extend(call);
        let read = bench.drive(&driver);
        assert!(read["result"].to_string().contains("Release on Friday."), "{read}");
    }
}

#[test]
fn an_agent_of_pydantic_ai_is_told_why() {
    let Some([python, node, fs_server]) = peers([PYTHON, NODE, FILESYSTEM]) else { return };
    let bench = Bench::new("pydantic", &json!({ "fs": filesystem(&node, &fs_server) }), SPLIT);
    let secret = bench.work(".env", "API_TOKEN=tok_live_3f9a1c");
    let target = bench.folder.join("work/out.txt");
    let calls = json!([
        ["fs__read_text_file", {"path": secret}],
        ["fs__write_file", {"path": target, "content": "tok_live_3f9a1c"}],
    ]);
    let out = bench.drive(&[&python, "tests/peers/client_pydantic_ai.py", &calls.to_string()]);
    let returns = out["returns"].as_array().unwrap_or_else(|| panic!("{out}"));
    assert!(returns[0][3].to_string().contains("tok_live_3f9a1c"), "{out}");
    assert!(returns[1][3].to_string().contains("blocked by policy: fails guard 'remember'"), "{out}");
    assert!(!target.exists());
}
