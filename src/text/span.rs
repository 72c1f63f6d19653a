//! A half-open byte range in one file.

/// Index of a file in [`crate::text::Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// Bytes `start..end` of one file, on UTF-8 boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// A span of `file`; offsets past 4 GiB are clamped, which no accepted file reaches.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that holds both; `other` must lie in the same file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start.
    #[must_use]
    pub fn at_start(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// The empty span at the end.
    #[must_use]
    pub fn at_end(self) -> Self {
        Self { start: self.end, ..self }
    }

    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
