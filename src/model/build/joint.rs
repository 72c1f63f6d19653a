//! Which answers the texts of one call can give together. The payload and `call.text` are made of the arguments, so
//! this is an over-approximation: what it excludes cannot be, what it admits may still not be. Knows no witnesses.

use super::atom::{Atom, Operand, Relation, Subject, Test, escaped, implied_of_call_text, implied_of_payload};
use super::lower::Atoms;
use super::pool::{Pool, place};
use super::shape::Shape;
use super::signs::{self, Signs};
use crate::ir::Type;
use std::sync::Arc;

/// The value of each atom so far.
pub(super) type Given = Vec<Option<i64>>;

/// What an atom's truth says of the two whole texts.
#[derive(Debug, Default)]
struct Implied {
    payload: Option<Test>,
    call_text: Option<Test>,
}

impl Implied {
    fn of(shape: &Shape, subject: Subject, test: &Test) -> Self {
        Self {
            payload: implied_of_payload(shape, subject, test),
            call_text: implied_of_call_text(shape, subject, test),
        }
    }
}

#[derive(Debug)]
pub(super) struct Joint<'j> {
    shape: &'j Shape,
    atoms: &'j Atoms,
    pool: &'j Pool,
    implied: Vec<Implied>,
    /// For an atom that is a text of the pool: what each test of it implies.
    of_value: Vec<Vec<(&'j Test, Implied)>>,
    /// True of every payload and every `call.text` of the shape.
    payload: Vec<Test>,
    call_text: Vec<Test>,
    /// Whether arguments are compared with each other.
    paired: bool,
}

impl<'j> Joint<'j> {
    pub(super) fn new(shape: &'j Shape, atoms: &'j Atoms, pool: &'j Pool) -> Self {
        let mut implied = Vec::new();
        let mut of_value = Vec::new();
        for atom in &atoms.0 {
            let mut tests = Vec::new();
            let mut own = Implied::default();
            match atom {
                Atom::Text(subject, test) => own = Implied::of(shape, *subject, test),
                Atom::Value(subject) => {
                    let place = place(*subject, |at| shape.args.get(at).map(|arg| Arc::clone(&arg.name)));
                    let known = place.map(|place| pool.tests(&place)).unwrap_or_default();
                    tests.extend(known.iter().map(|test| (test, Implied::of(shape, *subject, test))));
                }
                Atom::Flag(at) => own.payload = member(shape, *at, "true"),
                Atom::Pair(..) | Atom::Number(_) | Atom::Unknown(_) => {}
            }
            implied.push(own);
            of_value.push(tests);
        }
        let mut payload = vec![Test::Prefix("{".into()), Test::Suffix("}".into())];
        let mut call_text = Vec::new();
        for (at, arg) in shape.args.iter().enumerate() {
            payload.extend(member(shape, at, if arg.ty == Type::Str { "\"" } else { "" }));
            if !arg.name.is_empty() {
                call_text.push(Test::contains(Arc::clone(&arg.name)));
            }
        }
        // Between a text and a member that stands behind it, and between any two members.
        let last = shape.args.iter().map(|arg| &arg.name).max();
        if shape.args.iter().any(|arg| arg.ty == Type::Str && last.is_some_and(|last| arg.name < *last)) {
            payload.push(Test::contains("\", \""));
        } else if shape.args.len() > 1 {
            payload.push(Test::contains(", \""));
        }
        let paired = atoms.0.iter().any(|atom| matches!(atom, Atom::Pair(..)));
        Self { shape, atoms, pool, implied, of_value, payload, call_text, paired }
    }

