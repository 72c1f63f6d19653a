//! Which name a tool or prompt goes out under, and whose a name is. Looked up in a map, never taken
//! apart; knows nothing of what is called.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What one server puts up for names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Without the server's prefix.
    pub bare: bool,
    /// The names as the server gives them.
    pub names: Vec<String>,
}

/// One tool or prompt of one server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    pub server: String,
    pub name: String,
}

impl Target {
    /// `server__name`, which policies, state and audit use.
    #[must_use]
    pub fn full(&self) -> String {
        format!("{}__{}", self.server, self.name)
    }
}

/// A name that several would answer to. None of them is offered, under no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub name: String,
    pub targets: Vec<Target>,
}

/// Names and what they stand for. The same for the same offers, whatever came first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// By name, the one that goes out or the full one.
    targets: BTreeMap<String, Target>,
    /// The names that go out.
    exposed: BTreeMap<Target, String>,
    collisions: Vec<Collision>,
}

impl Names {
    /// Names for what each server, by its name, offers. `budget`: the most bytes of a name that goes out;
    /// below 10 it is taken for 10, which a shortened name needs.
    #[must_use]
    pub fn new(offers: &BTreeMap<String, Offer>, budget: usize) -> Self {
        let mut claims: BTreeMap<String, BTreeSet<Target>> = BTreeMap::new();
        let mut exposed = BTreeMap::new();
        for (server, offer) in offers {
            for name in &offer.names {
                let target = Target { server: server.clone(), name: name.clone() };
                let full = target.full();
                let out = fit(if offer.bare { name } else { &full }, &full, budget);
                claims.entry(full).or_default().insert(target.clone());
                claims.entry(out.clone()).or_default().insert(target.clone());
                exposed.insert(target, out);
            }
        }
        let mut collisions = Vec::new();
        for (name, targets) in &claims {
            if targets.len() > 1 {
                for target in targets {
                    exposed.remove(target);
                }
                collisions.push(Collision { name: name.clone(), targets: targets.iter().cloned().collect() });
            }
        }
        let owned = claims.into_iter().filter_map(|(name, targets)| Some((name, targets.into_iter().next()?)));
        let targets = owned.filter(|(_, target)| exposed.contains_key(target)).collect();
        Self { targets, exposed, collisions }
    }

    /// Whose name this is: one that goes out, or a full one.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Target> {
        self.targets.get(name)
    }

    /// The name that something goes out under, if it does.
    #[must_use]
    pub fn exposed(&self, target: &Target) -> Option<&str> {
        self.exposed.get(target).map(String::as_str)
    }

    /// All that goes out, with its name, by server and then by the server's own name.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Target, &str)> {
        self.exposed.iter().map(|(target, name)| (target, name.as_str()))
    }

    /// What goes out under neither its full name nor its own, but under a shortened one.
    pub fn shortened(&self) -> impl Iterator<Item = (&Target, &str)> {
        self.iter().filter(|(target, name)| *name != target.name && *name != target.full())
    }

    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }
}

/// `wanted` where it may go out, else its head and 8 hexadecimal digits of SHA-256 over the full name.
fn fit(wanted: &str, full: &str, budget: usize) -> String {
    let budget = budget.max(10);
    if wanted.len() <= budget && wanted.chars().all(is_plain) && !wanted.is_empty() {
        return wanted.to_owned();
    }
    let mut out: String = wanted.chars().map(|c| if is_plain(c) { c } else { '_' }).take(budget - 9).collect();
    out.push('_');
    for byte in Sha256::digest(full.as_bytes()).iter().take(4) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
