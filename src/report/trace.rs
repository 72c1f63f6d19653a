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
    let runs = runs(&trace.rows);
    let calls: Vec<String> = runs.iter().map(|run| call(run.last)).collect();
    let width = calls.iter().map(|call| call.chars().count()).filter(|width| *width <= 60).max().unwrap_or(0);
    for (at, (run, call)) in runs.iter().zip(&calls).enumerate() {
        if runs.len() > MAX_ROWS && at >= MAX_ROWS / 2 && at < runs.len() - MAX_ROWS / 2 {
            if at == MAX_ROWS / 2 {
                let _ = write!(out, "\n  … {} more …", runs.len() - MAX_ROWS);
            }
            continue;
        }
        let place = match (run.first_number, run.last_number) {
            _ if run.last.answers.is_some() => "  ↳".to_owned(),
            (first, last) if first == last => format!("{first:>3}"),
            (first, last) => format!("{first:>3}–{last}"),
        };
        let _ = write!(out, "\n{place}  {call:<width$}  {}", outcome(run));
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

/// Equal calls in a row, told as one.
struct Run<'t> {
    first_number: usize,
    last_number: usize,
    first: &'t Row,
    last: &'t Row,
}

fn runs(rows: &[Row]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut number = 0;
    for row in rows {
        if row.answers.is_none() {
            number += 1;
        }
        if let Some(run) = runs.last_mut().filter(|run| alike(run.last, row)) {
            run.last = row;
            run.last_number = number;
        } else {
            runs.push(Run { first_number: number, last_number: number, first: row, last: row });
        }
    }
    runs
}

/// Whether two rows differ in numbers only.
fn alike(a: &Row, b: &Row) -> bool {
    let names = |row: &Row| row.changed.iter().map(|(name, _, _)| name.clone()).collect::<Vec<_>>();
    a.answers.is_none()
        && b.answers.is_none()
        && (&a.tool, &a.arguments, &a.result, a.verdict, &a.reason)
            == (&b.tool, &b.arguments, &b.result, b.verdict, &b.reason)
        && names(a) == names(b)
        && b.changed.iter().all(|(_, before, _)| before.is_number())
}

fn outcome(run: &Run<'_>) -> String {
    let row = run.last;
    let mut out = if row.answers.is_some() { String::new() } else { row.verdict.to_owned() };
    if run.first_number != run.last_number {
        let _ = write!(out, ", {} times", run.last_number - run.first_number + 1);
    }
    if let Some(result) = &row.result {
        let _ = write!(out, "{}→ result {}", if out.is_empty() { "" } else { "   " }, shown(result));
    }
    for (name, before, after) in &row.changed {
        let first = run.first.changed.iter().find(|(other, _, _)| other == name);
        let before = first.map_or(before, |(_, before, _)| before);
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