    /// Whether some call and answer may give all these values. Those without that of the atom `last` may.
    pub(super) fn is_possible(&self, given: &Given, last: usize) -> bool {
        let holds = given.get(last).is_some_and(|value| value.is_some_and(|value| value != 0));
        match self.atoms.get(last) {
            Some(Atom::Number(_) | Atom::Unknown(_)) => return true,
            // What an argument lacks says nothing of the others, unless they are compared.
            Some(Atom::Text(subject @ Subject::Arg(_), _)) if !self.paired && !holds => {
                let signs = self.atoms.0.iter().zip(given).filter_map(|(atom, value)| match atom {
                    Atom::Text(own, test) if own == subject => value.map(|value| (test, value != 0)),
                    _ => None,
                });
                return signs::satisfiable(&signs.collect::<Signs<'_>>());
            }
            _ => {}
        }
        let mut of_args: Vec<Signs<'_>> = vec![Vec::new(); self.shape.args.len()];
        let [mut payload, mut call_text, mut result, mut result_text]: [Signs<'_>; 4] = Default::default();
        payload.extend(self.payload.iter().map(|test| (test, true)));
        call_text.extend(self.call_text.iter().map(|test| (test, true)));
        let mut flags = Vec::new();
        for (at, (atom, value)) in self.atoms.0.iter().zip(given).enumerate() {
            let Some(value) = value else { continue };
            match atom {
                Atom::Text(subject, test) => {
                    let sign = (test, *value != 0);
                    match subject {
                        Subject::Arg(arg) => {
                            if let Some(signs) = of_args.get_mut(*arg) {
                                signs.push(sign);
                            }
                        }
                        Subject::Payload => payload.push(sign),
                        Subject::CallText => call_text.push(sign),
                        Subject::Result => result.push(sign),
                        Subject::ResultText => result_text.push(sign),
                    }
                    if let Some(implied) = self.implied.get(at).filter(|_| *value != 0) {
                        payload.extend(implied.payload.as_ref().map(|test| (test, true)));
                        call_text.extend(implied.call_text.as_ref().map(|test| (test, true)));
                    }
                }
                Atom::Flag(_) if *value != 0 => {
                    let implied = self.implied.get(at).and_then(|implied| implied.payload.as_ref());
                    payload.extend(implied.map(|test| (test, true)));
                }
                Atom::Flag(arg) => flags.extend(member(self.shape, *arg, "false")),
                Atom::Value(_) => {
                    let Some(text) = self.pool.text(*value) else { continue };
                    for (test, implied) in self.of_value.get(at).into_iter().flatten() {
                        if test.holds(text) {
                            payload.extend(implied.payload.as_ref().map(|test| (test, true)));
                            call_text.extend(implied.call_text.as_ref().map(|test| (test, true)));
                        }
                    }
                }
                // A number stands for others, which are spelled otherwise.
                Atom::Number(_) | Atom::Pair(..) | Atom::Unknown(_) => {}
            }
        }
        payload.extend(flags.iter().map(|test| (test, true)));
        self.relate(given, &mut of_args);
        of_args.iter().chain([&payload, &call_text, &result, &result_text]).all(|signs| signs::satisfiable(signs))
    }

    /// What is true of a text is true of one that holds it, and what that one lacks the text lacks.
    fn relate(&self, given: &Given, of_args: &mut [Signs<'_>]) {
        for (atom, value) in self.atoms.0.iter().zip(given) {
            let Atom::Pair(relation, Operand::Subject(Subject::Arg(whole)), Operand::Subject(Subject::Arg(part))) =
                atom
            else {
                continue;
            };
            if value.is_none_or(|value| value == 0) {
                continue;
            }
            let signs_of = |at: &usize| of_args.get(*at).cloned().unwrap_or_default();
            let (wholes, parts) = (signs_of(whole), signs_of(part));
            if let Some(signs) = of_args.get_mut(*whole) {
                let given = parts
                    .iter()
                    .filter(|(test, wanted)| of_whole(*relation, test) && (*wanted || *relation == Relation::Equal));
                signs.extend(given);
            }
            if let Some(signs) = of_args.get_mut(*part) {
                let lacks = wholes
                    .iter()
                    .filter(|(test, wanted)| (of_whole(*relation, test) && !wanted) || *relation == Relation::Equal);
                signs.extend(lacks);
            }
        }
    }
}

/// What a test of the part says of the whole that holds it, if it is true.
fn of_whole(relation: Relation, test: &Test) -> bool {
    match test {
        Test::Contains(_) => true,
        Test::Prefix(_) => matches!(relation, Relation::Prefix | Relation::Equal),
        Test::Suffix(_) => matches!(relation, Relation::Suffix | Relation::Equal),
        Test::Equals(_) => relation == Relation::Equal,
    }
}

/// The start of a member of the payload.
fn member(shape: &Shape, at: usize, value: &str) -> Option<Test> {
    let name = escaped(&shape.args.get(at)?.name);
    Some(Test::contains(format!("\"{name}\": {value}")))
}
