//! Reading the files that commands name; `-` is standard input.

use super::error::ToolError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// The bytes of a file, refused beyond `limit`.
pub(crate) fn read_bytes(path: &str, limit: usize) -> Result<Vec<u8>, ToolError> {
    read_rest(open(path)?, path, limit)
}

/// What is left of an open file, refused beyond `limit` bytes.
pub(crate) fn read_rest(reader: impl Read, path: &str, limit: usize) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_to_end(&mut bytes).map_err(|source| unreadable(path, source))?;
    if bytes.len() > limit {
        return Err(ToolError::TooLarge { path: shown(path), limit });
    }
    Ok(bytes)
}

/// A file to be read piece by piece.
pub(crate) fn open(path: &str) -> Result<Box<dyn BufRead>, ToolError> {
    if path == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    Ok(Box::new(BufReader::with_capacity(64 * 1024, file)))
}

pub(crate) fn unreadable(path: &str, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::NotFound => ToolError::Missing { path: shown(path) },
        io::ErrorKind::IsADirectory => ToolError::Folder { path: shown(path) },
        _ => ToolError::Unreadable { path: shown(path), source },
    }
}

/// The text of a file, refused beyond `limit` bytes or where it is not UTF-8.
pub(crate) fn read_text(path: &str, limit: usize) -> Result<String, ToolError> {
    let bytes = read_bytes(path, limit)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = 1 + bytes.iter().take(valid).filter(|byte| **byte == b'\n').count();
        ToolError::NotUtf8 { path: shown(path), byte: bytes.get(valid).copied().unwrap_or(0), line }
    })
}

/// A path as messages name it.
pub(crate) fn shown(path: &str) -> String {
    if path == "-" { "<stdin>".to_owned() } else { crate::text::visible(path) }
}
