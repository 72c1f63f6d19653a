//! `--save-test DIR`: a trace as a test case, so that the fault cannot come back unseen.

use super::super::error::ToolError;
use crate::text::{Diagnostic, Trace};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes each trace of a policy's findings to a file of its own. The tests say what the policy does now.
pub(super) fn traces(folder: &Path, policy: &str, found: &[Diagnostic]) -> Result<(), ToolError> {
    let traces: Vec<(&Diagnostic, &Trace)> =
        found.iter().filter_map(|diagnostic| Some((diagnostic, &**diagnostic.trace.as_ref()?))).collect();
    if traces.is_empty() {
        return Ok(());
    }
    let failed = |path: &Path, error: io::Error| {
        ToolError::usage(format!("{} cannot be written: {error}", path.display()), "name a folder for `--save-test`")
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let stem = Path::new(policy).file_stem().map_or_else(|| "stdin".into(), |stem| stem.to_string_lossy().into_owned());
    let reference = relative(folder, policy);
    for (at, (diagnostic, trace)) in traces.into_iter().enumerate() {
        let path = folder.join(format!("{stem}-{}-{}.test.yaml", diagnostic.code.id().to_lowercase(), at + 1));
        let head = format!(
            "# {}: {}\n# The calls that show it; they say what the policy does now.\n",
            diagnostic.code,
            diagnostic.message.replace('\n', " ")
        );
        fs::write(&path, head + &test(&reference, diagnostic, trace)).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// The policy's path from the folder of the tests.
fn relative(folder: &Path, policy: &str) -> String {
    let full = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (folder, policy) = (full(folder), full(Path::new(policy)));
    let shared = folder.components().zip(policy.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Path::new(".."));
    let path: PathBuf = up.chain(policy.components().skip(shared).map(|part| Path::new(part.as_os_str()))).collect();
    path.display().to_string()
}

/// The test file. Values are written as JSON, which YAML of any version reads alike.
fn test(policy: &str, diagnostic: &Diagnostic, trace: &Trace) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let name = format!("{} {}", diagnostic.code, diagnostic.code.name());
    let mut out = format!("policy: {}\ntests:\n  - name: {}\n    calls:\n", quoted(policy), quoted(&name));
    for row in trace.rows.iter().filter(|row| row.answers.is_none()) {
        let _ = write!(out, "      - {{call: {}", quoted(&row.tool));
        if row.upstream != crate::recording::upstream_of(&row.tool) {
            let _ = write!(out, ", upstream: {}", quoted(&row.upstream));
        }
        let _ = write!(out, ", args: {}", spaced(&row.arguments));
        if let Some(result) = &row.result {
            let _ = write!(out, ", result: {}", spaced(result));
        }
        let _ = writeln!(out, ", expect: {}}}", row.verdict);
    }
    // A late answer has no place in a test file, so what it changed is not claimed either.
    if let Some(last) = trace.rows.last()
        && !last.state.is_empty()
        && trace.rows.iter().all(|row| row.answers.is_none())
    {
        let _ = writeln!(out, "    state: {}", spaced(&Value::Object(last.state.clone())));
    }
    out
}

/// A flow mapping of YAML wants a space after its colons.
fn spaced(value: &Value) -> String {
    let mut out = String::new();
    crate::json::write_python(&value.into(), false, &mut out);
    out
}
