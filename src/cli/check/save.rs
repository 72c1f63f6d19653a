//! `--save-test DIR`: a trace as a test case, so that the fault cannot come back unseen.

use super::super::error::ToolError;
use crate::text::{Diagnostic, Trace};
use serde_json::{Map, Value, json};
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
        let test = json!({"policy": reference, "tests": [test(diagnostic, trace)]});
        let text =
            serde_yaml::to_string(&yaml(&test)).map_err(|error| failed(&path, io::Error::other(error.to_string())))?;
        let head = format!(
            "# {}: {}\n# The calls that show it; they say what the policy does now.\n",
            diagnostic.code,
            diagnostic.message.replace('\n', " ")
        );
        fs::write(&path, head + &text).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// The numbers of `serde_json` keep their spelling, which other formats do not know of.
fn yaml(value: &Value) -> serde_yaml::Value {
    match value {
        Value::Null => serde_yaml::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(small), _) => small.into(),
            (None, Some(large)) => large.into(),
            (None, None) => number.as_f64().map_or(serde_yaml::Value::Null, Into::into),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(yaml).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let pairs = members.iter().map(|(name, value)| (name.as_str().into(), yaml(value)));
            serde_yaml::Value::Mapping(pairs.collect())
        }
    }
}

/// The policy's path from the folder of the tests: absolute where the two share no root.
fn relative(folder: &Path, policy: &str) -> String {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (folder, policy) = (full(folder), full(Path::new(policy)));
    let shared = folder.components().zip(policy.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Path::new(".."));
    let path: PathBuf = up.chain(policy.components().skip(shared).map(|part| Path::new(part.as_os_str()))).collect();
    path.display().to_string()
}

fn test(diagnostic: &Diagnostic, trace: &Trace) -> Value {
    let mut calls: Vec<Value> = Vec::new();
    for row in trace.rows.iter().filter(|row| row.answers.is_none()) {
        let mut call = Map::new();
        call.insert("call".to_owned(), row.tool.clone().into());
        if row.upstream != crate::recording::upstream_of(&row.tool) {
            call.insert("upstream".to_owned(), row.upstream.clone().into());
        }
        call.insert("args".to_owned(), row.arguments.clone());
        if let Some(result) = &row.result {
            call.insert("result".to_owned(), result.clone());
        }
        call.insert("expect".to_owned(), row.verdict.into());
        calls.push(call.into());
    }
    let mut test = Map::new();
    test.insert("name".to_owned(), format!("{} {}", diagnostic.code, diagnostic.code.name()).into());
    test.insert("calls".to_owned(), calls.into());
    // A late answer has no place in a test file, so what it changed is not claimed either.
    if let Some(last) = trace.rows.last()
        && !last.state.is_empty()
        && trace.rows.iter().all(|row| row.answers.is_none())
    {
        test.insert("state".to_owned(), last.state.clone().into());
    }
    test.into()
}
