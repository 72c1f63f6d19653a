//! `praxiom check`: everything that is wrong with a policy, stage by stage.

use super::Outcome;
use super::error::ToolError;
use super::files::{read_text, shown};
use super::load::{Format, compile};
use super::output::Printer;
use crate::catalogue::Catalogue;
use crate::eval::Compiled;
use crate::lint;
use crate::report::json::{FileReport, document};
use crate::report::{count, tally};
use crate::text::{Code, Diagnostic, FileId, Sources, limit_diagnostics, sort_diagnostics};
use clap::ValueEnum;

/// Tool lists beyond this are refused.
const MAX_TOOLS_BYTES: usize = 64 * 1024 * 1024;

/// Check policies: syntax, types, likely mistakes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Policies; `-` is standard input
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<String>,
    /// What the servers offer: the lock that `praxiom tools lock` writes, or NAME=FILE with a server's tools/list result
    #[arg(long, value_name = "[NAME=]FILE")]
    tools: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The last stage to run
    #[arg(long, value_enum, default_value_t = Stage::Lint)]
    stage: Stage,
    /// Warnings count as errors
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Stage {
    /// YAML, expressions, keys and shapes
    Syntax,
    /// Names, types and scopes too
    Types,
    /// Likely mistakes too
    Lint,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    #[cfg(feature = "smt")]
    crate::smt::require_minimum().map_err(|what| {
        ToolError::usage(what, "run `make z3` and build again, or set LD_LIBRARY_PATH to a folder with a newer libz3")
    })?;
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let catalogue = catalogue(&args.tools, &mut sources, &mut diagnostics)?;
    let (broken_lists, _) = count(&diagnostics);
    if args.policies.iter().filter(|path| *path == "-").count() > 1 {
        return Err(ToolError::usage("standard input is named twice", "name `-` once, and files for the others"));
    }
    let mut files = Vec::new();
    let mut failed_to_run = None;
    for path in &args.policies {
        let compiled = match compile(path, &mut sources) {
            Ok(compiled) => compiled,
            Err(error) => {
                // The other files are checked all the same; the first such error ends the run.
                failed_to_run = failed_to_run.or(Some(error));
                continue;
            }
        };
        let digest = compiled.policy.as_ref().map(|policy| policy.digest().to_owned());
        let file = sources.iter().last().map_or(FileId(0), |(id, _)| id);
        let found = staged(compiled, file, &sources, catalogue.as_ref(), args.stage);
        let (errors, warnings) = count(&found);
        let errors = errors + if args.strict { warnings } else { 0 };
        files.push(FileReport { path: shown(path), digest, errors });
        diagnostics.extend(found);
    }
    if args.format == Format::Json {
        printer.json(&document(&files, &diagnostics, &sources))?;
    } else {
        printer.findings(&diagnostics, &sources, args.format)?;
    }
    if let Some(error) = failed_to_run {
        return Err(error);
    }
    if args.format == Format::Human {
        let what =
            if let [only] = args.policies.as_slice() { shown(only) } else { format!("{} policies", files.len()) };
        let told = tally(&diagnostics).unwrap_or_else(|| "no findings".to_owned());
        printer.remark(&format!("{what}: {told}"))?;
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.code == Code::PX9001) {
        return Ok(Outcome::Internal);
    }
    let failed = broken_lists > 0 || files.iter().any(|file| file.errors > 0);
    Ok(if failed { Outcome::Findings } else { Outcome::Clean })
}

/// The findings of one policy up to the stage, silences applied, in reading order.
fn staged(
    compiled: Compiled,
    file: FileId,
    sources: &Sources,
    catalogue: Option<&Catalogue>,
    stage: Stage,
) -> Vec<Diagnostic> {
    let Compiled { file: written, policy, diagnostics: mut found } = compiled;
    match stage {
        Stage::Syntax => found.retain(|diagnostic| diagnostic.code < Code::PX2001),
        Stage::Types => {}
        Stage::Lint => {
            if let (Some(written), Some(policy), Some(source)) = (written, policy, sources.get(file)) {
                found.extend(lint::lint(&written, &policy, catalogue));
                found = lint::silence(&written.comments, &written.expression_spans(), source, found);
            }
        }
    }
    limit_diagnostics(&mut found);
    sort_diagnostics(&mut found);
    found
}

fn catalogue(
    tools: &[String],
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Catalogue>, ToolError> {
    let mut catalogue = Catalogue::default();
    for given in tools {
        // A path may hold `=` too, but no server's name holds a separator.
        let (server, path) = match given.split_once('=') {
            Some((name, path)) if !name.is_empty() && !name.contains(['/', '\\', '.']) => (Some(name), path),
            _ => (None, given.as_str()),
        };
        let text = read_text(path, MAX_TOOLS_BYTES)?;
        let file = sources.add(shown(path), text.as_str());
        if let Err(diagnostic) = catalogue.add(&text, file, server) {
            diagnostics.push(*diagnostic);
        }
    }
    Ok((!tools.is_empty()).then_some(catalogue))
}
