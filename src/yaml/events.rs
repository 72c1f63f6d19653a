//! The parser's events, recorded as a flat tape of nodes in the order of the file.
//! Reports what can be seen at a single event; keys, aliases and merges are for the tree.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag, options};

use super::node::{Kind, Scalar, Style};
use super::positions::Positions;
use super::resolve::{Ambiguity, resolve};
use super::{Comment, MAX_DEPTH, Report, errors};
use crate::text::{Code, Diagnostic, FileId, Span};

/// The nodes of a document before aliases are resolved.
#[derive(Default)]
pub(super) struct Tape {
    pub(super) items: Vec<Item>,
    /// By the parser's anchor number.
    pub(super) anchors: HashMap<usize, Anchor>,
    pub(super) comments: Vec<Comment>,
    /// Whether the document was read to its end.
    pub(super) complete: bool,
}

pub(super) struct Anchor {
    pub(super) item: usize,
    pub(super) name: String,
}

/// One node; the nodes inside it follow it on the tape up to `end`.
pub(super) struct Item {
    pub(super) span: Span,
    pub(super) end: usize,
    pub(super) shape: Shape,
}

pub(super) enum Shape {
    Scalar(Cell<Option<Scalar>>),
    Sequence,
    Mapping,
    Alias(usize),
    /// An alias whose anchor does not stand before it.
    UnknownAlias(String),
}

pub(super) fn record(text: &str, file: FileId, report: &mut Report) -> Tape {
    // All limits that matter are ours; the parser's must not be reached first by a good file.
    let options = options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        block_scalar_eof_without_line_feed: true,
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut recorder =
        Recorder { text, file, report, tape: Tape::default(), open: Vec::new(), read_to: 0, in_document: false };
    recorder.tape.complete = recorder.run(Parser::new_from_str_with_options(text, options));
    recorder.close_all();
    recorder.tape.comments.sort_by_key(|comment| comment.span);
    recorder.tape
}

/// A collection that is not closed yet.
struct Open {
    item: usize,
    mapping: bool,
    flow: bool,
    children: usize,
    content_end: usize,
}

struct Recorder<'a> {
    text: &'a str,
    file: FileId,
    report: &'a mut Report,
    tape: Tape,
    open: Vec<Open>,
    /// End of the last piece of content.
    read_to: usize,
    in_document: bool,
}

