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
    /// Where the next line begins.
    start: usize,
    /// No line feed between there and this offset.
    searched: usize,
    /// The head of a line that has become too long.
    skipped: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, buffer: Vec::new(), start: 0, searched: 0, skipped: None }
    }

    /// The next line; `None` at the end of the stream. Nothing is lost when the returned future is dropped
    /// before it is done. Never yields while there are lines: whoever loops over them has to.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                let mut line = self.cut(self.searched + at);
                if let Some(head) = self.skipped.take() {
                    return Ok(Some(Line::TooLong(head)));
                }
                if line.len() > self.limit {
                    line.truncate(HEAD);
                    return Ok(Some(Line::TooLong(line)));
                }
                return Ok(Some(Line::Whole(line)));
            }
            // Once for all lines of a read.
            self.buffer.drain(..self.start);
            self.start = 0;
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

    /// What follows the last line feed, at the end of the stream.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.searched = 0;
        self.start = 0;
        std::mem::take(&mut self.buffer)
    }

    /// The line that ends at `end`. What is copied is never more than the line itself.
    fn cut(&mut self, end: usize) -> Vec<u8> {
        let rest = self.buffer.len() - end - 1;
        let line = if rest <= end - self.start {
            let rest = self.buffer.split_off(end + 1);
            let mut line = std::mem::replace(&mut self.buffer, rest);
            line.pop();
            line.drain(..self.start);
            self.start = 0;
            line
        } else {
            let line = self.buffer.get(self.start..end).unwrap_or_default().to_vec();
            self.start = end + 1;
            line
        };
        self.searched = self.start;
        line
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
    async fn many_short_lines_take_no_longer_than_their_bytes() {
        let began = std::time::Instant::now();
        let blank = vec![b'\n'; 1 << 21];
        let mut lines = Lines::new(blank.as_slice(), MAX_LINE);
        // As full as a pipe may make it.
        lines.buffer.reserve(1 << 21);
        let mut count = 0;
        while lines.next().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 1 << 21);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn what_follows_the_last_line_feed_is_kept() {
        for (text, rest) in
            [("a\nlonger than that", "longer than that"), ("longer than that\na", "a"), ("a\n", ""), ("a", "a")]
        {
            let mut lines = Lines::new(text.as_bytes(), 100);
            while lines.next().await.unwrap().is_some() {}
            assert_eq!(lines.rest(), rest.as_bytes(), "{text}");
        }
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
