//! The files of one run and their line index.

use super::span::{FileId, Span};

/// A place as people count it: both from 1, `column` in Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

/// One file: its name as the user gave it, its text, its line starts.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<usize>,
    /// Characters before every [`STEP`]th byte, so that a column of a long line is found at once.
    characters: Vec<usize>,
}

const STEP: usize = 1024;

impl Source {
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let lone_return = *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if *byte == b'\n' || lone_return {
                line_starts.push(at + 1);
            }
        }
        let mut characters = Vec::with_capacity(bytes.len() / STEP + 1);
        let mut count = 0;
        for block in bytes.chunks(STEP) {
            characters.push(count);
            count += block.iter().filter(|byte| begins_character(**byte)).count();
        }
        Self { name: name.into(), text, line_starts, characters }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// Index from 0 of the line that holds the byte.
    #[must_use]
    pub fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Bytes of a line (index from 0) without its line end; `None` past the last.
    #[must_use]
    pub fn line(&self, index: usize) -> Option<&str> {
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).map(|line| line.trim_end_matches(['\n', '\r']))
    }

    /// Byte offset at which a line (index from 0) begins.
    #[must_use]
    pub fn line_start(&self, index: usize) -> Option<usize> {
        self.line_starts.get(index).copied()
    }

    fn before_on_line(&self, offset: usize) -> (usize, &str) {
        let offset = floor_char_boundary(&self.text, offset);
        let index = self.line_index(offset);
        let start = self.line_starts.get(index).copied().unwrap_or(0);
        (index, self.text.get(start..offset).unwrap_or(""))
    }

    /// Characters before a byte.
    fn characters_before(&self, offset: usize) -> usize {
        let counted = self.characters.get(offset / STEP).copied().unwrap_or(0);
        let block = self.text.as_bytes().get(offset / STEP * STEP..offset).unwrap_or_default();
        counted + block.iter().filter(|byte| begins_character(**byte)).count()
    }

    #[must_use]
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let offset = floor_char_boundary(&self.text, offset);
        let index = self.line_index(offset);
        let start = self.line_starts.get(index).copied().unwrap_or(0);
        // A byte order mark has no width for a person.
        let mark = usize::from(index == 0 && offset > 0 && self.text.starts_with('\u{feff}'));
        let before = self.characters_before(offset).saturating_sub(self.characters_before(start));
        LineColumn { line: index + 1, column: before.saturating_sub(mark) + 1 }
    }

    /// Line and column from 0, the column in UTF-16 units, as editors count.
    #[must_use]
    pub fn utf16_position(&self, offset: usize) -> (usize, usize) {
        let (index, before) = self.before_on_line(offset);
        (index, before.encode_utf16().count())
    }

    /// Byte offset of an editor's position; a column past the end of a line means its end.
    #[must_use]
    pub fn offset_of_utf16(&self, line: usize, column: usize) -> usize {
        let (Some(start), Some(text)) = (self.line_start(line), self.line(line)) else { return self.text.len() };
        let mut units = 0;
        for (at, c) in text.char_indices() {
            if units >= column {
                return start + at;
            }
            units += c.len_utf16();
        }
        start + text.len()
    }
}

fn begins_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The files of one run.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Source::new(name, text));
        id
    }

    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).and_then(|source| source.text().get(span.range())).unwrap_or("")
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(at, source)| (FileId(u32::try_from(at).unwrap_or(u32::MAX)), source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalars_and_utf16_units() {
        let source = Source::new("p.yaml", "é日😀x\r\nb\rc");
        let x = source.text().find('x').unwrap();
        assert_eq!(source.line_column(x), LineColumn { line: 1, column: 4 });
        assert_eq!(source.utf16_position(x), (0, 4));
        assert_eq!(source.offset_of_utf16(0, 4), x);
        let c = source.text().find('c').unwrap();
        assert_eq!(source.line_column(c), LineColumn { line: 3, column: 1 });
        assert_eq!(source.line(0), Some("é日😀x"));
        assert_eq!(source.line_column(source.text().len()), LineColumn { line: 3, column: 2 });
    }

    #[test]
    fn columns_of_long_lines() {
        let source = Source::new("p.yaml", "é😀".repeat(2000) + "\n" + &"日".repeat(3000));
        for (offset, line, column) in [(0, 1, 1), (6 * 1999, 1, 3999), (12_000, 1, 4001), (12_001 + 3 * 2500, 2, 2501)]
        {
            assert_eq!(source.line_column(offset), LineColumn { line, column });
        }
        assert_eq!(source.line_column(usize::MAX), LineColumn { line: 2, column: 3001 });
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let source = Source::new("p.yaml", "\u{feff}a");
        assert_eq!(source.line_column(3), LineColumn { line: 1, column: 1 });
    }
}
