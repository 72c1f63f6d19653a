//! A real call with wanted answers: texts are proposed, written as JSON, and kept only if every test of the written
//! texts gives the answer wanted. Knows nothing of rules.

use super::atom::{Atom, Operand, Relation, Subject, Test, escaped};
use super::joint::Given;
use super::lower::Atoms;
use super::pool::Pool;
use super::sample;
use super::shape::Shape;
use super::signs::{self, Signs};
use crate::ir::Type;
use crate::json::{self, Json, Object};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

/// Calls that are tried for one end of the tree.
const BUDGET: usize = 120;
/// Calls that are tried for all classes of a shape.
pub(super) const ALL_BUDGET: usize = 30_000;
/// Calls that are tried for an end of the tree even then.
const AT_LEAST: usize = 6;
/// Texts that are tried for one argument.
const TEXTS: usize = 5;

pub(super) struct Calls<'c> {
    pub(super) shape: &'c Shape,
    pub(super) atoms: &'c Atoms,
    pub(super) pool: &'c Pool,
    pub(super) schema: Option<&'c Json>,
    /// Values of the whole-number arguments that no atom decides.
    pub(super) numbers: &'c [i64],
    /// Calls that may still be tried.
    pub(super) left: &'c Cell<usize>,
}

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Draft {
    /// Texts of the declared arguments, `None` for another type.
    texts: Vec<Option<String>>,
    /// Parts that the texts should hold as well.
    wishes: Vec<Vec<String>>,
    extras: Vec<(String, String)>,
    filled: bool,
}

struct Search<'s, 'c> {
    calls: &'s Calls<'c>,
    given: &'s Given,
    /// What each text argument must be by itself.
    own: Vec<Signs<'s>>,
    fixed: Vec<bool>,
    budget: usize,
    seen: HashSet<Draft>,
}

impl Calls<'_> {
    pub(super) fn find(&self, given: &Given) -> Option<Json> {
        let mut own: Vec<Signs<'_>> = vec![Vec::new(); self.shape.args.len()];
        let mut fixed = vec![false; self.shape.args.len()];
        let mut texts: Vec<Option<String>> = vec![None; self.shape.args.len()];
        for (atom, value) in self.atoms.0.iter().zip(given) {
            let Some(value) = value else { continue };
            match atom {
                Atom::Text(Subject::Arg(at), test) => own.get_mut(*at)?.push((test, *value != 0)),
                Atom::Value(Subject::Arg(at)) => {
                    *fixed.get_mut(*at)? = true;
                    *texts.get_mut(*at)? = Some(self.pool.text(*value)?.to_string());
                }
                Atom::Unknown(_) => return None,
                _ => {}
            }
        }
        for (at, arg) in self.shape.args.iter().enumerate() {
            if arg.ty == Type::Str && !*fixed.get(at)? {
                let wishes = sample::texts(self.schema, &arg.name);
                *texts.get_mut(at)? = Some(signs::texts(own.get(at)?, &arg.name, &wishes, 1).pop()?);
            }
        }
        let wishes = vec![Vec::new(); texts.len()];
        let draft = Draft { texts, wishes, extras: Vec::new(), filled: self.schema.is_some() };
        let mut search = Search { calls: self, given, own, fixed, budget: BUDGET, seen: HashSet::new() };
        search.go(&draft, 0)
    }

    /// The call, members in the order of the declarations.
    fn call(&self, draft: &Draft, given: &Given) -> Option<Json> {
        let mut object = Object::default();
        for (at, arg) in self.shape.args.iter().enumerate() {
            let value = self.atoms.0.iter().zip(given).find_map(|(atom, value)| match atom {
                Atom::Flag(known) | Atom::Number(known) if *known == at => *value,
                _ => None,
            });
            let json = match arg.ty {
                Type::Bool => Json::Bool(value == Some(1)),
                Type::Int => {
                    let free = self.numbers.get(at).copied().unwrap_or(1);
                    Json::Number(value.unwrap_or(free).into())
                }
                Type::Str => Json::String(draft.texts.get(at)?.clone()?),
            };
            object.set(&arg.name, json);
        }
        for (name, text) in &draft.extras {
            if object.get(name).is_some() || self.shape.omitted.iter().any(|omitted| **omitted == **name) {
                return None;
            }
            object.set(name, json::parse(text.as_bytes()).ok()?);
        }
        if draft.filled {
            for (name, value) in sample::required(self.schema) {
                if object.get(&name).is_none() && !self.shape.omitted.iter().any(|omitted| **omitted == *name) {
                    object.set(&name, value);
                }
            }
        }
        Some(Json::Object(object))
    }
}

