//! Policies against the tools that servers list, through the binary: globs without a tool, arguments that
//! a schema does not know, and schemas that nobody should write.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit code and findings of `check`: code, severity, message and help of each.
fn check(id: &str, policy: &str, tools: &str) -> (i32, Vec<String>) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tool-lists-{id}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("policy.yaml"), policy).unwrap();
    fs::write(folder.join("tools.json"), tools).unwrap();
    let args = ["check", "policy.yaml", "--stage", "lint", "--format", "json", "--tools", "fs=tools.json"];
    let output = Command::new(env!("CARGO_BIN_EXE_praxiom")).args(args).current_dir(&folder).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{id}: {errors}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{id}: {errors}"));
    let text = |found: &Value, key: &str| found[key].as_str().unwrap_or("-").to_owned();
    let all = report["diagnostics"].as_array().unwrap().iter();
    let all = all.map(|found| ["code", "severity", "message", "help"].map(|key| text(found, key)).join(" | "));
    (output.status.code().unwrap_or(-1), all.collect())
}

/// A list of tools, each with its schema.
fn list(tools: &serde_json::Map<String, Value>) -> String {
    let tools: Vec<Value> =
        tools.iter().map(|(name, schema)| serde_json::json!({"name": name, "inputSchema": schema})).collect();
    serde_json::json!({ "tools": tools }).to_string()
}

#[test]
fn findings_are_those_of_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tool_lists.json");
    let rows: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for row in rows.as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let policy = format!("default: deny\nactions:\n{}", row["actions"].as_str().unwrap());
        let (exit, found) = check(id, &policy, &list(row["tools"].as_object().unwrap()));
        let expected: Vec<&str> = row["found"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let error = expected.iter().any(|line| line.contains("| error |"));
        if found != expected || exit != i32::from(error) {
            wrong.push(format!(
                "{id}: exit {exit}\n  {}\n  instead of\n  {}",
                found.join("\n  "),
                expected.join("\n  ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_claimed_of_a_schema_that_leads_nowhere() {
    let mut schemas: Vec<String> = [
        "true",
        "false",
        "null",
        "3",
        "[]",
        "{}",
        r#"{"type": "object"}"#,
        r#"{"type": "object", "properties": {}}"#,
        r#"{"type": "object", "properties": {"q": {}}, "additionalProperties": true}"#,
        r#"{"type": "object", "properties": {"q": {}}, "additionalProperties": {"type": "string"}}"#,
        r#"{"type": "object", "properties": {"q": {}}, "patternProperties": {"^p": {}}}"#,
        r#"{"type": "string"}"#,
        r##"{"$ref": "#"}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}"##,
        r##"{"properties": {"p": {"anyOf": [{"$ref": "#/properties/p"}, {"$ref": "#/properties/p"}]}}}"##,
        r##"{"$ref": "#/%zz"}"##,
        r##"{"$ref": "#anchor", "properties": {"q": {}}}"##,
        r#"{"$ref": "https://example.com/s.json", "properties": {"q": {}}}"#,
        r##"{"$ref": "#/$defs/none"}"##,
        r#"{"properties": {"q": {}}, "anyOf": [{"additionalProperties": true}]}"#,
        r#"{"properties": {"q": {}}, "if": {}, "then": {"properties": {"p": {}}}}"#,
        r#"{"properties": {"p": true}}"#,
        r#"{"properties": {"p": false}}"#,
        r#"{"properties": {"p": {"type": "money"}}}"#,
        r#"{"properties": {"p": {"type": 3, "enum": 4}}}"#,
        r#"{"properties": {"p": {"type": "integer", "enum": ["a"]}}}"#,
        r#"{"properties": {"p": {"enum": []}}}"#,
        r#"{"properties": 5, "allOf": 5, "anyOf": {}, "oneOf": null, "$ref": 3}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    let mut branching = String::from(r##"{"$ref": "#/$defs/d0", "$defs": {"##);
    for at in 0..40 {
        let next = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, at + 1);
        write!(branching, r#""d{at}": {{"anyOf": [{next}, {next}, {next}]}}, "#).unwrap();
    }
    branching.push_str(r#""d40": {"properties": {"q": {}}}}}"#);
    schemas.push(branching);
    let many: Vec<String> = (0..60_000).map(|at| format!(r#"{{"properties": {{"a{at}": {{}}}}}}"#)).collect();
    schemas.push(format!(r#"{{"anyOf": [{}, {{}}]}}"#, many.join(", ")));
    schemas.push(format!("{}{{}}{}", r#"{"allOf": ["#.repeat(60), "]}".repeat(60)));
    let tools: Vec<String> =
        schemas.iter().enumerate().map(|(at, s)| format!(r#"{{"name": "t{at}", "inputSchema": {s}}}"#)).collect();
    let tools = format!(r#"{{"tools": [{}]}}"#, tools.join(",\n"));
    let policy = "default: deny\nactions:\n  - {name: a, match: fs__t*, args: {p: str}, requires: p == 'x'}\n";
    assert_eq!(check("nowhere", policy, &tools), (0, Vec::new()));
}
