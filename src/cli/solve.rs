//! `praxiom solve`: the process that `check` starts for its solver, so that it can be ended. No command for people.

use super::Outcome;
use super::error::ToolError;
use crate::smt::child::work;
use std::io;

/// Answer the questions of `praxiom check` on standard input
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Memory, in megabytes
    #[arg(long, value_name = "N", default_value_t = 1024)]
    memory_mb: u32,
}

pub(super) fn run(args: &Args) -> Result<Outcome, ToolError> {
    work(io::stdin(), io::stdout(), args.memory_mb)?;
    Ok(Outcome::Clean)
}
