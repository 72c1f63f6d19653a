//! Literal and folded block scalars: indentation, folding, blank lines.

use std::ops::Range;

use super::{Trace, break_len};

/// `start` is the first byte of content behind the indentation, as the parser reports it.
pub(super) fn walk(text: &str, start: usize, folded: bool, trace: &mut Trace<'_>) -> Option<()> {
    if only_breaks(trace.remaining()) {
        return None;
    }
    let line = line_start(text, start)?;
    let indent = start - line;
    let mut breaks = leading_breaks(text, line)?;
    let mut at = start;
    // Whether the line before this one is text at the margin, which a folded scalar joins by a space.
    let mut may_join = false;
    loop {
        let rest = text.get(at..)?;
        let at_margin = !rest.starts_with([' ', '\t']);
        if folded && may_join && at_margin && !breaks.is_empty() {
            let first = breaks.remove(0);
            if breaks.is_empty() {
                trace.push(" ", first)?;
            }
        }
        for found in breaks.drain(..) {
            trace.push("\n", found)?;
        }
        let content = rest.find(['\n', '\r']).unwrap_or(rest.len());
        trace.copy(text, at..at + content)?;
        at = skip_breaks(text, at + content, indent, &mut breaks)?;
        may_join = at_margin;
        if only_breaks(trace.remaining()) {
            // The line ends that the chomping indicator kept.
            let kept = trace.remaining().len();
            for found in breaks.into_iter().take(kept) {
                trace.push("\n", found)?;
            }
            return Some(());
        }
    }
}

fn only_breaks(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\n')
}

fn line_start(text: &str, at: usize) -> Option<usize> {
    Some(text.get(..at)?.rfind(['\n', '\r']).map_or(0, |found| found + 1))
}

/// The breaks of the blank lines between the header and the first line of content, which starts at `line`.
fn leading_breaks(text: &str, mut line: usize) -> Option<Vec<Range<usize>>> {
    let mut breaks = Vec::new();
    while line > 0 {
        let head = text.get(..line)?;
        let body = head.strip_suffix('\n').map_or(head, |head| head.strip_suffix('\r').unwrap_or(head));
        let body = if body.len() == head.len() { head.strip_suffix('\r')? } else { body };
        let previous = line_start(text, body.len())?;
        if !text.get(previous..body.len())?.bytes().all(|byte| byte == b' ') {
            break;
        }
        breaks.push(body.len()..line);
        line = previous;
    }
    breaks.reverse();
    Some(breaks)
}

/// From the end of a line over blank lines and the next line's indentation.
fn skip_breaks(text: &str, mut at: usize, indent: usize, breaks: &mut Vec<Range<usize>>) -> Option<usize> {
    loop {
        let len = break_len(text.get(at..)?);
        if len == 0 {
            return Some(at);
        }
        breaks.push(at..at + len);
        at += len;
        at += text.get(at..)?.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    }
}
