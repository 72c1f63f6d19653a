//! The gateway's audit: a line for a person and a record in a file for each call, what came back, and what
//! befell the servers. A file is a chain of digests that can be checked and decided again. Knows nothing
//! of transports and decides nothing.

mod chain;
mod event;
mod file;
mod line;
mod lines;
mod read;
mod record;
mod redact;
mod spelling;

pub use chain::{Checker, MAX_PROBLEMS, Problem, Report, verify};
pub use event::{
    Decision, Event, Key, Level, LogArguments, Note, NoteKind, Options, Outcome, Refused, Returned, Start, Word,
};
pub use file::{Log, OpenError};
pub use line::{Stamp, line};
pub use lines::{Line, Lines, MAX_LINE};
pub use read::{Answered, Decided, Entry, Observed, Read, RecordedAnswer, RecordedKey, is_record};

use std::fmt;
use std::io::{self, Write};
use std::time::SystemTime;

/// Both audits of one process. The gateway holds it in a mutex, and calls [`Audit::record`] while it still
/// holds the state that it decided on: the order of the records of one key is that of the commits.
pub struct Audit {
    options: Options,
    log: Option<Log>,
    person: Box<dyn Write + Send>,
    clock: fn() -> SystemTime,
    text: String,
    seq: u64,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("options", &self.options).field("log", &self.log).finish_non_exhaustive()
    }
}

impl Audit {
    /// `person` gets the lines, one write each; it should not block for long, since calls wait for it.
    #[must_use]
    pub fn new(options: Options, log: Option<Log>, person: Box<dyn Write + Send>) -> Self {
        Self { options, log, person, clock: SystemTime::now, text: String::new(), seq: 0 }
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> SystemTime) -> Self {
        self.clock = clock;
        self
    }

    /// Writes the record and the line of one event; gives the record's number, which the result of a call
    /// refers to.
    ///
    /// # Errors
    /// The record could not be written. Nothing may happen that is not on record: the caller must refuse
    /// the call, or withhold its answer. What was lost is said by the next record that can be written. A
    /// line that cannot be written is no error.
    pub fn record(&mut self, event: &Event<'_>) -> io::Result<u64> {
        let now = (self.clock)();
        self.seq = match &mut self.log {
            Some(log) => log.append(event, self.options, now)?,
            None => self.seq + 1,
        };
        if event.level() >= self.options.level {
            self.text.clear();
            line(event, self.options, Stamp::Local(now), &mut self.text);
            let _ = self.person.write_all(self.text.as_bytes());
        }
        Ok(self.seq)
    }

    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    /// Goes on in a new file where the path no longer leads to the present one: it was rotated away. Says
    /// whether it did. The new file begins with the digest of the last line of the old.
    ///
    /// # Errors
    /// The new file cannot be opened; the old one is still written.
    pub fn reopen(&mut self) -> Result<bool, OpenError> {
        let now = (self.clock)();
        match &mut self.log {
            Some(log) => log.reopen(self.options, now),
            None => Ok(false),
        }
    }
}
