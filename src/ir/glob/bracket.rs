//! The bracket class of `fnmatch`, by the very steps of Python's `fnmatch.translate`, odd ends included.
//! Knows nothing of the rest of a glob.

use super::charset::CharSet;

/// Reads a class from what follows its `[`: the set, and what follows its `]`. `None` when it is not closed.
pub(super) fn split_class(after_bracket: &[char]) -> Option<(CharSet, &[char])> {
    // A `]` in first place, or right after `!`, is a member.
    let skip = match after_bracket {
        ['!', ']', ..] => 2,
        ['!' | ']', ..] => 1,
        _ => 0,
    };
    let end = skip + after_bracket.get(skip..)?.iter().position(|char| *char == ']')?;
    let (body, rest) = after_bracket.split_at_checked(end)?;
    Some((class(body), rest.get(1..)?))
}

/// One written character; `ranged` when a hyphen makes a range of it and the one after it.
struct Member {
    char: char,
    ranged: bool,
}

fn class(body: &[char]) -> CharSet {
    let mut stack = members(body);
    // Looked for only now: Python negates `[z-a!b]` too, since dropping `z-a` brings the `!` to the front.
    let negated = stack.pop_if(|first| first.char == '!');
    let mut ranges = Vec::new();
    if negated.as_ref().is_some_and(|mark| mark.ranged) {
        // The `!` was to begin a range; as the negation it leaves the hyphen standing for itself.
        ranges.push(('-', '-'));
    }
    while let Some(Member { char, ranged }) = stack.pop() {
        let end = stack.last().filter(|_| ranged).map_or(char, |next| next.char);
        ranges.push((char, end));
    }
    let set = CharSet::from_ranges(ranges);
    if negated.is_some() { set.complement() } else { set }
}

/// The members of a class, last written at the bottom, without its empty ranges.
fn members(body: &[char]) -> Vec<Member> {
    let mut stack: Vec<Member> = Vec::new();
    for chunk in chunks(body).into_iter().rev() {
        let Some((&last, others)) = chunk.split_last() else { continue };
        // An empty range goes, with both its ends; the chunks around it become one.
        let empty = stack.pop_if(|next| last > next.char).is_some();
        if !empty {
            let ranged = !stack.is_empty();
            stack.push(Member { char: last, ranged });
        }
        stack.extend(others.iter().rev().map(|&char| Member { char, ranged: false }));
    }
    stack
}

/// The body cut at each hyphen that makes a range. One at either end, or right behind a range, makes none.
fn chunks(body: &[char]) -> Vec<&[char]> {
    let mut chunks = Vec::new();
    let mut from = 0;
    let mut look_at = if body.first() == Some(&'!') { 2 } else { 1 };
    while let Some(offset) = body.get(look_at..).and_then(|rest| rest.iter().position(|char| *char == '-')) {
        let hyphen = look_at + offset;
        if hyphen + 1 == body.len() {
            // It ends the class, so it is a member of the last chunk.
            break;
        }
        chunks.extend(body.get(from..hyphen));
        from = hyphen + 1;
        look_at = hyphen + 3;
    }
    chunks.extend(body.get(from..));
    chunks
}
