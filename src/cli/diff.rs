//! `praxiom diff`: what a new version of a policy allows or denies that the old one did not.

use super::Outcome;
use super::check::{catalogue, time};
use super::error::ToolError;
use super::files::shown;
use super::load::{Format, compile};
use super::output::Printer;
use crate::check::{self, Comparison, InFlight, Options};
use crate::policy::changes::{Section, changes};
use crate::report::json::finding;
use crate::text::{Code, Diagnostic, Severity, Sources};
use serde_json::json;
use std::time::Duration;

/// Compare two policies: new access and new denials, each with the shortest sequence of calls
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The policy as it was
    old: String,
    /// The policy as it is to be
    new: String,
    /// What the servers offer, as for `check`
    #[arg(long, value_name = "[NAME=]FILE")]
    tools: Vec<String>,
    /// New access is an error: exit code 1
    #[arg(long)]
    no_new_access: bool,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// An undecided comparison is no failure
    #[arg(long)]
    allow_unknown: bool,
    /// Time for the comparison, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    time_limit: Duration,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let catalogue = catalogue(&args.tools, &mut sources, &mut diagnostics)?;
    if args.old == "-" && args.new == "-" {
        return Err(ToolError::usage("standard input is named twice", "name a file for one of the policies"));
    }
    let old = compile(&args.old, &mut sources)?;
    let new = compile(&args.new, &mut sources)?;
    let rejected: Vec<Diagnostic> =
        old.diagnostics.iter().chain(&new.diagnostics).filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    diagnostics.extend(rejected);
    let (Some(old_policy), Some(new_policy), Some(old_file), Some(new_file)) =
        (old.policy, new.policy, old.file, new.file)
    else {
        tell(args, printer, &[], &Comparison::default(), &diagnostics, &sources)?;
        return Ok(Outcome::Findings);
    };
    let written = changes(&old_file, &new_file);
    let options = Options {
        time: args.time_limit,
        in_flight: InFlight::Many,
        solver: std::env::current_exe().ok(),
        ..Options::default()
    };
    let place = new_file.default_span;
    let mut compared = check::compare(&old_policy, &new_policy, place, catalogue.as_ref(), &options, &mut |_| {});
    if args.no_new_access {
        for diagnostic in compared.diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == Code::PX4018) {
            diagnostic.severity = Severity::Error;
        }
    }
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    diagnostics.append(&mut compared.diagnostics);
    tell(args, printer, &written, &compared, &diagnostics, &sources)?;
    if diagnostics.iter().any(|diagnostic| diagnostic.code == Code::PX9001) {
        return Ok(Outcome::Internal);
    }
    let refused = broken || (args.no_new_access && compared.new_access == Some(true));
    let open = compared.new_access.is_none() || compared.new_denial.is_none();
    Ok(match (refused, open && !args.allow_unknown) {
        (true, _) => Outcome::Findings,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Clean,
    })
}

fn tell(
    args: &Args,
    printer: &mut Printer,
    written: &[Section],
    compared: &Comparison,
    diagnostics: &[Diagnostic],
    sources: &Sources,
) -> Result<(), ToolError> {
    match args.format {
        Format::Json => {
            let lines = |section: &Section| -> Vec<_> {
                let line = |line: &crate::policy::changes::Line| json!({"change": line.mark.as_str(), "what": line.label, "old": line.old, "new": line.new});
                section.lines.iter().map(line).collect()
            };
            let changes: Vec<_> = written
                .iter()
                .map(|section| json!({"change": section.mark.as_str(), "part": section.title, "lines": lines(section)}))
                .collect();
            let found: Vec<_> = diagnostics.iter().map(|diagnostic| finding(diagnostic, sources)).collect();
            printer.json(&json!({
                "version": 1,
                "old": shown(&args.old),
                "new": shown(&args.new),
                "new_access": compared.new_access,
                "new_denial": compared.new_denial,
                "changes": changes,
                "diagnostics": found,
            }))
        }
        Format::Short => printer.findings(diagnostics, sources, Format::Short),
        Format::Human => {
            printer.remark(&format!("{} → {}", shown(&args.old), shown(&args.new)))?;
            for section in written {
                printer.remark(&format!("  {} {}", section.mark.sign(), crate::text::visible(&section.title)))?;
                for line in &section.lines {
                    printer.remark(&format!("      {}", crate::text::visible(&line.to_string())))?;
                }
            }
            if written.is_empty() {
                printer.remark("  nothing is written otherwise")?;
            }
            printer.remark("")?;
            printer.findings(diagnostics, sources, Format::Human)?;
            printer.remark(&verdict("new access", compared.new_access))?;
            printer.remark(&verdict("new denials", compared.new_denial))
        }
    }
}

fn verdict(what: &str, found: Option<bool>) -> String {
    match found {
        Some(true) => format!("{what}: yes, see above"),
        Some(false) => format!("{what}: none, proved over all sequences of calls"),
        None => format!("{what}: undecided"),
    }
}
