//! Calls that overlap: an answer changes the state at any time after its call, or never, and other calls are decided
//! in between.

use super::system::{Assign, Class, Guard, Kind, Outcome, System, Var, VarType};
use super::term::Term;
use crate::json::Json;

/// The system in which answers are steps of their own, behind its classes; answers that change the same are one. `bound`:
/// at most so many calls with an answer are in flight at once, each of which is answered at most once, so that every run
/// is a real one. `None`: a call may be answered again and again, so that every real run is one.
#[must_use]
pub fn overlapping(system: &System, bound: Option<u32>) -> System {
    let mut out = system.clone();
    let mut flights = if bound.is_some() { by_answers(system) } else { by_answer(system) };
    for (at, flight) in flights.iter_mut().enumerate() {
        flight.var = out.vars.len();
        let ty = if bound.is_some() { VarType::Int } else { VarType::Bool };
        let name = format!("calls in flight, kind {}", at + 1).into();
        out.vars.push(Var { name, ty, init: 0, origin: None, capped: false });
    }
    let in_flight = flights.iter().map(|flight| Term::Var(flight.var)).reduce(Term::add).unwrap_or(Term::Int(0));
    for (at, class) in out.classes.iter_mut().enumerate() {
        class.outcomes.truncate(1);
        for flight in flights.iter().filter(|flight| flight.calls.contains(&at)) {
            let var = flight.var;
            let term = bound.map_or(Term::TRUE, |bound| {
                // Without room the answer of one more call never comes.
                let room = Term::lt(in_flight.clone(), Term::Int(i64::from(bound)));
                Term::ite(room, Term::add(Term::Var(var), Term::Int(1)), Term::Var(var))
            });
            class.effect.push(Assign { var, label: None, side: 0, term, alone: Term::Var(var) });
        }
    }
    for flight in flights {
        for outcome in flight.answers(bound.is_some()) {
            if bound.is_some() {
                out.late.extend(flight.late(system, &outcome, out.classes.len()));
            }
            let mut answer = flight.class(system, outcome, bound.is_some());
            for (var, term) in &system.watches {
                let alone = Term::Var(*var);
                answer.effect.push(Assign { var: *var, label: None, side: 0, term: term.clone(), alone });
            }
            out.classes.push(answer);
        }
    }
    out
}

/// What may answer a call later.
#[derive(Clone, Debug)]
pub struct Late {
    /// The class of the call.
    pub call: usize,
    /// The class of the answer.
    pub answer: usize,
    pub outcome: Outcome,
}

/// Calls in flight that the same answers can come to.
struct Flight {
    /// Their classes.
    calls: Vec<usize>,
    answers: Vec<Outcome>,
    /// Whether an answer depends on the whole-number arguments of its call.
    own_values: bool,
    /// How many such calls are in flight, or whether there was one.
    var: usize,
}

fn has_params(outcome: &Outcome) -> bool {
    outcome.changes.iter().any(|change| change.term.has_params())
}

/// Calls that can have the same answer; one that can have several counts for each.
fn by_answer(system: &System) -> Vec<Flight> {
    let mut flights: Vec<Flight> = Vec::new();
    for (at, class) in system.classes.iter().enumerate() {
        for outcome in class.outcomes.iter().skip(1) {
            // The values that a call was made with are not remembered.
            let own_values = has_params(outcome);
            let known = flights.iter_mut().find(|flight| {
                !own_values && !flight.own_values && flight.answers.iter().any(|known| same(known, outcome))
            });
            match known {
                Some(flight) => flight.calls.push(at),
                None => flights.push(Flight { calls: vec![at], answers: vec![outcome.clone()], own_values, var: 0 }),
            }
        }
    }
    flights
}

/// Real calls by all the real answers that they can have.
fn by_answers(system: &System) -> Vec<Flight> {
    let mut flights: Vec<Flight> = Vec::new();
    for (at, class) in system.classes.iter().enumerate().filter(|(_, class)| class.witnessed) {
        // Values that are not remembered could be mixed up.
        let real = class.outcomes.iter().skip(1).filter(|outcome| outcome.witnessed && !has_params(outcome));
        let answers: Vec<Outcome> = real.cloned().collect();
        let alike = |flight: &Flight| {
            let all = |some: &[Outcome], others: &[Outcome]| some.iter().all(|a| others.iter().any(|b| same(a, b)));
            all(&flight.answers, &answers) && all(&answers, &flight.answers)
        };
        match flights.iter_mut().find(|flight| alike(flight)) {
            _ if answers.is_empty() => {}
            Some(flight) => flight.calls.push(at),
            None => flights.push(Flight { calls: vec![at], answers, own_values: false, var: 0 }),
        }
    }
    flights
}

impl Flight {
    fn answers(&self, real: bool) -> Vec<Outcome> {
        self.answers.iter().map(|outcome| Outcome { witnessed: real, ..outcome.clone() }).collect()
    }

    /// The answer as each call can have it.
    fn late(&self, system: &System, outcome: &Outcome, answer: usize) -> Vec<Late> {
        let own = |call: &usize| {
            let outcomes = &system.classes.get(*call)?.outcomes;
            let own = outcomes.iter().skip(1).find(|own| own.witnessed && same(own, outcome))?;
            Some(Late { call: *call, answer, outcome: own.clone() })
        };
        self.calls.iter().filter_map(own).collect()
    }

    fn class(&self, system: &System, outcome: Outcome, counted: bool) -> Class {
        let var = self.var;
        let call = self.calls.first().copied().unwrap_or_default();
        let of_call = system.classes.get(call);
        let pending = if counted { Term::lt(Term::Int(0), Term::Var(var)) } else { Term::Var(var) };
        let effect = if counted {
            let term = Term::sub(Term::Var(var), Term::Int(1));
            vec![Assign { var, label: None, side: 0, term, alone: Term::Var(var) }]
        } else {
            Vec::new()
        };
        let own_params = of_call.filter(|_| self.own_values).map(|class| class.params.clone());
        let mut params = own_params.unwrap_or_default();
        for bounds in params.iter_mut().flat_map(|param| [&mut param.lower, &mut param.upper]) {
            // The call was decided in an earlier state: what bounded its values then need not bound them now.
            bounds.retain(|bound| !bound.any(&|term| matches!(term, Term::Var(_))));
        }
        Class {
            kind: Kind::Answer { class: call },
            call: Json::Null,
            witnessed: outcome.witnessed,
            params,
            guards: vec![Guard { label: None, side: 0, term: pending }],
            effect,
            affected: Vec::new(),
            outcomes: vec![outcome],
            marks: vec![Term::FALSE; of_call.map_or(0, |class| class.marks.len())],
        }
    }
}

/// Whether two outcomes change the same, and fault the session alike.
fn same(a: &Outcome, b: &Outcome) -> bool {
    fn partial(outcome: &Outcome) -> impl Iterator<Item = &Term> {
        outcome.changes.iter().map(|change| &change.term).filter(|term| !term.is_total())
    }
    a.committed() == b.committed() && partial(a).eq(partial(b))
}
