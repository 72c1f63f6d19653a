//! Taking a recording apart without judging its calls: a call that the strict reader refuses must not
//! take its neighbours with it.

use crate::json;

/// Calls of a recording at most; a longer one is cut into several by whoever records.
pub const MAX_CALLS: usize = 2_000_000;

/// The bytes of each call, in order: elements of a document's list, or lines that are not blank.
#[derive(Clone, Debug)]
pub enum Calls<'b> {
    Listed(std::vec::IntoIter<&'b [u8]>),
    Lines(&'b [u8]),
}

impl<'b> Iterator for Calls<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        match self {
            Self::Listed(calls) => calls.next(),
            Self::Lines(rest) => {
                while !rest.is_empty() {
                    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    let (line, tail) = rest.split_at(end);
                    *rest = tail.get(1..).unwrap_or_default();
                    let line = line.trim_ascii();
                    if !line.is_empty() {
                        return Some(line);
                    }
                }
                None
            }
        }
    }
}

/// Takes a recording apart. `Err`: a document whose list has no clear end or more than one meaning,
/// or more than [`MAX_CALLS`].
pub fn split(bytes: &[u8]) -> Result<Calls<'_>, String> {
    // Some editors put a byte order mark in front.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader = Reader { bytes, at: 0 };
    let calls = match reader.peek() {
        Some(b'[') => reader.elements()?,
        Some(b'{') if has_calls(bytes) => {
            let mut found = None;
            reader.members(&mut |reader, key| {
                if !is_name(key, "calls") {
                    return reader.skip();
                }
                if found.is_some() {
                    return Err("`calls` stands twice".to_owned());
                }
                if reader.peek() != Some(b'[') {
                    return Err("`calls` is not a list".to_owned());
                }
                found = Some(reader.elements()?);
                Ok(())
            })?;
            found.unwrap_or_default()
        }
        _ => {
            let lines = Calls::Lines(bytes);
            return if lines.clone().nth(MAX_CALLS).is_none() { Ok(lines) } else { Err(too_many()) };
        }
    };
    match reader.peek() {
        None => Ok(Calls::Listed(calls.into_iter())),
        Some(_) => Err(format!("something follows the document at byte {}", reader.at)),
    }
}

fn too_many() -> String {
    format!("it has more than {MAX_CALLS} calls")
}

/// Whether a key is this name, however it is escaped.
fn is_name(key: &[u8], name: &str) -> bool {
    if key == name.as_bytes() {
        return true;
    }
    // A longer spelling has escapes, of six bytes a character at most.
    let escaped = key.contains(&b'\\') && key.len() <= name.len() * 6;
    escaped && json::parse(&[b"\"", key, b"\""].concat()).is_ok_and(|key| key.as_str() == Some(name))
}

/// Whether the first object has a member `calls`, as far as it can be read.
fn has_calls(bytes: &[u8]) -> bool {
    let mut found = false;
    let _ = Reader { bytes, at: 0 }.members(&mut |reader, key| {
        found = found || is_name(key, "calls");
        if found { Err(String::new()) } else { reader.skip() }
    });
    found
}

/// The bytes of a member of an object that may be malformed elsewhere.
pub(super) fn member<'b>(bytes: &'b [u8], name: &str) -> Option<&'b [u8]> {
    let mut value = None;
    let _ = Reader { bytes, at: 0 }.members(&mut |reader, key| {
        reader.peek();
        let start = reader.at;
        reader.skip()?;
        if is_name(key, name) && value.is_none() {
            value = bytes.get(start..reader.at);
        }
        Ok(())
    });
    value
}

/// Walks over JSON by its brackets and quotes alone.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// Hears of a member at its value, with the key's spelling.
type Visit<'v, 'b> = dyn FnMut(&mut Reader<'b>, &'b [u8]) -> Result<(), String> + 'v;

impl<'b> Reader<'b> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.peek() != Some(byte) {
            return Err(match self.bytes.get(self.at) {
                Some(_) => format!("`{}` is missing at byte {}", char::from(byte), self.at),
                None => format!("it ends where `{}` is missing", char::from(byte)),
            });
        }
        self.at += 1;
        Ok(())
    }

    /// The elements of a list.
    fn elements(&mut self) -> Result<Vec<&'b [u8]>, String> {
        self.expect(b'[')?;
        let mut elements = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(elements);
        }
        loop {
            self.peek();
            let start = self.at;
            self.skip()?;
            if elements.len() == MAX_CALLS {
                return Err(too_many());
            }
            elements.push(self.bytes.get(start..self.at).unwrap_or_default());
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                self.expect(b']')?;
                return Ok(elements);
            }
        }
    }

    /// Calls `visit` at the value of each member with the key's spelling; it must pass over the value.
    fn members(&mut self, visit: &mut Visit<'_, 'b>) -> Result<(), String> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.expect(b'"')?;
            let start = self.at;
            self.string()?;
            let key = self.bytes.get(start..self.at.saturating_sub(1)).unwrap_or_default();
            self.expect(b':')?;
            visit(self, key)?;
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                return self.expect(b'}');
            }
        }
    }

    /// Passes over the rest of a string, behind its opening quote.
    fn string(&mut self) -> Result<(), String> {
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return Ok(());
            }
        }
        Err("it ends inside a string".to_owned())
    }

    /// Passes over one value, whatever it is.
    fn skip(&mut self) -> Result<(), String> {
        let first = self.peek();
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            match byte {
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' if depth == 0 => break,
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => break,
                byte if depth == 0 && byte.is_ascii_whitespace() => break,
                _ => self.at += 1,
            }
            // A bracket or a string is a value by itself.
            if depth == 0 && matches!(first, Some(b'"' | b'[' | b'{')) {
                return Ok(());
            }
        }
        match (depth, self.at > start) {
            (0, true) => Ok(()),
            (0, false) => Err(format!("a value is missing at byte {start}")),
            _ => Err("it ends inside a bracket".to_owned()),
        }
    }
}
