//! Sets of characters as sorted ranges. Knows nothing of globs.

/// The Unicode scalars: every code point but the surrogates.
const SCALARS: [(u32, u32); 2] = [(0, 0xD7FF), (0xE000, 0x0010_FFFF)];

/// Best first: what a reader takes for an ordinary name, then the rest of printable ASCII.
const PREFERRED: &str = "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ\
                         -./:@,;=+~#%&$!?'\"()<>{}|^`*\\[] ";

/// A set of Unicode scalars: disjoint ranges, ends included, ascending, as few as can be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CharSet(Box<[(u32, u32)]>);

impl CharSet {
    pub(super) fn all() -> Self {
        Self(SCALARS.into())
    }

    pub(super) fn one(char: char) -> Self {
        Self(Box::new([(char.into(), char.into())]))
    }

    /// The union of the ranges, ends included; a range that ends before it starts adds nothing.
    pub(super) fn from_ranges(ranges: Vec<(char, char)>) -> Self {
        let mut ranges: Vec<(u32, u32)> = ranges.into_iter().map(|(low, high)| (low.into(), high.into())).collect();
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self(common(&merged, &SCALARS).collect())
    }

    pub(super) fn complement(&self) -> Self {
        let mut next = 0;
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        for &(low, high) in &self.0 {
            if next < low {
                gaps.push((next, low - 1));
            }
            next = high + 1;
        }
        gaps.push((next, u32::MAX));
        Self(common(&gaps, &SCALARS).collect())
    }

    pub(super) fn intersect(&self, other: &Self) -> Self {
        Self(common(&self.0, &other.0).collect())
    }

    /// Whether the two have a member in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        common(&self.0, &other.0).next().is_some()
    }

    pub(super) fn contains(&self, char: char) -> bool {
        let code = u32::from(char);
        let at = self.0.partition_point(|(_, high)| *high < code);
        self.0.get(at).is_some_and(|(low, _)| *low <= code)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The member, when there is exactly one.
    pub(super) fn only(&self) -> Option<char> {
        match *self.0 {
            [(low, high)] if low == high => char::from_u32(low),
            _ => None,
        }
    }

    /// The code points at which membership changes.
    pub(super) fn boundaries(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(low, high)| [*low, high + 1])
    }

    /// The members from `low` up to, not including, `end`.
    pub(super) fn between(low: u32, end: u32) -> Self {
        let Some(high) = end.checked_sub(1).filter(|high| low <= *high) else { return Self(Box::default()) };
        Self(common(&[(low, high)], &SCALARS).collect())
    }

    /// The most ordinary member.
    pub(super) fn sample(&self) -> Option<char> {
        let preferred = PREFERRED.chars().find(|char| self.contains(*char));
        // Past ASCII a letter reads best; looking at a few hundred members is enough to be kind.
        let members = || self.0.iter().flat_map(|(low, high)| *low..=*high).filter_map(char::from_u32);
        preferred.or_else(|| members().take(512).find(|char| char.is_alphanumeric())).or_else(|| members().next())
    }
}

/// How far `char` is from what one expects in a name; 0 is the least.
pub(super) fn oddness(char: char) -> u32 {
    match char {
        'a'..='z' => 0,
        '_' | '0'..='9' | 'A'..='Z' => 1,
        _ if char.is_ascii_graphic() => 4,
        ' ' => 6,
        _ if char.is_alphanumeric() => 8,
        _ => 16,
    }
}

/// The ranges that two ascending lists share.
fn common<'s>(left: &'s [(u32, u32)], right: &'s [(u32, u32)]) -> impl Iterator<Item = (u32, u32)> + 's {
    let (mut left, mut right) = (left, right);
    std::iter::from_fn(move || {
        loop {
            let (&(low, high), left_rest) = left.split_first()?;
            let (&(other_low, other_high), right_rest) = right.split_first()?;
            if high <= other_high {
                left = left_rest;
            }
            if other_high <= high {
                right = right_rest;
            }
            let (low, high) = (low.max(other_low), high.min(other_high));
            if low <= high {
                return Some((low, high));
            }
        }
    })
}
