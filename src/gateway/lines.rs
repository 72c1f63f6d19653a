//! Lines of bounded length from a stream. What a line means is no concern of this module.

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that is taken in: 16 MiB, as for recordings.
pub(super) const MAX_LINE: usize = 16 << 20;

/// So much of a line that is too long is kept, to find whose it was.
const HEAD: usize = 64 << 10;

/// One line, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// Longer than the limit: its first bytes. The rest is thrown away unread.
    TooLong(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    /// No line feed before this offset.
    searched: usize,
    /// The head of a line that has become too long.
    skipped: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, buffer: Vec::new(), searched: 0, skipped: None }
    }

    /// The next line; `None` at the end of the stream, where a half line is lost: no message ends so.
    /// Nothing is lost when the returned future is dropped before it is done.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                let rest = self.buffer.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                self.searched = 0;
                line.pop();
                if let Some(head) = self.skipped.take() {
                    return Ok(Some(Line::TooLong(head)));
                }
                if line.len() > self.limit {
                    line.truncate(HEAD);
                    return Ok(Some(Line::TooLong(line)));
                }
                return Ok(Some(Line::Whole(line)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > self.limit || self.skipped.is_some() {
                let mut head = std::mem::take(&mut self.buffer);
                head.truncate(HEAD);
                self.skipped.get_or_insert(head);
                self.searched = 0;
            }
            self.buffer.reserve(HEAD);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.skipped.take().map(Line::TooLong));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(text, limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        found
    }

    #[tokio::test]
    async fn lines_are_cut_at_line_feeds_and_long_ones_thrown_away() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(all(b"a\n\nbc\r\nhal", 3).await, [whole("a"), whole(""), whole("bc\r")]);
        assert_eq!(all(b"abcd\nx\n", 3).await, [Line::TooLong(b"abcd".to_vec()), whole("x")]);
        let endless = vec![b'x'; 300_000];
        let found = all(&endless, 100_000).await;
        let [Line::TooLong(head)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(head.len(), HEAD);
    }
}
