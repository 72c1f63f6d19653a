//! The command line: one file a command. All I/O of the commands lives here.

mod audit;
mod check;
#[cfg(feature = "gateway")]
mod demo;
mod diff;
mod error;
mod explain;
mod files;
#[cfg(feature = "gateway")]
mod gateway_files;
mod graph;
mod load;
mod output;
mod replay;
#[cfg(feature = "gateway")]
mod serve;
#[cfg(feature = "gateway")]
mod signals;
#[cfg(feature = "smt")]
mod solve;
mod test;
#[cfg(feature = "gateway")]
mod tools;
mod verify;

use clap::{Parser, Subcommand};
use error::ToolError;
use output::Printer;
use std::io::Write;
use std::process::ExitCode;

/// How a command ended; failures to run at all are [`ToolError`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Clean,
    /// An error-level finding: rejected, test failed, difference.
    Findings,
    /// Nothing wrong was found, and something could not be decided.
    Undecided,
    /// A bug of ours.
    Internal,
}

/// Policy for AI agents: proven before it runs, enforced while it runs.
#[derive(Debug, Parser)]
#[command(
    name = "praxiom",
    version = version(),
    arg_required_else_help = true,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[cfg(feature = "gateway")]
    #[command(flatten)]
    serve: serve::Args,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Verify(verify::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Test(test::Args),
    Replay(replay::Args),
    #[cfg(feature = "gateway")]
    Serve(serve::Args),
    #[cfg(feature = "gateway")]
    Tools(tools::Args),
    Audit(audit::Args),
    Explain(explain::Args),
    #[cfg(feature = "gateway")]
    #[command(hide = true)]
    DemoServer(demo::Args),
    #[cfg(feature = "smt")]
    #[command(hide = true)]
    Solve(solve::Args),
}

fn version() -> &'static str {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| {
        let own = env!("CARGO_PKG_VERSION");
        #[cfg(feature = "smt")]
        let solver = crate::smt::version();
        #[cfg(not(feature = "smt"))]
        let solver = "built without a solver";
        format!("{own} ({solver})")
    })
}

/// Runs the command line of this process and gives its exit code: 0 clean, 1 findings, 2 could not run,
/// 3 something stayed undecided, 101 a bug of ours.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows the stream of each.
            let code = if error.use_stderr() { 2 } else { 0 };
            return if error.print().is_ok() { ExitCode::from(code) } else { ExitCode::from(2) };
        }
    };
    let mut printer = Printer::new();
    #[cfg(feature = "gateway")]
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    #[cfg(not(feature = "gateway"))]
    let Some(command) = cli.command else { return ExitCode::from(2) };
    let outcome = run(command, &mut printer).and_then(|outcome| printer.flush().map(|()| outcome));
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Undecided) => ExitCode::from(3),
        Ok(Outcome::Internal) => ExitCode::from(101),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // Straight to standard error: standard output may be what has failed.
            let told = format!("{:?}", miette::Report::new(error));
            let _ = writeln!(std::io::stderr().lock(), "{}", told.trim_end());
            ExitCode::from(2)
        }
    }
}

fn run(command: Command, printer: &mut Printer) -> Result<Outcome, ToolError> {
    match command {
        Command::Check(args) => check::run(&args, printer),
        Command::Verify(args) => verify::run(&args, printer),
        Command::Diff(args) => diff::run(&args, printer),
        Command::Graph(args) => graph::run(&args, printer),
        Command::Test(args) => test::run(&args, printer),
        Command::Replay(args) => replay::run(&args, printer),
        #[cfg(feature = "gateway")]
        Command::Serve(args) => serve::run(&args, printer),
        #[cfg(feature = "gateway")]
        Command::Tools(args) => tools::run(&args, printer),
        Command::Audit(args) => audit::run(&args, printer),
        #[cfg(feature = "gateway")]
        Command::DemoServer(args) => demo::run(&args),
        #[cfg(feature = "smt")]
        Command::Solve(args) => solve::run(&args),
        Command::Explain(args) => explain::run(&args, printer),
    }
}
