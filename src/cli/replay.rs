//! `praxiom replay`: recorded calls through a policy.

mod audited;

use super::Outcome;
use super::error::ToolError;
use super::files::{open, read_rest, shown};
use super::load::accepted;
use super::output::Printer;
use crate::audit::is_record;
use crate::replay::{Difference, Row, compare, decode, rows, split};
use crate::text::visible;
use clap::ValueEnum;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::cell::Cell;
use std::io::Read;

/// Recordings beyond this are refused, not half read.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Decide recorded calls by a policy, in order.
///
/// An audit log that `serve --audit` wrote is decided again, each decision on the state that it was made on,
/// and compared with what is on record. What a call or an answer held and is not on record stays unknown:
/// `serve --log-arguments full` writes a log that can be decided again as a whole. Exit code: 0 clean, for an
/// audit log all agrees; 1 something differs, the log is damaged or the policy is rejected; 2 a file cannot be
/// read; 3 nothing differs, but something of an audit log stayed unknown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: String,
    /// Calls: a JSON document, one JSON object a line, or an audit log; `-` is standard input
    calls: String,
    /// Compare with the verdicts of another policy and print the differences
    #[arg(long, value_name = "OLD", conflicts_with = "timing")]
    against: Option<String>,
    /// Decide each call N more times and report the nanoseconds of a decision
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    timing: Option<u32>,
    #[arg(long, value_enum, default_value_t = RowFormat::Human)]
    format: RowFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowFormat {
    /// A line a call
    Human,
    /// One JSON document
    Json,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let json = args.format == RowFormat::Json;
    if args.calls == "-" && args.policy == "-" {
        return Err(ToolError::usage("standard input cannot be both the policy and the calls", "name a file for one"));
    }
    let Some(policy) = accepted(&args.policy, json, printer)? else { return Ok(Outcome::Findings) };
    let mut reader = open(&args.calls)?;
    let first = audited::first_line(&mut reader, &args.calls)?;
    if is_record(&first) {
        if args.against.is_some() || args.timing.is_some() {
            let help = "leave out `--against` and `--timing`: an audit log is compared with itself";
            return Err(ToolError::usage(format!("{} is an audit log", shown(&args.calls)), help));
        }
        return audited::run(&policy, first.chain(reader), &args.calls, json, printer);
    }
    let bytes = read_rest(first.chain(reader), &args.calls, MAX_BYTES)?;
    let calls = split(&bytes).map_err(|reason| {
        let what = format!("{} is not a recording of calls: {reason}", shown(&args.calls));
        ToolError::usage(what, "a recording is a list of calls, {\"calls\": [...]}, or one call object a line")
    })?;
    if let Some(old) = &args.against {
        let Some(old_policy) = accepted(old, json, printer)? else { return Ok(Outcome::Findings) };
        let differences: Vec<Difference> = compare(&old_policy, &policy, calls.clone().map(decode)).collect();
        let names = (old.as_str(), args.policy.as_str());
        return show_differences(&differences, calls.count(), names, json, printer);
    }
    let rows = rows(&policy, calls.clone().map(decode), args.timing.unwrap_or(0) as usize);
    if json {
        printer.json(&json_rows(rows))?;
    } else {
        for (at, row) in rows.enumerate() {
            show(at + 1, &row, printer)?;
        }
    }
    Ok(Outcome::Clean)
}

/// Rows are serialised directly, since a JSON value would lose the digits of large integers, and one by
/// one as they are decided.
fn json_rows(rows: impl Iterator<Item = Row>) -> impl Serialize {
    #[derive(Serialize)]
    #[serde(bound = "")]
    struct Document<I: Iterator<Item = Row>> {
        version: u32,
        #[serde(serialize_with = "sequence")]
        verdicts: Cell<Option<I>>,
    }
    fn sequence<I, S>(rows: &Cell<Option<I>>, serializer: S) -> Result<S::Ok, S::Error>
    where
        I: Iterator<Item = Row>,
        S: Serializer,
    {
        serializer.collect_seq(rows.take().into_iter().flatten())
    }
    Document { version: 1, verdicts: Cell::new(Some(rows)) }
}

fn show(number: usize, row: &Row, printer: &mut Printer) -> Result<(), ToolError> {
    let tool = row.tool.as_deref().unwrap_or("?");
    printer.line(&format!("{number:>4}  {:<9}  {}", row.verdict, visible(tool)))?;
    if let Some(reason) = &row.reason {
        printer.line(&format!("                 {}", visible(reason)))?;
    }
    let changes = row.decided.changes_since(&row.before);
    if !changes.is_empty() {
        printer.line(&format!("                 {}", visible(&changes.join(", "))))?;
    }
    if let Some(observed) = row.observed.as_ref().filter(|observed| observed.changed || observed.faulted) {
        let mut told = observed.state.changes_since(&row.decided);
        if observed.faulted {
            told.push("the session is faulted: every later call is denied".to_owned());
        }
        if !observed.violated.is_empty() {
            told.push(format!("broken: {}", observed.violated.join(", ")));
        }
        printer.line(&format!("                 answer: {}", visible(&told.join("; "))))?;
    }
    if let Some(ns) = row.ns {
        printer.line(&format!("                 {} ns median, {} ns p99", ns.median, ns.p99))?;
    }
    Ok(())
}

fn show_differences(
    differences: &[Difference],
    calls: usize,
    names: (&str, &str),
    json: bool,
    printer: &mut Printer,
) -> Result<Outcome, ToolError> {
    if json {
        printer.json(&json!({"version": 1, "calls": calls, "differences": differences}))?;
    } else {
        for difference in differences {
            let tool = visible(difference.tool.as_deref().unwrap_or("?"));
            printer.line(&format!(
                "{:>4}  {} → {}  {tool}",
                difference.call, difference.old.verdict, difference.new.verdict
            ))?;
            for (path, side) in [(names.0, &difference.old), (names.1, &difference.new)] {
                if let Some(reason) = &side.reason {
                    printer.line(&format!("      {path}: {}", visible(reason)))?;
                }
            }
        }
        printer.remark(&format!("{} of {calls} verdicts differ", differences.len()))?;
    }
    Ok(if differences.is_empty() { Outcome::Clean } else { Outcome::Findings })
}
