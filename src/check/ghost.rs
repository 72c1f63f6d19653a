//! Variables that only an analysis has: they remember what has happened and change no decision.

use crate::model::{Assign, Kind, System, Term, Var, VarType};

/// Adds a variable that each call updates; `update` gives its new value over the state before the call, from the
/// class's index. Gives the variable's place.
pub(super) fn remember(
    system: &mut System,
    name: &str,
    ty: VarType,
    init: i64,
    update: impl Fn(&System, usize, usize) -> Term,
) -> usize {
    let var = system.vars.len();
    system.vars.push(Var { name: name.into(), ty, init, origin: None, capped: false });
    let terms: Vec<Term> = (0..system.classes.len()).map(|class| update(system, class, var)).collect();
    for (class, term) in system.classes.iter_mut().zip(terms) {
        if term != Term::Var(var) && matches!(class.kind, Kind::Call { .. }) {
            class.effect.push(Assign { var, label: None, side: 0, term, alone: Term::Var(var) });
        }
    }
    var
}

/// Remembers that an event has happened: once a call with this mark was made, the variable stays true.
pub(super) fn happened(system: &mut System, name: &str, mark: usize) -> usize {
    remember(system, name, VarType::Bool, 0, |system, class, var| {
        let event = mark_of(system, class, mark);
        Term::or([Term::Var(var), event])
    })
}

/// Counts an event, up to one more than `most`.
pub(super) fn counted(system: &mut System, name: &str, mark: usize, most: i64) -> usize {
    remember(system, name, VarType::Int, 0, |system, class, var| {
        let more = Term::and([Term::le(Term::Var(var), Term::Int(most)), mark_of(system, class, mark)]);
        Term::ite(more, Term::add(Term::Var(var), Term::Int(1)), Term::Var(var))
    })
}

/// Remembers that a condition over the state held before some step.
pub(super) fn held(system: &mut System, name: &str, condition: &Term) -> usize {
    let var = remember(system, name, VarType::Bool, 0, |_, _, var| Term::or([Term::Var(var), condition.clone()]));
    system.watches.push((var, Term::or([Term::Var(var), condition.clone()])));
    var
}

/// Whether a call of the class is the event; a condition without a value is none.
pub(super) fn mark_of(system: &System, class: usize, mark: usize) -> Term {
    let term = system.classes.get(class).and_then(|class| class.marks.get(mark));
    term.map_or(Term::FALSE, super::terms::holds)
}
