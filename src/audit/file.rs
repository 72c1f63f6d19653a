//! The file: one writer, one write a record, and a chain that goes on where an earlier process left it.

use super::chain::{ZEROS, stamp};
use super::event::{Event, Options, Start};
use super::lines::{Hash, MAX_LINE, hash};
use super::record::{self, BEGUN, Own, Place};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// Lines at the end that were begun and not finished: more than one only if closing them failed as well.
const MAX_TORN: u64 = 16;

const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Why a file cannot be the log.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("{path} is written by another process")]
    Locked { path: String },
    #[error("{path} is {what}, not a regular file")]
    NotAFile { path: String, what: &'static str },
    #[error("{path} is not an audit log, or its end is damaged: {why}")]
    Foreign { path: String, why: String },
    #[error("{path} cannot be opened")]
    Open {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("{path} cannot be written")]
    Write {
        path: String,
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "each gateway needs a file of its own; or stop the other one",
            Self::NotAFile { .. } => "name a file in a folder that only the operator can write",
            Self::Foreign { .. } => "name another file; `praxiom audit verify` says what is wrong with this one",
            Self::Open { .. } | Self::Write { .. } => "the folder must exist and the file be writable",
        }
    }
}

/// An open log, locked against other writers until it is dropped.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    start: Start,
    file: File,
    seq: u64,
    last: Hash,
    /// Bytes of whole lines; what lies behind them is the rest of a write that failed.
    whole: u64,
    torn: bool,
    /// Events without a record.
    lost: u64,
    buffer: Vec<u8>,
}

impl Log {
    /// Opens or creates (mode 0600) a log and writes its `start` record. An existing chain is continued; a
    /// line without an end is closed by a `recovered` record.
    pub fn open(path: &Path, start: Start, options: Options, now: SystemTime) -> Result<Self, OpenError> {
        let mut log = Self::at_end(path, start, now)?;
        log.own(now, false, options).map_err(|source| OpenError::Write { path: shown(path), source })?;
        Ok(log)
    }

    fn at_end(path: &Path, start: Start, now: SystemTime) -> Result<Self, OpenError> {
        let mut file = open(path)?;
        let unreadable = |source| OpenError::Open { path: shown(path), source };
        let end = End::find(&mut file).map_err(unreadable)?;
        let mut log = Self {
            path: path.to_owned(),
            start,
            file,
            seq: end.seq,
            last: end.last,
            whole: end.length,
            torn: false,
            lost: 0,
            buffer: Vec::with_capacity(1024),
        };
        if let Some(why) = end.foreign {
            return Err(OpenError::Foreign { path: shown(path), why });
        }
        if let Some(torn) = end.torn {
            if torn.open {
                log.buffer.push(b'\n');
            }
            let own = Own::Recovered { bytes: torn.bytes, lines: torn.lines, sha256: torn.sha256, after: end.good };
            log.put_own(own, now).map_err(|source| OpenError::Write { path: shown(path), source })?;
        }
        Ok(log)
    }

    /// Appends the record of an event and gives its number.
    pub(super) fn append(&mut self, event: &Event<'_>, options: Options, now: SystemTime) -> io::Result<u64> {
        let result = self.try_append(event, options, now);
        if result.is_err() {
            self.lost = self.lost.saturating_add(1);
        }
        result
    }

    fn try_append(&mut self, event: &Event<'_>, options: Options, now: SystemTime) -> io::Result<u64> {
        self.buffer.clear();
        if self.torn {
            // The lock is ours, so this is the rest of our own write.
            self.file.set_len(self.whole)?;
            self.torn = false;
        }
        if self.lost > 0 {
            self.put_own(Own::Lost { records: self.lost }, now)?;
            self.lost = 0;
        }
        record::event(event, options, self.next(now), &mut self.buffer)?;
        self.put(0)
    }

    pub(super) fn reopen(&mut self, options: Options, now: SystemTime) -> Result<bool, OpenError> {
        if same_file(&self.path, &self.file) {
            return Ok(false);
        }
        let mut log = Self::at_end(&self.path, self.start.clone(), now)?;
        let write = |source| OpenError::Write { path: shown(&self.path), source };
        if log.seq != 0 {
            // Its states are those of another process.
            let why = "it has records already, and this process goes on from those of another file".to_owned();
            return Err(OpenError::Foreign { path: shown(&self.path), why });
        }
        (log.seq, log.last, log.lost) = (self.seq, self.last, self.lost);
        log.own(now, true, options).map_err(write)?;
        *self = log;
        Ok(true)
    }

