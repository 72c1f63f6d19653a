//! A test run for a person: a line a test, the findings, the coverage, the count.

use super::batch::Batch;
use crate::cli::error::ToolError;
use crate::cli::load::Format;
use crate::cli::output::Printer;
use crate::suite::{Coverage, Item, Kind, Tally};
use crate::text::{Diagnostic, Source, Sources, visible};

/// Most patterns of one list that a line names.
const MAX_PATTERNS: usize = 8;

pub(super) fn human(batch: &Batch, diagnostics: &[Diagnostic], printer: &mut Printer) -> Result<(), ToolError> {
    let (mut passed, mut failed, mut rejected) = (0, 0, 0);
    for file in &batch.files {
        printer.line(&visible(&file.path))?;
        for test in &file.tests {
            let verdict = if test.passed() { "ok    " } else { "FAILED" };
            printer.line(&format!("  {verdict}  {}", visible(&test.name)))?;
        }
        if let Some(why) = file.rejected {
            printer.line(&format!("  FAILED  not run: {why}"))?;
            rejected += 1;
        }
        printer.line("")?;
        let (good, bad) = file.count();
        passed += good;
        failed += bad;
    }
    for (path, covered) in &batch.coverage {
        coverage(path, covered, &batch.sources, printer)?;
    }
    printer.findings(diagnostics, &batch.sources, Format::Human)?;
    if rejected > 0 {
        let files = if rejected == 1 { "file was" } else { "files were" };
        printer.line(&format!("{rejected} {files} not run"))?;
    }
    printer.line(&format!("{passed} passed, {failed} failed"))
}

fn coverage(path: &str, coverage: &Coverage, sources: &Sources, printer: &mut Printer) -> Result<(), ToolError> {
    let items = coverage.items();
    let parts: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| (kind, Tally::of(&items, Some(kind))))
        .filter(|(_, tally)| tally.total > 0)
        .map(|(kind, tally)| format!("{} {}/{}", kind.plural(), tally.covered, tally.total))
        .collect();
    printer.line(&format!("{}: {} covered", visible(path), percent(Tally::of(&items, None))))?;
    printer.line(&format!("  {}", parts.join(", ")))?;
    let missing: Vec<&Item> = items.iter().filter(|item| item.missing.is_some()).collect();
    for group in missing.chunk_by(|a, b| a.kind == Kind::Pattern && b.kind == Kind::Pattern && a.name == b.name) {
        let Some(first) = group.first() else { continue };
        let place = sources.get(first.span.file).map(|source| source.line_column(first.span.start as usize));
        let file = sources.get(first.span.file).map_or("?", Source::name);
        let line = place.map_or(1, |place| place.line);
        let why = first.missing.as_deref().unwrap_or_default();
        printer.line(&format!("  {}:{line}: {} {why}{}", visible(file), first.name, patterns(group)))?;
    }
    printer.line("")
}

/// `: ".env", ".pem" and 3 more` for a group of patterns.
fn patterns(group: &[&Item]) -> String {
    let texts = group.iter().filter_map(|item| item.text.as_deref());
    let shown: Vec<String> = texts.take(MAX_PATTERNS).map(|text| format!("\"{}\"", text.escape_debug())).collect();
    if shown.is_empty() {
        return String::new();
    }
    match group.len() - shown.len() {
        0 => format!(": {}", shown.join(", ")),
        more => format!(": {} and {more} more", shown.join(", ")),
    }
}

/// `87.5 %`, rounded down, so that 100 % means all.
pub(super) fn percent(tally: Tally) -> String {
    let tenths = tally.per_mille();
    if tenths.is_multiple_of(10) { format!("{} %", tenths / 10) } else { format!("{}.{} %", tenths / 10, tenths % 10) }
}
