//! Looking for many texts at once. Knows nothing of whose texts they are.

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, BuildError, MatchKind};
use std::ops::Range;

/// Finds the leftmost of several texts, the first in order where two begin at one place.
#[derive(Debug)]
pub(super) enum Search {
    /// Vector code: a 64 KB payload takes 7 µs where the automaton takes 27.
    Packed(Searcher),
    Automaton(AhoCorasick),
}

/// The vector code compares a candidate to its end at every place, so a long text could make it slow on purpose.
const MAX_PACKED_BYTES: usize = 32;

impl Search {
    pub(super) fn new<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Result<Self, BuildError> {
        if texts.clone().all(|text| text.len() <= MAX_PACKED_BYTES)
            && let Some(packed) = packed::Config::new().builder().extend(texts.clone()).build()
        {
            return Ok(Self::Packed(packed));
        }
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(texts).map(Self::Automaton)
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Packed(searcher) => searcher.find(text).is_some(),
            Self::Automaton(automaton) => automaton.is_match(text),
        }
    }

    /// Index of the text that was found, and where.
    pub(super) fn find(&self, text: &str) -> Option<(usize, Range<usize>)> {
        let found = match self {
            Self::Packed(searcher) => searcher.find(text),
            Self::Automaton(automaton) => automaton.find(text),
        };
        found.map(|found| (found.pattern().as_usize(), found.range()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_leftmost_text() {
        let long = "x".repeat(MAX_PACKED_BYTES + 1);
        for texts in [vec!["ssh", ".ssh", "a", "ab"], vec!["ssh", ".ssh", "a", "ab", &long]] {
            let search = Search::new(texts.iter().copied()).unwrap();
            assert_eq!(matches!(search, Search::Packed(_)), texts.len() == 4);
            for (subject, found) in [
                ("", None),
                ("b/.ss", None),
                ("/.ssh", Some((1, 1..5))),
                ("ssh", Some((0, 0..3))),
                ("cab", Some((2, 1..2))),
                (&("é".repeat(100) + "ab"), Some((2, 200..201))),
            ] {
                assert_eq!(search.find(subject), found, "{subject}");
                assert_eq!(search.is_match(subject), found.is_some(), "{subject}");
            }
        }
    }
}