    fn own(&mut self, now: SystemTime, continues: bool, options: Options) -> io::Result<u64> {
        let start = self.start.clone();
        self.put_own(Own::Start { start: &start, options, continues }, now)
    }

    /// Whatever is in the buffer stands before it.
    fn put_own(&mut self, own: Own<'_>, now: SystemTime) -> io::Result<u64> {
        let from = self.buffer.len();
        record::own(own, self.next(now), &mut self.buffer)?;
        let seq = self.put(from)?;
        self.buffer.clear();
        Ok(seq)
    }

    fn next(&self, time: SystemTime) -> Place {
        Place { seq: self.seq + 1, time, prev: self.last }
    }

    /// Writes the buffer, in which the record begins at `from`.
    fn put(&mut self, from: usize) -> io::Result<u64> {
        let record = hash(self.buffer.get(from..).unwrap_or_default());
        self.buffer.push(b'\n');
        if let Err(error) = self.file.write_all(&self.buffer) {
            self.torn = true;
            return Err(error);
        }
        self.last = record;
        self.seq += 1;
        self.whole += self.buffer.len() as u64;
        // One long record must not be kept for ever.
        if self.buffer.capacity() > 1 << 20 {
            self.buffer = Vec::with_capacity(1024);
        }
        Ok(self.seq)
    }
}

/// Where a file ends.
struct End {
    length: u64,
    seq: u64,
    /// Of the last line, whatever it is.
    last: Hash,
    /// Of the last record.
    good: Hash,
    torn: Option<Torn>,
    foreign: Option<String>,
}

struct Torn {
    bytes: u64,
    lines: u64,
    sha256: Hash,
    /// No line end stands behind it.
    open: bool,
}

impl End {
    /// Reads backwards from the end to the last record.
    fn find(file: &mut File) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let mut end = Self { length, seq: 0, last: ZEROS, good: ZEROS, torn: None, foreign: None };
        if length == 0 {
            return Ok(end);
        }
        let mut tail = Tail { file, start: length, bytes: Vec::new() };
        let open = !tail.ends_with_newline()?;
        let mut stop = if open { length } else { length - 1 };
        let mut lines = 0;
        loop {
            let Some(line) = tail.line_before(stop)? else {
                end.foreign = Some(format!("a line at its end is longer than {MAX_LINE} bytes"));
                return Ok(end);
            };
            let (at, record) = (line.0, stamp(line.1));
            if lines == 0 {
                end.last = hash(line.1);
            }
            if let Some(seq) = record {
                (end.seq, end.good) = (seq, hash(line.1));
            } else {
                lines += 1;
            }
            let begun = line.1.starts_with(BEGUN) || (!line.1.is_empty() && BEGUN.starts_with(line.1));
            if record.is_some() || (at == 0 && begun) {
                let from = if record.is_some() { stop + 1 } else { 0 };
                let to = if open { length } else { length - 1 };
                if lines > 0 || open {
                    let torn = tail.between(from.min(to), to);
                    end.torn = Some(Torn { bytes: torn.len() as u64, lines, sha256: hash(torn), open });
                }
                return Ok(end);
            }
            if at == 0 || lines == MAX_TORN {
                end.foreign = Some("its last lines are no records".to_owned());
                return Ok(end);
            }
            stop = at - 1;
        }
    }
}

/// The end of a file, as much of it as was needed.
struct Tail<'f> {
    file: &'f mut File,
    /// Where `bytes` begin in the file.
    start: u64,
    bytes: Vec<u8>,
}

