//! `praxiom replay` of an audit log.

use crate::audit::{Checker, Line, Lines, MAX_LINE};
use crate::cli::Outcome;
use crate::cli::error::ToolError;
use crate::cli::files::{shown, unreadable};
use crate::cli::output::Printer;
use crate::eval::Policy;
use crate::replay::audited::{AnswerCounts, UnknownCounts};
use crate::replay::{Audited, AuditedRow, Summary};
use crate::text::visible;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::io::{self, BufRead, Read};

/// The first line with its end, which tells an audit log from other recordings.
pub(super) fn first_line(reader: &mut impl BufRead, path: &str) -> Result<Vec<u8>, ToolError> {
    let mut line = Vec::new();
    let most = MAX_LINE as u64 + 1;
    reader.take(most).read_until(b'\n', &mut line).map_err(|source| unreadable(path, source))?;
    Ok(line)
}

pub(super) fn run(
    policy: &Policy,
    log: impl BufRead,
    path: &str,
    json: bool,
    printer: &mut Printer,
) -> Result<Outcome, ToolError> {
    let mut again = Again {
        lines: Lines::new(log),
        line: Line::default(),
        number: 0,
        checker: Checker::default(),
        audited: Audited::new(policy),
        unreadable: Vec::new(),
        unreadable_count: 0,
    };
    if json {
        let document = Document { again: Cell::new(Some(again)), failed: Cell::new(None), end: Cell::new(None) };
        printer.json(&document)?;
        if let Some(source) = document.failed.take() {
            return Err(unreadable(path, source));
        }
        let end = document.end.take();
        return Ok(end.map_or(Outcome::Findings, |end| end.outcome()));
    }
    while let Some(row) = again.next_row().map_err(|source| unreadable(path, source))? {
        if row.agrees == Some(false) {
            show(&row, printer)?;
        }
    }
    let end = again.end();
    show_end(&end, path, policy, printer)?;
    Ok(end.outcome())
}

/// A log on its way through the policy.
struct Again<R> {
    lines: Lines<R>,
    line: Line,
    number: u64,
    checker: Checker,
    audited: Audited,
    /// Records that cannot be taken apart.
    unreadable: Vec<(u64, String)>,
    unreadable_count: u64,
}

/// What came of it.
struct End {
    summary: Summary,
    chain_problems: u64,
    first_problem: Option<(u64, String)>,
    unreadable: Vec<(u64, String)>,
    unreadable_count: u64,
}

impl End {
    fn outcome(&self) -> Outcome {
        let summary = &self.summary;
        if summary.differed > 0 || summary.answers.differed > 0 || self.chain_problems > 0 || self.unreadable_count > 0
        {
            Outcome::Findings
        } else if summary.unknown != UnknownCounts::default() || summary.answers.unknown > 0 {
            Outcome::Undecided
        } else {
            Outcome::Clean
        }
    }
}

impl<R: BufRead> Again<R> {
    fn next_row(&mut self) -> io::Result<Option<AuditedRow>> {
        while self.lines.next_into(&mut self.line)? {
            self.number += 1;
            let problems = self.checker.problem_count();
            let Some(record) = self.checker.line(&self.line) else {
                self.audited.gap();
                continue;
            };
            if self.checker.problem_count() > problems {
                self.audited.gap();
            }
            match self.audited.record(self.number, &record) {
                Ok(Some(row)) => return Ok(Some(row)),
                Ok(None) => {}
                Err(why) => {
                    self.unreadable_count += 1;
                    if self.unreadable.len() < 10 {
                        self.unreadable.push((self.number, why));
                    }
                }
            }
        }
        Ok(None)
    }

    fn end(self) -> End {
        let report = self.checker.finish();
        End {
            summary: self.audited.summary().clone(),
            chain_problems: report.problem_count,
            first_problem: report.problems.into_iter().next().map(|problem| (problem.line, problem.what)),
            unreadable: self.unreadable,
            unreadable_count: self.unreadable_count,
        }
    }
}

/// Rows are written one by one as they are decided, and then what they come to.
struct Document<R> {
    again: Cell<Option<Again<R>>>,
    failed: Cell<Option<io::Error>>,
    end: Cell<Option<End>>,
}

struct Rows<'a, R> {
    again: &'a RefCell<Again<R>>,
    failed: &'a Cell<Option<io::Error>>,
}

impl<R: BufRead> Serialize for Rows<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        loop {
            match self.again.borrow_mut().next_row() {
                Ok(Some(row)) => rows.serialize_element(&row)?,
                Ok(None) => break,
                Err(error) => {
                    self.failed.set(Some(error));
                    break;
                }
            }
        }
        rows.end()
    }
}

