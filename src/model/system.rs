//! The transition system: variables, tools, and for each tool the classes of calls that do the same.

use super::overlap::Late;
use super::term::{Names, Shown, Term};
use crate::eval::Rule;
use crate::ir::{ArgId, VarId};
use crate::json::Json;
use crate::text::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What can happen, over states that are slices of one `i64` for each variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct System {
    pub vars: Vec<Var>,
    /// The texts that variables hold, by number.
    pub texts: Vec<Arc<str>>,
    pub tools: Vec<Tool>,
    pub classes: Vec<Class>,
    /// Those of every side, in file order; an allowed call leaves all of them true.
    pub invariants: Vec<Invariant>,
    /// For each invariant whether an answer can break it. One that no answer can break holds in every reachable state,
    /// and only the calls that change its variables need to be asked about it.
    pub fragile: Vec<bool>,
    /// The variable (bool) that is true once an `on_result` could not be evaluated: then every call is denied.
    /// Present only where that can happen.
    pub fault: Option<usize>,
    /// The conditions over the state that the caller asked to have translated, in its order.
    pub watched: Vec<Term>,
    /// Variables of the analysis that take these values before every step, an answer that comes late too.
    #[serde(skip)]
    pub watches: Vec<(usize, Term)>,
    /// The outcomes that classes have had before calls overlapped: what may answer a call later.
    #[serde(skip)]
    pub late: Vec<Late>,
    /// What the classes do not show: with any of these nothing is proved.
    #[serde(skip)]
    pub gaps: Vec<Gap>,
}

/// Something of the policy that the model cannot follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub span: Span,
    /// Why, for a person, e.g. "a number beyond 64 bits".
    pub why: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Var {
    pub name: Arc<str>,
    pub ty: VarType,
    pub init: i64,
    /// The policy's variable; `None` for one that only the analysis has.
    #[serde(skip)]
    pub origin: Option<(usize, VarId)>,
    /// A counter that is held at a bound beyond which no rule tells values apart: its larger (smaller) values
    /// stand for all beyond. In a replay its value may differ.
    pub capped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VarType {
    Bool,
    Int,
    /// A number of the table of texts.
    Text,
}

/// A tool, or one that stands for all tools which the same globs match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// The public name, `server__tool`.
    pub name: String,
    pub upstream: String,
    /// For each side the matching actions, in file order.
    pub actions: Vec<Vec<usize>>,
    /// Whether it is offered by a server of the tool list, not just a name that the globs match.
    pub listed: bool,
}

impl Tool {
    /// Whether an action of the side matches it.
    #[must_use]
    pub fn covered(&self, side: usize) -> bool {
        self.actions.get(side).is_some_and(|actions| !actions.is_empty())
    }
}

/// A rule of one of the policies. A model of one policy has only side 0; a comparison has the old policy as
/// side 0 and the new one as side 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    pub side: usize,
    pub rule: Rule,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invariant {
    pub side: usize,
    /// Its index in the policy.
    pub index: usize,
    pub term: Term,
}

/// Calls of one tool that all rules treat alike, whole-number arguments aside: those are parameters.
/// An allowed call takes the state through its effect, and then through one outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Class {
    pub kind: Kind,
    /// A real call of the class, its parameters aside. See [`Class::arguments`].
    #[serde(skip)]
    pub call: Json,
    /// Whether the real evaluator agreed that `call` is of this class. A class without a witness counts for
    /// proofs and never for a trace.
    pub witnessed: bool,
    pub params: Vec<Param>,
    /// What must hold before the call: every guard of the matching actions (constant ones too, so that each
    /// can be asked about), and for a side that denies the call for another reason, `false`.
    pub guards: Vec<Guard>,
    /// Every assignment of the matching actions in file order; a later one of the same variable already has the
    /// earlier one's value in it, so the last one counts. All of them must have a value.
    pub effect: Vec<Assign>,
    /// Indices into the system's invariants: those that read a variable that the effect changes.
    pub affected: Vec<usize>,
    /// What can follow; never empty, and the first one changes nothing.
    pub outcomes: Vec<Outcome>,
    /// For each event that the caller asked about, whether such a call is one; over the state before it.
    pub marks: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A call of this tool.
    Call { tool: usize },
    /// The answer to an earlier call of the class arrives; only in systems where calls overlap. Its one outcome is what
    /// the answer changes; no guard and no invariant of the policy can refuse it.
    Answer { class: usize },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Guard {
    /// `None`: the side denies calls like this one for another reason (no action covers the tool, an argument
    /// does not fit), or a condition of the analysis.
    #[serde(skip)]
    pub label: Option<Label>,
    pub side: usize,
    pub term: Term,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assign {
    pub var: usize,
    #[serde(skip)]
    pub label: Option<Label>,
    pub side: usize,
    pub term: Term,
    /// The assignment by itself, over the state before the call: no earlier one's value is in it.
    pub alone: Term,
}

/// A whole-number argument that any value may have, unless guards say otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Param {
    /// The argument's name in the call.
    pub name: Arc<str>,
    #[serde(skip)]
    pub origin: Vec<(usize, usize, ArgId)>,
    /// The call is denied outside of these bounds, both included. Each is over the state and the parameters before
    /// this one; without a bound on both sides the values are not finite.
    pub lower: Vec<Term>,
    pub upper: Vec<Term>,
}

