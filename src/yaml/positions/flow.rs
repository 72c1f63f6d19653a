//! Plain and quoted scalars: line folding, doubled quotes and escapes.

use std::ops::Range;

use super::{Trace, break_len};

pub(super) fn plain(text: &str, span: Range<usize>, trace: &mut Trace<'_>) -> Option<()> {
    let mut at = span.start;
    while at < span.end {
        let rest = text.get(at..span.end)?;
        at = match white_start(rest) {
            0 => fold(text, at, span.end, trace)?,
            content => {
                trace.copy(text, at..at + content)?;
                at + content
            }
        };
    }
    Some(())
}

pub(super) fn single_quoted(text: &str, span: Range<usize>, trace: &mut Trace<'_>) -> Option<()> {
    let end = span.end.checked_sub(1)?;
    let mut at = span.start + 1;
    while at < end {
        let rest = text.get(at..end)?;
        at = if rest.starts_with("''") {
            trace.push("'", at..at + 2)?;
            at + 2
        } else {
            match rest.find([' ', '\t', '\n', '\r', '\'']).unwrap_or(rest.len()) {
                0 => fold(text, at, end, trace)?,
                content => {
                    trace.copy(text, at..at + content)?;
                    at + content
                }
            }
        };
    }
    Some(())
}

pub(super) fn double_quoted(text: &str, span: Range<usize>, trace: &mut Trace<'_>) -> Option<()> {
    let end = span.end.checked_sub(1)?;
    let mut at = span.start + 1;
    while at < end {
        let rest = text.get(at..end)?;
        if let Some(escaped) = rest.strip_prefix('\\') {
            let line_end = break_len(escaped);
            if line_end > 0 {
                // The break is dropped; blank lines behind it are kept.
                at = blank_lines(text, at + 1 + line_end, end, trace)?.0;
            } else {
                let (c, len) = escape(rest)?;
                trace.push(c.encode_utf8(&mut [0; 4]), at..at + len)?;
                at += len;
            }
            continue;
        }
        at = match rest.find([' ', '\t', '\n', '\r', '\\']).unwrap_or(rest.len()) {
            0 => fold(text, at, end, trace)?,
            content => {
                trace.copy(text, at..at + content)?;
                at + content
            }
        };
    }
    Some(())
}

/// The first escape behind the opening quote at `start` that YAML does not have.
pub(in crate::yaml) fn first_bad_escape(text: &str, start: usize) -> Option<Range<usize>> {
    let mut at = start + 1;
    loop {
        let rest = text.get(at..)?;
        let next = rest.find(['\\', '"'])?;
        at += next;
        let rest = rest.get(next..)?;
        let escaped = rest.strip_prefix('\\')?;
        let line_end = break_len(escaped);
        at += if line_end > 0 {
            1 + line_end
        } else if let Some((_, len)) = escape(rest) {
            len
        } else {
            let digits = match escaped.chars().next()? {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            let len = escaped.chars().skip(1).take(digits).take_while(char::is_ascii_hexdigit).count();
            let head = escaped.chars().next().map_or(0, char::len_utf8);
            return Some(at..at + 1 + head + len);
        };
    }
}

/// The character that an escape at the start of `rest` stands for, and the bytes it takes.
fn escape(rest: &str) -> Option<(char, usize)> {
    let short = |c| Some((c, 2));
    match rest.chars().nth(1)? {
        '0' => short('\0'),
        'a' => short('\u{7}'),
        'b' => short('\u{8}'),
        't' | '\t' => short('\t'),
        'n' => short('\n'),
        'v' => short('\u{b}'),
        'f' => short('\u{c}'),
        'r' => short('\r'),
        'e' => short('\u{1b}'),
        c @ (' ' | '"' | '/' | '\\') => short(c),
        'N' => short('\u{85}'),
        '_' => short('\u{a0}'),
        'L' => short('\u{2028}'),
        'P' => short('\u{2029}'),
        'x' => Some((char::from_u32(hex(rest, 2..4)?)?, 4)),
        'U' => Some((char::from_u32(hex(rest, 2..10)?)?, 10)),
        'u' => {
            let unit = hex(rest, 2..6)?;
            if !(0xd800..0xdc00).contains(&unit) {
                return Some((char::from_u32(unit)?, 6));
            }
            let low = hex(rest.get(6..)?.strip_prefix("\\u")?, 0..4)?;
            let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            Some((char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + low)?, 12))
        }
        _ => None,
    }
}

fn hex(text: &str, range: Range<usize>) -> Option<u32> {
    let digits = text.get(range)?;
    // `from_str_radix` would also take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// White space at `at`: kept inside a line, folded around line breaks. Returns where it ends.
fn fold(text: &str, at: usize, end: usize, trace: &mut Trace<'_>) -> Option<usize> {
    let blanks_end = at + blanks(text.get(at..end)?);
    let line_end = break_len(text.get(blanks_end..end)?);
    if line_end == 0 {
        // No blank either: a character that ends the scalar stands inside it, so the walk has gone wrong.
        trace.copy(text, at..blanks_end)?;
        return (blanks_end > at).then_some(blanks_end);
    }
    let first_break = blanks_end..blanks_end + line_end;
    let (content, found) = blank_lines(text, first_break.end, end, trace)?;
    if !found {
        trace.push(" ", first_break)?;
    }
    Some(content)
}

/// Skips the indentation at `at` and any blank lines, each of which is a line break in the decoded text.
fn blank_lines(text: &str, mut at: usize, end: usize, trace: &mut Trace<'_>) -> Option<(usize, bool)> {
    let mut found = false;
    loop {
        at += blanks(text.get(at..end)?);
        let line_end = break_len(text.get(at..end)?);
        if line_end == 0 {
            return Some((at, found));
        }
        trace.push("\n", at..at + line_end)?;
        at += line_end;
        found = true;
    }
}

fn blanks(rest: &str) -> usize {
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

fn white_start(rest: &str) -> usize {
    rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len())
}
