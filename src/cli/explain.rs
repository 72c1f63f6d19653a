//! `praxiom explain CODE`: the doc page of a diagnostic.

use super::Outcome;
use super::error::ToolError;
use super::output::Printer;
use crate::text::Code;
use crate::text::suggest::nearest;

/// Explain a diagnostic code.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A code such as PX2003, or its name
    code: String,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let Some(code) = Code::parse(args.code.trim()) else {
        // Codes differ by a digit from many others, so only one of the same family is a likely slip.
        let family = args.code.get(..3).unwrap_or("").to_ascii_uppercase();
        let ids = Code::ALL.iter().map(|code| code.id()).filter(|id| id.starts_with(&family));
        let known = ids.chain(Code::ALL.iter().map(|code| code.name()));
        let help = nearest(&args.code, known).map_or_else(
            || "codes look like PX2003; they stand in brackets in every finding".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        return Err(ToolError::usage(format!("there is no diagnostic `{}`", args.code), help));
    };
    printer.line(code.page().trim_end())?;
    Ok(Outcome::Clean)
}
