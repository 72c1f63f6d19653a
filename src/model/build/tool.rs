//! The classes of one tool's calls. Knows nothing of how texts are found.

use super::Request;
use super::answer::Answers;
use super::atom::Atom;
use super::joint::{Given, Joint};
use super::lower::{Atoms, Lowering};
use super::pool::Pool;
use super::rules::Rules;
use super::shape::{self, Shape};
use super::walk::{Found, Space, Walk};
use super::witness::{ALL_BUDGET, Calls};
use super::{numbers, split};
use crate::eval::Rule;
use crate::ir::{Assignment, Policy, Type};
use crate::json::Json;
use crate::model::universe::ToolName;
use crate::model::{Answer, Assign, Class, Gap, Guard, Kind, Label, Outcome, Param, System, Term, Tool};
use crate::policy::Default;
use crate::text::Span;
use std::cell::Cell;
use std::sync::Arc;

pub(super) fn add(request: &Request<'_>, name: &ToolName, first: &[usize], pool: &Pool, system: &mut System) {
    let typed: Vec<&Policy> = request.sides.iter().map(|policy| policy.typed()).collect();
    let matching = |policy: &&Policy| -> Vec<usize> {
        let actions = policy.actions.iter().enumerate();
        actions.filter(|(_, action)| action.matches(&name.name)).map(|(at, _)| at).collect()
    };
    let actions: Vec<Vec<usize>> = typed.iter().map(matching).collect();
    let tool = system.tools.len();
    system.tools.push(Tool {
        name: name.name.clone(),
        upstream: name.upstream.clone(),
        actions: actions.clone(),
        listed: name.listed,
    });
    system.gaps.extend(split::gaps(request, name, &actions));
    let sides: Vec<(&Policy, &[usize])> = typed.iter().copied().zip(actions.iter().map(Vec::as_slice)).collect();
    let place = |side: usize| {
        let action = actions.get(side).and_then(|own| own.first()).zip(typed.get(side));
        action.and_then(|(at, policy)| policy.actions.get(*at)).map(|action| action.span)
    };
    let span = (0..sides.len()).find_map(place).unwrap_or_default();
    let shapes = shape::shapes(&sides);
    if shapes.is_empty() {
        let refused = (0..sides.len()).map(|side| Guard { label: None, side, term: Term::FALSE }).collect();
        let rules = Rules { guards: refused, effect: Vec::new(), results: Vec::new(), marks: Vec::new() };
        let marks = vec![Term::FALSE; request.marks.len()];
        system.classes.push(Class {
            kind: Kind::Call { tool },
            call: Json::Object(crate::json::Object::default()),
            witnessed: true,
            params: Vec::new(),
            guards: rules.guards,
            effect: Vec::new(),
            affected: Vec::new(),
            outcomes: vec![nothing()],
            marks,
        });
    }
    for shape in shapes {
        OfShape { request, name, sides: &sides, first, pool, shape: &shape, tool, span }.add(system);
    }
}

fn nothing() -> Outcome {
    Outcome { answer: None, witnessed: true, changes: Vec::new() }
}

struct OfShape<'a> {
    request: &'a Request<'a>,
    name: &'a ToolName,
    sides: &'a [(&'a Policy, &'a [usize])],
    first: &'a [usize],
    pool: &'a Pool,
    shape: &'a Shape,
    tool: usize,
    span: Span,
}

