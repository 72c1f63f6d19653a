//! A client of the gateway that sends raw lines and sees raw lines, and never waits for ever.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Nothing takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/server.py");

/// Refuses one tool, since a policy has to be able to refuse something.
pub(crate) const OPEN: &str = "default: allow\nactions: [{name: forbidden, match: '*__forbidden', requires: false}]\n";

/// The files and the command line of a gateway.
pub(crate) struct Setup {
    pub(crate) folder: PathBuf,
    pub(crate) config: Value,
    policy: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Setup {
    /// `None`, said on stderr, where there is no Python for the servers.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let python = Command::new("python3").arg("-V").stdout(Stdio::null()).status();
        if !python.is_ok_and(|status| status.success()) {
            eprintln!("skipped: needs python3");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gateway-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let config = json!({ "servers": {} });
        Some(Self { folder, config, policy: OPEN.to_owned(), args: Vec::new(), env: BTreeMap::new() })
    }

    /// A fixture of this behaviour, trusted with everything, its answers as they are.
    pub(crate) fn server(self, name: &str, spec: Value) -> Self {
        self.server_with(name, spec, json!({}))
    }

    /// The same with more members of its entry.
    pub(crate) fn server_with(mut self, name: &str, mut spec: Value, more: Value) -> Self {
        if spec.get("logged").is_some() {
            spec["log"] = json!(self.log(name));
        }
        let mut entry = json!({
            "command": "python3",
            "args": ["-I", "-S", FIXTURE, spec.to_string().replace("${", "$${")],
            "trust": { "tools": "*", "resources": true, "prompts": "*", "frame": false },
        });
        for (key, value) in more.as_object().unwrap() {
            match (entry.get_mut(key).and_then(Value::as_object_mut), value) {
                (Some(old), Value::Object(new)) => old.extend(new.clone()),
                _ => entry[key] = value.clone(),
            }
        }
        if entry["trust"].is_null() {
            entry.as_object_mut().unwrap().remove("trust");
        }
        self.config["servers"][name] = entry;
        self
    }

    pub(crate) fn entry(mut self, name: &str, entry: Value) -> Self {
        self.config["servers"][name] = entry;
        self
    }

    pub(crate) fn top(mut self, key: &str, value: Value) -> Self {
        self.config[key] = value;
        self
    }

    pub(crate) fn policy(mut self, policy: &str) -> Self {
        policy.clone_into(&mut self.policy);
        self
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// Where a fixture with `logged` writes what it gets.
    fn log(&self, server: &str) -> String {
        self.path(&format!("{server}.log"))
    }

    /// What a fixture with `logged` has got, by method.
    pub(crate) fn got(&self, server: &str, method: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log(server)).unwrap_or_default();
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }

    pub(crate) fn write(&self) {
        std::fs::write(self.folder.join("praxiom.yaml"), self.config.to_string()).unwrap();
        std::fs::write(self.folder.join("policy.yaml"), &self.policy).unwrap();
    }

    /// The gateway over these files, started.
    pub(crate) fn start(&self) -> Gateway {
        self.write();
        let mut command = program();
        command.arg("serve").arg("--config").arg(self.path("praxiom.yaml"));
        command.arg("--policy").arg(self.path("policy.yaml")).args(&self.args).envs(&self.env);
        Gateway::start(command)
    }

    /// The same, with the handshake of the older era made.
    pub(crate) fn session(&self) -> Gateway {
        let mut gateway = self.start();
        gateway.initialize(json!({}));
        gateway
    }
}

/// The binary, with nothing of ours in its environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PRAXIOM_")) {
        command.env_remove(name);
    }
    command
}

/// One line of the gateway's.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) raw: String,
    pub(crate) json: Value,
}

impl Message {
    /// The very text of a member.
    pub(crate) fn text_of(&self, member: &str) -> String {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&self.raw).unwrap();
        members[member].get().to_owned()
    }
}

/// How a gateway ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// Processes of its servers that are still there.
    pub(crate) left: Vec<u32>,
}

type Stderr = Arc<(Mutex<String>, Condvar)>;

