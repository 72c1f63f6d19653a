//! One child and the pipes to it. It cannot outlive its owner, block it, or stay as a zombie.

use super::super::Found;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    requests: Sender<Vec<u8>>,
    replies: Receiver<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum Reply {
    Found(Found),
    /// Nothing came in time.
    Late,
    /// The child has ended; how, for a person.
    Gone(String),
}

impl Process {
    pub(super) fn start(program: &Path, memory_mb: u32) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg("solve")
            .arg("--memory-mb")
            .arg(memory_mb.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("the solver's process cannot be started: {error}"))?;
        let (requests, to_send) = channel::<Vec<u8>>();
        let (received, replies) = channel();
        // Both ends have a thread, so that a child which neither reads nor writes blocks nobody.
        if let Some(mut input) = child.stdin.take() {
            thread::spawn(move || {
                for line in to_send {
                    if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).split(b'\n') {
                    let Ok(line) = line else { return };
                    if received.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, requests, replies })
    }

    pub(super) fn send(&self, request: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(request).map_err(|error| format!("the question cannot be sent: {error}"))?;
        line.push(b'\n');
        self.requests.send(line).map_err(|_| "the solver's process does not read".to_owned())
    }

    /// The next answer.
    pub(super) fn receive(&mut self, until: Instant) -> Reply {
        match self.replies.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => read(&line).map_or_else(|error| Reply::Gone(format!("its answer: {error}")), Reply::Found),
            Err(RecvTimeoutError::Timeout) => Reply::Late,
            Err(RecvTimeoutError::Disconnected) => {
                // Its output is closed: what is left of it, if anything, is of no use.
                let _ = self.child.kill();
                Reply::Gone(self.child.wait().map_or_else(|error| error.to_string(), how))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

/// Terms nest deeper than the reader's default allows.
pub(super) fn read<'l, T: Deserialize<'l>>(line: &'l [u8]) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.disable_recursion_limit();
    T::deserialize(&mut reader).map_err(|error| error.to_string())
}
