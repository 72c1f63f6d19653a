//! Calls that overlap: an answer changes the state at any time after its call, or never, and other calls are decided
//! in between.

use super::system::{Assign, Class, Guard, Kind, Outcome, System, Var, VarType};
use super::term::Term;
use crate::json::Json;

/// The system in which answers are steps of their own, behind its classes; answers that change the same are one. `bound`:
/// at most so many calls with such an answer are in flight at once, each of which is answered at most once, so that
/// every run is a real one. `None`: a call may be answered again and again, so that every real run is one.
#[must_use]
pub fn overlapping(system: &System, bound: Option<u32>) -> System {
    let mut out = system.clone();
    let mut answers: Vec<Late> = Vec::new();
    for (at, class) in system.classes.iter().enumerate() {
        for outcome in class.outcomes.iter().skip(1) {
            let mut outcome = outcome.clone();
            // The values that the call was made with are not remembered, so a run could mix them up.
            let own_values = outcome.changes.iter().any(|change| change.term.has_params());
            outcome.witnessed &= class.witnessed && (bound.is_none() || !own_values);
            out.late.push((at, outcome.clone()));
            let known =
                answers.iter_mut().find(|late| !own_values && !late.own_values && same(&late.outcome, &outcome));
            if let Some(late) = known {
                // Only calls with a witness count towards real runs.
                if outcome.witnessed && !late.outcome.witnessed {
                    late.outcome = outcome.clone();
                }
                late.calls.push((at, outcome.witnessed));
            } else {
                let calls = vec![(at, outcome.witnessed)];
                answers.push(Late { class: at, outcome, own_values, calls, var: 0 });
            }
        }
    }
    for (at, late) in answers.iter_mut().enumerate() {
        late.var = out.vars.len();
        let ty = if bound.is_some() { VarType::Int } else { VarType::Bool };
        let name = format!("calls in flight, answer {}", at + 1).into();
        out.vars.push(Var { name, ty, init: 0, origin: None, capped: false });
    }
    let in_flight = answers.iter().map(|late| Term::Var(late.var)).reduce(Term::add).unwrap_or(Term::Int(0));
    for (at, class) in out.classes.iter_mut().enumerate() {
        class.outcomes.truncate(1);
        for late in &answers {
            let Some((_, witnessed)) = late.calls.iter().find(|(call, _)| *call == at) else { continue };
            let term = match bound {
                Some(_) if !witnessed => continue,
                Some(bound) => {
                    // Without room the answer of one more call never comes.
                    let room = Term::lt(in_flight.clone(), Term::Int(i64::from(bound)));
                    let more = Term::add(Term::Var(late.var), Term::Int(1));
                    Term::ite(room, more, Term::Var(late.var))
                }
                None => Term::TRUE,
            };
            class.effect.push(Assign { var: late.var, label: None, side: 0, term, alone: Term::Var(late.var) });
        }
    }
    for late in answers {
        let params = system.classes.get(late.class).map(|class| class.params.clone()).unwrap_or_default();
        let marks = system.classes.get(late.class).map_or(0, |class| class.marks.len());
        let mut answer = late.answer(bound.is_some(), params, marks);
        for (var, term) in &system.watches {
            let alone = Term::Var(*var);
            answer.effect.push(Assign { var: *var, label: None, side: 0, term: term.clone(), alone });
        }
        out.classes.push(answer);
    }
    out
}

/// An answer that comes on its own.
struct Late {
    /// A class whose calls it answers.
    class: usize,
    outcome: Outcome,
    /// Whether it depends on the whole-number arguments of its call.
    own_values: bool,
    /// All such classes, and whether a real call with this answer is known.
    calls: Vec<(usize, bool)>,
    /// How many such calls are in flight.
    var: usize,
}

impl Late {
    fn answer(self, counted: bool, params: Vec<super::Param>, marks: usize) -> Class {
        let var = self.var;
        let pending = if counted { Term::lt(Term::Int(0), Term::Var(var)) } else { Term::Var(var) };
        let effect = if counted {
            let term = Term::sub(Term::Var(var), Term::Int(1));
            vec![Assign { var, label: None, side: 0, term, alone: Term::Var(var) }]
        } else {
            Vec::new()
        };
        Class {
            kind: Kind::Answer { class: self.class },
            call: Json::Null,
            witnessed: self.outcome.witnessed,
            params: if self.own_values { params } else { Vec::new() },
            guards: vec![Guard { label: None, side: 0, term: pending }],
            effect,
            affected: Vec::new(),
            outcomes: vec![self.outcome],
            marks: vec![Term::FALSE; marks],
        }
    }
}

/// Whether two outcomes change the same.
pub(crate) fn same(a: &Outcome, b: &Outcome) -> bool {
    a.committed() == b.committed()
}
