//! Exact questions about what globs match, with a text as the proof where there is one.
//! Knows nothing of how a single text is matched quickly.

mod machine;
mod search;

use super::Glob;
use super::overlap::common_text;

/// A question about globs that would take too long to answer; nothing is known about its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these globs are too many or too intricate to compare")]
pub struct TooLarge;

/// A text that both globs match, or `None` when there is none. Always exact; the text is the shortest and,
/// of those, the most natural, unless the search for it would take too long, and then just some text.
#[must_use]
pub fn overlap(left: &Glob, right: &Glob) -> Option<String> {
    let some_text = common_text(left, right)?;
    combination_witness(&[left, right], &[]).ok().flatten().or(Some(some_text))
}

/// Whether `wide` matches every text that `narrow` matches. `true` is certain; `false` may also mean that
/// the question was too large (see [`combination_witness`], which tells the two apart).
#[must_use]
pub fn subsumes(wide: &Glob, narrow: &Glob) -> bool {
    wide == narrow || combination_witness(&[narrow], &[wide]) == Ok(None)
}

/// Whether both globs match the same texts. `true` is certain, as for [`subsumes`].
#[must_use]
pub fn equivalent(left: &Glob, right: &Glob) -> bool {
    subsumes(left, right) && subsumes(right, left)
}

/// Whether every text that `glob` matches is matched by one of `others`. `true` is certain, as for [`subsumes`].
#[must_use]
pub fn covered_by(glob: &Glob, others: &[Glob]) -> bool {
    let others: Vec<&Glob> = others.iter().collect();
    combination_witness(&[glob], &others) == Ok(None)
}

/// A text that all of `positive` and none of `negative` match: the shortest and, of those, the most natural
/// (lower-case letters, then other letters, digits and `_`). `Ok(None)` means that there is none.
///
/// # Errors
///
/// [`TooLarge`] when the search reaches 20,000 states, or the work that goes with them.
pub fn combination_witness(positive: &[&Glob], negative: &[&Glob]) -> Result<Option<String>, TooLarge> {
    if positive.iter().any(|glob| glob.is_empty()) {
        return Ok(None);
    }
    if let Some(literal) = positive.iter().find_map(|glob| glob.literal()) {
        let found = positive.iter().all(|glob| glob.matches(literal)) && !negative.iter().any(|g| g.matches(literal));
        return Ok(found.then(|| literal.to_owned()));
    }
    let positive = distinct(positive);
    for (index, one) in positive.iter().enumerate() {
        if positive.iter().skip(index + 1).any(|other| common_text(one, other).is_none()) {
            return Ok(None);
        }
    }
    // A negative apart from some positive excludes nothing, and each one left out shrinks the search.
    let mut negative = distinct(negative);
    negative.retain(|glob| !glob.is_empty() && positive.iter().all(|one| common_text(glob, one).is_some()));
    if negative.iter().any(|glob| positive.contains(glob)) {
        return Ok(None);
    }
    search::shortest(&positive, &negative)
}

fn distinct<'g>(globs: &[&'g Glob]) -> Vec<&'g Glob> {
    let mut seen = std::collections::HashSet::new();
    globs.iter().copied().filter(|glob| seen.insert(glob.text())).collect()
}
