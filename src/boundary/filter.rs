//! Rewrites the texts of a result by the filters of the configuration. Knows nothing of how these are
//! written there.

use super::parts::{map_strings, map_texts};
use crate::json::Json;
use regex::{Captures, Regex};

/// The filters of one server, applied one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a>(&'a [(Regex, String)]);

impl<'a> Filters<'a> {
    /// Each expression with what replaces its matches; `$1`, `$name` and `${name}` there stand for groups,
    /// `$$` for a dollar sign.
    #[must_use]
    pub fn new(filters: &'a [(Regex, String)]) -> Self {
        Self(filters)
    }

    /// A result with its text blocks, embedded texts, titles of links, blocks of unknown types and every
    /// string of its structured content filtered, names of members included; and how often each filter
    /// replaced something. All else keeps its order and spelling.
    #[must_use]
    pub fn result(&self, result: Json) -> (Json, Vec<u64>) {
        let mut counts = vec![0; self.0.len()];
        if self.0.is_empty() {
            return (result, counts);
        }
        let result = match result {
            Json::Object(object) => Json::Object(object.map_values(|name, value| match name {
                "structuredContent" => map_strings(value, &mut |text| self.apply(text, &mut counts)),
                _ => value,
            })),
            other => other,
        };
        let result = map_texts(result, &mut |_, text| self.apply(text, &mut counts));
        (result, counts)
    }

    /// A text, such as the message of an error, filtered; and how often each filter replaced something.
    #[must_use]
    pub fn text(&self, text: String) -> (String, Vec<u64>) {
        let mut counts = vec![0; self.0.len()];
        let text = self.apply(text, &mut counts);
        (text, counts)
    }

    /// Every string of a JSON value, such as the data of an error, filtered.
    #[must_use]
    pub fn value(&self, value: Json) -> (Json, Vec<u64>) {
        let mut counts = vec![0; self.0.len()];
        let value = map_strings(value, &mut |text| self.apply(text, &mut counts));
        (value, counts)
    }

    fn apply(&self, mut text: String, counts: &mut [u64]) -> String {
        for ((regex, replacement), count) in self.0.iter().zip(counts) {
            if !regex.is_match(&text) {
                continue;
            }
            let replaced = regex.replace_all(&text, |captures: &Captures| {
                *count += 1;
                let mut out = String::new();
                captures.expand(replacement, &mut out);
                out
            });
            text = replaced.into_owned();
        }
        text
    }
}
