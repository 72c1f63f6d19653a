//! "Could not run": failures of the tool itself, as opposed to findings about a policy.

use miette::Diagnostic;
use std::io;
use thiserror::Error;

/// Why a command could not do its work; the exit code is 2.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ToolError {
    #[error("{path}: there is no such file")]
    #[diagnostic(help("paths are taken from the folder in which praxiom runs"))]
    Missing { path: String },
    #[error("{path}: there is no such policy")]
    #[diagnostic(help("{test} tests it; `policy` there is a path from the folder of the test file"))]
    NoPolicy { path: String, test: String },
    #[error("{path} is a folder")]
    #[diagnostic(help("name a file; a shell lists those of a folder: {path}/*.yaml"))]
    Folder { path: String },
    #[error("{path} cannot be read")]
    Unreadable {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not UTF-8: the byte {byte:#04x} on line {line} begins no character")]
    #[diagnostic(help("save the file as UTF-8"))]
    NotUtf8 { path: String, byte: u8, line: usize },
    #[error("{path} is larger than {limit} bytes")]
    #[diagnostic(help("split the file"))]
    TooLarge { path: String, limit: usize },
    #[error("{what}")]
    Usage {
        what: String,
        #[help]
        help: Option<String>,
    },
    /// What is wrong has been printed.
    #[cfg(feature = "gateway")]
    #[error("{what}")]
    Refused { what: String },
    #[cfg(feature = "gateway")]
    #[error("HTTP cannot be served")]
    Http {
        #[source]
        source: io::Error,
    },
    #[cfg(feature = "gateway")]
    #[error("the audit file cannot be used")]
    Audit {
        #[source]
        source: crate::audit::OpenError,
        #[help]
        help: String,
    },
    #[error("standard output cannot be written")]
    Output(#[from] io::Error),
}

impl ToolError {
    pub(crate) fn usage(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), help: Some(help.into()) }
    }

    /// A reader that has gone away is no failure of ours.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
