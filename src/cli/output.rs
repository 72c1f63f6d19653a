//! The two streams: data on standard output, words for a person on standard error.

use super::error::ToolError;
use super::load::Format;
use crate::report::{human, short};
use crate::text::{Diagnostic, Sources};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// More findings than a person reads are counted, not printed.
const MAX_SHOWN: usize = 100;

#[derive(Debug)]
pub(crate) struct Printer {
    out: BufWriter<io::Stdout>,
    colour: bool,
}

impl Printer {
    pub(crate) fn new() -> Self {
        let colour = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
        Self { out: BufWriter::new(io::stdout()), colour }
    }

    /// A line of data.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), ToolError> {
        writeln!(self.out, "{line}")?;
        Ok(())
    }

    /// One JSON document.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), ToolError> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// A line for a person, beside the data.
    pub(crate) fn remark(&mut self, line: &str) -> Result<(), ToolError> {
        self.out.flush()?;
        writeln!(io::stderr().lock(), "{line}")?;
        Ok(())
    }

    /// Findings for a person or a problem matcher.
    pub(crate) fn findings(
        &mut self,
        diagnostics: &[Diagnostic],
        sources: &Sources,
        format: Format,
    ) -> Result<(), ToolError> {
        self.out.flush()?;
        match format {
            Format::Short => {
                for diagnostic in diagnostics {
                    self.line(&short::line(diagnostic, sources))?;
                }
            }
            Format::Human | Format::Json => {
                let mut err = io::stderr().lock();
                for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
                    err.write_all(human::render(diagnostic, sources, self.colour).as_bytes())?;
                }
                if diagnostics.len() > MAX_SHOWN {
                    let more = diagnostics.len() - MAX_SHOWN;
                    writeln!(err, "… and {more} more; `--format short` prints all of them\n")?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), ToolError> {
        self.out.flush()?;
        Ok(())
    }
}
