//! Standard error without waiting for whoever reads it: a client that does not drain the pipe must not
//! hold up calls.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// A write of so many bytes to a pipe that is ready for any does not block.
const PIPE_BUF: usize = 4096;

/// Lines that wait to be written; more are dropped and counted.
const WAITING: usize = 4096;

enum Job {
    Text(Vec<u8>),
    Flush(SyncSender<()>),
}

static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Lines in the queue: while there are any, later ones go behind them.
static PENDING: AtomicU64 = AtomicU64::new(0);

/// Whether whoever reads standard error keeps up. Waking the thread for each line would cost more than
/// the call it tells of.
fn ready() -> bool {
    let stderr = io::stderr();
    let mut polled = [rustix::event::PollFd::new(&stderr, rustix::event::PollFlags::OUT)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&now)).is_ok_and(|ready| ready == 1)
        && polled.iter().all(|fd| fd.revents().contains(rustix::event::PollFlags::OUT))
}

fn queue() -> &'static SyncSender<Job> {
    static QUEUE: OnceLock<SyncSender<Job>> = OnceLock::new();
    QUEUE.get_or_init(|| {
        let (sender, jobs) = sync_channel(WAITING);
        // Without the thread nothing is written, and nothing waits.
        let _ = std::thread::Builder::new().name("stderr".to_owned()).spawn(move || run(&jobs));
        sender
    })
}

fn run(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Text(text) => {
                let dropped = DROPPED.swap(0, Ordering::AcqRel);
                let mut stderr = io::stderr().lock();
                if dropped > 0 {
                    let _ = writeln!(stderr, "praxiom: {dropped} lines were lost, since nobody read them");
                }
                let _ = stderr.write_all(&text);
                PENDING.fetch_sub(1, Ordering::AcqRel);
            }
            Job::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
}

/// The writing end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Person;

impl Write for Person {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if text.len() <= PIPE_BUF && PENDING.load(Ordering::Acquire) == 0 && ready() {
            let _ = io::stderr().lock().write_all(text);
            return Ok(text.len());
        }
        PENDING.fetch_add(1, Ordering::AcqRel);
        if queue().try_send(Job::Text(text.to_vec())).is_err() {
            PENDING.fetch_sub(1, Ordering::AcqRel);
            DROPPED.fetch_add(1, Ordering::AcqRel);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One line in our own words.
pub(crate) fn tell(line: &str) {
    let _ = Person.write(format!("{line}\n").as_bytes());
}

/// Waits until what was told is written, but not for long.
pub(crate) fn flush() {
    let (done, written) = sync_channel(1);
    if queue().try_send(Job::Flush(done)).is_ok() {
        let _ = written.recv_timeout(Duration::from_millis(200));
    }
}