/// The texts of a call that rules see.
struct Written {
    payload: String,
    call_text: String,
}

impl Written {
    fn of(call: &Json) -> Self {
        let mut written = Self { payload: String::new(), call_text: String::new() };
        json::write_python(call, true, &mut written.payload);
        json::strings(call, &mut written.call_text);
        written
    }

    fn text<'t>(&'t self, draft: &'t Draft, subject: Subject) -> Option<&'t str> {
        match subject {
            Subject::Arg(at) => draft.texts.get(at)?.as_deref(),
            Subject::Payload => Some(&self.payload),
            Subject::CallText => Some(&self.call_text),
            Subject::Result | Subject::ResultText => None,
        }
    }

    fn operand<'t>(&'t self, draft: &'t Draft, operand: &'t Operand) -> Option<&'t str> {
        match operand {
            Operand::Literal(literal) => Some(literal),
            Operand::Subject(subject) => self.text(draft, *subject),
        }
    }
}

impl Search<'_, '_> {
    fn go(&mut self, draft: &Draft, depth: usize) -> Option<Json> {
        let left = self.calls.left.get();
        let spent = left == 0 && self.budget + AT_LEAST <= BUDGET;
        if self.budget == 0 || spent || depth > 24 || !self.seen.insert(draft.clone()) {
            return None;
        }
        self.budget -= 1;
        self.calls.left.set(left.saturating_sub(1));
        let call = self.calls.call(draft, self.given)?;
        let written = Written::of(&call);
        let Some((atom, wanted)) = self.wrong(draft, &written) else { return Some(call) };
        let options = match atom {
            Atom::Text(subject, test) if wanted => self.add(draft, *subject, test),
            Atom::Pair(relation, left, right) => self.relate(draft, &written, *relation, left, right, wanted),
            _ => self.remove(draft),
        };
        options.into_iter().find_map(|draft| self.go(&draft, depth + 1))
    }

    /// The first atom whose answer is not the one wanted; what is missing before what is too much.
    fn wrong(&self, draft: &Draft, written: &Written) -> Option<(&Atom, bool)> {
        let mut surplus = None;
        for (atom, value) in self.calls.atoms.0.iter().zip(self.given) {
            let Some(value) = value else { continue };
            let wanted = *value != 0;
            let real = match atom {
                Atom::Text(subject, test) => written.text(draft, *subject).map(|text| test.holds(text)),
                Atom::Pair(relation, left, right) => written
                    .operand(draft, left)
                    .zip(written.operand(draft, right))
                    .map(|(left, right)| relation.holds(left, right)),
                _ => None,
            };
            if real.is_some_and(|real| real != wanted) {
                if wanted {
                    return Some((atom, wanted));
                }
                surplus = surplus.or(Some((atom, wanted)));
            }
        }
        surplus
    }

