//! What the gateway adds to a call over stdio: the same calls to the demo server, directly and through
//! `praxiom serve`, in one run. Prints a table; the ratios are what counts, machines differ.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails by panicking and prints its figures")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PRAXIOM: &str = env!("CARGO_BIN_EXE_praxiom");

struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    started: Instant,
}

impl Peer {
    fn start(arguments: &[&str]) -> Self {
        let started = Instant::now();
        let mut child = Command::new(PRAXIOM)
            .args(arguments)
            .env("PRAXIOM", PRAXIOM)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { child, input, output, id: 0, started };
        peer.send(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}"#,
        );
        peer.receive();
        writeln!(peer.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        peer
    }

    fn send(&mut self, method: &str, params: &str) {
        self.id += 1;
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{params}}}\n", self.id);
        self.input.write_all(line.as_bytes()).unwrap();
    }

    fn receive(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the peer ended");
            if line.contains("\"id\":") {
                return line;
            }
        }
    }

    fn list(&mut self) -> Duration {
        self.send("tools/list", "{}");
        self.receive();
        self.started.elapsed()
    }

    /// Resident memory in KiB.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
    }

    fn call(&mut self, name: &str, arguments: &str) {
        self.send("tools/call", &format!("{{\"name\":\"{name}\",\"arguments\":{arguments}}}"));
        let answer = self.receive();
        assert!(!answer.contains("\"isError\":true"), "{}", answer.get(..300.min(answer.len())).unwrap_or_default());
    }

    fn calls(&mut self, name: &str, arguments: &str, count: usize) -> Vec<Duration> {
        (0..count)
            .map(|_| {
                let began = Instant::now();
                self.call(name, arguments);
                began.elapsed()
            })
            .collect()
    }

    /// The time of a call where `width` are always in flight.
    fn wide(&mut self, name: &str, arguments: &str, count: usize, width: usize) -> Duration {
        let params = format!("{{\"name\":\"{name}\",\"arguments\":{arguments}}}");
        let began = Instant::now();
        for _ in 0..width {
            self.send("tools/call", &params);
        }
        for sent in width..count + width {
            self.receive();
            if sent < count {
                self.send("tools/call", &params);
            }
        }
        began.elapsed() / u32::try_from(count).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn percentile(times: &mut [Duration], share: usize) -> Duration {
    times.sort();
    times.get(times.len() * share / 100).copied().unwrap_or_default()
}

fn main() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies/demo");
    let (config, policy) = (demo.join("praxiom.yaml"), demo.join("policy.yaml"));
    let (config, policy) = (config.to_str().unwrap(), policy.to_str().unwrap());
    let mut direct = Peer::start(&["demo-server", "files"]);
    let direct_start = direct.list();
    let mut gateway = Peer::start(&["serve", "--config", config, "--policy", policy]);
    let gateway_start = gateway.list();
    println!("cold start to the first list   direct {direct_start:?}   gateway with two servers {gateway_start:?}");
    println!("resident memory, idle          direct {} KiB   gateway {} KiB", direct.memory(), gateway.memory());

    let small = r#"{"path":"notes.txt"}"#;
    let large = format!("{{\"path\":\"large.txt\",\"content\":\"{}\"}}", "x".repeat(1_000_000));
    for peer in [(&mut direct, ""), (&mut gateway, "files__")] {
        let (peer, prefix) = peer;
        peer.calls(&format!("{prefix}read_file"), small, 2000);
    }
    let rounds = 5;
    for (what, tool, arguments, count) in
        [("small call", "read_file", small, 2000), ("1 MB argument", "write_file", large.as_str(), 40)]
    {
        // In turns, so that both see the same machine.
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            a.extend(direct.calls(tool, arguments, count / rounds));
            b.extend(gateway.calls(&format!("files__{tool}"), arguments, count / rounds));
        }
        let (a50, b50) = (percentile(&mut a, 50), percentile(&mut b, 50));
        let (a99, b99) = (percentile(&mut a, 99), percentile(&mut b, 99));
        println!(
            "{what:<30} direct p50 {a50:?} p99 {a99:?}   gateway p50 {b50:?} p99 {b99:?}   added p50 {:?}",
            b50.saturating_sub(a50)
        );
    }
    let a = direct.wide("read_file", small, 4000, 16);
    let b = gateway.wide("files__read_file", small, 4000, 16);
    println!("16 in flight, a call           direct {a:?}   gateway {b:?}   added {:?}", b.saturating_sub(a));
}
