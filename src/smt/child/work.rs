//! The child's side: it reads questions, one a line, and answers each with a line.

use super::super::{Found, reach};
use super::process::read;
use super::{Request, STACK};
use crate::model::{Goal, System};
use rustix::process::{Resource, Rlimit, getppid, setrlimit};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread;
use std::time::Duration;

/// What a process has before it solves anything: its libraries and its stacks.
const OWN_MB: u64 = 256;

/// Answers until the input ends or the parent is gone. The process holds its memory to `memory_mb`, beside what
/// it needs itself.
pub fn work(input: impl Read + Send, output: impl Write + Send, memory_mb: u32) -> io::Result<()> {
    limit_memory(memory_mb);
    end_with_parent();
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        let worker = builder.spawn_scoped(scope, || answer_all(input, output))?;
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the solver failed")))
    })
}

fn answer_all(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut system: Option<System> = None;
    for line in BufReader::new(input).split(b'\n') {
        match read::<Request<System, Goal>>(&line?).map_err(io::Error::other)? {
            Request::System(new) => system = Some(new),
            Request::Reach(goal, limits) => {
                let found = match &system {
                    Some(system) => reach(system, &goal, &limits),
                    None => Found::Unknown { why: "no system was sent".to_owned(), depth: None },
                };
                let mut line = serde_json::to_vec(&found)?;
                line.push(b'\n');
                output.write_all(&line)?;
                output.flush()?;
            }
        }
    }
    Ok(())
}

fn limit_memory(memory_mb: u32) {
    // The solver gives up by itself a little before the system refuses.
    z3::set_global_param("memory_max_size", &memory_mb.to_string());
    let bytes = (u64::from(memory_mb) + OWN_MB) << 20;
    // A system that knows no such limit still has the solver's own.
    let _ = setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}

/// A solver that nobody waits for any more would run on.
fn end_with_parent() {
    let parent = getppid();
    thread::spawn(move || {
        while getppid() == parent {
            thread::sleep(Duration::from_millis(200));
        }
        std::process::exit(2);
    });
}
