//! What is searched for, as cases over one state. A proof and a trace ask slightly different questions where a
//! call is not witnessed: each the one that is safe.

use super::clock::Clock;
use super::encode::{Place, Value, or, params, state, truth};
use super::project;
use super::sexpr;
use super::transition::holds;
use crate::model::{Class, Goal, System, Term};
use z3::ast::{Ast, Bool, Int};
use z3::{Goal as Formulas, Tactic};

/// Reached where one of the cases is true for some values of its parameters. Terms are total.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) cases: Vec<Case>,
    /// The goal as a term over the state alone, if there is one.
    pub(super) state: Option<Term>,
    /// For [`Goal::Stuck`]: no call of these classes is allowed.
    pub(super) stuck: Option<Stuck>,
}

#[derive(Debug)]
pub(super) struct Case {
    pub(super) class: Option<usize>,
    pub(super) params: usize,
    /// True wherever the goal can be; proofs show that it never is.
    pub(super) term: Term,
    /// True only where the goal really is; traces end in it.
    pub(super) strict: Term,
}

#[derive(Debug)]
pub(super) struct Stuck {
    pub(super) state: Term,
    /// For each class that really can be called: its parameters, and the condition under which it is allowed.
    pub(super) allowed: Vec<(usize, Term)>,
}

impl Target {
    pub(super) fn new(system: &System, goal: &Goal, clock: Clock) -> Result<Self, String> {
        let class = |at: usize| system.classes.get(at).ok_or_else(|| format!("the model has no class {at}"));
        match goal {
            Goal::State(term) => {
                let term = holds(term);
                let case = Case { class: None, params: 0, strict: term.clone(), term: term.clone() };
                Ok(Self { cases: vec![case], state: Some(term), stuck: None })
            }
            Goal::Call(calls) => {
                let mut cases = Vec::new();
                for (at, term) in calls {
                    let of = class(*at)?;
                    let term = holds(term);
                    let strict = if of.witnessed { term.clone() } else { Term::FALSE };
                    cases.push(Case { class: Some(*at), params: of.params.len(), term, strict });
                }
                let states: Option<Vec<Term>> =
                    cases.iter().map(|case| project::exists(&case.term, case.params)).collect();
                Ok(Self { cases, state: states.map(Term::or), stuck: None })
            }
            Goal::Stuck { state, classes } => {
                let state = holds(state);
                let mut open = Vec::new();
                let mut open_for_sure = Vec::new();
                let mut allowed = Vec::new();
                for at in classes {
                    let of = class(*at)?;
                    let condition = system.allowed(of, None);
                    let possible = exists(system, of, &condition, clock)?;
                    if of.witnessed {
                        open_for_sure.push(possible.clone());
                        allowed.push((of.params.len(), condition));
                    }
                    open.push(possible);
                }
                // The state is asked first: it is the smaller question.
                let none = |open: Vec<Term>| Term::and([state.clone(), Term::not(Term::or(open))]);
                let term = none(open_for_sure);
                let case = Case { class: None, params: 0, term: term.clone(), strict: none(open) };
                Ok(Self { cases: vec![case], state: Some(term), stuck: Some(Stuck { state, allowed }) })
            }
        }
    }

    /// The target in a state; `suffix` names its parameters.
    pub(super) fn reached(&self, vars: &[Value], suffix: &str) -> Result<Bool, String> {
        self.whole(vars, suffix, |case| &case.term)
    }

    /// The target, only where it really is.
    pub(super) fn really_reached(&self, vars: &[Value], suffix: &str) -> Result<Bool, String> {
        self.whole(vars, suffix, |case| &case.strict)
    }

    fn whole(&self, vars: &[Value], suffix: &str, of: impl Fn(&Case) -> &Term) -> Result<Bool, String> {
        let cases = self.cases.iter().enumerate();
        let all = cases.map(|(at, case)| truth(of(case), Place { vars, params: &self.params(at, suffix) }));
        Ok(or(&all.collect::<Result<Vec<_>, _>>()?))
    }

    /// The parameters of a case in that state.
    pub(super) fn params(&self, case: usize, suffix: &str) -> Vec<Int> {
        let count = self.cases.get(case).map_or(0, |case| case.params);
        params(count, &format!("{suffix}g{case}"))
    }
}

/// The condition without the class's parameters: by our own hand, or else by the solver.
fn exists(system: &System, class: &Class, condition: &Term, clock: Clock) -> Result<Term, String> {
    if let Some(term) = project::exists(condition, class.params.len()) {
        return Ok(term);
    }
    let vars = state(system, "");
    let own = params(class.params.len(), "");
    let place = Place { vars: &vars, params: &own };
    let bounds: Vec<&dyn Ast> = own.iter().map(|param| param as &dyn Ast).collect();
    let some = z3::ast::exists_const(&bounds, &[], &truth(condition, place)?);
    let refused = || "whether any arguments are allowed depends on them in a way that cannot be solved".to_owned();
    let formulas = Formulas::new(false, false, false);
    formulas.assert(&some);
    let tactic = Tactic::new("qe2").try_for(clock.slice(30).left());
    let result = tactic.apply(&formulas, None).map_err(|_| refused())?;
    let mut alternatives = Vec::new();
    for formulas in result.list_subgoals() {
        let mut all = Vec::new();
        for formula in formulas.get_formulas() {
            all.push(sexpr::formula(&formula.to_string(), &variable(system)).ok_or_else(refused)?);
        }
        alternatives.push(Term::and(all));
    }
    Ok(holds(&Term::or(alternatives)))
}

/// Reads the names that [`state`] gives without a suffix.
fn variable(system: &System) -> impl Fn(&str) -> Option<Term> {
    let count = system.vars.len();
    move |name| name.strip_prefix('v')?.parse().ok().filter(|at| *at < count).map(Term::Var)
}
