//! `praxiom check`: everything that is wrong with a policy.

use super::error::ToolError;
use super::load::{Format, compile};
use super::files::shown;
use super::output::Printer;
use super::Outcome;
use crate::report::json::{FileReport, document};
use crate::report::{count, tally};
use crate::text::Sources;

/// Check policies: syntax, types, likely mistakes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Policies; `-` is standard input
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Warnings count as errors
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let mut sources = Sources::default();
    let mut files = Vec::new();
    let mut diagnostics = Vec::new();
    for path in &args.policies {
        let compiled = compile(path, &mut sources)?;
        let digest = compiled.policy.as_ref().map(|policy| policy.digest().to_owned());
        let (errors, warnings) = count(&compiled.diagnostics);
        let errors = if args.strict { errors + warnings } else { errors };
        files.push(FileReport { path: shown(path), digest, errors });
        diagnostics.extend(compiled.diagnostics);
    }
    if args.format == Format::Json {
        printer.json(&document(&files, &diagnostics, &sources))?;
    } else {
        printer.findings(&diagnostics, &sources, args.format)?;
    }
    if args.format == Format::Human {
        let told = tally(&diagnostics).unwrap_or_else(|| "no findings".to_owned());
        printer.remark(&told)?;
    }
    let failed = files.iter().any(|file| file.errors > 0);
    Ok(if failed { Outcome::Findings } else { Outcome::Clean })
}
