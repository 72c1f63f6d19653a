//! `--accept BASELINE`: findings that an earlier run has told are not told again.

use super::super::error::ToolError;
use super::super::files::read_text;
use crate::text::{Code, Diagnostic, Source, Sources};
use serde::Deserialize;
use std::collections::HashMap;

/// Larger documents are refused.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Accepted findings by code, file and message, and how often each was told. Lines may move.
pub(super) struct Accepted(HashMap<(String, String, String), usize>);

#[derive(Deserialize)]
struct Document {
    diagnostics: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
    file: String,
    message: String,
}

pub(super) fn read(path: &str) -> Result<Accepted, ToolError> {
    let text = read_text(path, MAX_BYTES)?;
    let document: Document = serde_json::from_str(&text).map_err(|error| {
        ToolError::usage(
            format!("{path} is no document of findings: {error}"),
            "write it with `praxiom check … --format json > BASELINE`",
        )
    })?;
    let mut counts = HashMap::new();
    for finding in document.diagnostics {
        *counts.entry((finding.code, finding.file, finding.message)).or_insert(0) += 1;
    }
    Ok(Accepted(counts))
}

impl Accepted {
    /// Removes the accepted ones, and says how many. A bug of ours and an undecided question are never accepted: the first is none of the
    /// policy, and for the second there is `--allow-unknown`.
    pub(super) fn forget(&self, found: &mut Vec<Diagnostic>, sources: &Sources) -> usize {
        let all = found.len();
        let mut left = self.0.clone();
        found.retain(|diagnostic| {
            if matches!(diagnostic.code, Code::PX9001 | Code::PX4017) {
                return true;
            }
            let file = sources.get(diagnostic.primary.span.file).map_or("?", Source::name);
            let key = (diagnostic.code.id().to_owned(), file.to_owned(), diagnostic.message.clone());
            match left.get_mut(&key) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        all - found.len()
    }
}
