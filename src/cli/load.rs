//! A policy from its path, and printing what is wrong with it.

use super::error::ToolError;
use super::files::{read_text, shown};
use super::output::Printer;
use crate::eval::{Compiled, Policy};
use crate::report::json::{FileReport, document};
use crate::text::{Diagnostic, Sources, sort_diagnostics};
use crate::yaml::MAX_BYTES;
use clap::ValueEnum;

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a person: source lines, places, remarks.
    #[default]
    Human,
    /// One line a finding: `file:line:col: severity[CODE]: message`.
    Short,
    /// One JSON document on standard output.
    Json,
}

pub(crate) fn compile(path: &str, sources: &mut Sources) -> Result<Compiled, ToolError> {
    let text = read_text(path, MAX_BYTES)?;
    let file = sources.add(shown(path), text.as_str());
    let mut compiled = Policy::compile(&text, file);
    sort_diagnostics(&mut compiled.diagnostics);
    Ok(compiled)
}

/// The policy of a command that needs one that loads. `None`: it was rejected and its errors are
/// printed, as JSON where `json` is set.
pub(crate) fn accepted(path: &str, json: bool, printer: &mut Printer) -> Result<Option<Policy>, ToolError> {
    let mut sources = Sources::default();
    let compiled = compile(path, &mut sources)?;
    if let Some(policy) = compiled.policy {
        return Ok(Some(policy));
    }
    let errors: Vec<Diagnostic> = compiled.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if json {
        let report = FileReport { path: shown(path), digest: None, errors: errors.len(), undecided: 0, model: None };
        printer.json(&document(&[report], &errors, &sources))?;
    } else {
        printer.findings(&errors, &sources, Format::Human)?;
        printer.remark(&format!("{}: the policy is rejected", shown(path)))?;
    }
    Ok(None)
}
