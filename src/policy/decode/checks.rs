//! `checks:` and `terminal:`, which decide no call: what the checker must establish, and which
//! lock-downs are intended.

use super::{Decoder, GlobPlace, Names};
use crate::policy::shape::Fields;
use crate::policy::written::{Check, CheckForm, Event, Terminal};
use crate::text::suggest::list_names;
use crate::text::{Code, Diagnostic, Span};
use crate::yaml::{Kind, Node, Value};

const CHECK: &[&str] =
    &["name", "never", "after", "always", "at_most", "of", "before", "requires", "possible", "reason"];
const TERMINAL: &[&str] = &["name", "when", "blocks", "reason"];

/// Each form's key, and the key that goes with it and with no other.
const FORMS: [(&str, Option<&str>); 5] = [
    ("never", Some("after")),
    ("always", None),
    ("at_most", Some("of")),
    ("before", Some("requires")),
    ("possible", None),
];

const EVENT_HELP: &str = "write the calls that are meant: `{call: \"fs__read*\"}`, or with a condition \
                          `{call: \"fs__read*\", when: \"contains(call.text, '.env')\"}`";
const CHECK_HELP: &str = "write `checks: [{name: NAME, never: {call: GLOB}, after: {call: GLOB}}]`";
const TERMINAL_HELP: &str = "write `terminal: [{when: EXPR, blocks: GLOB, reason: TEXT}]`";

const CALL: GlobPlace = GlobPlace { key: "call", consequence: "no call is meant", many: "globs of one event" };
const BLOCKS: GlobPlace = GlobPlace { key: "blocks", consequence: "it blocks nothing", many: "globs of one lock-down" };

impl Decoder {
    pub(super) fn checks(&mut self, node: &Node) -> Vec<Check> {
        let mut checks = Vec::new();
        let mut names = Names::default();
        for item in self.reader.list(node, "`checks`", CHECK_HELP) {
            let Some(fields) = self.reader.fields(item, "a check", CHECK, CHECK_HELP) else { continue };
            let name = self.reader.required(&fields, "name", "add `name: NAME`; findings name it");
            let name = name.and_then(|node| self.reader.line(node, "the name of a check"));
            if let Some(name) = &name {
                names.check(&mut self.reader, name, "check");
            }
            let reason = self.words(&fields, "reason");
            let form = self.form(&fields);
            if let (Some(name), Some(form)) = (name, form) {
                checks.push(Check { name, reason, form });
            }
        }
        self.within_limit(&mut checks, "checks", node.span);
        checks
    }

    /// What the check says, if it says exactly one thing.
    fn form(&mut self, fields: &Fields<'_>) -> Option<CheckForm> {
        let mut given: Vec<(&str, Span)> =
            FORMS.iter().filter_map(|(key, _)| Some((*key, fields.key_span(key)?))).collect();
        given.sort_by_key(|(_, span)| span.start);
        let form = match given.as_slice() {
            [] => {
                self.no_form(fields);
                return None;
            }
            [(form, _)] => *form,
            [(first, place), (second, span), ..] => {
                let message = format!("a check says one thing, and this one has `{first}` and `{second}`");
                self.reader.report(
                    Diagnostic::new(Code::PX1003, *span, message)
                        .also(*place, "one thing")
                        .help("write two checks, each with its own name"),
                );
                return None;
            }
        };
        let before = self.reader.diagnostics.len();
        for (owner, companion) in FORMS.iter().filter_map(|(key, companion)| Some((*key, (*companion)?))) {
            if let (Some(span), true) = (fields.key_span(companion), owner != form) {
                self.reader.report(
                    Diagnostic::new(Code::PX1001, span, format!("`{companion}` means nothing beside `{form}`"))
                        .help(format!("it belongs to a check with `{owner}`")),
                );
            }
        }
        let written = self.form_of(fields, form);
        written.filter(|_| self.reader.diagnostics.len() == before)
    }

    fn no_form(&mut self, fields: &Fields<'_>) {
        let lone = FORMS.iter().find_map(|(key, companion)| {
            let companion = (*companion)?;
            Some((*key, companion, fields.key_span(companion)?))
        });
        let (span, message) = match lone {
            Some((key, companion, span)) => (span, format!("a check with `{companion}` needs `{key}` too")),
            None => (fields.span().at_start(), "a check must say what it checks".to_owned()),
        };
        let forms = list_names(FORMS.map(|(key, _)| key), "or");
        self.reader.report(Diagnostic::new(Code::PX1002, span, message).help(format!("add one of {forms}")));
    }

