//! A real answer with wanted answers to tests of its texts. Knows nothing of rules.

use super::atom::{Atom, Operand, Subject, Test, escaped};
use super::joint::Given;
use super::lower::Atoms;
use super::pool::Pool;
use super::shape::Shape;
use super::signs::{self, Signs};
use crate::json::{self, Json, Object};

pub(super) struct Answers<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) pool: &'a Pool,
    pub(super) shape: &'a Shape,
    /// The call that is answered.
    pub(super) call: &'a Json,
}

impl Answers<'_> {
    pub(super) fn find(&self, given: &Given) -> Option<Json> {
        let (mut result, mut strings): (Signs<'_>, Signs<'_>) = (Vec::new(), Vec::new());
        let mut fixed = None;
        for (atom, value) in self.atoms.0.iter().zip(given) {
            match (atom, value) {
                (Atom::Text(Subject::Result, test), Some(value)) => result.push((test, *value != 0)),
                (Atom::Text(Subject::ResultText, test), Some(value)) => strings.push((test, *value != 0)),
                (Atom::Value(Subject::Result), Some(value)) => fixed = self.pool.text(*value).cloned(),
                _ => {}
            }
        }
        if let Some(text) = fixed {
            let answer = Json::String(text.to_string());
            return self.is_so(&answer, given).then_some(answer);
        }
        let mut candidates = Vec::new();
        let both: Signs<'_> = result.iter().chain(&strings).copied().collect();
        for signs in [&both, &result, &strings] {
            let texts = signs::texts(signs, "", &["ok".to_owned(), "done".to_owned(), String::new()], 8);
            candidates.extend(texts.into_iter().map(Json::String));
        }
        // A string within JSON is told apart from its spelling.
        for text in signs::texts(&strings, "", &[], 3) {
            candidates.push(Json::String(format!("[\"{}\"]", spelled(&text))));
        }
        let parts = |signs: &Signs<'_>| -> Vec<String> {
            let wanted = signs.iter().filter(|(_, wanted)| *wanted);
            let first = |test: &Test| test.literals().first().map(ToString::to_string);
            wanted.filter_map(|(test, _)| first(test)).collect()
        };
        for part in parts(&result) {
            for whole in [part.clone(), format!("{{{part}}}"), format!("{{\"x\": {part}}}"), format!("{{{part} 1}}")] {
                candidates.extend(structured(&whole));
            }
            candidates.push(Json::String(format!("[\"{}\"]", escaped(&part))));
        }
        for operand in self.operands() {
            candidates.push(Json::String(operand.clone()));
            candidates.push(Json::String(format!("{operand} x")));
        }
        candidates.into_iter().find(|answer| self.is_so(answer, given))
    }

    fn text(&self, subject: Subject, answer: &Json) -> Option<String> {
        match subject {
            Subject::Result => Some(json::result_text(answer)),
            Subject::ResultText => Some(json::result_strings(answer)),
            Subject::Payload => {
                let mut out = String::new();
                json::write_python(self.call, true, &mut out);
                Some(out)
            }
            Subject::CallText => {
                let mut out = String::new();
                json::strings(self.call, &mut out);
                Some(out)
            }
            Subject::Arg(at) => {
                let name = &self.shape.args.get(at)?.name;
                self.call.get(name)?.as_str().map(str::to_owned)
            }
        }
    }

    fn operand(&self, operand: &Operand, answer: &Json) -> Option<String> {
        match operand {
            Operand::Literal(literal) => Some(literal.to_string()),
            Operand::Subject(subject) => self.text(*subject, answer),
        }
    }

    /// Texts with which the answer is compared.
    fn operands(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for atom in &self.atoms.0 {
            if let Atom::Pair(_, left, right) = atom {
                for operand in [left, right] {
                    if !matches!(operand, Operand::Subject(subject) if subject.of_answer()) {
                        texts.extend(self.operand(operand, &Json::Null));
                    }
                }
            }
        }
        texts
    }

    fn is_so(&self, answer: &Json, given: &Given) -> bool {
        let (result, strings) = (json::result_text(answer), json::result_strings(answer));
        self.atoms.0.iter().zip(given).filter(|(atom, _)| atom.of_answer()).all(|(atom, value)| {
            let Some(value) = value else { return true };
            match atom {
                Atom::Text(Subject::Result, test) => test.holds(&result) == (*value != 0),
                Atom::Text(Subject::ResultText, test) => test.holds(&strings) == (*value != 0),
                Atom::Value(Subject::Result) => self.pool.text(*value).is_some_and(|text| **text == *result),
                Atom::Pair(relation, left, right) => {
                    let texts = self.operand(left, answer).zip(self.operand(right, answer));
                    texts.is_some_and(|(left, right)| relation.holds(&left, &right) == (*value != 0))
                }
                _ => false,
            }
        })
    }
}

/// The text for a place between quotes, without any of its characters in clear.
fn spelled(text: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::new();
    for c in text.chars() {
        for unit in c.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// A result whose structured content is this JSON.
fn structured(text: &str) -> Option<Json> {
    let content = json::parse(text.as_bytes()).ok()?;
    let mut result = Object::default();
    result.set("content", Json::Array(Vec::new()));
    result.set("structuredContent", content);
    Some(Json::Object(result))
}
