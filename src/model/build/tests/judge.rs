//! Holds the classes of a tool against what the evaluator does with one call and one answer.

use crate::eval::{Answer, Call, Policy, Rule, RuleEvidence, Session};
use crate::ir::Value;
use crate::json::{Json, Object};
use crate::model::{Class, Guard, Label, NoValue, System, Term, Var, VarType};

#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) built: usize,
    pub(super) classes: usize,
    pub(super) lost: usize,
    pub(super) calls: usize,
    pub(super) allowed: usize,
    pub(super) answers: usize,
}

pub(super) struct Judge<'j> {
    pub(super) system: &'j System,
    pub(super) sides: &'j [&'j Policy],
    pub(super) tool: usize,
    pub(super) arguments: &'j Json,
    pub(super) answer: &'j Json,
}

type Trace = Vec<Vec<RuleEvidence>>;

impl Judge<'_> {
    pub(super) fn judge(&self, state: &[i64], figures: &mut Figures) -> Result<(), String> {
        let tool = &self.system.tools[self.tool];
        let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: self.arguments };
        let mut sessions: Vec<Session> =
            (0..self.sides.len()).map(|side| self.sides[side].session_in(&self.values(side, state)).unwrap()).collect();
        let trace: Trace = sessions.iter().map(|session| session.trace(&call)).collect();
        let permits: Vec<bool> = sessions.iter_mut().map(|one| one.check(&call).decision.permits()).collect();
        let allowed = permits.iter().all(|permits| *permits);
        figures.calls += 1;
        figures.allowed += usize::from(allowed);
        let of_tool = || self.system.classes.iter().filter(|class| class.tool() == Some(self.tool));
        let fitting: Vec<&Class> = of_tool().filter(|class| self.fits(class, state, &trace, &permits)).collect();
        let shown = || -> Vec<String> {
            let guard = |guard: &Guard| format!("[{} {}]", guard.side, self.system.shown(&guard.term));
            of_tool().map(|class| class.guards.iter().map(guard).collect::<Vec<_>>().join(" ")).collect()
        };
        if fitting.is_empty() {
            let failing = |rules: &Vec<RuleEvidence>| {
                rules.iter().filter(|rule| matches!(rule.rule, Rule::Guard { .. }) && rule.denies()).count()
            };
            // What several rules refuse has no class.
            let refused = permits.iter().all(|permits| !permits) && trace.iter().any(|rules| failing(rules) > 1);
            return if refused { Ok(()) } else { Err(format!("{permits:?}\n{:#?}\n{:?}", shown(), told(&trace))) };
        }
        if !allowed {
            return Ok(());
        }
        let Some(after) = self.numbers(&sessions) else { return Ok(()) };
        figures.answers += 1;
        let answers: Trace =
            sessions.iter().map(|session| session.trace_answer(&call, Answer::Result(self.answer))).collect();
        let follows = |class: &&Class| {
            let params = self.params(class);
            class.outcomes.iter().any(|outcome| {
                let rules =
                    answers.iter().enumerate().flat_map(|(side, rules)| rules.iter().map(move |rule| (side, rule)));
                rules.into_iter().all(|(side, rule)| {
                    let label = Some(Label { side, rule: rule.rule });
                    let change = outcome.changes.iter().find(|change| change.label == label);
                    let Rule::OnResult { action, assignment } = rule.rule else { return false };
                    let var = self.sides[side].typed().actions[action].on_result[assignment].variable;
                    let at = self.system.vars.iter().position(|known| known.origin == Some((side, var))).unwrap();
                    let term = change.map_or(Term::Var(at), |change| change.term.clone());
                    same(term.value(&after, &params), rule.value.as_ref())
                })
            })
        };
        if fitting.iter().any(follows) {
            Ok(())
        } else {
            let outcomes: Vec<_> = fitting.iter().map(|class| &class.outcomes).collect();
            Err(format!("no outcome: {outcomes:?}\n{:?}", told(&answers)))
        }
    }

    fn values(&self, side: usize, state: &[i64]) -> Object {
        let mut object = Object::default();
        for (var, value) in
            self.system.vars.iter().zip(state).filter(|(var, _)| var.origin.is_some_and(|o| o.0 == side))
        {
            let name = &self.sides[side].typed().var(var.origin.unwrap().1).unwrap().name;
            let json = match var.ty {
                VarType::Bool => Json::Bool(*value != 0),
                VarType::Int => Json::Number((*value).into()),
                VarType::Text => Json::String(self.system.texts[usize::try_from(*value).unwrap()].to_string()),
            };
            object.set(name, json);
        }
        object
    }

    /// The state of the sessions; nothing if a text is none of the table.
    fn numbers(&self, sessions: &[Session]) -> Option<Vec<i64>> {
        let value = |var: &Var| {
            let Some((side, id)) = var.origin else { return Some(0) };
            match &sessions[side].state()[id.0 as usize] {
                Value::Bool(value) => Some(i64::from(*value)),
                Value::Int(value) => value.as_i64(),
                Value::Str(text) => {
                    self.system.texts.iter().position(|known| known == text).map(|at| i64::try_from(at).unwrap())
                }
            }
        };
        self.system.vars.iter().map(value).collect()
    }

    fn params(&self, class: &Class) -> Vec<i64> {
        let number = |name: &str| match self.arguments.get(name) {
            Some(Json::Number(number)) => number.as_i64(),
            _ => None,
        };
        class.params.iter().map(|param| number(&param.name).unwrap()).collect()
    }

    fn fits(&self, class: &Class, state: &[i64], trace: &Trace, permits: &[bool]) -> bool {
        let params = self.params(class);
        let rules = class.guards.iter().map(|guard| (guard.label, &guard.term));
        let effects = class.effect.iter().map(|assign| (assign.label, &assign.term));
        let agrees = rules.chain(effects).all(|(label, term)| {
            let Some(label) = label else { return term.value(state, &params) == Ok(0) };
            let real = trace[label.side].iter().find(|rule| rule.rule == label.rule);
            same(term.value(state, &params), real.and_then(|rule| rule.value.as_ref()))
        });
        let verdicts = permits.iter().enumerate().all(|(side, permits)| {
            self.system.allowed(class, Some(side)).value(state, &params) == Ok(i64::from(*permits))
        });
        let within = |bound: &Term, test: &dyn Fn(i64) -> bool| bound.value(state, &params).is_ok_and(test);
        let bounded = class.params.iter().zip(&params).all(|(param, value)| {
            param.lower.iter().all(|bound| within(bound, &|bound| bound <= *value))
                && param.upper.iter().all(|bound| within(bound, &|bound| *value <= bound))
        });
        agrees && verdicts && (bounded || permits.iter().all(|permits| !permits))
    }
}

fn same(model: Result<i64, NoValue>, real: Option<&Value>) -> bool {
    match (model, real) {
        (Ok(value), Some(Value::Bool(real))) => (value != 0) == *real,
        (Ok(value), Some(Value::Int(real))) => real.as_i64() == Some(value),
        // Another text may stand for it.
        (Ok(_), Some(Value::Str(_))) => true,
        (Err(NoValue::Undefined), None) => true,
        _ => false,
    }
}

fn told(trace: &Trace) -> Vec<(Rule, Option<&Value>)> {
    trace.iter().flatten().map(|rule| (rule.rule, rule.value.as_ref())).collect()
}
