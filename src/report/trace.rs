//! A trace for a person: one call a line, with only the variables that changed.

use crate::text::{Row, Trace, visible};
use serde_json::Value;
use std::fmt::Write;

/// Longer arguments and answers are shown in part.
const MAX_SHOWN: usize = 120;
/// Rows of a trace that are printed: a long one is shown by its beginning and end.
const MAX_ROWS: usize = 40;

/// The remarks that belong to a trace: its calls, and what would have been otherwise.
pub(super) fn lines(trace: &Trace) -> Vec<String> {
    let how = if trace.shortest { "shortest, replayed" } else { "replayed, minimality not shown" };
    let mut out = format!("trace ({how}):");
    if trace.rows.is_empty() {
        out.push_str("\n  before the first call");
    }
    let calls: Vec<String> = trace.rows.iter().map(call).collect();
    let width = calls.iter().map(|call| call.chars().count()).filter(|width| *width <= 60).max().unwrap_or(0);
    let mut number = 0;
    for (at, (row, call)) in trace.rows.iter().zip(&calls).enumerate() {
        let place = if row.answers.is_some() {
            "  ↳".to_owned()
        } else {
            number += 1;
            format!("{number:>3}")
        };
        if trace.rows.len() > MAX_ROWS && at >= MAX_ROWS / 2 && at < trace.rows.len() - MAX_ROWS / 2 {
            if at == MAX_ROWS / 2 {
                let _ = write!(out, "\n  … {} more calls …", trace.rows.len() - MAX_ROWS);
            }
            continue;
        }
        let _ = write!(out, "\n{place}  {call:<width$}  {}", outcome(row));
    }
    for line in &trace.end {
        let _ = write!(out, "\n  ✗  {line}");
    }
    let mut remarks = vec![out];
    remarks.extend(trace.near_miss.iter().map(|near| format!("near miss: {near}")));
    remarks
}

fn call(row: &Row) -> String {
    match row.answers {
        Some(call) => format!("the answer to call {call}"),
        None => format!("{} {}", visible(&row.tool), shown(&row.arguments)),
    }
}

fn outcome(row: &Row) -> String {
    let mut out = if row.answers.is_some() { String::new() } else { row.verdict.to_owned() };
    if let Some(result) = &row.result {
        let _ = write!(out, "{}→ result {}", if out.is_empty() { "" } else { "   " }, shown(result));
    }
    for (name, before, after) in &row.changed {
        let _ = write!(out, "   {name} {} → {}", shown(before), shown(after));
    }
    if let Some(reason) = &row.reason {
        let _ = write!(out, "   {}", visible(reason));
    }
    out
}

fn shown(value: &Value) -> String {
    let text = visible(&spaced(value));
    if text.chars().count() <= MAX_SHOWN {
        return text;
    }
    let head: String = text.chars().take(MAX_SHOWN).collect();
    format!("{head}…")
}

/// JSON with a space after commas and colons, as policies see it in `payload`.
fn spaced(value: &Value) -> String {
    let mut out = String::new();
    crate::json::write_python(&value.into(), false, &mut out);
    out
}
