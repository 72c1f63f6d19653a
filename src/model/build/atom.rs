//! What rules ask of the texts of a call, as tests that stand for themselves. Knows nothing of which
//! combinations of answers can be.

use super::shape::Shape;
use crate::json::{self, Json};
use std::sync::Arc;

/// A text that comes with a call or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A declared argument of the shape.
    Arg(usize),
    Payload,
    CallText,
    Result,
    ResultText,
}

impl Subject {
    pub(super) fn of_answer(self) -> bool {
        matches!(self, Self::Result | Self::ResultText)
    }
}

/// A question about one text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Test {
    /// Whether one of these occurs in it.
    Contains(Vec<Arc<str>>),
    Prefix(Arc<str>),
    Suffix(Arc<str>),
    Equals(Vec<Arc<str>>),
}

impl Test {
    pub(super) fn contains(text: impl Into<Arc<str>>) -> Self {
        Self::Contains(vec![text.into()])
    }

    pub(super) fn equals(text: impl Into<Arc<str>>) -> Self {
        Self::Equals(vec![text.into()])
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        match self {
            Self::Contains(parts) => parts.iter().any(|part| text.contains(&**part)),
            Self::Prefix(part) => text.starts_with(&**part),
            Self::Suffix(part) => text.ends_with(&**part),
            Self::Equals(all) => all.iter().any(|one| **one == *text),
        }
    }

    /// The answer, if no text gives the other one.
    pub(super) fn constant(&self) -> Option<bool> {
        match self {
            Self::Contains(parts) if parts.iter().any(|part| part.is_empty()) => Some(true),
            Self::Prefix(part) | Self::Suffix(part) if part.is_empty() => Some(true),
            Self::Contains(all) | Self::Equals(all) if all.is_empty() => Some(false),
            _ => None,
        }
    }

    pub(super) fn literals(&self) -> &[Arc<str>] {
        match self {
            Self::Contains(all) | Self::Equals(all) => all,
            Self::Prefix(one) | Self::Suffix(one) => std::slice::from_ref(one),
        }
    }

    /// What of it can be true of a payload, whose characters are those of JSON.
    pub(super) fn in_payload(self) -> Self {
        let possible = |text: &Arc<str>| crate::ir::can_occur_in_payload(text);
        match self {
            Self::Contains(parts) => Self::Contains(parts.into_iter().filter(possible).collect()),
            Self::Equals(all) => Self::Equals(all.into_iter().filter(possible).collect()),
            Self::Prefix(part) if !possible(&part) => Self::Equals(Vec::new()),
            Self::Suffix(part) if !possible(&part) => Self::Equals(Vec::new()),
            other => other,
        }
    }
}

/// A relation of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    Contains,
    Prefix,
    Suffix,
    Equal,
}

impl Relation {
    pub(super) fn holds(self, left: &str, right: &str) -> bool {
        match self {
            Self::Contains => left.contains(right),
            Self::Prefix => left.starts_with(right),
            Self::Suffix => left.ends_with(right),
            Self::Equal => left == right,
        }
    }

    /// The test that a text stands so to the literal, where the texts that do are few.
    pub(super) fn part_test(self, literal: &str) -> Option<Test> {
        (literal.len() <= MAX_WHOLE).then(|| Test::Equals(parts(self, literal)))
    }

    pub(super) fn test(self, literal: &Arc<str>) -> Test {
        match self {
            Self::Contains => Test::Contains(vec![Arc::clone(literal)]),
            Self::Prefix => Test::Prefix(Arc::clone(literal)),
            Self::Suffix => Test::Suffix(Arc::clone(literal)),
            Self::Equal => Test::Equals(vec![Arc::clone(literal)]),
        }
    }
}

/// Bytes of a literal in which a text is looked for that may be taken apart.
const MAX_WHOLE: usize = 40;

/// Every text that stands so to the whole.
fn parts(relation: Relation, whole: &str) -> Vec<Arc<str>> {
    let ends: Vec<usize> = whole.char_indices().map(|(at, _)| at).chain([whole.len()]).collect();
    let mut parts: Vec<Arc<str>> = Vec::new();
    for start in &ends {
        for end in ends.iter().filter(|end| *end >= start) {
            if let Some(part) = whole.get(*start..*end)
                && relation.holds(whole, part)
                && !parts.iter().any(|known| **known == *part)
            {
                parts.push(part.into());
            }
        }
    }
    parts
}

