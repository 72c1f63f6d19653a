//! What is written otherwise in two versions of a policy, part by part; what it means is another question.

use super::written::{Check, CheckForm, Event, ExprText, LiteralKind, PolicyFile, StateVar, Text};
use crate::syntax::print::print;
use std::fmt;

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Added,
    Removed,
    Changed,
}

impl Mark {
    /// `+`, `-`, `~`.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
        }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A section such as `action read_files`, and what is different in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub mark: Mark,
    pub title: String,
    pub lines: Vec<Line>,
}

/// One difference: `match fs__*`, or `effect n` with its old and new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub mark: Mark,
    pub label: String,
    /// Texts before and after, where the part has a value of its own.
    pub old: Option<String>,
    pub new: Option<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.mark.sign(), self.label)?;
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => write!(f, ": {old} → {new}"),
            (Some(one), None) | (None, Some(one)) => write!(f, ": {one}"),
            (None, None) => Ok(()),
        }
    }
}

/// Every difference, in the order of the new version, then what it lacks.
#[must_use]
pub fn changes(old: &PolicyFile, new: &PolicyFile) -> Vec<Section> {
    let (old, new) = (sections(old), sections(new));
    let mut found = Vec::new();
    for (title, facts) in &new {
        match old.iter().find(|(known, _)| known == title) {
            None => found.push(whole(Mark::Added, title, facts)),
            Some((_, before)) => {
                let lines = lines(before, facts);
                if !lines.is_empty() {
                    found.push(Section { mark: Mark::Changed, title: title.clone(), lines });
                }
            }
        }
    }
    for (title, facts) in &old {
        if !new.iter().any(|(known, _)| known == title) {
            found.push(whole(Mark::Removed, title, facts));
        }
    }
    found
}

/// A part of a section: its label, and its value where it has one.
type Fact = (String, Option<String>);

fn whole(mark: Mark, title: &str, facts: &[Fact]) -> Section {
    let line = |(label, value): &Fact| {
        let (old, new) = if mark == Mark::Removed { (value.clone(), None) } else { (None, value.clone()) };
        Line { mark, label: label.clone(), old, new }
    };
    Section { mark, title: title.to_owned(), lines: facts.iter().map(line).collect() }
}

fn lines(old: &[Fact], new: &[Fact]) -> Vec<Line> {
    let mut found = Vec::new();
    for (label, value) in old {
        match new.iter().find(|(known, _)| known == label) {
            None => found.push(Line { mark: Mark::Removed, label: label.clone(), old: value.clone(), new: None }),
            Some((_, after)) if after != value => {
                found.push(Line { mark: Mark::Changed, label: label.clone(), old: value.clone(), new: after.clone() });
            }
            Some(_) => {}
        }
    }
    for (label, value) in new {
        if !old.iter().any(|(known, _)| known == label) {
            found.push(Line { mark: Mark::Added, label: label.clone(), old: None, new: value.clone() });
        }
    }
    found
}

fn sections(file: &PolicyFile) -> Vec<(String, Vec<Fact>)> {
    let mut all = vec![("policy".to_owned(), vec![valued("default", file.default.as_str())])];
    for list in &file.patterns {
        let texts = list.texts.iter().map(|text| (format!("{:?}", text.text), None));
        all.push((format!("patterns {}", list.name.text), texts.collect()));
    }
    for var in &file.state {
        all.push((format!("state {}", var.name.text), vec![valued("type", &var.ty.text), valued("init", &init(var))]));
    }
    for invariant in &file.invariants {
        let mut facts = vec![valued("expr", &shown(&invariant.expr))];
        words(&mut facts, "reason", invariant.reason.as_ref());
        words(&mut facts, "hint", invariant.hint.as_ref());
        all.push((format!("invariant {}", invariant.name.text), facts));
    }
    for action in &file.actions {
        let mut facts: Vec<Fact> = action.globs.iter().map(|glob| (format!("match {}", glob.text), None)).collect();
        facts.extend(action.args.iter().map(|(name, ty)| valued(&format!("args {}", name.text), &ty.text)));
        facts.extend(action.requires.iter().map(|guard| (format!("requires {}", shown(guard)), None)));
        let assigned = |what: &str, all: &[(Text, ExprText)]| -> Vec<Fact> {
            all.iter().map(|(name, expr)| valued(&format!("{what} {}", name.text), &shown(expr))).collect()
        };
        facts.extend(assigned("effect", &action.effect));
        facts.extend(assigned("on_result", &action.on_result));
        words(&mut facts, "reason", action.reason.as_ref());
        words(&mut facts, "hint", action.hint.as_ref());
        all.push((format!("action {}", action.name.text), facts));
    }
    for (at, terminal) in file.terminal.iter().enumerate() {
        let name = terminal.name.as_ref().map_or_else(|| format!("#{}", at + 1), |name| name.text.clone());
        let mut facts = vec![valued("when", &shown(&terminal.when))];
        facts.extend(terminal.blocks.iter().map(|glob| (format!("blocks {}", glob.text), None)));
        words(&mut facts, "reason", terminal.reason.as_ref());
        all.push((format!("terminal {name}"), facts));
    }
    all.extend(file.checks.iter().map(check));
    all
}

fn check(check: &Check) -> (String, Vec<Fact>) {
    let mut facts = match &check.form {
        CheckForm::Never { call, after } => {
            let after = after.iter().map(|event| valued("after", &shown_event(event)));
            std::iter::once(valued("never", &shown_event(call))).chain(after).collect()
        }
        CheckForm::Always(expr) => vec![valued("always", &shown(expr))],
        CheckForm::AtMost { count, of } => {
            vec![valued("at_most", &count.to_string()), valued("of", &shown_event(of))]
        }
        CheckForm::Before { call, requires } => {
            vec![valued("before", &shown_event(call)), valued("requires", &shown_event(requires))]
        }
        CheckForm::Possible(calls) => {
            calls.iter().map(|event| (format!("possible {}", shown_event(event)), None)).collect()
        }
    };
    words(&mut facts, "reason", check.reason.as_ref());
    (format!("check {}", check.name.text), facts)
}

fn shown_event(event: &Event) -> String {
    let globs: Vec<&str> = event.globs.iter().map(|glob| glob.text.as_str()).collect();
    let when = event.when.as_ref().map(|when| format!(" when {}", shown(when))).unwrap_or_default();
    globs.join(", ") + &when
}

fn valued(label: &str, value: &str) -> Fact {
    (label.to_owned(), Some(value.to_owned()))
}

fn words(facts: &mut Vec<Fact>, label: &str, text: Option<&Text>) {
    facts.extend(text.map(|text| valued(label, &format!("{:?}", text.text))));
}

/// Blanks and quotes of the spelling make no difference.
fn shown(expr: &ExprText) -> String {
    print(&expr.expr)
}

fn init(var: &StateVar) -> String {
    match &var.init.kind {
        LiteralKind::Bool(value) => value.to_string(),
        LiteralKind::Int(digits) => digits.clone(),
        LiteralKind::Text(text) => format!("{text:?}"),
        LiteralKind::Other => var.init.described.clone(),
    }
}
