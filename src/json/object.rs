//! Objects whose keys keep their order. Knows nothing of how they are read or written.

use super::Json;
use std::collections::HashSet;

/// An object: distinct keys in the order they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object(Vec<(String, Json)>);

impl TryFrom<Vec<(String, Json)>> for Object {
    /// The index of the first member whose key an earlier one has.
    type Error = usize;

    fn try_from(members: Vec<(String, Json)>) -> Result<Self, usize> {
        let mut keys = HashSet::with_capacity(members.len());
        match members.iter().position(|(key, _)| !keys.insert(key.as_str())) {
            Some(second) => Err(second),
            None => Ok(Self(members)),
        }
    }
}

impl Object {
    /// The caller has made sure that the keys are distinct.
    pub(super) fn new(members: Vec<(String, Json)>) -> Self {
        Self(members)
    }

    /// The value of `key`; the time taken is linear in the number of keys.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values in the order they were sent.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Hands each member to `visit`, in code point order of the names if `sorted`, else as sent.
    pub(super) fn each(&self, sorted: bool, mut visit: impl FnMut(&str, &Json)) {
        // UTF-8 compares as its code points do.
        if !sorted || self.0.is_sorted_by(|left, right| left.0 <= right.0) {
            for (name, value) in &self.0 {
                visit(name, value);
            }
            return;
        }
        let mut members: Vec<_> = self.0.iter().collect();
        members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        for (name, value) in members {
            visit(name, value);
        }
    }
}
