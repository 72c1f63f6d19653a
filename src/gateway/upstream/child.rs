//! A server that is a child process: started in a group of its own, its stderr drained, nothing of it
//! left behind.

use crate::config::{Command as Launch, Masker};
use crate::gateway::pipes::widen;
use crate::text::visible;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// So much of a child's stderr is remembered.
const TAIL: usize = 4 << 10;

/// And so much before that, which is never shown: a secret may begin in it.
const MARGIN: usize = 8 << 10;

/// So many of its lines are shown.
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
    /// # Errors
    /// Why it cannot be started, for the operator.
    pub(super) fn start(launch: &Launch, masker: Masker) -> Result<(Self, Pipes), String> {
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
        let mut process = command.spawn().map_err(|error| trouble(launch, &error))?;
        let missing = || "the child has no pipes".to_owned();
        let stdin = process.stdin.take().ok_or_else(missing)?;
        let stdout = process.stdout.take().ok_or_else(missing)?;
        widen(&stdin);
        widen(&stdout);
        let stderr = process.stderr.take().ok_or_else(missing)?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let tail = Tail::new(masker);
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

/// Why a command does not start, where the system says only that something is missing or not allowed.
fn trouble(launch: &Launch, error: &std::io::Error) -> String {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    let command = launch.command.value.expose();
    let shown = visible(command);
    let folder = launch.cwd.as_ref().map(|cwd| Path::new(cwd.value.expose()));
    if !matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) {
        return error.to_string();
    }
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let what = if folder.exists() { "is no folder" } else { "does not exist" };
        return format!("its working folder `{}` (`cwd`) {what}", visible(&folder.to_string_lossy()));
    }
    let arguments = if command.contains(' ') { "; arguments go into `args`" } else { "" };
    if !command.contains('/') {
        return match error.kind() {
            PermissionDenied => format!("`{shown}` is on PATH and may not be executed{arguments}"),
            _ => format!("`{shown}` is not found on PATH{arguments}"),
        };
    }
    let path = folder.map_or_else(|| Path::new(command).to_path_buf(), |folder| folder.join(command));
    match path.metadata() {
        Ok(found) if found.is_dir() => format!("`{shown}` is a folder, not a program{arguments}"),
        Ok(found) if error.kind() == PermissionDenied && found.permissions().mode() & 0o111 == 0 => {
            format!("`{shown}` is not executable: it lacks the permission (chmod +x){arguments}")
        }
        Ok(_) if error.kind() == NotFound => {
            format!("`{shown}` is there, but not the program that its first line or its header asks for")
        }
        Err(_) if error.kind() != PermissionDenied => format!("`{shown}` does not exist{arguments}"),
        _ => format!("`{shown}`: {error}{arguments}"),
    }
}

/// The end of what a child wrote to stderr.
#[derive(Clone, Debug)]
struct Tail {
    kept: Arc<Mutex<Kept>>,
    masker: Masker,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    /// What came first is lost.
    cut: bool,
}

impl Tail {
    fn new(masker: Masker) -> Self {
        Self { kept: Arc::default(), masker }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes.extend(bytes);
        let surplus = kept.bytes.len().saturating_sub(TAIL + MARGIN);
        kept.bytes.drain(..surplus);
        kept.cut |= surplus > 0;
    }

    /// The lines that say what is wrong, else the last ones.
    fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // Masked before it is cut: half a secret is not found.
        let masked = self.masker.mask(&text);
        let whole = if kept.cut { from_whole_line(&masked) } else { &masked };
        let lines: Vec<&str> = whole.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let telling = |line: &&str| line.contains("error") || line.contains("Error");
        let errors: Vec<&str> = lines.iter().copied().filter(telling).collect();
        let lines = if errors.is_empty() { lines } else { errors };
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        last.iter().map(|line| end(line)).collect::<Vec<_>>().join(" / ")
    }
}

/// Leaves out the line whose beginning is lost, but no more of it than may be half a secret.
fn from_whole_line(text: &str) -> &str {
    let line = text.find('\n').map_or(text.len(), |at| at + 1);
    let margin = (MARGIN..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(line.min(margin)..).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn last_words(secret: &str, text: &str) -> String {
        let tail = Tail::new(Masker::new([secret]));
        for chunk in text.as_bytes().chunks(1000) {
            tail.push(chunk);
        }
        tail.text()
    }

    #[test]
    fn last_words_are_masked_before_they_are_cut_and_errors_come_first() {
        let secret = "s3cret-".repeat(20);
        // At every place where the beginning may be lost, and where a long line is cut.
        for after in (0..300).step_by(7) {
            for tail in [TAIL + MARGIN - 100 - after, TAIL - after, LINE - 60 + after] {
                for end in ["x".repeat(tail), format!("{}\nlast", "x".repeat(tail - 5))] {
                    let words = last_words(&secret, &format!("{}{secret}{end}", "y".repeat(20_000)));
                    assert!(!words.contains("cret"), "{words}");
                    assert!(!words.is_empty());
                }
            }
        }
        let node = "node:internal/modules\n\nError: Cannot find module 'x'\n    at a\n    at b\n\nNode.js v22.1.0\n";
        assert_eq!(last_words(&secret, node), "Error: Cannot find module 'x'");
        assert_eq!(last_words(&secret, "a\nb\n\nc\nd\n"), "b / c / d");
    }
}