impl Tail<'_> {
    const CHUNK: u64 = 64 * 1024;
    /// Torn lines come on top of the last record.
    const MOST: usize = 2 * MAX_LINE;

    fn ends_with_newline(&mut self) -> io::Result<bool> {
        self.grow()?;
        Ok(self.bytes.last() == Some(&b'\n'))
    }

    /// Reads another chunk in front.
    fn grow(&mut self) -> io::Result<()> {
        // Doubling keeps the copying linear.
        let size = Self::CHUNK.max(self.bytes.len() as u64).min(self.start);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        self.file.seek(SeekFrom::Start(self.start - size))?;
        self.file.read_exact(&mut bytes)?;
        bytes.append(&mut self.bytes);
        (self.start, self.bytes) = (self.start - size, bytes);
        Ok(())
    }

    /// The line that ends before `stop`, and where it begins. `None`: it is too long.
    fn line_before(&mut self, stop: u64) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            let end = usize::try_from(stop.saturating_sub(self.start)).unwrap_or(0);
            let newline = memchr::memrchr(b'\n', self.bytes.get(..end).unwrap_or_default());
            if newline.is_some() || self.start == 0 {
                let from = newline.map_or(0, |at| at + 1);
                let line = self.bytes.get(from..end).unwrap_or_default();
                return Ok((line.len() <= MAX_LINE).then_some((self.start + from as u64, line)));
            }
            if self.bytes.len() > Self::MOST {
                return Ok(None);
            }
            self.grow()?;
        }
    }

    fn between(&self, from: u64, to: u64) -> &[u8] {
        let at = |place: u64| usize::try_from(place.saturating_sub(self.start)).unwrap_or(0);
        self.bytes.get(at(from)..at(to)).unwrap_or_default()
    }
}

fn shown(path: &Path) -> String {
    crate::text::visible(&path.to_string_lossy())
}

#[cfg(unix)]
fn open(path: &Path) -> Result<File, OpenError> {
    use rustix::fs::{FlockOperation, Mode, OFlags, flock};
    use rustix::io::Errno;

    let failed = |source: Errno| OpenError::Open { path: shown(path), source: source.into() };
    // A link could lead into a file of somebody else's choice, and a pipe would block.
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let not = |what| OpenError::NotAFile { path: shown(path), what };
    let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| match error {
        Errno::LOOP => not("a symbolic link"),
        Errno::ISDIR => not("a folder"),
        Errno::NXIO => not("a device or a pipe"),
        error => failed(error),
    })?);
    let metadata = file.metadata().map_err(|source| OpenError::Open { path: shown(path), source })?;
    if !metadata.is_file() {
        return Err(not("a device or a pipe"));
    }
    let mut tries = 0;
    while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK {
            return Err(failed(error));
        }
        // A child between fork and exec holds the locks of its parent, one that has just ended included.
        if tries == LOCK_TRIES {
            return Err(OpenError::Locked { path: shown(path) });
        }
        tries += 1;
        std::thread::sleep(LOCK_PAUSE);
    }
    Ok(file)
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<File, OpenError> {
    let source = io::Error::new(io::ErrorKind::Unsupported, "logs are locked on Unix systems only");
    Err(OpenError::Open { path: shown(path), source })
}

#[cfg(unix)]
fn same_file(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let there = std::fs::symlink_metadata(path).map(id);
    matches!((there, file.metadata().map(id)), (Ok(there), Ok(here)) if there == here)
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &File) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::audit::{Level, Note, NoteKind, verify};

    #[test]
    fn what_cannot_be_written_is_refused_and_said_later() {
        let folder = std::env::temp_dir().join(format!("praxiom-audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("log");
        let now = SystemTime::UNIX_EPOCH;
        let mut log = Log::open(&path, Start::default(), Options::default(), now).unwrap();
        let note = |text| {
            let (kind, level) = (NoteKind::Other, Level::Info);
            Event::Note(Note { kind, level, key: None, server: None, event: "x", code: None, text })
        };
        // A disk that takes half a record and no more.
        let disk = std::mem::replace(&mut log.file, File::open("/dev/null").unwrap());
        for _ in 0..2 {
            assert!(log.append(&note("a"), Options::default(), now).is_err());
        }
        (&disk).write_all(b"{\"seq\":2,\"ti").unwrap();
        log.file = disk;
        assert_eq!(log.append(&note("b"), Options::default(), now).unwrap(), 3);
        assert_eq!(log.append(&note(&"c".repeat(3 << 20)), Options::default(), now).unwrap(), 4);
        let report = verify(std::fs::read(&path).unwrap().as_slice()).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        assert_eq!((report.records, report.lost), (4, 2));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
