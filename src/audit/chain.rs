//! Checking a log: each record names the digest of the line before it and counts on. Finds damage; a log
//! that was rewritten as a whole, or whose last records are gone, is not found out.

use super::lines::{Hash, Line, Lines, MAX_LINE, hex};
use crate::json::{self, Json};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead};

pub(super) const ZEROS: Hash = [0; 32];

/// More problems than that are counted, not listed.
pub const MAX_PROBLEMS: usize = 100;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: u64,
    pub what: String,
}

/// What a log is like.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub records: u64,
    /// Processes that wrote it.
    pub starts: u64,
    /// Torn lines that a later process closed.
    pub recovered: u64,
    /// Events that the gateway could not record; it refused them.
    pub lost: u64,
    /// The digest that the first record goes on from: 64 zeros, or the last line of another file.
    pub first_prev: String,
    /// The digest of the last line, to be kept elsewhere: it finds out a rewritten log.
    pub last_hash: String,
    /// The last record is that of a stop in order.
    pub stopped: bool,
    /// At most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// All of them.
    pub problem_count: u64,
}

impl Report {
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problem_count == 0
    }
}

/// Checks a whole log.
pub fn verify(reader: impl BufRead) -> io::Result<Report> {
    let mut lines = Lines::new(reader);
    let mut line = Line::default();
    let mut checker = Checker::default();
    while lines.next_into(&mut line)? {
        checker.line(&line);
    }
    Ok(checker.finish())
}

/// The number of a record; `None` for what is none.
pub(super) fn stamp(line: &[u8]) -> Option<u64> {
    Stamped::of(&json::parse(line).ok()?).ok().map(|stamped| stamped.seq)
}

/// What every record has.
struct Stamped<'j> {
    seq: u64,
    kind: &'j str,
    prev: &'j str,
}

impl<'j> Stamped<'j> {
    fn of(record: &'j Json) -> Result<Self, String> {
        let Some(object) = record.as_object() else {
            return Err(format!("it is no record: an object, not {}", record.python_type()));
        };
        let seq = match object.get("seq") {
            Some(Json::Number(number)) => number.as_i64().and_then(|seq| u64::try_from(seq).ok()),
            _ => None,
        };
        let text = |name| object.get(name).and_then(Json::as_str);
        let prev = text("prev").filter(|prev| prev.len() == 64 && prev.bytes().all(|b| b.is_ascii_hexdigit()));
        match (seq, text("kind"), text("time"), prev) {
            (Some(seq), Some(kind), Some(_), Some(prev)) => Ok(Self { seq, kind, prev }),
            (None, ..) => Err("it is no record: `seq` is missing or no number".to_owned()),
            (_, None, ..) => Err("it is no record: `kind` is missing".to_owned()),
            (_, _, None, _) => Err("it is no record: `time` is missing".to_owned()),
            (_, _, _, None) => Err("it is no record: `prev` is missing or no digest".to_owned()),
        }
    }
}

/// Lines that are no records, which a `recovered` record may explain.
#[derive(Debug)]
struct Pending {
    bytes: u64,
    lines: u64,
    hasher: Sha256,
    problems: Vec<Problem>,
}

/// Checks a log line by line.
#[derive(Debug, Default)]
pub struct Checker {
    number: u64,
    /// Digest of the line before, whatever it is.
    last: Option<Hash>,
    /// Digest and number of the last record.
    record: Option<(Hash, u64)>,
    pending: Option<Pending>,
    /// The last line had no end.
    open: bool,
    report: Report,
}

impl Checker {
    /// Takes the next line and gives its record, if it is one.
    pub fn line(&mut self, line: &Line) -> Option<Json> {
        self.number += 1;
        let parsed = if line.length > MAX_LINE as u64 {
            Err(format!("it has {} bytes, more than the limit of {MAX_LINE}", line.length))
        } else {
            json::parse(&line.bytes).map_err(|malformed| format!("it is no record: {malformed}"))
        };
        let stamped = match &parsed {
            Ok(json) => Stamped::of(json),
            Err(what) => Err(what.clone()),
        };
        match &stamped {
            Ok(stamped) => self.record(stamped, parsed.as_ref().ok(), line.hash),
            Err(what) => self.no_record(line, what.clone()),
        }
        self.last = Some(line.hash);
        self.open = !line.ended;
        if stamped.is_ok() { parsed.ok() } else { None }
    }

