//! `praxiom verify`: a certificate checked again.

use super::Outcome;
use super::check::{catalogue, time};
use super::error::ToolError;
use super::files::{read_text, shown};
use super::load::{Format, compile};
use super::output::Printer;
use crate::check;
use crate::proof::{Certificate, tools_digest};
use crate::report::json::finding;
use crate::text::{Code, Diagnostic, Sources};
use serde_json::json;
use std::time::Duration;

/// Larger certificates are refused.
pub(super) const MAX_PROOF_BYTES: usize = 64 * 1024 * 1024;

/// Check a certificate of `praxiom check --proof` again, without search
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The certificate
    proof: String,
    policy: String,
    /// What the servers offer, as it was given to `check`
    #[arg(long, value_name = "[NAME=]FILE")]
    tools: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Time to visit the states again, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    time_limit: Duration,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let catalogue = catalogue(&args.tools, &mut sources, &mut diagnostics)?;
    let text = read_text(&args.proof, MAX_PROOF_BYTES)?;
    let compiled = compile(&args.policy, &mut sources)?;
    diagnostics.extend(compiled.diagnostics.into_iter().filter(Diagnostic::is_error));
    let mut confirmed = 0;
    if let (Some(policy), Some(file)) = (&compiled.policy, &compiled.file) {
        let place = file.default_span.at_start();
        let mut objected: Vec<String> = Vec::new();
        let mut object = |why: String| objected.push(why);
        match Certificate::read(&text) {
            Err(why) => object(why),
            Ok(certificate) => {
                let tools = catalogue.as_ref().map(tools_digest);
                let objections = certificate.objections(policy.digest(), tools.as_deref(), false);
                let other = certificate.policy != policy.digest() || certificate.tools != tools;
                objections.into_iter().for_each(&mut object);
                if certificate.tools.is_none() && tools.is_some() {
                    object("it was made without a tool list".to_owned());
                }
                // Of another policy or other tools nothing can be confirmed.
                if !other {
                    let wrong = check::verify(policy, catalogue.as_ref(), &certificate, args.time_limit, &mut |_| {});
                    confirmed = certificate.questions.len().saturating_sub(wrong.len());
                    wrong.into_iter().for_each(&mut object);
                }
            }
        }
        if !objected.is_empty() {
            let message = format!("{} does not vouch for this policy", shown(&args.proof));
            let mut found = Diagnostic::new(Code::PX4020, place, message);
            for why in objected {
                found = found.note(why);
            }
            diagnostics.push(found.help(
                "mend what does not hold, give the tool list that it was made with, or prove the policy again: `praxiom \
                 check POLICY --tools LOCK --proof FILE`",
            ));
        }
    }
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    match args.format {
        Format::Json => {
            let found: Vec<_> = diagnostics.iter().map(|diagnostic| finding(diagnostic, &sources)).collect();
            printer.json(&json!({
                "version": 1,
                "verdict": if failed { "findings" } else { "ok" },
                "confirmed": confirmed,
                "diagnostics": found,
            }))?;
        }
        format => {
            printer.findings(&diagnostics, &sources, format)?;
            if !failed && format == Format::Human {
                printer.remark(&format!("{}: {confirmed} answers confirmed", shown(&args.proof)))?;
            }
        }
    }
    Ok(if failed { Outcome::Findings } else { Outcome::Clean })
}
