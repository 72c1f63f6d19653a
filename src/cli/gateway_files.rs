//! The configuration of the gateway, with its environment and lock: what `serve` and `tools` read.

use super::error::ToolError;
use super::files::{read_text, shown};
use super::load::Format;
use super::output::Printer;
use crate::catalogue::Lock;
use crate::config::{self, Config, Environment, MAX_ENV_FILE_BYTES, Reading};
use crate::text::{Sources, sort_diagnostics};
use crate::yaml::MAX_BYTES;
use std::path::{Path, PathBuf};

/// What a lock is called unless somebody says otherwise.
pub(crate) const LOCK_NAME: &str = "praxiom.lock.json";

/// A lock beyond this is refused, not half read.
const MAX_LOCK: usize = 64 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// The servers and what is trusted of them
    #[arg(long, value_name = "FILE", env = "PRAXIOM_CONFIG")]
    pub(crate) config: Option<String>,
    /// Read variables from a file of NAME=VALUE lines, beside those of the environment, which win
    #[arg(long, value_name = "FILE", env = "PRAXIOM_ENV_FILE")]
    pub(crate) env_file: Option<String>,
}

/// What the gateway is made of.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) lock: Option<Lock>,
    pub(crate) lock_text: Option<String>,
}

/// Reads all of it; errors in the files are printed.
pub(crate) fn load(args: &FileArgs, printer: &mut Printer) -> Result<Loaded, ToolError> {
    let config = configuration(args, printer)?;
    let Some(path) = config.lock.as_ref().map(|lock| lock.path.clone()) else {
        let beside = args.config.as_deref().map(|config| Path::new(config).with_file_name(LOCK_NAME));
        if let Some(beside) = beside.filter(|path| path.exists()) {
            printer.remark(&format!(
                "praxiom: {} is not used: the configuration has no line `lock: {LOCK_NAME}`",
                shown(&beside.to_string_lossy())
            ))?;
        }
        return Ok(Loaded { config, lock: None, lock_text: None });
    };
    if !path.exists() {
        return Err(ToolError::usage(
            format!("{}: there is no such lock", shown(&path.to_string_lossy())),
            "`praxiom tools lock` writes it; `lock` is a path from the folder of the configuration",
        ));
    }
    let (lock, text) = read_lock(&path, printer)?;
    Ok(Loaded { config, lock: Some(lock), lock_text: Some(text) })
}

/// The configuration alone.
pub(crate) fn configuration(args: &FileArgs, printer: &mut Printer) -> Result<Config, ToolError> {
    // A variable that is set to nothing is not set.
    let path = args.config.as_deref().filter(|path| !path.is_empty()).ok_or_else(|| {
        ToolError::usage(
            "there is no configuration of servers",
            "name it with --config FILE or in the variable PRAXIOM_CONFIG",
        )
    })?;
    let mut environment = Environment::new(std::env::vars_os());
    if let Some(file) = args.env_file.as_ref().filter(|path| !path.is_empty()) {
        let text = read_text(file, MAX_ENV_FILE_BYTES)?;
        environment.add_file(&text).map_err(|bad| {
            let lines: Vec<String> = bad.iter().map(|bad| format!("line {}: {}", bad.line, bad.message)).collect();
            ToolError::usage(
                format!("{}: {}", shown(file), lines.join("; ")),
                "an env file holds lines NAME=VALUE and comments",
            )
        })?;
    }
    let text = read_text(path, MAX_BYTES)?;
    let folder = Path::new(path).parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let mut sources = Sources::default();
    let file = sources.add(shown(path), "");
    let Reading { config, mut diagnostics, shown: masked, .. } = config::read(&text, file, &folder, &environment);
    let mut sources = Sources::default();
    sources.add(shown(path), masked);
    sort_diagnostics(&mut diagnostics);
    printer.findings(&diagnostics, &sources, Format::Human)?;
    config.ok_or_else(|| ToolError::Refused { what: format!("{}: the configuration is rejected", shown(path)) })
}

/// The lock at a path, and its text.
pub(crate) fn read_lock(path: &Path, printer: &mut Printer) -> Result<(Lock, String), ToolError> {
    let name = path.to_string_lossy();
    let text = read_text(&name, MAX_LOCK)?;
    let mut sources = Sources::default();
    let file = sources.add(shown(&name), text.as_str());
    match Lock::read(&text, file) {
        Ok(lock) => Ok((lock, text)),
        Err(diagnostic) => {
            printer.findings(&[*diagnostic], &sources, Format::Human)?;
            Err(ToolError::Refused { what: format!("{}: the lock is rejected", shown(&name)) })
        }
    }
}
