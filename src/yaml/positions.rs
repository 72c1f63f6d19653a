//! From places in the decoded text of a scalar back to places in the file.
//! Repeats what the parser did to the raw text; where both disagree, no position is claimed.

mod block;
mod flow;

use std::ops::Range;

use super::node::Style;

pub(super) use flow::first_bad_escape;

/// A piece of decoded text and the raw bytes it came from. Pieces of equal length map byte by byte,
/// others (escapes, line breaks) only as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    decoded: u32,
    decoded_len: u32,
    raw: u32,
    raw_len: u32,
}

/// Where the text of one scalar stands, in bytes from the start of the file: the blank lines that open a
/// block scalar stand before its span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Positions {
    #[default]
    Unknown,
    /// Letter by letter from here on, as most scalars do.
    Verbatim(usize),
    /// In order, at least one.
    Pieces(Box<[Segment]>),
}

impl Positions {
    /// `span` is the range of the scalar in `text`, quotes included, without a block scalar's header.
    pub(super) fn trace(text: &str, span: Range<usize>, style: Style, decoded: &str) -> Self {
        let quotes = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
        let inner = span.start + quotes..span.end.saturating_sub(quotes);
        // Most scalars decode to themselves. Folds and escapes leave no text as it was.
        if text.get(inner.clone()) == Some(decoded) {
            return if decoded.is_empty() { Self::Unknown } else { Self::Verbatim(inner.start) };
        }
        let mut trace = Trace::new(decoded);
        let finished = match style {
            Style::Plain => flow::plain(text, span, &mut trace),
            Style::SingleQuoted => flow::single_quoted(text, span, &mut trace),
            Style::DoubleQuoted => flow::double_quoted(text, span, &mut trace),
            Style::Literal => block::walk(text, span.start, false, &mut trace),
            Style::Folded => block::walk(text, span.start, true, &mut trace),
        };
        match finished {
            Some(()) => trace.finish(),
            None => Self::Unknown,
        }
    }

    /// Range in the file of a decoded range that lies inside the text.
    pub(super) fn locate(&self, range: Range<usize>) -> Option<Range<usize>> {
        let pieces = match self {
            Self::Unknown => return None,
            Self::Verbatim(start) => return Some(start + range.start..start + range.end),
            Self::Pieces(pieces) => pieces,
        };
        let first = segment_at(pieces, range.start)?;
        let start = first.raw_of(range.start);
        if range.is_empty() {
            return Some(start..start);
        }
        let last = segment_at(pieces, range.end - 1)?;
        let end = if last.is_exact() { last.raw_of(range.end) } else { last.raw_end() };
        Some(start..end.max(start))
    }
}

fn segment_at(pieces: &[Segment], offset: usize) -> Option<&Segment> {
    let after = pieces.partition_point(|segment| segment.decoded as usize <= offset);
    pieces.get(after.checked_sub(1)?)
}

impl Segment {
    fn is_exact(&self) -> bool {
        self.decoded_len == self.raw_len
    }

    fn raw_end(&self) -> usize {
        self.raw as usize + self.raw_len as usize
    }

    fn raw_of(&self, decoded: usize) -> usize {
        let inside = decoded.saturating_sub(self.decoded as usize);
        if self.is_exact() {
            self.raw as usize + inside
        } else if inside >= self.decoded_len as usize {
            self.raw_end()
        } else {
            self.raw as usize
        }
    }
}

/// Collects segments and compares each decoded piece with what the parser gave.
struct Trace<'a> {
    expected: &'a str,
    at: usize,
    pieces: Vec<(usize, usize, Range<usize>)>,
}

impl<'a> Trace<'a> {
    fn new(expected: &'a str) -> Self {
        Self { expected, at: 0, pieces: Vec::new() }
    }

    /// `None` if the parser decoded something else here.
    fn push(&mut self, decoded: &str, raw: Range<usize>) -> Option<()> {
        if !self.remaining().starts_with(decoded) {
            return None;
        }
        let exact = decoded.len() == raw.len();
        match self.pieces.last_mut() {
            Some((_, len, last)) if exact && *len == last.len() && last.end == raw.start => {
                *len += decoded.len();
                last.end = raw.end;
            }
            _ => self.pieces.push((self.at, decoded.len(), raw)),
        }
        self.at += decoded.len();
        Some(())
    }

    fn copy(&mut self, text: &str, raw: Range<usize>) -> Option<()> {
        if raw.is_empty() {
            return Some(());
        }
        self.push(text.get(raw.clone())?, raw)
    }

    /// What the parser decoded and the walk has not reached.
    fn remaining(&self) -> &'a str {
        self.expected.get(self.at..).unwrap_or("")
    }

    fn finish(self) -> Positions {
        if !self.remaining().is_empty() || self.pieces.is_empty() {
            return Positions::Unknown;
        }
        let segment = |(decoded, decoded_len, raw): (usize, usize, Range<usize>)| {
            Some(Segment {
                decoded: u32::try_from(decoded).ok()?,
                decoded_len: u32::try_from(decoded_len).ok()?,
                raw: u32::try_from(raw.start).ok()?,
                raw_len: u32::try_from(raw.len()).ok()?,
            })
        };
        let pieces: Option<_> = self.pieces.into_iter().map(segment).collect();
        pieces.map_or(Positions::Unknown, Positions::Pieces)
    }
}

/// Length of the line break at the start of `rest`, 0 if there is none.
fn break_len(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with(['\n', '\r'])) }
}

#[cfg(test)]
mod tests;