    fn record(&mut self, stamped: &Stamped<'_>, json: Option<&Json>, hash: Hash) {
        self.report.records += 1;
        self.report.stopped = stamped.kind == "stop";
        if self.report.records == 1 {
            stamped.prev.clone_into(&mut self.report.first_prev);
        }
        let own = |name| json.and_then(Json::as_object).and_then(|object| object.get(name));
        let number = |name| match own(name) {
            Some(Json::Number(number)) => number.as_i64().and_then(|value| u64::try_from(value).ok()),
            _ => None,
        };
        let pending = self.pending.take();
        if stamped.kind == "recovered" {
            self.report.recovered += 1;
            let after = self.record.map_or(ZEROS, |(hash, _)| hash);
            let (bytes, lines, sha256) = match &pending {
                Some(torn) => (torn.bytes, torn.lines, torn.hasher.clone().finalize().into()),
                None => (0, 0, super::lines::hash(b"")),
            };
            let told = [own("after"), own("sha256")].map(|value| value.and_then(Json::as_str));
            let right = number("bytes") == Some(bytes) && number("lines") == Some(lines);
            if !right || told != [Some(hex(&after).as_str()), Some(hex(&sha256).as_str())] {
                self.problem(
                    "it closes other bytes than those before it: they, or the record before them, were changed",
                );
            }
        } else if let Some(pending) = pending {
            for problem in pending.problems {
                self.add(problem);
            }
        }
        match stamped.kind {
            "start" => self.report.starts += 1,
            "lost" => self.report.lost += number("records").unwrap_or(0),
            _ => {}
        }
        let expected = self.last.as_ref().map(hex);
        let first = expected.is_none();
        let broken = expected.is_some_and(|expected| expected != stamped.prev);
        let next = self.record.map(|(_, seq)| seq + 1);
        if broken {
            let gap = match next {
                Some(next) if next != stamped.seq => format!("; `seq` is {} where {next} is next", stamped.seq),
                _ => String::new(),
            };
            self.problem(format!("`prev` is not the digest of line {}: that line was changed, or lines were removed or inserted here{gap}", self.number - 1));
        } else if let Some(next) = next
            && next != stamped.seq
        {
            self.problem(format!("`seq` is {} where {next} is next", stamped.seq));
        }
        if first && stamped.kind != "start" {
            self.problem("a log begins with a `start` record: lines before this one are missing");
        }
        self.record = Some((hash, stamped.seq));
    }

    fn no_record(&mut self, line: &Line, what: String) {
        let number = self.number;
        let pending = self.pending.get_or_insert_with(|| Pending {
            bytes: 0,
            lines: 0,
            hasher: Sha256::new(),
            problems: Vec::new(),
        });
        if pending.lines > 0 {
            pending.hasher.update(b"\n");
            pending.bytes += 1;
        }
        pending.hasher.update(&line.bytes);
        pending.bytes += line.length;
        pending.lines += 1;
        if pending.problems.len() < MAX_PROBLEMS {
            pending.problems.push(Problem { line: number, what });
        } else {
            self.report.problem_count += 1;
        }
    }

    fn problem(&mut self, what: impl Into<String>) {
        self.add(Problem { line: self.number, what: what.into() });
    }

    fn add(&mut self, problem: Problem) {
        self.report.problem_count += 1;
        if self.report.problems.len() < MAX_PROBLEMS {
            self.report.problems.push(problem);
        }
    }

    /// Problems so far, those included that a later record may explain.
    #[must_use]
    pub fn problem_count(&self) -> u64 {
        self.report.problem_count
    }

    /// What the log is like, after its last line.
    #[must_use]
    pub fn finish(mut self) -> Report {
        if let Some(pending) = self.pending.take() {
            for problem in pending.problems {
                self.add(problem);
            }
        }
        if self.number == 0 {
            self.number = 1;
            self.problem("the file is empty: a log begins with a `start` record");
        } else if self.open {
            self.problem("the last line has no end: its record was cut off, or is being written just now");
        }
        self.report.last_hash = hex(&self.last.unwrap_or(ZEROS));
        self.report
    }
}
