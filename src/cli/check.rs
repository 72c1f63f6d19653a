//! `praxiom check`: everything that is wrong with a policy, stage by stage.

mod accept;
mod progress;
mod save;
mod stats;

use super::Outcome;
use super::error::ToolError;
use super::files::{read_text, shown};
use super::load::{Format, compile};
use super::output::Printer;
use crate::catalogue::Catalogue;
use crate::check::{self, InFlight, Options, Report};
use crate::config::parse_duration;
use crate::eval::Compiled;
use crate::lint;
use crate::proof::Certificate;
use crate::report::json::{Explored, FileReport, document};
use crate::report::{count, itf, short, tally};
use crate::text::{Code, Diagnostic, FileId, Severity, Sources, limit_diagnostics, sort_diagnostics};
use clap::ValueEnum;
use progress::Progress;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tool lists beyond this are refused.
const MAX_TOOLS_BYTES: usize = 64 * 1024 * 1024;

/// Check policies: syntax, types, likely mistakes, and what can happen over all sequences of calls.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Policies; `-` is standard input
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<String>,
    /// What the servers offer: the lock that `praxiom tools lock` writes, or NAME=FILE with a server's tools/list result
    #[arg(long, value_name = "[NAME=]FILE")]
    tools: Vec<String>,
    #[arg(long, value_enum, default_value_t = Output::Human)]
    format: Output,
    /// The last stage to run
    #[arg(long, value_enum, default_value_t = Stage::Model)]
    stage: Stage,
    /// Warnings count as errors, and so do lasting blocks that `terminal:` does not declare
    #[arg(long)]
    strict: bool,
    /// Questions that stay undecided are no failure
    #[arg(long)]
    allow_unknown: bool,
    /// Time for all questions of one policy, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, allow_hyphen_values = true)]
    time_limit: Duration,
    /// Whether calls are decided while others are under way
    #[arg(long, value_enum, default_value_t = Calls::Many)]
    in_flight: Calls,
    /// Findings that an earlier `--format json` document holds are accepted
    #[arg(long, value_name = "BASELINE")]
    accept: Option<String>,
    /// Write a certificate of what was shown, for `praxiom verify` and `praxiom serve --require-proof`
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// Write each trace as a test case of `praxiom test` into this folder
    #[arg(long, value_name = "DIR")]
    save_test: Option<PathBuf>,
    /// Say how each question was answered
    #[arg(long)]
    stats: bool,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For a person: source lines, places, remarks, traces
    Human,
    /// One line a finding: `file:line:col: severity[CODE]: message`
    Short,
    /// One JSON document on standard output
    Json,
    /// The first trace, for tools that read Informal Trace Format
    Itf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Calls {
    /// Each call returns before the next is decided
    One,
    /// Calls may overlap, and answers may come late
    Many,
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|why| format!("{why}: write e.g. 500ms, 10s or 2m"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Stage {
    /// YAML, expressions, keys and shapes
    Syntax,
    /// Names, types and scopes too
    Types,
    /// Likely mistakes too
    Lint,
    /// Everything: what can happen over all sequences of calls
    Model,
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
    if args.proof.is_some() && (args.policies.len() > 1 || args.stage != Stage::Model) {
        return Err(ToolError::usage(
            "a certificate is of one policy and all stages",
            "name one policy with `--proof`, and leave `--stage` out",
        ));
    }
    if args.stage != Stage::Model && (args.stats || args.save_test.is_some()) {
        return Err(ToolError::usage(
            "`--stats` and `--save-test` are about what the model checker finds",
            "leave `--stage` out",
        ));
    }
    let accepted = args.accept.as_deref().map(accept::read).transpose()?;
    let options = options(args);
    let mut files = Vec::new();
    let mut failed_to_run = None;
    let mut statistics = Vec::new();
    let mut forgotten = 0;
    for path in &args.policies {
        let compiled = match compile(path, &mut sources) {
            Ok(compiled) => compiled,
            Err(error) => {
                // The other files are checked all the same; the first such error ends the run.
                failed_to_run = failed_to_run.or(Some(error));
                continue;
            }
        };
        let policy = compiled.policy.clone();
        let digest = policy.as_ref().map(|policy| policy.digest().to_owned());
        let file = sources.iter().last().map_or(FileId(0), |(id, _)| id);
        // Half a list would make good rules look wrong.
        let (catalogue, stage) =
            if broken_lists > 0 { (None, args.stage.min(Stage::Lint)) } else { (catalogue.as_ref(), args.stage) };
        let (mut found, report) = staged(compiled, file, &sources, catalogue, stage, &options);
        // What is accepted is an error still, and a certificate says so.
        let (proof_errors, _) = count(&found);
        if let Some(accepted) = &accepted {
            forgotten += accepted.forget(&mut found, &sources);
        }
        let (errors, warnings) = count(&found);
        // An undecided question has an exit code of its own.
        let open = |found: &&Diagnostic| found.code == Code::PX4017 && found.severity > Severity::Info;
        let unknown = found.iter().filter(open).count();
        let errors = errors + if args.strict { warnings - unknown } else { 0 };
        let undecided = if unknown > 0 { report.as_ref().map_or(0, |report| report.undecided) } else { 0 };
        let model = report.as_ref().map(|report| Explored { counts: report.counts, engine: report.engine });
        files.push(FileReport { path: shown(path), digest, errors, undecided, model });
        if let (Some(path), Some(policy), Some(report)) = (&args.proof, &policy, &report) {
            let certificate = report.certificate(policy, catalogue, options.in_flight, errors.max(proof_errors));
            write_proof(path, &certificate)?;
        }
        if let Some(folder) = &args.save_test {
            save::traces(folder, path, &found)?;
        }
        statistics.extend(report.map(|report| (shown(path), report)));
        diagnostics.extend(found);
    }
    match args.format {
        Output::Json => printer.json(&document(&files, &diagnostics, &sources))?,
        Output::Itf => {
            if let Some(found) = diagnostics.iter().find(|diagnostic| diagnostic.trace.is_some()) {
                printer.json(&itf::document(found))?;
            }
        }
        Output::Short => printer.findings(&diagnostics, &sources, Format::Short)?,
        Output::Human => {
            let (told, asides): (Vec<Diagnostic>, Vec<Diagnostic>) =
                diagnostics.iter().cloned().partition(|diagnostic| diagnostic.severity > Severity::Info);
            printer.findings(&told, &sources, Format::Human)?;
            for aside in &asides {
                printer.remark(&short::line(aside, &sources))?;
            }
        }
    }
    if let Some(error) = failed_to_run {
        return Err(error);
    }
    if args.stats {
        for (path, report) in &statistics {
            printer.remark(&stats::table(path, report))?;
        }
    }
    let undecided = files.iter().any(|file| file.undecided > 0) && !args.allow_unknown;
    if args.format == Output::Human {
        let what =
            if let [only] = args.policies.as_slice() { shown(only) } else { format!("{} policies", files.len()) };
        let told = tally(&diagnostics).unwrap_or_else(|| "no findings".to_owned());
        let extent = stats::extent(statistics.iter().map(|(_, report)| report));
        let forgotten = if forgotten > 0 { format!(", {forgotten} accepted") } else { String::new() };
        printer.remark(&format!("{what}: {told}{forgotten}{extent}"))?;
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.code == Code::PX9001) {
        return Ok(Outcome::Internal);
    }
    let failed = broken_lists > 0 || files.iter().any(|file| file.errors > 0);
    Ok(match (failed, undecided) {
        (true, _) => Outcome::Findings,
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Clean,
    })
}

fn write_proof(path: &Path, certificate: &Certificate) -> Result<(), ToolError> {
    let mut text = serde_json::to_string_pretty(certificate).map_err(std::io::Error::from)?;
    text.push('\n');
    std::fs::write(path, text).map_err(|error| {
        ToolError::usage(format!("{} cannot be written: {error}", path.display()), "name a file for `--proof`")
    })
}

fn options(args: &Args) -> Options {
    Options {
        in_flight: match args.in_flight {
            Calls::One => InFlight::One,
            Calls::Many => InFlight::Many,
        },
        time: args.time_limit,
        strict: args.strict,
        solver: std::env::current_exe().ok(),
        ..Options::default()
    }
}

/// The findings of one policy up to the stage, silences applied, in reading order; and what the model checker knows.
fn staged(
    compiled: Compiled,
    file: FileId,
    sources: &Sources,
    catalogue: Option<&Catalogue>,
    stage: Stage,
    options: &Options,
) -> (Vec<Diagnostic>, Option<Report>) {
    let Compiled { file: written, policy, diagnostics: mut found } = compiled;
    let mut report = None;
    if stage == Stage::Syntax {
        found.retain(|diagnostic| diagnostic.code < Code::PX2001);
    }
    if stage >= Stage::Lint
        && let (Some(written), Some(policy), Some(source)) = (written, policy, sources.get(file))
    {
        found.extend(lint::lint(&written, &policy, catalogue));
        if stage >= Stage::Model {
            let mut progress = Progress::new(source.name());
            let mut checked = check::check(&policy, written.default_span, catalogue, options, &mut |n| progress.at(n));
            found.append(&mut checked.diagnostics);
            report = Some(checked);
        }
        // Of what was not asked, or stayed undecided, a comment may be right.
        let answered = report.as_ref().is_some_and(|report| report.undecided == 0);
        let settled = |code: Code| {
            let of_model = (Code::PX4001..Code::PX5001).contains(&code);
            let of_tools = (Code::PX6001..Code::PX7001).contains(&code);
            (answered || !of_model) && (catalogue.is_some() || !of_tools)
        };
        found = lint::silence(&written.comments, &written.expression_spans(), source, found, &settled);
    }
    limit_diagnostics(&mut found);
    sort_diagnostics(&mut found);
    (found, report)
}

pub(super) fn catalogue(
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
