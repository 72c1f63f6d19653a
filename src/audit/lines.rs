//! The lines of a log, read with bounded memory.

use sha2::{Digest, Sha256};
use std::io::{self, BufRead};

/// Bytes of a record at most: a message of 16 MiB, each character of it escaped, and what stands around it.
pub const MAX_LINE: usize = 49 * 1024 * 1024;

pub(super) type Hash = [u8; 32];

/// One line, without its end.
#[derive(Debug, Default)]
pub struct Line {
    /// Empty where the line is longer than [`MAX_LINE`].
    pub bytes: Vec<u8>,
    pub length: u64,
    /// Whether a line end follows.
    pub ended: bool,
    pub(super) hash: Hash,
}

/// Reads a log line by line.
#[derive(Debug, Default)]
pub struct Lines<R> {
    reader: R,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self { reader }
    }

    /// The next line into `line`; says whether there is one.
    pub fn next_into(&mut self, line: &mut Line) -> io::Result<bool> {
        line.bytes.clear();
        line.length = 0;
        line.ended = false;
        let mut hasher = Sha256::new();
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            hasher.update(part);
            line.length += part.len() as u64;
            if line.length <= MAX_LINE as u64 {
                line.bytes.extend_from_slice(part);
            } else {
                line.bytes = Vec::new();
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                line.ended = true;
                break;
            }
        }
        line.hash = hasher.finalize().into();
        Ok(line.ended || line.length > 0)
    }
}

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// 64 hexadecimal digits.
pub(super) fn hex(hash: &Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
    hash.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
