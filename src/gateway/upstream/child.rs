//! A server that is a child process: started in a group of its own, its stderr drained, nothing of it
//! left behind.

use crate::config::Command as Launch;
use crate::gateway::pipes::widen;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// So much of a child's stderr is remembered.
const TAIL: usize = 4 << 10;

/// And so many of its lines are shown.
const LAST_LINES: usize = 3;

/// Characters of each of them, from its end.
const LINE: usize = 500;

/// How long each step of ending a child may take: the end of its input, TERM, KILL.
const STEP: Duration = Duration::from_secs(1);

/// Milliseconds that a killed process may take to be gone where nobody waits for it.
const KILLED: u32 = 200;

#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    tail: Tail,
    drain: tokio::task::JoinHandle<()>,
}

/// The pipes of a child that has started.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Child {
    pub(super) fn start(launch: &Launch) -> std::io::Result<(Self, Pipes)> {
        let mut command = Command::new(launch.command.value.expose());
        command
            .args(launch.args.iter().map(|arg| arg.value.expose()))
            .env_clear()
            .envs(launch.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(folder) = &launch.cwd {
            command.current_dir(folder.value.expose());
        }
        let mut process = command.spawn()?;
        let missing = || std::io::Error::other("the child has no pipes");
        let stdin = process.stdin.take().ok_or_else(missing)?;
        let stdout = process.stdout.take().ok_or_else(missing)?;
        widen(&stdin);
        widen(&stdout);
        let stderr = process.stderr.take().ok_or_else(missing)?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let tail = Tail::default();
        let drain = tokio::spawn(drain(stderr, tail.clone()));
        Ok((Self { process, group, tail, drain }, Pipes { stdin, stdout }))
    }

    /// Waits for the process to end by itself; how it ended.
    pub(super) async fn ended(&mut self) -> String {
        match self.process.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => format!("it cannot be waited for: {error}"),
        }
    }

    /// The last whole lines of its stderr.
    pub(super) async fn last_words(&mut self) -> String {
        // What is still in the pipe belongs to it; a grandchild may hold the pipe open.
        let _ = timeout(Duration::from_millis(100), &mut self.drain).await;
        self.tail.text()
    }

    /// Ends the process and everything in its group. Its input is already closed unless `hurry`.
    pub(super) async fn end(&mut self, hurry: bool) {
        if !hurry {
            let _ = timeout(STEP, self.process.wait()).await;
        }
        self.signal(Signal::TERM);
        if timeout(STEP, self.gone()).await.is_err() {
            self.signal(Signal::KILL);
            let _ = timeout(STEP, self.gone()).await;
        }
        self.drain.abort();
    }

    /// Waits until the process has ended and its group is empty.
    async fn gone(&mut self) {
        let _ = self.process.wait().await;
        let Some(group) = self.group else { return };
        loop {
            // What it has started and left behind is ours to reap, where we are the reaper.
            while let Ok(Some(_)) = rustix::process::waitpgid(group, WaitOptions::NOHANG) {}
            if rustix::process::test_kill_process_group(group).is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails where nothing is left of the group, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.drain.abort();
        // Whoever gave it up in the middle of its start may end next: it must not stay behind as a zombie.
        for _ in 0..KILLED {
            if matches!(self.process.try_wait(), Ok(Some(_)) | Err(_)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(group) = self.group {
            while let Ok(Some(_)) = rustix::process::waitpgid(group, WaitOptions::NOHANG) {}
        }
    }
}

/// The end of what a child wrote to stderr.
#[derive(Clone, Debug, Default)]
struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(bytes);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    }

    fn text(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        last.iter().map(|line| end(line)).collect::<Vec<_>>().join(" / ")
    }
}

/// The end of a line, where it says why.
fn end(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth_back(LINE) {
        Some((at, _)) => Cow::Owned(format!("…{}", line.get(at..).unwrap_or_default())),
        None => Cow::Borrowed(line),
    }
}

async fn drain(mut stderr: ChildStderr, tail: Tail) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(read) = stderr.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        tail.push(chunk.get(..read).unwrap_or_default());
    }
}