pub(crate) struct Gateway {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    /// Everything that came, in order.
    pub(crate) seen: Vec<Message>,
    stderr: Stderr,
    /// Ends with standard error.
    reader: std::thread::JoinHandle<()>,
    next: i64,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gateway {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(read) if read > 0 && sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        let mut pipe = child.stderr.take().unwrap();
        let stderr = Stderr::default();
        let told = Arc::clone(&stderr);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read) = pipe.read(&mut chunk) {
                if read == 0 {
                    return;
                }
                told.0.lock().unwrap().push_str(&String::from_utf8_lossy(&chunk[..read]));
                told.1.notify_all();
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, seen: Vec::new(), stderr, reader, next: 1 }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let note = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send(note.to_string().as_bytes());
    }

    /// Sends a request; its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> Value {
        let id = json!(self.next);
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(request.to_string().as_bytes());
        id
    }

    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> Value {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The first message that fits, of those seen or still to come.
    pub(crate) fn find(&mut self, limit: Duration, fits: impl Fn(&Message) -> bool) -> Option<Message> {
        let deadline = Instant::now() + limit;
        let mut at = 0;
        loop {
            if let Some(found) = self.seen[at..].iter().find(|message| fits(message)) {
                return Some(found.clone());
            }
            at = self.seen.len();
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let raw = String::from_utf8(line).unwrap();
                    let json = serde_json::from_str(&raw);
                    let json = json.unwrap_or_else(|error| panic!("on stdout, but no JSON ({error}): {raw}"));
                    self.seen.push(Message { raw: raw.trim_end().to_owned(), json });
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// The answer with this id.
    pub(crate) fn wait(&mut self, id: &Value) -> Message {
        let found = self.find(PATIENCE, |message| message.json.get("method").is_none() && message.json["id"] == *id);
        found.unwrap_or_else(|| panic!("no answer with the id {id}; on stderr:\n{}", self.stderr()))
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(&id).json
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The handshake of the older era.
    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let answer = self.request("initialize", hello("2025-06-18", capabilities));
        self.notify("notifications/initialized", json!({}));
        answer
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The messages of this method that have come.
    pub(crate) fn notes(&self, method: &str) -> Vec<Value> {
        self.seen
            .iter()
            .filter(|message| message.json["method"] == method)
            .map(|message| message.json.clone())
            .collect()
    }

    /// Takes in what is on its way: the answer to a request comes after it.
    pub(crate) fn settle(&mut self) {
        self.request("ping", json!({}));
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.0.lock().unwrap().clone()
    }

    /// Waits until stderr says this.
    pub(crate) fn told(&self, text: &str) -> String {
        let (said, changed) = &*self.stderr;
        let said = said.lock().unwrap();
        let (said, late) = changed.wait_timeout_while(said, PATIENCE, |said| !said.contains(text)).unwrap();
        assert!(!late.timed_out(), "stderr never says {text:?}:\n{said}");
        said.clone()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").arg(format!("-{signal}")).arg(self.pid().to_string()).status();
        assert!(status.unwrap().success());
    }

    /// Closes its input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end, which something else has caused.
    pub(crate) fn ended(mut self) -> End {
        let servers = descendants(self.pid());
        self.end_of(&servers)
    }

    /// Closes its input and waits for its end.
    pub(crate) fn close(mut self) -> End {
        let servers = descendants(self.pid());
        self.hang_up();
        self.end_of(&servers)
    }

    fn end_of(&mut self, servers: &[u32]) -> End {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "the gateway does not end; on stderr:\n{}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = began.elapsed();
        // What is still in the pipes.
        let _ = self.find(Duration::from_millis(50), |_| false);
        while !self.reader.is_finished() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = servers.iter().copied().filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).collect();
        End { code: self.child.wait().unwrap().code(), stderr: self.stderr(), took, left }
    }

    /// A value of /proc/PID/status in KiB.
    pub(crate) fn memory(&self, key: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

pub(crate) fn hello(version: &str, capabilities: Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": { "name": "raw", "version": "0" },
    })
}

/// `params` as a client of the newer era sends them.
pub(crate) fn modern(mut params: Value, capabilities: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    match params.get_mut("_meta").and_then(Value::as_object_mut) {
        Some(own) => own.extend(meta.as_object().unwrap().clone()),
        None => params["_meta"] = meta,
    }
    params
}

/// All processes below this one.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.remove(0);
    found
}

/// What is wrong with an answer that should be a result: its text otherwise.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// The code of a refusal, of whichever form.
pub(crate) fn code(answer: &Value) -> &str {
    let code = answer["result"]["_meta"]["praxiom/code"].as_str().or(answer["error"]["data"]["praxiom/code"].as_str());
    code.unwrap_or_else(|| panic!("no refusal: {answer}"))
}

pub(crate) fn denied(answer: &Value) -> bool {
    answer["result"]["isError"] == true && answer["result"]["_meta"]["praxiom/code"] == "policy_denied"
}
