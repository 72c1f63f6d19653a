//! From the tape to the tree: aliases are unfolded, merge keys resolved, duplicate keys found.

use std::cell::Cell;
use std::collections::HashMap;

use super::events::{Item, Shape, Tape};
use super::node::{Entry, Kind, Node, Scalar, Style, Value};
use super::positions::Positions;
use super::{MAX_COPIED_NODES, MAX_DEPTH, Report, errors};
use crate::text::Span;

pub(super) fn build(tape: &Tape, report: &mut Report) -> Option<Node> {
    let mut builder = Builder { tape, report, aliases: Vec::new(), copied: 0, exhausted: false };
    builder.node(0, 0)
}

struct Builder<'a> {
    tape: &'a Tape,
    report: &'a mut Report,
    /// The aliases being unfolded, outermost first. What they copy was checked where it stands.
    aliases: Vec<Span>,
    copied: usize,
    exhausted: bool,
}

impl<'a> Builder<'a> {
    /// The node at a place of the tape; `None` past the end. Recursion is bounded by `MAX_DEPTH`.
    fn node(&mut self, at: usize, depth: usize) -> Option<Node> {
        let item = self.tape.items.get(at)?;
        let value = match &item.shape {
            Shape::Scalar(scalar) => Value::Scalar(self.scalar(scalar)?),
            Shape::Alias(id) => return Some(self.alias(at, *id, item.span, depth)),
            Shape::UnknownAlias(name) => {
                if self.aliases.is_empty() {
                    let diagnostic = errors::unknown_alias(item.span, name, self.tape);
                    self.report.push(diagnostic);
                }
                return Some(nothing(item.span));
            }
            Shape::Sequence | Shape::Mapping if depth >= MAX_DEPTH => {
                // The tape is never this deep by itself.
                let place = self.aliases.first().copied().unwrap_or(item.span);
                self.report.push(errors::too_deep(place));
                return Some(nothing(place));
            }
            Shape::Sequence => {
                let children = self.children(at, item);
                Value::Sequence(children.filter_map(|child| self.node(child, depth + 1)).collect())
            }
            Shape::Mapping => Value::Mapping(self.mapping(at, item, depth + 1)),
        };
        Some(Node { span: item.span, value })
    }

    /// Without anchors every scalar is asked for once, so it need not be copied.
    fn scalar(&self, scalar: &Cell<Option<Scalar>>) -> Option<Scalar> {
        let value = scalar.take();
        if !self.tape.anchors.is_empty() {
            scalar.set(value.clone());
        }
        value
    }

