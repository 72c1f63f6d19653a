//! Whether two globs share a text, answered by building one: no search, so no budget.
//! Knows nothing of shortest or most natural texts.

use super::Glob;
use super::charset::CharSet;

/// A text that both globs match, or `None` when there is none. Costs at most the product of both lengths.
pub(super) fn common_text(left: &Glob, right: &Glob) -> Option<String> {
    if left.is_empty() || right.is_empty() {
        return None;
    }
    let sets = match (&left.starred, &right.starred) {
        (None, None) => {
            let (left, right) = (head(left), head(right));
            if left.len() == right.len() { both(&left, &right)? } else { return None }
        }
        (None, Some(_)) => along(head(left), right)?,
        (Some(_), None) => along(head(right), left)?,
        (Some(_), Some(_)) => joined(left, right)?,
    };
    sets.iter().map(CharSet::sample).collect()
}

fn head(glob: &Glob) -> Vec<CharSet> {
    glob.head.all_sets().collect()
}

fn tail(glob: &Glob) -> Vec<CharSet> {
    glob.starred.iter().flat_map(|starred| starred.tail.all_sets()).collect()
}

/// The intersection place by place; what one has more is kept. `None` where a place has no character left.
fn both(left: &[CharSet], right: &[CharSet]) -> Option<Vec<CharSet>> {
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let shared = short.iter().zip(long).map(|(one, other)| Some(one.intersect(other)).filter(|set| !set.is_empty()));
    shared.chain(long.iter().skip(short.len()).cloned().map(Some)).collect()
}

/// `fixed` narrowed to what the starred glob matches: both ends are held, each middle run goes leftmost.
fn along(fixed: Vec<CharSet>, starred: &Glob) -> Option<Vec<CharSet>> {
    let (head, tail) = (head(starred), tail(starred));
    let room = fixed.len().checked_sub(head.len() + tail.len())?;
    let mut rest = fixed;
    let end = rest.split_off(head.len() + room);
    let mut narrowed = both(&rest.drain(..head.len()).collect::<Vec<_>>(), &head)?;
    let mut rest = rest.as_slice();
    for run in starred.starred.iter().flat_map(|starred| &starred.middle) {
        let run: Vec<CharSet> = run.all_sets().collect();
        let fits = |place: &[CharSet]| place.iter().zip(&run).all(|(one, other)| one.meets(other));
        let at = rest.windows(run.len().max(1)).position(fits)?;
        let (before, from) = rest.split_at_checked(at)?;
        let (place, after) = from.split_at_checked(run.len())?;
        narrowed.extend_from_slice(before);
        narrowed.extend(both(place, &run)?);
        rest = after;
    }
    narrowed.extend_from_slice(rest);
    narrowed.extend(both(&end, &tail)?);
    Some(narrowed)
}

/// With a star on each side only the ends can clash: each star takes in the other glob's middle.
fn joined(left: &Glob, right: &Glob) -> Option<Vec<CharSet>> {
    let mut sets = both(&head(left), &head(right))?;
    for starred in [left, right].into_iter().filter_map(|glob| glob.starred.as_ref()) {
        sets.extend(starred.middle.iter().flat_map(super::Run::all_sets));
    }
    // Tails line up at their ends.
    let backwards = |glob| tail(glob).into_iter().rev().collect::<Vec<_>>();
    sets.extend(both(&backwards(left), &backwards(right))?.into_iter().rev());
    Some(sets)
}
