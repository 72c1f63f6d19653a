//! The text lists of a policy: named ones, and literal ones shared where equal.

use super::index;
use crate::ir::expr::ListId;
use crate::ir::policy::TextList;
use crate::policy::PatternList;
use crate::text::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Lists {
    all: Vec<TextList>,
    named: HashMap<String, ListId>,
    literal: HashMap<Vec<Arc<str>>, ListId>,
    complained: HashSet<Span>,
}

impl Lists {
    pub(super) fn declare(&mut self, written: &PatternList) {
        let id = ListId(index(self.all.len()));
        self.all.push(TextList {
            name: Some(written.name.text.as_str().into()),
            texts: written.texts.iter().map(|text| (text.text.as_str().into(), text.span)).collect(),
            span: written.name.span,
        });
        self.named.entry(written.name.text.clone()).or_insert(id);
    }

    pub(super) fn named(&self, name: &str) -> Option<ListId> {
        self.named.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    pub(super) fn literal(&mut self, texts: Vec<(Arc<str>, Span)>, span: Span) -> ListId {
        let key: Vec<Arc<str>> = texts.iter().map(|(text, _)| Arc::clone(text)).collect();
        if let Some(id) = self.literal.get(&key) {
            return *id;
        }
        let id = ListId(index(self.all.len()));
        self.all.push(TextList { name: None, texts, span });
        self.literal.insert(key, id);
        id
    }

    pub(super) fn get(&self, id: ListId) -> Option<&TextList> {
        self.all.get(id.0 as usize)
    }

    /// Whether nothing has been said of the text at this place yet.
    pub(super) fn first_complaint(&mut self, place: Span) -> bool {
        self.complained.insert(place)
    }

    pub(super) fn into_lists(self) -> Vec<TextList> {
        self.all
    }
}
