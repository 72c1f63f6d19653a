//! Texts from files and calls on their way to a terminal.

/// The text with its control characters spelled out: `\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { format!("\\u{{{:x}}}", c as u32) } else { c.to_string() }).collect()
}
