//! Globs with the meaning of Python's `fnmatch.fnmatchcase` (as of 3.12), as data.
//! Knows nothing of what the matched texts are (tool names, paths, hosts).

mod bracket;
mod charset;
mod language;
mod overlap;
#[cfg(test)]
mod tests;

use std::fmt;

use charset::CharSet;
pub use language::{TooLarge, combination_witness, covered_by, equivalent, overlap, subsumes};

/// A glob: `*` is any text, `?` any one character, `[seq]` and `[!seq]` one character in or out of a class.
/// Case counts; there is no escape character; a newline is a character like any other.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Glob {
    text: Box<str>,
    /// Up to the first `*`; the whole glob when there is no `*`.
    head: Run,
    starred: Option<Starred>,
}

/// What follows the first `*`: runs with a `*` between each two, the last held against the end.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Starred {
    middle: Box<[Run]>,
    tail: Run,
}

/// A stretch without `*`: a literal text (as long as can be), then one set for each further character.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Run {
    text: String,
    sets: Vec<CharSet>,
}

impl Glob {
    /// Reads a glob. Every text is one: a `[` that is never closed stands for itself.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        let mut runs = Vec::new();
        let mut run = Run::default();
        // Once one `[` finds no `]`, no later one does; without this a text of `[` costs its square.
        let mut closable = true;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            match first {
                // Neighbouring stars are one star.
                '*' if !runs.is_empty() && run.is_empty() => {}
                '*' => runs.push(std::mem::take(&mut run)),
                '?' => run.push(CharSet::all()),
                '[' if closable => {
                    if let Some((set, after)) = bracket::split_class(rest) {
                        run.push(set);
                        rest = after;
                    } else {
                        closable = false;
                        run.push(CharSet::one('['));
                    }
                }
                other => run.push(CharSet::one(other)),
            }
        }
        let mut runs = runs.into_iter();
        let (head, starred) = match runs.next() {
            None => (run, None),
            Some(head) => (head, Some(Starred { middle: runs.collect(), tail: run })),
        };
        Self { text: text.into(), head, starred }
    }

    /// The glob as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The one text this glob matches, when there is exactly one. `[a]b` is the literal `ab`.
    #[must_use]
    pub fn is_literal(&self) -> Option<String> {
        self.literal().map(str::to_owned)
    }

    fn literal(&self) -> Option<&str> {
        (self.starred.is_none() && self.head.sets.is_empty()).then_some(self.head.text.as_str())
    }

    /// A text that every match begins with; the longest that reading from the left shows.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        &self.head.text
    }

    /// Whether the whole of `name` matches. Allocates nothing; linear in `name` unless a stretch between
    /// two stars holds `?` or a class, and then at most the product of both lengths.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some(rest) = self.head.strip_from(name) else { return false };
        let Some(starred) = &self.starred else { return rest.is_empty() };
        let Some(between) = starred.tail.strip_from_end(rest) else { return false };
        // The leftmost place for each run leaves the most room for the next, so nothing is ever undone.
        starred.middle.iter().try_fold(between, |rest, run| run.skip_past(rest)).is_some()
    }

    /// Whether no text at all matches, as for `[z-a]`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs().any(|run| run.sets.iter().any(CharSet::is_empty))
    }

    /// Every run in order; between each two stands a `*`.
    fn runs(&self) -> impl Iterator<Item = &Run> {
        let starred = self.starred.iter();
        std::iter::once(&self.head)
            .chain(starred.flat_map(|starred| starred.middle.iter().chain(std::iter::once(&starred.tail))))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Glob({:?})", self.text)
    }
}

impl Run {
    fn push(&mut self, set: CharSet) {
        match set.only() {
            Some(only) if self.sets.is_empty() => self.text.push(only),
            _ => self.sets.push(set),
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.sets.is_empty()
    }

    /// One set for each character of the run.
    fn all_sets(&self) -> impl Iterator<Item = CharSet> {
        self.text.chars().map(CharSet::one).chain(self.sets.iter().cloned())
    }

    /// What follows the run at the start of `name`. An empty text is not compared, here and below: no memory
    /// stands behind it, and on some processors comparing none of nothing costs a hundred nanoseconds.
    fn strip_from<'t>(&self, name: &'t str) -> Option<&'t str> {
        let mut rest = if self.text.is_empty() { name } else { name.strip_prefix(self.text.as_str())? }.chars();
        self.sets.iter().all(|set| rest.next().is_some_and(|char| set.contains(char))).then_some(rest.as_str())
    }

    /// What precedes the run at the end of `name`.
    fn strip_from_end<'t>(&self, name: &'t str) -> Option<&'t str> {
        let mut rest = name.chars();
        let fits = self.sets.iter().rev().all(|set| rest.next_back().is_some_and(|char| set.contains(char)));
        let rest = Some(rest.as_str()).filter(|_| fits)?;
        if self.text.is_empty() { Some(rest) } else { rest.strip_suffix(self.text.as_str()) }
    }

    /// What follows the leftmost occurrence of the run in `name`.
    fn skip_past<'t>(&self, name: &'t str) -> Option<&'t str> {
        let mut name = name;
        loop {
            if !self.text.is_empty() {
                name = name.get(name.find(self.text.as_str())?..)?;
            }
            if let Some(rest) = self.strip_from(name) {
                return Some(rest);
            }
            let mut chars = name.chars();
            chars.next()?;
            name = chars.as_str();
        }
    }
}