impl<R: BufRead> Serialize for Document<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Place<'a> {
            line: u64,
            what: &'a str,
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &1)?;
        if let Some(again) = self.again.take() {
            let again = RefCell::new(again);
            map.serialize_entry("verdicts", &Rows { again: &again, failed: &self.failed })?;
            let end = again.into_inner().end();
            map.serialize_entry("summary", &end.summary)?;
            let unreadable = end.unreadable.iter().map(|(line, what)| Place { line: *line, what });
            map.serialize_entry("unreadable", &unreadable.collect::<Vec<_>>())?;
            map.serialize_entry("chain_problems", &end.chain_problems)?;
            self.end.set(Some(end));
        }
        map.end()
    }
}

fn show(row: &AuditedRow, printer: &mut Printer) -> Result<(), ToolError> {
    let tool = visible(row.row.tool.as_deref().unwrap_or("?"));
    let changed = row.recorded.verdict != row.row.verdict;
    let verdict =
        if changed { format!("{} → {}", row.recorded.verdict, row.row.verdict) } else { row.row.verdict.to_owned() };
    printer.line(&format!("line {}: {}  {tool}", row.line, visible(&verdict)))?;
    if let Some(reason) = &row.row.reason {
        printer.line(&format!("    now: {}", visible(reason)))?;
    }
    for what in &row.differs {
        let (then, now) = match *what {
            "failed" => {
                let now: Vec<&str> = row.row.failed.iter().map(|failed| &*failed.name).collect();
                let then: Vec<&str> = row.recorded.failed.iter().map(|(_, name)| name.as_str()).collect();
                (then.join(", "), now.join(", "))
            }
            "state" => (text(&row.recorded.state), text(&row.row.state)),
            "before" => ("another".to_owned(), text(&row.row.before)),
            "observed" => {
                let now = row.row.observed.as_ref().map(|seen| {
                    let violated: Vec<&str> = seen.violated.iter().map(|name| &**name).collect();
                    effects(seen.changed, seen.faulted, &violated)
                });
                let then = row.recorded.observed.as_ref().map(|seen| {
                    let violated: Vec<&str> = seen.violated.iter().map(String::as_str).collect();
                    effects(seen.changed, seen.faulted, &violated)
                });
                (then.unwrap_or_default(), now.unwrap_or_default())
            }
            _ => continue,
        };
        printer.line(&format!("    {what}: recorded {}, now {}", visible(&then), visible(&now)))?;
    }
    Ok(())
}

fn text(state: &impl Serialize) -> String {
    serde_json::to_string(state).unwrap_or_default()
}

fn effects(changed: bool, faulted: bool, violated: &[&str]) -> String {
    let changed = if changed { "changed the state" } else { "changed nothing" };
    let faulted = if faulted { ", could not be judged" } else { "" };
    let broken = if violated.is_empty() { String::new() } else { format!(", broke {}", violated.join(", ")) };
    format!("{changed}{faulted}{broken}")
}

fn show_end(end: &End, path: &str, policy: &Policy, printer: &mut Printer) -> Result<(), ToolError> {
    let summary = &end.summary;
    let path = shown(path);
    for (line, what) in &end.unreadable {
        printer.line(&format!("line {line}: the record cannot be read: {}", visible(what)))?;
    }
    if let Some((line, what)) = &end.first_problem {
        let problems = end.chain_problems;
        printer.remark(&format!("{path}:{line}: {}", visible(what)))?;
        printer.remark(&format!("the chain is damaged ({problems} in all): `praxiom audit verify` lists it"))?;
    }
    for digest in &summary.other_policies {
        let now = policy.digest();
        printer.remark(&format!(
            "decided by another policy: {} then, {now} now; verdicts alone are compared",
            visible(digest)
        ))?;
    }
    let unknown = summary.unknown;
    let mut told = format!("{} decisions: {} agreed, {} differed", summary.decisions, summary.agreed, summary.differed);
    for (count, what) in [(unknown.redacted, "unknown: redacted"), (unknown.state, "unknown: state")] {
        if count > 0 {
            let _ = write!(told, ", {count} {what}");
        }
    }
    printer.line(&told)?;
    if unknown.redacted > 0 || summary.answers.unknown > 0 {
        printer.remark("a log that is written with `serve --log-arguments full` can be decided again as a whole")?;
    }
    let answers = summary.answers;
    if answers != AnswerCounts::default() {
        let told = format!("{} agreed, {} differed, {} unknown", answers.agreed, answers.differed, answers.unknown);
        printer.line(&format!("answers that rules look at: {told}"))?;
    }
    if summary.resumed > 0 {
        printer.line(&format!("{} times the state was taken from the log, since it was not known", summary.resumed))?;
    }
    Ok(())
}