    fn form_of(&mut self, fields: &Fields<'_>, form: &str) -> Option<CheckForm> {
        let node = fields.get(form)?;
        Some(match form {
            "never" => {
                let after = fields.get("after").map(|node| self.event(node, "`after`"));
                let call = self.event(node, "`never`")?;
                CheckForm::Never {
                    call,
                    after: match after {
                        Some(after) => Some(after?),
                        None => None,
                    },
                }
            }
            "always" => CheckForm::Always(self.expression(node, "`always`")?),
            "at_most" => {
                let of = self.reader.required(fields, "of", "add `of: {call: GLOB}`, the calls that are counted");
                let of = of.and_then(|node| self.event(node, "`of`"));
                CheckForm::AtMost { count: self.count(node)?, of: of? }
            }
            "before" => {
                let help = "add `requires: {call: GLOB}`, the call that must have come earlier";
                let requires = self.reader.required(fields, "requires", help);
                let requires = requires.and_then(|node| self.event(node, "`requires`"));
                CheckForm::Before { call: self.event(node, "`before`")?, requires: requires? }
            }
            _ => CheckForm::Possible(self.possible(node)?),
        })
    }

    /// One event or a list of them.
    fn possible(&mut self, node: &Node) -> Option<Vec<Event>> {
        let items = match &node.value {
            Value::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            self.reader.report(
                Diagnostic::new(Code::PX1004, node.span, "`possible` is empty, so it asks for nothing")
                    .help(EVENT_HELP),
            );
            return None;
        }
        let events: Vec<Option<Event>> = items.iter().map(|item| self.event(item, "`possible`")).collect();
        let mut events = events.into_iter().collect::<Option<Vec<Event>>>()?;
        self.within_limit(&mut events, "events of one check", node.span);
        Some(events)
    }

    fn event(&mut self, node: &Node, what: &str) -> Option<Event> {
        if !matches!(node.value, Value::Mapping(_)) {
            self.reader.wrong_shape(node, what, "an event", EVENT_HELP);
            return None;
        }
        let fields = self.reader.fields(node, "an event", &["call", "when"], EVENT_HELP)?;
        let globs = self.reader.required(&fields, "call", EVENT_HELP).map(|node| self.globs(node, &CALL))?;
        let when = match fields.get("when") {
            Some(node) => Some(self.expression(node, "`when`")?),
            None => None,
        };
        Some(Event { span: node.span, globs, when })
    }

    fn count(&mut self, node: &Node) -> Option<u64> {
        let count = match &node.value {
            Value::Scalar(scalar) if scalar.kind == Kind::Int => whole(&scalar.text),
            _ => None,
        };
        if count.is_none() {
            let message = format!("`at_most` must be a whole number of calls, not {}", node.describe());
            let help = format!("write 0, 1, 2 … up to {}, without quotes", u64::MAX);
            self.reader.report(Diagnostic::new(Code::PX1007, node.span, message).help(help));
        }
        count
    }

    pub(super) fn terminal(&mut self, node: &Node) -> Vec<Terminal> {
        let mut all = Vec::new();
        let mut names = Names::default();
        for item in self.reader.list(node, "`terminal`", TERMINAL_HELP) {
            let Some(fields) = self.reader.fields(item, "a lock-down", TERMINAL, TERMINAL_HELP) else { continue };
            let name = fields.get("name").and_then(|node| self.reader.line(node, "the name of a lock-down"));
            if let Some(name) = &name {
                names.check(&mut self.reader, name, "lock-down");
            }
            let when = self.reader.required(&fields, "when", "add `when: EXPR`, a condition over the state");
            let when = when.and_then(|node| self.expression(node, "`when`"));
            let blocks = self.reader.required(&fields, "blocks", "add `blocks: GLOB`, the calls that stay denied");
            let blocks = blocks.map(|node| self.globs(node, &BLOCKS));
            let reason = self.words(&fields, "reason");
            if let (Some(when), Some(blocks)) = (when, blocks) {
                all.push(Terminal { name, span: item.span, when, blocks, reason });
            }
        }
        self.within_limit(&mut all, "lock-downs", node.span);
        all
    }
}

/// A whole number that is not negative: decimal, or `0x…`.
fn whole(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}