/// What an answer does to the state after the effect.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// `None`: no answer arrives, or one that changes nothing.
    #[serde(skip)]
    pub answer: Option<Answer>,
    pub witnessed: bool,
    /// Over the state after the effect; as in [`Class::effect`]. One without a value faults the session.
    pub changes: Vec<Assign>,
}

/// A tool result, `isError` ones included, or a text; what a recording holds as `result`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer(pub Json);

/// One step of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub class: usize,
    pub outcome: usize,
    /// The values of the class's parameters.
    pub params: Vec<i64>,
}

/// What is searched for, from the initial state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Goal {
    /// A reachable state in which the term is true.
    State(Term),
    /// A reachable state in which for one of these classes (an index) and some parameters the term is true. The call
    /// itself need not be allowed: `System::allowed` says that.
    Call(Vec<(usize, Term)>),
    /// A reachable state in which the term is true and no call of these classes is allowed, with any parameters.
    Stuck { state: Term, classes: Vec<usize> },
}

impl Class {
    /// The tool of the call; of an answer none.
    #[must_use]
    pub fn tool(&self) -> Option<usize> {
        match self.kind {
            Kind::Call { tool } => Some(tool),
            Kind::Answer { .. } => None,
        }
    }

    /// The arguments of a real call with these parameters.
    #[must_use]
    pub fn arguments(&self, params: &[i64]) -> Json {
        let mut call = self.call.clone();
        if let Json::Object(object) = &mut call {
            for (param, value) in self.params.iter().zip(params) {
                object.set(&param.name, Json::Number((*value).into()));
            }
        }
        call
    }

    /// The effect as one value for each variable that it assigns.
    #[must_use]
    pub fn committed(&self) -> Vec<(usize, &Term)> {
        last_values(&self.effect)
    }
}

impl Outcome {
    /// The changes as one value for each variable.
    #[must_use]
    pub fn committed(&self) -> Vec<(usize, &Term)> {
        last_values(&self.changes)
    }
}

fn last_values(assigns: &[Assign]) -> Vec<(usize, &Term)> {
    let mut values: Vec<(usize, &Term)> = Vec::new();
    for assign in assigns {
        match values.iter_mut().find(|(var, _)| *var == assign.var) {
            Some((_, term)) => *term = &assign.term,
            None => values.push((assign.var, &assign.term)),
        }
    }
    values
}

impl System {
    /// The state before the first call.
    #[must_use]
    pub fn initial(&self) -> Vec<i64> {
        self.vars.iter().map(|var| var.init).collect()
    }

    /// The condition under which the side allows a call of the class, over the state before it and its parameters;
    /// total. `None` asks for all sides.
    #[must_use]
    pub fn allowed(&self, class: &Class, side: Option<usize>) -> Term {
        let of_side = |other: usize| side.is_none_or(|side| side == other);
        let mut all = Vec::new();
        if let Some(fault) = self.fault {
            all.push(Term::not(Term::Var(fault)));
        }
        let mut must = |term: &Term| {
            all.push(term.has_value());
            all.push(term.guarded());
        };
        for guard in class.guards.iter().filter(|guard| of_side(guard.side)) {
            must(&guard.term);
        }
        if matches!(class.kind, Kind::Call { .. }) {
            let effect = class.committed();
            for (at, invariant) in self.invariants.iter().enumerate().filter(|(_, one)| of_side(one.side)) {
                if self.asks(class, at) {
                    must(&after(&invariant.term, &effect));
                }
            }
        }
        let parts = class.effect.iter().filter(|assign| of_side(assign.side)).map(|assign| assign.term.has_value());
        all.extend(parts.collect::<Vec<_>>());
        Term::and(all)
    }

    /// Whether a call of the class can be denied by the invariant.
    #[must_use]
    pub fn asks(&self, class: &Class, invariant: usize) -> bool {
        class.affected.contains(&invariant) || self.fragile.get(invariant) != Some(&false)
    }

    /// Sees which invariants answers can break.
    pub(super) fn look_at_answers(&mut self) {
        let changes = || {
            let classes = self.classes.iter().flat_map(|class| &class.outcomes);
            classes.flat_map(|outcome| &outcome.changes).filter(|change| change.term != Term::Var(change.var))
        };
        let changed: std::collections::BTreeSet<usize> = changes().map(|change| change.var).collect();
        let fragile = |invariant: &Invariant| changed.iter().any(|var| invariant.term.reads(*var));
        self.fragile = self.invariants.iter().map(fragile).collect();
    }

    /// A term in the policy language, for people.
    #[must_use]
    pub fn shown<'t>(&'t self, term: &'t Term) -> Shown<'t, Self> {
        Shown(term, self)
    }
}

/// The term in the state that the assignments lead to.
#[must_use]
pub fn after(term: &Term, values: &[(usize, &Term)]) -> Term {
    term.replace(&|leaf| match leaf {
        Term::Var(at) => values.iter().find(|(var, _)| var == at).map(|(_, value)| (*value).clone()),
        _ => None,
    })
}

impl Names for System {
    fn var(&self, at: usize) -> String {
        self.vars.get(at).map_or_else(|| format!("?{at}"), |var| var.name.to_string())
    }

    fn param(&self, at: usize) -> String {
        format!("argument {at}")
    }

    fn text(&self, beside: &Term, at: i64) -> Option<String> {
        let is_text = |term: &Term| match term {
            Term::Var(var) => self.vars.get(*var).is_some_and(|var| var.ty == VarType::Text),
            _ => false,
        };
        let text = self.texts.get(usize::try_from(at).ok()?)?;
        is_text(beside).then(|| format!("{text:?}"))
    }
}
