//! Finds the next byte of a string that JSON escapes. Knows nothing of either direction.

const CHUNK: usize = 32;
const WORD: usize = 8;

/// How many bytes from the start are neither `"`, `\` nor a control below 0x20.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    // No early exit within a chunk, so that the compiler turns the loop into vector code.
    let whole = |chunk: &&[u8]| chunk.iter().fold(0, |found, &byte| found | u8::from(special(byte))) == 0;
    let chunks = bytes.chunks_exact(CHUNK).take_while(whole).count() * CHUNK;
    let rest = bytes.get(chunks..).unwrap_or_default();
    let words = rest.chunks_exact(WORD).take_while(whole).count() * WORD;
    let rest = rest.get(words..).unwrap_or_default();
    chunks + words + rest.iter().take_while(|&&byte| !special(byte)).count()
}

fn special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(plain_prefix(&bytes), length);
            for place in 0..length {
                for byte in 0..=255 {
                    bytes[place] = byte;
                    let found = plain_prefix(&bytes);
                    let wanted = if special(byte) { place } else { length };
                    assert_eq!(found, wanted, "{byte} at {place} of {length}");
                }
                bytes[place] = 0xff;
            }
        }
    }
}