    /// Drafts in which the payload or `call.text` may satisfy the test.
    fn add(&self, draft: &Draft, subject: Subject, test: &Test) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for literal in test.literals().iter().take(12) {
            match (subject, test) {
                (Subject::CallText, Test::Contains(_)) => self.embed(draft, literal, &mut drafts),
                (Subject::Payload, Test::Contains(_)) => {
                    if escaped(literal) == **literal {
                        self.embed(draft, literal, &mut drafts);
                    }
                    self.complete(draft, literal, &mut drafts);
                }
                (Subject::CallText, _) => self.lines(draft, literal, test, &mut drafts),
                _ => self.complete(draft, literal, &mut drafts),
            }
        }
        drafts
    }

    /// The text within an argument, or in one that no rule declares.
    fn embed(&self, draft: &Draft, literal: &Arc<str>, drafts: &mut Vec<Draft>) {
        for at in 0..draft.texts.len() {
            drafts.extend(self.with_wish(draft, at, literal));
        }
        for name in sample::names(self.calls.schema, literal) {
            let part = Test::contains(Arc::clone(literal));
            for text in signs::texts(&[(&part, true)], &name, &[], 3) {
                let text = format!("\"{}\"", escaped(&text));
                drafts.extend(with_extra(draft, &name, text));
            }
        }
    }

    fn with_wish(&self, draft: &Draft, at: usize, literal: &Arc<str>) -> Option<Draft> {
        if draft.texts.get(at)?.is_none() || *self.fixed.get(at)? {
            return None;
        }
        let mut draft = draft.clone();
        draft.wishes.get_mut(at)?.push(literal.to_string());
        let wished: Vec<Test> = draft.wishes.get(at)?.iter().map(|wish| Test::contains(wish.as_str())).collect();
        let mut signs = self.own.get(at)?.clone();
        signs.extend(wished.iter().map(|test| (test, true)));
        let name = &self.calls.shape.args.get(at)?.name;
        let wishes = sample::texts(self.calls.schema, name);
        let text = signs::texts(&signs, name, &wishes, 1).pop()?;
        *draft.texts.get_mut(at)? = Some(text);
        Some(draft)
    }

    /// A member, at the top or below, whose spelling holds the fragment of JSON.
    fn complete(&self, draft: &Draft, fragment: &str, drafts: &mut Vec<Draft>) {
        const BEFORE: [&str; 14] = [
            "{",
            "{\"",
            "{\"x\": ",
            "{\"x\": \"",
            "{\"x\": [",
            "{\"x\": [\"",
            "{\"x\": {",
            "{\"x\": {\"",
            "{\"x",
            "{\"x\"",
            "{\"x\": [{",
            "{\"x\": [\"a\"",
            "{\"x\": 1",
            "",
        ];
        const AFTER: [&str; 18] = [
            "}",
            "\"}",
            " \"x\"}",
            "\"x\"}",
            " 1}",
            "1}",
            "]}",
            "\"]}",
            "}}",
            "\"}}",
            "\": 1}",
            " \"x\"}}",
            "\": 1}}",
            "{}}}",
            "\"x\": 1}",
            ": 1}",
            ": 1}}",
            "",
        ];
        let mut found: Vec<(usize, Draft)> = Vec::new();
        for before in BEFORE {
            for after in AFTER {
                let whole = format!("{before}{fragment}{after}");
                let Ok(json) = json::parse(whole.as_bytes()) else { continue };
                let Some(object) = json.as_object() else { continue };
                let mut spelled = String::new();
                json::write_python(&json, true, &mut spelled);
                if !spelled.contains(fragment) {
                    continue;
                }
                if let Some(draft) = self.with_members(draft, object) {
                    found.push((spelled.len(), draft));
                }
            }
        }
        found.sort_by_key(|(length, _)| *length);
        drafts.extend(found.into_iter().map(|(_, draft)| draft).take(8));
    }

    fn with_members(&self, draft: &Draft, object: &Object) -> Option<Draft> {
        let mut draft = draft.clone();
        for (name, value) in object.iter() {
            match (self.calls.shape.position(name), value) {
                (Some(at), Json::String(text)) if !*self.fixed.get(at)? => {
                    if !signs::holds(self.own.get(at)?, text) {
                        return None;
                    }
                    draft.texts.get_mut(at)?.as_mut()?.clone_from(text);
                }
                (Some(_), _) => return None,
                (None, value) => {
                    let mut text = String::new();
                    json::write_python(value, false, &mut text);
                    draft = with_extra(&draft, name, text)?;
                }
            }
        }
        Some(draft)
    }

    /// Names and values that make `call.text` begin, end or be so.
    fn lines(&self, draft: &Draft, literal: &str, test: &Test, drafts: &mut Vec<Draft>) {
        let (name, value) = literal.split_once('\n').unwrap_or((literal, "x"));
        if matches!(test, Test::Suffix(_)) {
            drafts.extend(with_extra(draft, "~", format!("\"{}\"", escaped(literal))));
        }
        let mut first = Object::default();
        first.set(name, Json::String(value.to_owned()));
        drafts.extend(self.with_members(draft, &first));
        drafts.extend(with_extra(draft, name, "1".to_owned()));
    }

    fn remove(&self, draft: &Draft) -> Vec<Draft> {
        let mut drafts = Vec::new();
        if draft.filled {
            drafts.push(Draft { filled: false, ..draft.clone() });
        }
        for at in 0..draft.texts.len() {
            drafts.extend(self.others(draft, at));
        }
        for at in 0..draft.extras.len() {
            let mut other = draft.clone();
            other.extras.remove(at);
            drafts.push(other);
        }
        drafts
    }

    /// Drafts with another text of the argument.
    fn others(&self, draft: &Draft, at: usize) -> Vec<Draft> {
        let other = |text: String| {
            let mut draft = draft.clone();
            *draft.texts.get_mut(at)? = Some(text);
            Some(draft)
        };
        let open = draft.texts.get(at).is_some_and(Option::is_some) && self.fixed.get(at) == Some(&false);
        let (Some(own), Some(arg), true) = (self.own.get(at), self.calls.shape.args.get(at), open) else {
            return Vec::new();
        };
        let wished: Vec<Test> =
            draft.wishes.get(at).into_iter().flatten().map(|wish| Test::contains(wish.as_str())).collect();
        let mut signs = own.clone();
        signs.extend(wished.iter().map(|test| (test, true)));
        let texts = signs::texts(&signs, &arg.name, &[String::new(), "z".to_owned()], TEXTS + 2);
        texts.into_iter().filter_map(other).collect()
    }

    /// Drafts in which one text stands to another as wanted.
    fn relate(
        &self,
        draft: &Draft,
        written: &Written,
        relation: Relation,
        left: &Operand,
        right: &Operand,
        wanted: bool,
    ) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let mut propose = |operand: &Operand, text: String| {
            if let Operand::Subject(Subject::Arg(at)) = operand
                && self.fixed.get(*at) == Some(&false)
                && self.own.get(*at).is_some_and(|own| signs::holds(own, &text))
            {
                let mut other = draft.clone();
                if let Some(slot) = other.texts.get_mut(*at) {
                    *slot = Some(text);
                    drafts.push(other);
                }
            }
        };
        let (a, b) = (written.operand(draft, left).unwrap_or(""), written.operand(draft, right).unwrap_or(""));
        if wanted {
            propose(left, b.to_owned());
            propose(right, a.to_owned());
            if relation != Relation::Equal {
                for text in [format!("{b}{a}"), format!("{a}{b}"), format!("{b}x"), format!("x{b}")] {
                    propose(left, text);
                }
                propose(right, String::new());
                for (at, _) in a.char_indices().take(8) {
                    propose(right, a.get(at..).unwrap_or("").to_owned());
                    propose(right, a.get(..at).unwrap_or("").to_owned());
                }
            }
        } else {
            for text in [format!("{a}z"), "z".to_owned(), String::new()] {
                propose(left, text);
            }
            for text in [format!("{b}y"), "y".to_owned(), format!("{a}{b}y")] {
                propose(right, text);
            }
        }
        drafts.extend(self.remove(draft));
        drafts
    }
}

fn with_extra(draft: &Draft, name: &str, json: String) -> Option<Draft> {
    let mut draft = draft.clone();
    match draft.extras.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) if *old == json => return None,
        Some((_, old)) => *old = joined(old, &json)?,
        None => draft.extras.push((name.to_owned(), json)),
    }
    Some(draft)
}

/// One value that holds both.
fn joined(old: &str, new: &str) -> Option<String> {
    let (old, new) = (json::parse(old.as_bytes()).ok()?, json::parse(new.as_bytes()).ok()?);
    let joined = match (old, new) {
        (Json::String(old), Json::String(new)) => Json::String(format!("{old} {new}")),
        (Json::Object(mut old), Json::Object(new)) => {
            for (name, value) in new {
                old.set(&name, value);
            }
            Json::Object(old)
        }
        (Json::Array(mut old), new) => {
            old.push(new);
            Json::Array(old)
        }
        (old, new) => Json::Array(vec![old, new]),
    };
    let mut out = String::new();
    json::write_python(&joined, false, &mut out);
    Some(out)
}
