//! Loading a policy from a Rust program.

use crate::eval::{Compiled, Policy};
use crate::report::short;
use crate::text::{Diagnostic, Sources, sort_diagnostics};
use crate::yaml::MAX_BYTES;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Why a policy does not load.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read, is not UTF-8, or is larger than 4 MiB.
    Unreadable(io::Error),
    /// The policy has errors; it decides nothing.
    Rejected(Rejected),
}

/// The errors of a rejected policy, with the file they point into.
#[derive(Debug)]
pub struct Rejected {
    pub diagnostics: Vec<Diagnostic>,
    pub sources: Sources,
}

impl Policy {
    /// Reads and compiles a policy file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let mut text = String::new();
        let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        // One byte more than the limit is enough for the reader to refuse the file.
        File::open(path).and_then(|file| file.take(most).read_to_string(&mut text)).map_err(LoadError::Unreadable)?;
        Self::from_text(&path.to_string_lossy(), &text)
    }

    /// Compiles a policy's text; `name` is what its errors call the file.
    pub fn from_text(name: &str, text: &str) -> Result<Self, LoadError> {
        let mut sources = Sources::default();
        let file = sources.add(name, text);
        let Compiled { policy, mut diagnostics, .. } = Self::compile(text, file);
        policy.ok_or_else(|| {
            diagnostics.retain(Diagnostic::is_error);
            sort_diagnostics(&mut diagnostics);
            LoadError::Rejected(Rejected { diagnostics, sources })
        })
    }
}

/// One line an error: `file:line:col: error[CODE]: message`.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the policy cannot be read: {error}"),
            Self::Rejected(Rejected { diagnostics, sources }) => {
                f.write_str("the policy is rejected")?;
                diagnostics.iter().try_for_each(|diagnostic| write!(f, "\n{}", short::line(diagnostic, sources)))
            }
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Rejected(_) => None,
        }
    }
}
