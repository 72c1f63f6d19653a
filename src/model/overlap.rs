//! Calls that overlap: an answer changes the state at any time after its call, or never, and other calls are decided
//! in between.

use super::system::{Assign, Class, Guard, Kind, Outcome, System, Var, VarType};
use super::term::Term;
use crate::json::Json;

/// The system in which answers are steps of their own, behind its classes. `bound`: at most so many calls with such an
/// answer are in flight at once, each of which is answered at most once, so that every run is a real one. `None`: a
/// call may be answered again and again, so that every real run is one.
#[must_use]
pub fn overlapping(system: &System, bound: Option<u32>) -> System {
    let mut out = system.clone();
    let mut waiting = Vec::new();
    let calls: Vec<usize> =
        (0..system.classes.len()).filter(|at| system.classes.get(*at).is_some_and(|c| c.outcomes.len() > 1)).collect();
    for class in &calls {
        let var = out.vars.len();
        let ty = if bound.is_some() { VarType::Int } else { VarType::Bool };
        let name = format!("calls of class {class} in flight").into();
        out.vars.push(Var { name, ty, init: 0, origin: None, capped: false });
        waiting.push((*class, var));
    }
    let in_flight = waiting.iter().map(|(_, var)| Term::Var(*var)).reduce(Term::add).unwrap_or(Term::Int(0));
    for (class, var) in &waiting {
        let Some(original) = system.classes.get(*class) else { continue };
        if let Some(call) = out.classes.get_mut(*class) {
            call.outcomes.truncate(1);
            let term = match bound {
                Some(bound) => {
                    // Without room the answer of one more call never comes.
                    let room = Term::lt(in_flight.clone(), Term::Int(i64::from(bound)));
                    let more = Term::add(Term::Var(*var), Term::Int(1));
                    Term::ite(room, more, Term::Var(*var))
                }
                None => Term::TRUE,
            };
            call.effect.push(Assign { var: *var, label: None, side: 0, term, alone: Term::Var(*var) });
        }
        for (which, outcome) in original.outcomes.iter().enumerate().skip(1) {
            out.classes.push(answer(original, *class, which, outcome, *var, bound.is_some()));
        }
    }
    out
}

fn answer(call: &Class, class: usize, which: usize, outcome: &Outcome, var: usize, counted: bool) -> Class {
    let pending = if counted { Term::lt(Term::Int(0), Term::Var(var)) } else { Term::Var(var) };
    let mut outcome = outcome.clone();
    let effect = if counted {
        let term = Term::sub(Term::Var(var), Term::Int(1));
        vec![Assign { var, label: None, side: 0, term, alone: Term::Var(var) }]
    } else {
        Vec::new()
    };
    // The values that the call was made with are not remembered, so a run could mix them up.
    let mixes = counted && outcome.changes.iter().any(|change| change.term.has_params());
    outcome.witnessed &= call.witnessed && !mixes;
    Class {
        kind: Kind::Answer { class, outcome: which },
        call: Json::Null,
        witnessed: outcome.witnessed,
        params: call.params.clone(),
        guards: vec![Guard { label: None, side: 0, term: pending }],
        effect,
        affected: Vec::new(),
        // An answer that comes is one that changes something.
        outcomes: vec![outcome],
        marks: vec![Term::FALSE; call.marks.len()],
    }
}
