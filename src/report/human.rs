//! Findings for a person: the source line, the underlined place, why, and what to do next.

use super::{short, trace};
use crate::text::{Diagnostic, Severity, Source, Sources, Span, is_invisible};
use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{
    self, Config,
    termcolor::{Ansi, NoColor, WriteColor},
};
use std::fmt::Write;
use std::ops::Range;

/// Longer lines are shown in part: a generated file may be one line of megabytes.
const LONG_LINE: usize = 500;

/// One finding, with a blank line at its end.
#[must_use]
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let spans = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary).map(|label| label.span);
    if spans.into_iter().any(|span| touches_odd_line(span, sources)) {
        return excerpt(diagnostic, sources);
    }
    let mut bytes = Vec::new();
    let done = if colour {
        emit(&mut Ansi::new(&mut bytes), diagnostic, sources)
    } else {
        emit(&mut NoColor::new(&mut bytes), diagnostic, sources)
    };
    match done {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => excerpt(diagnostic, sources),
    }
}

fn emit(out: &mut dyn WriteColor, diagnostic: &Diagnostic, sources: &Sources) -> Result<(), Error> {
    let severity = match diagnostic.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
        Severity::Info => cs::Severity::Note,
        Severity::Hint => cs::Severity::Help,
    };
    let primary = cs::Label::primary(diagnostic.primary.span.file.0, visible(diagnostic.primary.span, sources))
        .with_message(&diagnostic.primary.message);
    let secondary = diagnostic.secondary.iter().map(|label| {
        cs::Label::secondary(label.span.file.0, visible(label.span, sources)).with_message(&label.message)
    });
    let shown = cs::Diagnostic::new(severity)
        .with_code(diagnostic.code.id())
        .with_message(&diagnostic.message)
        .with_labels(std::iter::once(primary).chain(secondary).collect())
        .with_notes(remarks(diagnostic));
    term::emit_to_write_style(out, &Config::default(), &View(sources), &shown)
}

fn remarks(diagnostic: &Diagnostic) -> Vec<String> {
    let trace = diagnostic.trace.iter().flat_map(|found| trace::lines(found));
    let notes = diagnostic.notes.iter().map(|note| format!("note: {note}"));
    trace.chain(notes).chain(diagnostic.help.iter().map(|help| format!("help: {help}"))).collect()
}

/// A span over several lines is cut to its first one: the headline is about where it begins.
fn visible(span: Span, sources: &Sources) -> Range<usize> {
    let text = sources.slice(span);
    match text.find(['\n', '\r']) {
        Some(0) | None => span.range(),
        Some(length) => span.start as usize..span.start as usize + length,
    }
}

fn touches_odd_line(span: Span, sources: &Sources) -> bool {
    let Some(source) = sources.get(span.file) else { return true };
    let line = source.line(source.line_index(span.start as usize));
    // The renderer copies lines as they are, and a terminal obeys control characters.
    line.is_none_or(|line| {
        line.len() > LONG_LINE || line.trim_start_matches('\u{feff}').contains(|c: char| is_invisible(c) && c != '\t')
    })
}

/// The finding with the few characters around its place.
fn excerpt(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let mut out = short::line(diagnostic, sources);
    out.push('\n');
    for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary) {
        let Some(source) = sources.get(label.span.file) else { continue };
        let place = source.line_column(label.span.start as usize);
        let shown = around(source, label.span);
        let _ = writeln!(out, "  {}:{}: {shown}  {}", place.line, place.column, label.message);
    }
    for remark in remarks(diagnostic) {
        let _ = writeln!(out, "  = {remark}");
    }
    out.push('\n');
    out
}

/// `…before >>>here<<< after…`, all on one line.
fn around(source: &Source, span: Span) -> String {
    const WIDTH: usize = 30;
    let text = source.text();
    let start = span.start as usize;
    let before = text.get(..start).unwrap_or("");
    let mut head: Vec<char> = before.chars().rev().take(WIDTH).take_while(|c| *c != '\n').collect();
    head.reverse();
    let here: String = text.get(span.range()).unwrap_or("").chars().take(WIDTH).take_while(|c| *c != '\n').collect();
    let tail: String =
        text.get(span.end as usize..).unwrap_or("").chars().take(WIDTH).take_while(|c| *c != '\n').collect();
    let head: String = head.into_iter().collect();
    crate::text::visible(&format!("…{head}>>>{here}<<<{tail}…").replace('\r', ""))
}

/// Our sources as codespan reads files.
struct View<'s>(&'s Sources);

impl<'s> View<'s> {
    fn source(&self, id: u32) -> Result<&'s Source, Error> {
        self.0.get(crate::text::FileId(id)).ok_or(Error::FileMissing)
    }
}

impl<'s> Files<'s> for View<'s> {
    type FileId = u32;
    type Name = &'s str;
    type Source = &'s str;

    fn name(&'s self, id: u32) -> Result<&'s str, Error> {
        Ok(self.source(id)?.name())
    }

    fn source(&'s self, id: u32) -> Result<&'s str, Error> {
        Ok(self.source(id)?.text())
    }

    fn line_index(&'s self, id: u32, byte_index: usize) -> Result<usize, Error> {
        Ok(self.source(id)?.line_index(byte_index))
    }

    fn line_range(&'s self, id: u32, line_index: usize) -> Result<Range<usize>, Error> {
        let source = self.source(id)?;
        let max = source.line_count();
        let start = source.line_start(line_index).ok_or(Error::LineTooLarge { given: line_index, max })?;
        let end = source.line_start(line_index + 1).unwrap_or(source.text().len());
        Ok(start..end)
    }
}