/// One side of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Literal(Arc<str>),
    Subject(Subject),
}

/// What a call decides and a term stands for by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    Text(Subject, Test),
    /// A declared bool argument.
    Flag(usize),
    /// A relation of texts of which one is not a literal of the policy.
    Pair(Relation, Operand, Operand),
    /// The text of a declared argument or of the answer, by number; one of the pool.
    Value(Subject),
    /// A declared whole number that is compared with constants alone.
    Number(usize),
    /// A condition that the model cannot follow: both answers are tried, and neither has a witness.
    Unknown(usize),
}

impl Atom {
    /// Whether its answer may depend on the digits of whole-number arguments.
    pub(super) fn reads_digits(&self) -> bool {
        let payload = |operand: &Operand| matches!(operand, Operand::Subject(Subject::Payload));
        match self {
            Self::Text(Subject::Payload, test) => test.literals().iter().any(|text| may_hold_digits(text)),
            Self::Pair(_, left, right) => payload(left) || payload(right),
            _ => false,
        }
    }

    pub(super) fn of_answer(&self) -> bool {
        let side = |operand: &Operand| matches!(operand, Operand::Subject(subject) if subject.of_answer());
        match self {
            Self::Text(subject, _) | Self::Value(subject) => subject.of_answer(),
            Self::Pair(_, left, right) => side(left) || side(right),
            Self::Flag(_) | Self::Number(_) | Self::Unknown(_) => false,
        }
    }
}

/// Whether the text may stand in a payload so that it holds digits of a whole-number argument, as `": 5,` and `17` do.
fn may_hold_digits(text: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit() || c == '-';
    let starts = text.char_indices().filter(|(at, c)| digit(*c) && !text.get(..*at).unwrap_or("").ends_with(digit));
    starts.into_iter().any(|(start, _)| {
        let (before, rest) = text.split_at_checked(start).unwrap_or_default();
        let after = rest.trim_start_matches(digit);
        (["", " ", ": "].contains(&before) || before.ends_with("\": "))
            && (after.is_empty() || after.starts_with([',', '}']))
    })
}

/// The text as it stands between quotes in JSON.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    json::write_python(&Json::String(text.to_owned()), true, &mut out);
    out.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn any_of<'t>(texts: impl Iterator<Item = &'t Arc<str>>, spell: impl Fn(&str) -> String) -> Test {
    Test::Contains(texts.map(|text| spell(text).into()).collect())
}

/// What must be true of the payload where the test is true of the subject.
pub(super) fn implied_of_payload(shape: &Shape, subject: Subject, test: &Test) -> Option<Test> {
    let literals = test.literals().iter();
    match subject {
        Subject::Arg(at) => {
            let name = escaped(&shape.args.get(at)?.name);
            Some(match test {
                Test::Contains(_) => any_of(literals, escaped),
                Test::Prefix(_) => any_of(literals, |text| format!("\"{name}\": \"{}", escaped(text))),
                Test::Suffix(_) => any_of(literals, |text| format!("{}\"", escaped(text))),
                Test::Equals(_) => any_of(literals, |text| format!("\"{name}\": \"{}\"", escaped(text))),
            })
        }
        // A text of one line lies within one string or name.
        Subject::CallText if literals.clone().all(|text| !text.contains('\n')) => Some(any_of(literals, escaped)),
        _ => None,
    }
}

/// What must be true of `call.text` where the test is true of the argument.
pub(super) fn implied_of_call_text(shape: &Shape, subject: Subject, test: &Test) -> Option<Test> {
    let Subject::Arg(at) = subject else { return None };
    let name = &shape.args.get(at)?.name;
    let literals = test.literals().iter();
    Some(match test {
        Test::Contains(_) | Test::Suffix(_) => any_of(literals, str::to_owned),
        Test::Prefix(_) | Test::Equals(_) => any_of(literals, |text| format!("{name}\n{text}")),
    })
}
