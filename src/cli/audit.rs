//! `praxiom audit`: what the gateway wrote about itself.

use super::Outcome;
use super::error::ToolError;
use super::files::{open, shown, unreadable};
use super::output::Printer;
use crate::audit::verify;
use crate::text::visible;
use clap::{Subcommand, ValueEnum};
use serde_json::json;

/// Work with the audit logs that `serve --audit` writes.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Verify),
}

/// Check the hash chain of an audit log.
///
/// Each record names the SHA-256 of the line before it, so that a line that was changed, removed, inserted or
/// moved is found. It finds damage, not a full rewrite: whoever can write the file can compute a new chain, or
/// take away its last records. Keep the last digest somewhere else to find that out as well. `serve` looks only at
/// the end of a log that it continues, so that damage further up is found here alone. Exit code: 0 clean,
/// 1 damaged, 2 the file cannot be read.
#[derive(Debug, clap::Args)]
struct Verify {
    /// The log; `-` is standard input
    log: String,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line a problem
    Human,
    /// One JSON document
    Json,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let Command::Verify(args) = &args.command;
    let report = verify(open(&args.log)?).map_err(|source| unreadable(&args.log, source))?;
    let zeros = report.first_prev.bytes().all(|byte| byte == b'0');
    if args.format == Format::Json {
        let problem = |problem: &crate::audit::Problem| json!({"line": problem.line, "what": problem.what});
        printer.json(&json!({
            "version": 1,
            "clean": report.is_clean(),
            "records": report.records,
            "starts": report.starts,
            "recovered": report.recovered,
            "lost": report.lost,
            "stopped": report.stopped,
            "first_prev": report.first_prev,
            "last_hash": report.last_hash,
            "problem_count": report.problem_count,
            "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
        }))?;
    } else {
        let path = shown(&args.log);
        for problem in &report.problems {
            printer.line(&format!("{path}:{}: {}", problem.line, visible(&problem.what)))?;
        }
        let more = report.problem_count.saturating_sub(report.problems.len() as u64);
        if more > 0 {
            printer.line(&format!("{path}: and {more} more"))?;
        }
        let counts = [
            Some(count(report.records, "record")),
            Some(format!("{} of a gateway", count(report.starts, "start"))),
            (report.recovered > 0).then(|| format!("{} closed", count(report.recovered, "torn line"))),
            (report.lost > 0).then(|| format!("{} that could not be written", count(report.lost, "record"))),
        ];
        printer.line(&format!("{path}: {}", counts.into_iter().flatten().collect::<Vec<_>>().join(", ")))?;
        if !zeros && report.records > 0 {
            printer.line(&format!("goes on from {}, the last line of another file", report.first_prev))?;
        }
        printer.line(&format!("last line {}", report.last_hash))?;
        let end = if report.stopped { "" } else { "; it does not end with a stop in order" };
        printer.line(&if report.is_clean() {
            format!("the chain is whole{end}")
        } else {
            format!("the chain is damaged: {}", count(report.problem_count, "problem"))
        })?;
    }
    Ok(if report.is_clean() { Outcome::Clean } else { Outcome::Findings })
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
