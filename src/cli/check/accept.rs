//! `--accept BASELINE`: findings that an earlier run has told are not told again.

use super::super::error::ToolError;
use super::super::files::read_text;
use crate::text::{Code, Diagnostic, Source, Sources};
use serde::Deserialize;
use std::collections::HashMap;

/// Larger documents are refused.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Accepted findings by code, file, message and the tools of their trace, and how often each was told. Lines may move.
pub(super) struct Accepted(HashMap<Key, usize>);

type Key = (String, String, String, Vec<String>);

#[derive(Deserialize)]
struct Document {
    diagnostics: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
    file: String,
    message: String,
    trace: Option<Vec<Row>>,
}

#[derive(Deserialize)]
struct Row {
    tool: String,
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
        let tools = finding.trace.into_iter().flatten().map(|row| row.tool).collect();
        *counts.entry((finding.code, finding.file, finding.message, tools)).or_insert(0) += 1;
    }
    Ok(Accepted(counts))
}

impl Accepted {
    /// Removes the accepted ones and says how many they were. A bug of ours and an undecided question are never
    /// accepted: the first is none of the policy, and for the second there is `--allow-unknown`.
    pub(super) fn forget(&self, found: &mut Vec<Diagnostic>, sources: &Sources) -> usize {
        let before = found.len();
        let mut left = self.0.clone();
        found.retain(|diagnostic| {
            if matches!(diagnostic.code, Code::PX9001 | Code::PX4017) {
                return true;
            }
            let file = sources.get(diagnostic.primary.span.file).map_or("?", Source::name);
            let rows = diagnostic.trace.iter().flat_map(|trace| &trace.rows);
            let tools = rows.map(|row| row.tool.clone()).collect();
            let key = (diagnostic.code.id().to_owned(), file.to_owned(), diagnostic.message.clone(), tools);
            match left.get_mut(&key) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        before - found.len()
    }
}
