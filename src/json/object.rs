//! Objects whose keys keep their order. Knows nothing of how they are read or written.

use super::Json;
use std::collections::{BTreeMap, HashMap, HashSet};

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

impl From<BTreeMap<String, Json>> for Object {
    fn from(members: BTreeMap<String, Json>) -> Self {
        Self(members.into_iter().collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    /// Names and values in the order they were sent.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
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

    /// Gives `key` this value: in its place if it is there, else at the end.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// The same names with other values.
    #[must_use]
    pub fn map_values(self, mut map: impl FnMut(&str, Json) -> Json) -> Self {
        let mapped = self.0.into_iter().map(|(name, value)| {
            let value = map(&name, value);
            (name, value)
        });
        Self(mapped.collect())
    }

    /// The same values under other names. Where a name is taken already, the later member gets
    /// ` (2)`, ` (3)` and so on behind it, so that nothing is lost.
    #[must_use]
    pub fn map_names(self, mut map: impl FnMut(String) -> String) -> Self {
        let mut taken = HashSet::with_capacity(self.0.len());
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mapped = self.0.into_iter().map(|(name, value)| {
            let wanted = map(name);
            let mut name = wanted.clone();
            while !taken.insert(name.clone()) {
                let count = counts.entry(wanted.clone()).or_insert(1);
                *count += 1;
                name = format!("{wanted} ({count})");
            }
            (name, value)
        });
        Self(mapped.collect())
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
