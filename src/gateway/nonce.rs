//! Names that nobody can guess.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// 32 hexadecimal digits from the operating system. Where that gives none, digits that are at least used
/// only once.
pub(super) fn nonce() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        bytes = u128::from(count).to_be_bytes();
    }
    bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
