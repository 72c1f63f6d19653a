//! `praxiom tools`: what the servers offer, and the lock of what somebody agreed to.

mod diff;
mod list;
mod lock;
mod words;

use super::Outcome;
use super::error::ToolError;
use super::files::shown;
use super::gateway_files::{FileArgs, configuration, read_lock};
use super::output::Printer;
use super::signals::Signals;
use crate::catalogue::Lock;
use crate::config::Config;
use crate::gateway::survey::{Seen, survey};
use crate::json::{Json, Number, Object, write_review};
use clap::{Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use words::Words;

/// The name of a lock that nothing names.
const LOCK: &str = "praxiom.lock.json";

/// See what the servers offer; write or compare the tool lock.
///
/// Every server of the configuration is started or contacted, whether it is trusted or not, its lists are read and it
/// is ended again. None of its tools is called. Exit code: 0 clean, 1 differences from the lock, 2 a server could not
/// be contacted or a file is refused.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show tools, prompts and resources, which of them `serve` would offer, and why not the others
    List(Common),
    /// Write the lock: what the servers are now is what you agree to
    ///
    /// `serve` with this lock refuses servers, tools and prompts that are not as it records them; `praxiom check
    /// --tools` checks policies against it. It is written as a whole or not at all.
    Lock(Common),
    /// Show what is not as the lock records it
    Diff(Common),
}

#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    files: FileArgs,
    /// The lock; else that of the configuration, else praxiom.lock.json beside the configuration
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a person
    Human,
    /// One JSON document on standard output
    Json,
}

/// What each of the commands starts from.
struct Task<'a> {
    config: &'a Config,
    words: Words<'a>,
    lock: PathBuf,
    /// Where the configuration is.
    folder: PathBuf,
    /// Whether the lock's path was written anywhere.
    named: bool,
    json: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let (Command::List(common) | Command::Lock(common) | Command::Diff(common)) = &args.command;
    let config = configuration(&common.files, printer)?;
    let written = common.lock.clone().or_else(|| config.lock.as_ref().map(|lock| lock.path.clone()));
    let path = Path::new(common.files.config.as_deref().unwrap_or_default());
    let task = Task {
        words: Words(&config.masker),
        named: written.is_some(),
        lock: written.unwrap_or_else(|| path.with_file_name(LOCK)),
        // The folder of a bare name is this one.
        folder: path.parent().map_or_else(PathBuf::new, |folder| Path::new(".").join(folder)),
        json: common.format == Format::Json,
        config: &config,
    };
    match args.command {
        Command::List(_) => list::run(&task, common.lock.is_some(), printer),
        Command::Lock(_) => lock::run(&task, printer),
        Command::Diff(_) => diff::run(&task, printer),
    }
}

impl Task<'_> {
    fn path(&self) -> String {
        shown(&self.lock.to_string_lossy())
    }

    fn read(&self, printer: &mut Printer) -> Result<Lock, ToolError> {
        read_lock(&self.lock, printer).map(|(lock, _)| lock)
    }

    /// Looks at every server; a signal ends that and the servers.
    fn survey(&self) -> Result<Vec<Result<Seen, String>>, ToolError> {
        crate::gateway::adopt_orphans();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ToolError::usage(format!("no server can be started: {error}"), "close other programs"))?;
        let seen = runtime.block_on(async {
            let mut signals = Signals::new()?;
            let stop = CancellationToken::new();
            let survey = survey(self.config, &stop);
            tokio::pin!(survey);
            tokio::select! {
                seen = &mut survey => return Ok(seen),
                () = signals.any() => stop.cancel(),
            }
            survey.await;
            Err(ToolError::Refused { what: "interrupted; nothing was written".to_owned() })
        });
        runtime.shutdown_timeout(Duration::from_millis(10));
        seen
    }

    /// The servers that could not be seen, and why.
    fn failures<'s>(&'s self, seen: &'s [Result<Seen, String>]) -> Vec<(&'s crate::config::Server, &'s str)> {
        let failed = |(server, seen): (_, &'s Result<Seen, String>)| Some((server, seen.as_ref().err()?.as_str()));
        self.config.servers.iter().zip(seen).filter_map(failed).collect()
    }

    /// Names every server that could not be seen, for a person, and ends the command; `so`: what follows.
    fn told(
        &self,
        failures: &[(&crate::config::Server, &str)],
        so: &str,
        printer: &mut Printer,
    ) -> Result<(), ToolError> {
        for (server, why) in failures {
            let start = self.words.show_name(&server.describe());
            printer.remark(&format!("{}: {}\n  started as: {start}", server.name, self.words.lines(why)))?;
        }
        if failures.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = failures.iter().map(|(server, _)| server.name.as_str()).collect();
        let (of, all) = (names.len(), self.config.servers.len());
        let servers = if all == 1 { "server" } else { "servers" };
        let what = format!("{of} of {all} {servers} could not be looked at: {}{so}", names.join(", "));
        Err(ToolError::Refused { what })
    }

    fn failures_json(&self, failures: &[(&crate::config::Server, &str)]) -> Json {
        let row = |(server, why): &(&crate::config::Server, &str)| {
            object([("server", text(&server.name)), ("error", self.words.json(why))])
        };
        Json::Array(failures.iter().map(row).collect())
    }
}

/// One document: `version` 1 and the members.
fn document<const N: usize>(members: [(&str, Json); N]) -> String {
    let mut whole = Object::default();
    whole.set("version", Json::Number(Number::from(1)));
    for (name, value) in members {
        whole.set(name, value);
    }
    let mut out = String::new();
    write_review(&Json::Object(whole), &mut out);
    out
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    let mut whole = Object::default();
    for (name, value) in members {
        whole.set(name, value);
    }
    Json::Object(whole)
}

fn text(text: &str) -> Json {
    Json::String(text.to_owned())
}

/// `1 tool`, `2 tools`.
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
