//! `praxiom serve`: the live gateway.

use super::Outcome;
use super::error::ToolError;
use super::files::{read_text, shown};
use super::gateway_files::{Loaded, load};
use super::load::accepted;
use super::output::Printer;
use super::signals::Signals;
use super::verify::MAX_PROOF_BYTES;
use crate::audit::{Audit, Level, Log, LogArguments, Options, Start};
use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::gateway::person::{self, Person, tell};
use crate::gateway::{Gateway, digest};
use crate::proof::{Certificate, tools_digest};
use crate::text::{FileId, counted};
use clap::ValueEnum;
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Serve the servers of a configuration behind a policy, to one client over standard streams or to many
/// over HTTP.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) files: super::gateway_files::FileArgs,
    /// The policy that every call is decided by
    #[arg(long, value_name = "FILE", env = "PRAXIOM_POLICY")]
    policy: Option<String>,
    /// Serve streamable HTTP at this port of 127.0.0.1 (or [`::1`]:PORT), path /mcp, instead of standard
    /// streams; 0 lets the system pick one
    #[arg(long, value_name = "[HOST:]PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// How much of arguments, results and text values is written to the log and the audit
    #[arg(long, value_enum, value_name = "HOW", default_value = "redacted")]
    log_arguments: Arguments,
    /// Lines below this are not written to standard error; allowed calls are `info`
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info", ignore_case = true)]
    log_level: LogLevel,
    /// Colour of the lines on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Write an audit record of every decision and result to this file (JSON Lines, a chain of digests)
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Forward what the policy denies and only say so; the trust boundary still holds
    #[arg(long)]
    dry_run: bool,
    /// End with exit code 2 if any server is refused or does not start
    #[arg(long)]
    strict: bool,
    /// Start only if this certificate of `praxiom check --proof` is of this policy and these tools, no error was found
    /// and no question stayed undecided; its evidence is checked by `praxiom verify`, not here
    #[arg(long, value_name = "PROOF")]
    require_proof: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Arguments {
    /// Nothing of them
    None,
    /// Arguments without the values of keys that look like credentials, long texts cut
    Redacted,
    /// Everything, secrets included; denials then show text values of the state to the client too
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    Debug,
    Info,
    Warning,
    Error,
    Critical,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    let address: SocketAddr =
        text.parse().map_err(|_| "write a port, or an address and a port such as 127.0.0.1:8080".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only loopback addresses are served: there is no authentication yet".to_owned())
    }
}

/// Refuses to start where the certificate does not vouch for what is to run. The pins of the lock then see to it that
/// the servers offer what was proved.
fn vouched(proof: &str, policy: &Policy, lock: Option<&str>, printer: &mut Printer) -> Result<(), ToolError> {
    let certificate = Certificate::read(&read_text(proof, MAX_PROOF_BYTES)?);
    let tools = lock.map(|text| {
        let mut catalogue = Catalogue::default();
        catalogue.add(text, FileId(0), None).map(|()| tools_digest(&catalogue)).map_err(|found| found.message)
    });
    let objections = match (certificate, tools.transpose()) {
        (Err(why), _) | (_, Err(why)) => vec![why],
        (Ok(certificate), Ok(tools)) => certificate.objections(policy.digest(), tools.as_deref(), true),
    };
    for objection in &objections {
        printer.remark(&format!("praxiom: {}: {objection}", shown(proof)))?;
    }
    if objections.is_empty() {
        return Ok(());
    }
    let what = format!("{} does not vouch for this policy and these tools", shown(proof));
    Err(ToolError::usage(
        what,
        "look at what changed, and prove it again: `praxiom check POLICY --tools LOCK --proof FILE`",
    ))
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, ToolError> {
    let missing = || {
        ToolError::usage(
            "there is no policy to decide by",
            "name it with --policy FILE or in the variable PRAXIOM_POLICY",
        )
    };
    let policy_path = args.policy.clone().filter(|path| !path.is_empty()).ok_or_else(missing)?;
    // Both files are read before either is refused, so that one run shows all that is wrong.
    let loaded = load(&args.files, printer);
    let policy = accepted(&policy_path, false, printer)?;
    let Loaded { config, lock, lock_text } = loaded?;
    let Some(policy) = policy else { return Err(ToolError::Refused { what: "the policy is rejected".to_owned() }) };
    if let Some(proof) = &args.require_proof {
        vouched(proof, &policy, lock_text.as_deref(), printer)?;
    }
    let options = Options {
        arguments: match args.log_arguments {
            Arguments::None => LogArguments::None,
            Arguments::Redacted => LogArguments::Redacted,
            Arguments::Full => LogArguments::Full,
        },
        level: match args.log_level {
            LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Warning => Level::Warning,
            LogLevel::Error => Level::Error,
            LogLevel::Critical => Level::Critical,
        },
        color: match args.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => colours(),
        },
        dry_run: args.dry_run,
        principals: false,
    };
    tell(&format!(
        "praxiom {}: {} by {}{}",
        env!("CARGO_PKG_VERSION"),
        counted(config.servers.len(), "server"),
        crate::text::visible(&policy_path),
        if lock.is_some() { ", against the lock" } else { "" }
    ));
    let start =
        Start { policy_path, policy_digest: policy.digest().to_owned(), lock_digest: lock_text.as_deref().map(digest) };
    let log = args.audit.as_deref().map(|path| open(path, start, options)).transpose()?;
    let audit = Audit::new(options, log, Box::new(Person));
    crate::gateway::adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ToolError::usage(format!("the gateway cannot start: {error}"), "close other programs"))?;
    let result = runtime.block_on(async {
        let builder = Gateway::builder(config, policy)
            .audit(audit)
            .lock(lock)
            .dry_run(args.dry_run)
            .log_arguments(options.arguments);
        serve(args, builder.start()).await
    });
    person::flush();
    // A read of standard input that is still under way must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(10));
    result
}

async fn serve(args: &Args, gateway: Gateway) -> Result<Outcome, ToolError> {
    let mut signals = Signals::new()?;
    if args.dry_run {
        tell("praxiom: DRY RUN: what the policy denies is forwarded all the same");
    }
    let (over, hurry) = {
        let strict = async { if args.strict { gateway.failure().await } else { std::future::pending().await } };
        let serving = async {
            if let Some(address) = args.http {
                let bound = |address: SocketAddr| {
                    tell(&format!("praxiom: listening on http://{address}/mcp"));
                    tell("praxiom: without authentication: one state for all who come from this machine");
                };
                gateway.serve_http(address, bound).await
            } else {
                let (reader, writer) = rmcp::transport::stdio_pipes();
                gateway.serve(reader, writer).await;
                Ok(())
            }
        };
        tokio::select! {
            served = serving => match served {
                Ok(()) => (Ok(Outcome::Clean), false),
                Err(error) => (Err(ToolError::Http { source: error }), true),
            },
            () = signals.any() => (Ok(Outcome::Clean), true),
            why = strict => (Err(ToolError::Refused { what: format!("--strict: {why}") }), true),
        }
    };
    gateway.stop(hurry).await;
    over
}

fn open(path: &Path, start: Start, options: Options) -> Result<Log, ToolError> {
    Log::open(path, start, options, SystemTime::now()).map_err(|error| {
        let help = error.help().to_owned();
        ToolError::Audit { source: error, help }
    })
}

fn colours() -> bool {
    std::io::stderr().is_terminal() && anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