    fn children(&self, at: usize, item: &'a Item) -> impl Iterator<Item = usize> + use<'a> {
        let tape = self.tape;
        let inside = move |child: usize| (child < item.end).then_some(child);
        std::iter::successors(inside(at + 1), move |child| inside(tape.items.get(*child)?.end))
    }

    /// The start of what an alias stands for, unless the alias is broken.
    fn target(&self, alias: usize, id: usize) -> Option<(usize, &'a Item)> {
        let start = self.tape.anchors.get(&id)?.item;
        let item = self.tape.items.get(start)?;
        (!(start..item.end).contains(&alias)).then_some((start, item))
    }

    fn alias(&mut self, at: usize, id: usize, span: Span, depth: usize) -> Node {
        let Some((start, target)) = self.target(at, id) else {
            if self.aliases.is_empty() {
                let name = self.tape.anchors.get(&id).map_or("", |anchor| anchor.name.as_str());
                self.report.push(errors::alias_in_itself(span, name));
            }
            return nothing(span);
        };
        if self.exhausted {
            return nothing(span);
        }
        self.copied += target.end - start;
        if self.copied > MAX_COPIED_NODES {
            self.exhausted = true;
            let outermost = self.aliases.first().copied();
            self.report.push(errors::alias_limit(span, outermost));
            return nothing(span);
        }
        self.aliases.push(span);
        let node = self.node(start, depth);
        self.aliases.pop();
        node.unwrap_or_else(|| nothing(span))
    }

    fn mapping(&mut self, at: usize, item: &'a Item, depth: usize) -> Vec<Entry> {
        let mut own = Entries::default();
        let mut merge_key: Option<Span> = None;
        let mut merged = Vec::new();
        let mut children = self.children(at, item);
        // After a syntax error the last key may lack its value.
        while let (Some(key_at), Some(value_at)) = (children.next(), children.next()) {
            let Some(key) = self.node(key_at, depth) else { break };
            let place = self.span_at(key_at, key.span);
            let Value::Scalar(scalar) = &key.value else {
                self.own_problem(|| errors::key_not_text(place, &key));
                self.node(value_at, depth);
                continue;
            };
            if scalar.style == Style::Plain && scalar.text == "<<" {
                if let Some(first) = merge_key {
                    self.own_problem(|| errors::duplicate_merge(place, first));
                    self.node(value_at, depth);
                } else {
                    merge_key = Some(place);
                    merged = self.merge(value_at, depth);
                }
                continue;
            }
            if let Some(first) = own.place(&scalar.text) {
                self.own_problem(|| errors::duplicate_key(place, first, &scalar.text));
                self.node(value_at, depth);
                continue;
            }
            if let Some(value) = self.node(value_at, depth) {
                own.add(Entry { key, value }, place);
            }
        }
        if merged.is_empty() { own.list } else { combine(merged, own.list) }
    }

    fn span_at(&self, at: usize, otherwise: Span) -> Span {
        self.tape.items.get(at).map_or(otherwise, |item| item.span)
    }

    /// Reports unless this is a copy of content that stands elsewhere.
    fn own_problem(&mut self, problem: impl FnOnce() -> crate::text::Diagnostic) {
        if self.aliases.is_empty() {
            self.report.push(problem());
        }
    }

    /// What `<<` brings in. As in `PyYAML` up to 6.0.3, of several mappings the last one's keys come first,
    /// and the values of the first one win.
    fn merge(&mut self, at: usize, depth: usize) -> Vec<Entry> {
        let Some(node) = self.node(at, depth) else { return Vec::new() };
        let place = self.span_at(at, node.span);
        match node.value {
            Value::Mapping(entries) => entries,
            Value::Sequence(items) => {
                let places = self.list_places(at);
                let mut merged = Vec::new();
                for (index, item) in items.into_iter().enumerate().rev() {
                    let (place, sound) = places.get(index).copied().unwrap_or((item.span, true));
                    match item.value {
                        Value::Mapping(entries) => merged = combine(merged, entries),
                        _ if sound => self.own_problem(|| errors::bad_merge(place, &item)),
                        _ => {}
                    }
                }
                merged
            }
            Value::Scalar(_) => {
                if self.is_sound(at) {
                    self.own_problem(|| errors::bad_merge(place, &node));
                }
                Vec::new()
            }
        }
    }

    /// Whether the node is not an alias that was reported already.
    fn is_sound(&self, at: usize) -> bool {
        match self.tape.items.get(at).map(|item| &item.shape) {
            Some(Shape::Alias(id)) => !self.exhausted && self.target(at, *id).is_some(),
            Some(Shape::UnknownAlias(_)) => false,
            _ => true,
        }
    }

    /// Where the members of a list of merges stand, and whether each is sound.
    fn list_places(&self, at: usize) -> Vec<(Span, bool)> {
        let list = match self.tape.items.get(at).map(|item| &item.shape) {
            Some(Shape::Alias(id)) => self.target(at, *id),
            _ => self.tape.items.get(at).map(|item| (at, item)),
        };
        let Some((start, item)) = list else { return Vec::new() };
        let place = |child| (self.span_at(child, item.span), self.is_sound(child));
        self.children(start, item).map(place).collect()
    }
}

/// `later` overrides `earlier`; a key keeps the position at which it first occurs.
fn combine(earlier: Vec<Entry>, later: Vec<Entry>) -> Vec<Entry> {
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut list: Vec<Entry> = Vec::with_capacity(earlier.len() + later.len());
    for entry in earlier.into_iter().chain(later) {
        if let Some(overridden) = index.get(entry.key_text()).and_then(|at| list.get_mut(*at)) {
            *overridden = entry;
        } else {
            index.insert(entry.key_text().to_owned(), list.len());
            list.push(entry);
        }
    }
    list
}

/// The entries of one mapping and where each key was first written.
#[derive(Default)]
struct Entries {
    list: Vec<Entry>,
    places: Vec<Span>,
    /// Index by key, once there are many.
    index: HashMap<String, usize>,
}

impl Entries {
    /// Up to here comparing keys one by one beats hashing them.
    const FEW: usize = 16;

    fn place(&self, key: &str) -> Option<Span> {
        let at = if self.index.is_empty() {
            self.list.iter().position(|entry| entry.key_text() == key)
        } else {
            self.index.get(key).copied()
        };
        self.places.get(at?).copied()
    }

    fn add(&mut self, entry: Entry, place: Span) {
        self.list.push(entry);
        self.places.push(place);
        if self.list.len() > Self::FEW {
            let known = self.index.len();
            let unknown = self.list.iter().enumerate().skip(known);
            self.index.extend(unknown.map(|(at, entry)| (entry.key_text().to_owned(), at)));
        }
    }
}

/// Stands in for an alias that cannot be unfolded.
fn nothing(span: Span) -> Node {
    let positions = Positions::default();
    Node {
        span,
        value: Value::Scalar(Scalar { text: String::new(), style: Style::Plain, kind: Kind::Null, positions }),
    }
}
