//! `praxiom graph`: the reachable states of a policy as a picture.

use super::Outcome;
use super::check::{catalogue, time};
use super::error::ToolError;
use super::files::shown;
use super::load::Format as Findings;
use super::load::compile;
use super::output::Printer;
use crate::check::{Options, picture};
use crate::report::graph::{dot, mermaid, svg};
use crate::text::{Diagnostic, Sources};
use clap::ValueEnum;
use std::time::Duration;

/// Draw the states that a session can reach, deadlocks and lock-downs marked
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    policy: String,
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    /// What the servers offer, as for `check`
    #[arg(long, value_name = "[NAME=]FILE")]
    tools: Vec<String>,
    /// Time to visit the states, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    time_limit: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Mermaid, as code hosts show it in Markdown
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture without further tools
    Svg,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let catalogue = catalogue(&args.tools, &mut sources, &mut diagnostics)?;
    let compiled = compile(&args.policy, &mut sources)?;
    diagnostics.extend(compiled.diagnostics.into_iter().filter(Diagnostic::is_error));
    printer.findings(&diagnostics, &sources, Findings::Human)?;
    let (Some(policy), true) = (compiled.policy, diagnostics.is_empty()) else { return Ok(Outcome::Findings) };
    let options = Options { time: args.time_limit, ..Options::default() };
    match picture(&policy, &shown(&args.policy), catalogue.as_ref(), &options) {
        Ok(picture) => {
            let text = match args.format {
                Format::Mermaid => mermaid(&picture),
                Format::Dot => dot(&picture),
                Format::Svg => svg(&picture),
            };
            printer.line(text.trim_end())?;
            Ok(Outcome::Clean)
        }
        Err(why) => {
            printer.remark(&format!("{}: no picture: {why}", shown(&args.policy)))?;
            Ok(Outcome::Undecided)
        }
    }
}
