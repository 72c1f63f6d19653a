//! `praxiom test`: test files through their policies.

mod batch;
mod find;
mod show;

use super::Outcome;
use super::error::ToolError;
use super::load::Format as Findings;
use super::output::Printer;
use crate::ir::Glob;
use crate::report::json::test_run;
use crate::report::junit;
use crate::suite::Tally;
use crate::text::{Code, Diagnostic, Span};
use batch::Batch;
use clap::ValueEnum;

/// Run the tests of policies: calls, and what each must come to.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Test files, or folders to search for `*.test.yaml`; `-` is standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<String>,
    /// Run only tests whose whole name matches the glob
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,
    /// Say what no test exercised: guards and invariants both ways, effects, patterns, actions
    #[arg(long)]
    coverage: bool,
    /// Fail where less than N percent of a policy is covered
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    coverage_threshold: Option<u8>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line a test, then what failed and why
    Human,
    /// One JSON document
    Json,
    #[value(help = "JUnit XML, for CI servers")]
    Junit,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let filter = args.filter.as_deref().map(Glob::parse);
    let coverage = args.coverage || args.coverage_threshold.is_some();
    let mut batch = Batch::new(filter, coverage);
    for path in find::test_files(&args.paths)? {
        batch.run(&path)?;
    }
    if batch.ran_nothing() {
        batch.no_tests(&args.paths, args.filter.as_deref());
    }
    if let Some(threshold) = args.coverage_threshold {
        let below = batch.coverage.iter().filter_map(|(path, coverage)| {
            let tally = Tally::of(&coverage.items(), None);
            (tally.covered * 100 < tally.total * usize::from(threshold))
                .then(|| below(path, coverage.start(), tally, threshold))
        });
        batch.others.extend(below);
    }
    let diagnostics = batch.diagnostics();
    match args.format {
        Format::Human => show::human(&batch, &diagnostics, printer)?,
        Format::Json => {
            printer.json(&test_run::document(&batch.files, &batch.coverage, &diagnostics, &batch.sources))?;
        }
        Format::Junit => {
            let xml = junit::document(&batch.files, &batch.others, &batch.sources);
            printer.line(xml.map_err(std::io::Error::other)?.trim_end())?;
            printer.findings(&diagnostics, &batch.sources, Findings::Human)?;
        }
    }
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    Ok(if failed { Outcome::Findings } else { Outcome::Clean })
}

fn below(path: &str, start: Span, tally: Tally, threshold: u8) -> Diagnostic {
    let percent = show::percent(tally);
    let message = format!("the tests cover {percent} of this policy, less than {threshold} %");
    Diagnostic::new(Code::PX5002, start, message)
        .note(format!(
            "{} of {} guards, invariants, effects, patterns and actions are exercised",
            tally.covered, tally.total
        ))
        .help(format!("`praxiom test --coverage` lists the others of {path}: add a call for each"))
}