impl<'a> Recorder<'a> {
    /// Whether the document was read to its end.
    fn run(
        &mut self,
        events: impl Iterator<Item = Result<(Event<'a>, granit_parser::Span), granit_parser::ScanError>>,
    ) -> bool {
        for event in events {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let bracket = self.open.iter().rev().find(|open| open.flow);
                    let bracket = bracket.and_then(|open| self.tape.items.get(open.item)).map(|item| item.span);
                    let diagnostic = errors::explain(&error, self.text, self.file, bracket);
                    self.report.push(diagnostic);
                    return false;
                }
            };
            let range = span.byte_range().unwrap_or(self.read_to..self.read_to);
            match event {
                Event::DocumentStart(..) if self.in_document => {
                    self.second_document(range);
                    return true;
                }
                Event::DocumentStart(..) => self.in_document = true,
                Event::Comment(text, _) => self.comment(range, &text),
                Event::Anchor(id, name) => self.anchor(id, &name),
                Event::Alias(id) => {
                    self.indentation(range.start);
                    self.leaf(range, Shape::Alias(id));
                }
                Event::UnresolvedAlias(name) => {
                    self.indentation(range.start);
                    self.leaf(range, Shape::UnknownAlias(name.into_owned()));
                }
                Event::Scalar(value, style, _, tag) => {
                    self.tag(tag.as_deref(), &span);
                    self.scalar(range, value, style, tag.is_some());
                }
                Event::SequenceStart(style, _, tag) => {
                    self.tag(tag.as_deref(), &span);
                    if !self.start(range, style, false) {
                        return false;
                    }
                }
                Event::MappingStart(style, _, tag) => {
                    self.tag(tag.as_deref(), &span);
                    if !self.start(range, style, true) {
                        return false;
                    }
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(&range),
                // Start and end of the stream and the end of the document; the enum may grow.
                _ => {}
            }
        }
        true
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    fn second_document(&mut self, range: Range<usize>) {
        let span = self.span(range);
        self.report.push(
            Diagnostic::new(Code::PX0007, span, "the file holds more than one YAML document")
                .label("a second document starts here")
                .note("only the first document was read")
                .help("move each document to a file of its own"),
        );
    }

    fn comment(&mut self, range: Range<usize>, text: &str) {
        let before = self.text.get(..range.start).unwrap_or("").trim_end_matches([' ', '\t', '\u{feff}']);
        let own_line = before.is_empty() || before.ends_with(['\n', '\r']);
        let span = self.span(range);
        self.tape.comments.push(Comment { span, text: text.trim().to_owned(), own_line });
    }

    fn anchor(&mut self, id: usize, name: &str) {
        if let Some(item) = self.tape.items.len().checked_sub(1) {
            self.tape.anchors.insert(id, Anchor { item, name: name.to_owned() });
        }
    }

    fn tag(&mut self, tag: Option<&Tag>, span: &granit_parser::Span) {
        let (Some(_), Some(start)) = (tag, span.tag_start().and_then(|mark| mark.byte_offset())) else { return };
        let rest = self.text.get(start..).unwrap_or("");
        let len = if rest.starts_with("!<") {
            rest.find('>').map_or(2, |at| at + 1)
        } else {
            rest.find([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}']).unwrap_or(rest.len())
        };
        let spelling = rest.get(..len).unwrap_or("!");
        let diagnostic = errors::unsupported_tag(self.span(start..start + len), spelling);
        self.report.push(diagnostic);
    }

    /// A tab in the indentation of block content, where the parser lets some pass.
    fn indentation(&mut self, at: usize) {
        if self.open.iter().any(|open| open.flow) {
            return;
        }
        let head = self.text.get(..at).unwrap_or("");
        let before = head.trim_end_matches([' ', '\t']);
        let at_line_start = before.is_empty() || before.ends_with(['\n', '\r', '\u{feff}']);
        let tab = self.text.get(before.len()..at).and_then(|blanks| blanks.find('\t'));
        if let Some(tab) = tab.filter(|_| at_line_start) {
            let diagnostic = errors::tab(Span::new(self.file, before.len() + tab, before.len() + tab + 1));
            self.report.push(diagnostic);
        }
    }

    fn scalar(&mut self, range: Range<usize>, value: Cow<'_, str>, style: ScalarStyle, tagged: bool) {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        if style == Style::Plain && range.is_empty() {
            return self.nothing(range.start);
        }
        if !matches!(style, Style::Literal | Style::Folded) {
            self.indentation(range.start);
        }
        let is_key = self.open.last().is_some_and(|open| open.mapping && open.children % 2 == 0);
        let kind = match style {
            Style::Plain if is_key && value == "<<" => Kind::Text,
            Style::Plain => match resolve(&value) {
                Ok(kind) => kind,
                Err(ambiguity) => {
                    // A tag is an error of its own and says what is meant.
                    if !tagged {
                        self.ambiguous(range.clone(), &value, &ambiguity);
                    }
                    Kind::Text
                }
            },
            _ => Kind::Text,
        };
        let positions = Positions::trace(self.text, range.clone(), style, &value);
        let range = match style {
            Style::Literal | Style::Folded => self.block_range(range, &value, &positions),
            _ => range,
        };
        self.leaf(range, Shape::Scalar(Cell::new(Some(Scalar { text: value.into_owned(), style, kind, positions }))));
    }

    fn ambiguous(&mut self, range: Range<usize>, value: &str, ambiguity: &Ambiguity) {
        let message = format!("`{value}` without quotes means different things to different YAML readers");
        let mut help = format!("quote it: \"{value}\"");
        if ambiguity.old.starts_with("the number") || ambiguity.new.starts_with("the number") {
            help.push_str("; or write the number that you mean in plain decimal digits");
        }
        if let Some(value) = ambiguity.old.strip_prefix("the boolean ") {
            let _ = write!(help, "; for the boolean write `{value}`");
        }
        let diagnostic = Diagnostic::new(Code::PX0003, self.span(range), message)
            .note(format!("YAML 1.1 reads {}, YAML 1.2 {}", ambiguity.old, ambiguity.new))
            .help(help);
        self.report.push(diagnostic);
    }

    /// A key or value that is not written. The parser puts the value before the colon.
    fn nothing(&mut self, at: usize) {
        let is_value = self.open.last().is_some_and(|open| open.mapping && open.children % 2 == 1);
        let before_colon = self.text.get(at..).is_some_and(|rest| rest.starts_with(':'));
        let at = if is_value && before_colon { at + 1 } else { at };
        let positions = Positions::default();
        let scalar = Scalar { text: String::new(), style: Style::Plain, kind: Kind::Null, positions };
        self.leaf(at..at, Shape::Scalar(Cell::new(Some(scalar))));
    }

    /// Content without the line ends behind it; the header if there is no content.
    fn block_range(&self, range: Range<usize>, value: &str, positions: &Positions) -> Range<usize> {
        let content = value.trim_end_matches('\n').len();
        if content > 0 {
            let end = positions.locate(0..content).map(|found| found.end);
            let trimmed = self.text.get(range.clone()).map_or(0, |raw| raw.trim_end_matches(['\n', '\r', ' ']).len());
            return range.start..end.unwrap_or(range.start + trimmed);
        }
        let region = self.text.get(self.read_to..range.end.max(range.start + 1)).unwrap_or("");
        let header = region.match_indices(['|', '>']).map(|(at, _)| at).find(|at| {
            let before = region.get(..*at).unwrap_or("");
            before.is_empty() || before.ends_with([' ', '\t', '\n', '\r'])
        });
        let Some(start) = header.map(|at| self.read_to + at) else { return range.start..range.start };
        let indicators = self.text.get(start + 1..).unwrap_or("");
        let len = indicators.bytes().take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
        start..start + 1 + len
    }

    fn leaf(&mut self, range: Range<usize>, shape: Shape) {
        self.child_ends(range.end);
        let item = Item { span: self.span(range), end: self.tape.items.len() + 1, shape };
        self.tape.items.push(item);
    }

    /// False if the collection is nested too deeply.
    fn start(&mut self, range: Range<usize>, style: StructureStyle, mapping: bool) -> bool {
        self.indentation(range.start);
        if self.open.len() >= MAX_DEPTH {
            let diagnostic = errors::too_deep(self.span(range));
            self.report.push(diagnostic);
            return false;
        }
        let shape = if mapping { Shape::Mapping } else { Shape::Sequence };
        let flow = style == StructureStyle::Flow;
        let item = self.tape.items.len();
        self.open.push(Open { item, mapping, flow, children: 0, content_end: range.end });
        self.read_to = self.read_to.max(range.end);
        self.tape.items.push(Item { span: self.span(range), end: item + 1, shape });
        true
    }

    /// Block collections and unbracketed pairs end with their last piece of content.
    fn end(&mut self, closing: &Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        let end = if closing.is_empty() { open.content_end } else { closing.end };
        let items_end = self.tape.items.len();
        if let Some(item) = self.tape.items.get_mut(open.item) {
            item.end = items_end;
            item.span = Span::new(item.span.file, item.span.start as usize, end);
        }
        self.child_ends(end);
    }

    fn child_ends(&mut self, end: usize) {
        self.read_to = self.read_to.max(end);
        if let Some(open) = self.open.last_mut() {
            open.children += 1;
            open.content_end = open.content_end.max(end);
        }
    }

    /// After a syntax error: what is there is still searched for further problems.
    fn close_all(&mut self) {
        while let Some(open) = self.open.last() {
            let at = open.content_end;
            self.end(&(at..at));
        }
    }
}
