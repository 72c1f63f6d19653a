//! Server-sent events from bytes, of bounded size. What an event holds is no concern of this module.

use std::collections::VecDeque;

/// So much of an event that is too long is kept, to find whose it was.
const HEAD: usize = 64 << 10;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Empty where the event has no name of its own.
    pub(super) name: String,
    /// `None` if the event has no data at all.
    pub(super) data: Option<Vec<u8>>,
    pub(super) id: Option<String>,
    /// Milliseconds.
    pub(super) retry: Option<u64>,
    /// The data is only its beginning.
    pub(super) too_long: bool,
}

#[derive(Debug)]
pub(super) struct Reader {
    limit: usize,
    line: Vec<u8>,
    /// The line is longer than what is kept of it.
    cut: bool,
    event: Event,
    after_cr: bool,
    ready: VecDeque<Event>,
}

impl Reader {
    /// `limit`: bytes that one event may hold.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), cut: false, event: Event::default(), after_cr: false, ready: VecDeque::new() }
    }

    /// An event that is complete. What is left at the end of a stream is none.
    pub(super) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let [b'\n', rest @ ..] = bytes
            {
                bytes = rest;
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.append(bytes);
                return;
            };
            let (line, rest) = bytes.split_at(end);
            self.append(line);
            self.after_cr = rest.first() == Some(&b'\r');
            self.finish_line();
            bytes = rest.get(1..).unwrap_or_default();
        }
    }

    fn append(&mut self, part: &[u8]) {
        let held = self.event.data.as_ref().map_or(0, Vec::len);
        // A field's name and colon come on top of what counts.
        let room = (self.limit + b"data: ".len()).saturating_sub(held + self.line.len());
        let kept = part.get(..room).unwrap_or(part);
        self.cut |= kept.len() < part.len();
        if !self.cut || self.line.len() < HEAD {
            self.line.extend_from_slice(kept);
        }
    }

    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        if line.is_empty() && !cut {
            let event = std::mem::take(&mut self.event);
            if event.data.is_some() || event.id.is_some() || event.retry.is_some() {
                self.ready.push_back(event);
            }
            return;
        }
        let (name, value) = match memchr::memchr(b':', &line) {
            // A comment.
            Some(0) => return,
            Some(colon) => line.split_at(colon),
            None => (line.as_slice(), [].as_slice()),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            _ if cut => self.too_long(value),
            b"data" if self.event.too_long => {}
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.event.data = Some(value.to_vec()),
            },
            b"event" => self.event.name = text(),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" if value.iter().all(u8::is_ascii_digit) => self.event.retry = text().parse().ok(),
            _ => {}
        }
    }

    fn too_long(&mut self, value: &[u8]) {
        self.event.too_long = true;
        let head = self.event.data.get_or_insert_default();
        head.extend_from_slice(value);
        head.truncate(HEAD);
        head.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str], limit: usize) -> Vec<Event> {
        let mut reader = Reader::new(limit);
        for chunk in chunks {
            reader.push(chunk.as_bytes());
        }
        std::iter::from_fn(|| reader.next()).collect()
    }

    fn data(text: &str) -> Event {
        Event { data: Some(text.into()), ..Event::default() }
    }

    #[test]
    fn events_come_out_as_they_were_sent_wherever_the_bytes_are_cut() {
        let text = "id: 7\r\nretry: 50\r\ndata:\r\n\r\n: a comment\nevent: x\ndata: a\ndata:b\n\ndata: c\r\r\ndata\n\ndata: half";
        let expected = [
            Event { id: Some("7".into()), retry: Some(50), ..data("") },
            Event { name: "x".into(), ..data("a\nb") },
            data("c"),
            data(""),
        ];
        for at in 0..text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(read(&[first, second], 100), expected, "cut at {at}");
        }
    }

    #[test]
    fn an_event_over_the_limit_leaves_its_beginning_and_the_next_one_is_whole() {
        let long = |text: &str| Event { too_long: true, ..data(text) };
        assert_eq!(read(&["data: 12345\n\n"], 5), [data("12345")]);
        assert_eq!(read(&["data: 123456\n\ndata: x\n\n"], 5), [long("12345"), data("x")]);
        assert_eq!(read(&["data: 123\ndata: 456\n\ndata: x\n\n"], 5).last(), Some(&data("x")));
        assert_eq!(read(&[": 1234567890123456789\ndata: x\n\n"], 5), [data("x")]);
        let endless = "x".repeat(300_000);
        let found = read(&["data: ", &endless, &endless, "\n\n"], 400_000);
        assert!(found[0].too_long && found[0].data.as_ref().unwrap().len() == HEAD, "{}", found.len());
    }
}