impl OfShape<'_> {
    fn add(&self, system: &mut System) {
        let mut atoms = Atoms::default();
        let rules = self.rules(&mut atoms, &mut system.gaps);
        let (rules, values) = self.number_atoms(rules, &mut atoms);
        let joint = Joint::new(self.shape, &atoms, self.pool);
        let space = Space {
            shape: self.shape,
            atoms: &atoms,
            pool: self.pool,
            joint: &joint,
            numbers: &values,
            sides: self.sides.len(),
            answer: false,
        };
        let left = Cell::new(ALL_BUDGET);
        let calls = self.calls(&atoms, &[], &left);
        let mut find = |given: &Given| calls.find(given);
        let walk = Walk::run(&space, &rules, &mut find);
        if !walk.complete {
            let why = format!("the calls of `{}` fall into too many classes", crate::text::visible(&self.name.name));
            system.gaps.push(Gap { span: self.span, why });
        }
        for found in walk.found {
            let class = self.class(found, &space, system);
            system.classes.push(class);
        }
    }

    fn calls<'c>(&'c self, atoms: &'c Atoms, numbers: &'c [i64], left: &'c Cell<usize>) -> Calls<'c> {
        Calls { shape: self.shape, atoms, pool: self.pool, schema: self.name.schema.as_ref(), numbers, left }
    }

    fn rules(&self, atoms: &mut Atoms, gaps: &mut Vec<Gap>) -> Rules {
        let mut rules = Rules { guards: Vec::new(), effect: Vec::new(), results: Vec::new(), marks: Vec::new() };
        for (side, ((policy, actions), first)) in self.sides.iter().zip(self.first).enumerate() {
            let refused = Guard { label: None, side, term: Term::FALSE };
            if actions.is_empty() && policy.default == Default::Deny {
                rules.guards.push(refused);
                continue;
            }
            if self.shape.fits.get(side) != Some(&true) {
                rules.guards.push(refused);
                continue;
            }
            let mut lowering = Lowering {
                side,
                policy,
                first: *first,
                pool: self.pool,
                tool: &self.name.name,
                upstream: &self.name.upstream,
                shape: self.shape,
                action: None,
                given: Vec::new(),
                atoms,
                gaps,
            };
            let matching = || actions.iter().filter_map(|at| Some((*at, policy.actions.get(*at)?)));
            for (action, rule) in matching() {
                lowering.action = Some(rule);
                for (guard, written) in rule.guards.iter().enumerate() {
                    let label = Some(Label { side, rule: Rule::Guard { action, guard } });
                    rules.guards.push(Guard { label, side, term: lowering.term(&written.expr) });
                }
            }
            for (action, rule) in matching() {
                lowering.action = Some(rule);
                let label = |assignment| Rule::Effect { action, assignment };
                assignments(&rule.effect, &mut lowering, &label, &mut rules.effect);
            }
            lowering.given.clear();
            for (action, rule) in matching() {
                lowering.action = Some(rule);
                let label = |assignment| Rule::OnResult { action, assignment };
                assignments(&rule.on_result, &mut lowering, &label, &mut rules.results);
            }
        }
        for mark in self.request.marks {
            let side = self.sides.get(mark.side).zip(self.first.get(mark.side));
            let matched = mark.globs.iter().any(|glob| glob.matches(&self.name.name));
            let term = match (side, mark.when) {
                (Some(_), None) => Term::Bool(matched),
                (Some(((policy, actions), first)), Some(when))
                    if matched
                        && mark.action.is_none_or(|action| actions.contains(&action))
                        && (mark.action.is_none() || self.shape.fits.get(mark.side) == Some(&true)) =>
                {
                    let mut lowering = Lowering {
                        side: mark.side,
                        policy,
                        first: *first,
                        pool: self.pool,
                        tool: &self.name.name,
                        upstream: &self.name.upstream,
                        shape: self.shape,
                        action: mark.action.and_then(|action| policy.actions.get(action)),
                        given: Vec::new(),
                        atoms,
                        gaps,
                    };
                    lowering.term(when)
                }
                _ => Term::FALSE,
            };
            rules.marks.push(term);
        }
        rules
    }

    /// Turns arguments that are compared with constants alone into atoms; gives the values of each argument.
    fn number_atoms(&self, rules: Rules, atoms: &mut Atoms) -> (Rules, Vec<Vec<i64>>) {
        let mut values = vec![Vec::new(); self.shape.args.len()];
        let mut rules = rules;
        for (at, arg) in self.shape.args.iter().enumerate() {
            if arg.ty != Type::Int {
                continue;
            }
            if let Some(all) = numbers::representatives(&rules, at) {
                let atom = atoms.term(Atom::Number(at));
                rules = rules.map(&|term| matches!(term, Term::Param(own) if *own == at).then(|| atom.clone()));
                if let Some(slot) = values.get_mut(at) {
                    *slot = all;
                }
            }
        }
        (rules, values)
    }

    fn class(&self, found: Found<Json>, space: &Space<'_>, system: &mut System) -> Class {
        let Found { rules, witness, given, .. } = found;
        let witnessed = witness.is_some();
        let mut call = witness.unwrap_or_else(|| Json::Object(crate::json::Object::default()));
        let outcomes = self.outcomes(&rules, &call, space, system);
        let mut class = Class {
            kind: Kind::Call { tool: self.tool },
            call: Json::Null,
            witnessed,
            params: Vec::new(),
            guards: rules.guards.clone(),
            effect: rules.effect.clone(),
            affected: Vec::new(),
            outcomes,
            marks: rules.marks.clone(),
        };
        self.params(&rules, &given, space, &mut class, &mut call, system);
        class.call = call;
        let committed = class.committed();
        let changed: Vec<usize> =
            committed.into_iter().filter(|(var, term)| **term != Term::Var(*var)).map(|(var, _)| var).collect();
        let reads = |at: &usize| {
            system.invariants.get(*at).is_some_and(|invariant| changed.iter().any(|var| invariant.term.reads(*var)))
        };
        class.affected = (0..system.invariants.len()).filter(reads).collect();
        class
    }

    /// Numbers the whole-number arguments that are left, and bounds them.
    fn params(
        &self,
        rules: &Rules,
        given: &Given,
        space: &Space<'_>,
        class: &mut Class,
        call: &mut Json,
        system: &System,
    ) {
        let numbers: Vec<usize> = (0..self.shape.args.len())
            .filter(|at| {
                let is_it = |term: &Term| matches!(term, Term::Param(own) if own == at);
                let outcomes = class.outcomes.iter().flat_map(|outcome| &outcome.changes);
                rules.terms().chain(outcomes.map(|change| &change.term)).any(|term| term.any(&is_it))
            })
            .collect();
        if numbers.is_empty() {
            return;
        }
        let renumber = |term: &Term| match term {
            Term::Param(own) => numbers.iter().position(|at| at == own).map(Term::Param),
            _ => None,
        };
        let rules = rules.map(&renumber);
        class.guards.clone_from(&rules.guards);
        class.effect.clone_from(&rules.effect);
        class.marks.clone_from(&rules.marks);
        for outcome in &mut class.outcomes {
            for change in &mut outcome.changes {
                change.term = change.term.replace(&renumber);
            }
        }
        let mut sample: Vec<i64> = Vec::new();
        let mut free = vec![1; self.shape.args.len()];
        for (at, number) in numbers.iter().enumerate() {
            let Some(arg) = self.shape.args.get(*number) else { continue };
            let (lower, upper) = numbers::bounds(&rules, &system.invariants, at, self.sides.len());
            let initial = system.initial();
            let value = |term: &Term| term.value(&initial, &sample).ok();
            let (low, high) = (lower.iter().filter_map(value).max(), upper.iter().filter_map(value).min());
            let one = high.map_or(1, |high| high.min(1));
            let chosen = low.map_or(one, |low| low.max(one));
            sample.push(chosen);
            if let Some(slot) = free.get_mut(*number) {
                *slot = chosen;
            }
            class.params.push(Param { name: Arc::clone(&arg.name), origin: self.origin(&arg.name), lower, upper });
        }
        // The digits are part of the call's texts.
        if class.witnessed
            && sample.iter().any(|value| *value != 1)
            && let Some(better) = self.calls(space.atoms, &free, &Cell::new(ALL_BUDGET)).find(given)
        {
            *call = better;
        }
        // With other values the texts of the call may give other answers.
        let asked = space.atoms.0.iter().zip(given).filter(|(_, value)| value.is_some());
        class.witnessed &= !asked.into_iter().any(|(atom, _)| atom.reads_digits());
    }

    fn origin(&self, name: &str) -> Vec<(usize, usize, crate::ir::ArgId)> {
        let mut all = Vec::new();
        for (side, (policy, actions)) in self.sides.iter().enumerate() {
            for action in *actions {
                let args = policy.actions.get(*action).map(|action| action.args.as_slice()).unwrap_or_default();
                for (at, arg) in (0..).zip(args) {
                    if *arg.name == *name && self.shape.fits.get(side) == Some(&true) {
                        all.push((side, *action, crate::ir::ArgId(at)));
                    }
                }
            }
        }
        all
    }

    fn outcomes(&self, rules: &Rules, call: &Json, space: &Space<'_>, system: &mut System) -> Vec<Outcome> {
        let mut outcomes = vec![nothing()];
        if rules.results.is_empty() {
            return outcomes;
        }
        let space = Space { answer: true, ..*space };
        let own = Rules { guards: Vec::new(), effect: Vec::new(), results: rules.results.clone(), marks: Vec::new() };
        let answers = Answers { atoms: space.atoms, pool: self.pool, shape: self.shape, call };
        let mut find = |given: &Given| answers.find(given);
        let walk = Walk::run(&space, &own, &mut find);
        if !walk.complete {
            let why = format!("the answers of `{}` fall into too many classes", crate::text::visible(&self.name.name));
            system.gaps.push(Gap { span: self.span, why });
        }
        for found in walk.found {
            let changes = found.rules.results;
            let identity = |change: &Assign| change.term == Term::Var(change.var);
            if !changes.iter().all(identity) {
                let witnessed = found.witness.is_some();
                outcomes.push(Outcome { answer: found.witness.map(Answer), witnessed, changes });
            }
        }
        outcomes
    }
}

fn assignments(all: &[Assignment], lowering: &mut Lowering<'_>, label: &dyn Fn(usize) -> Rule, into: &mut Vec<Assign>) {
    for (at, assignment) in all.iter().enumerate() {
        let earlier = std::mem::take(&mut lowering.given);
        let alone = lowering.term(&assignment.expr);
        // Earlier values of this variable alone stand before the state's.
        lowering.given = earlier.iter().filter(|(id, _)| *id == assignment.variable).cloned().collect();
        // Without one it is the same, and what is not known of it is not asked twice.
        let term = if lowering.given.is_empty() { alone.clone() } else { lowering.term(&assignment.expr) };
        lowering.given = earlier;
        lowering.given.retain(|(id, _)| *id != assignment.variable);
        lowering.given.push((assignment.variable, term.clone()));
        let side = lowering.side;
        let var = lowering.first + assignment.variable.0 as usize;
        into.push(Assign { var, label: Some(Label { side, rule: label(at) }), side, term, alone });
    }
}
