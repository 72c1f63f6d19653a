//! Answers in words: each question whose answer is the bad one becomes a finding, after its run was replayed.

use super::blockers::{Nature, blocked, cause, lines, main_rule, rule_name};
use super::confirm::{Replayed, replay};
use super::near_miss::near_miss;
use super::plan::{Question, Subject, Wants, is_ban, takes_part, terminal_name};
use super::solve::{Hit, How, Reach, Solved};
use crate::eval::{Policy, Rule};
use crate::ir::CheckKind;
use crate::model::Class;
use crate::text::{Code, Diagnostic, Severity, Span};

/// The findings of a group of questions.
pub(super) fn of(policy: &Policy, place: Span, solved: &Solved, found: &mut Vec<Diagnostic>) {
    let mut teller = Teller { policy, place, solved, found: Vec::new(), told: Vec::new() };
    for (question, reach) in solved.questions.iter().zip(&solved.reaches) {
        if question.wants.satisfied(reach) != Some(false) || teller.is_echo(question.subject) {
            continue;
        }
        let told = match reach {
            Reach::Reached(hit) => teller.reached(question, hit),
            Reach::Never(how) => teller.never(question, how),
            Reach::Unknown(_) => continue,
        };
        match told {
            Ok(Some(diagnostic)) => {
                teller.told.push(question.subject);
                teller.found.push(diagnostic);
            }
            Ok(None) => {}
            Err(why) => teller.found.push(internal(place, &question.id, &why)),
        }
    }
    found.append(&mut teller.found);
}

/// Steps of a run that is replayed though it is not shown.
const MAX_STEPS: usize = 1_000;

/// Takes back what rests on a run that the evaluator decides otherwise; runs that are shown are replayed anyway.
pub(super) fn doubt(policy: &Policy, place: Span, solved: &mut Solved, found: &mut Vec<Diagnostic>) {
    for at in 0..solved.questions.len() {
        let (Some(question), Some(Reach::Reached(hit))) = (solved.questions.get(at), solved.reaches.get(at)) else {
            continue;
        };
        if question.wants != Wants::Reachable || hit.steps.len() > MAX_STEPS {
            continue;
        }
        let system = solved.system_of(hit);
        let Err(why) = replay(policy, 0, system, &hit.steps, hit.call.as_ref(), hit.shortest) else { continue };
        found.push(internal(place, &question.id, &why));
        if let Some(reach) = solved.reaches.get_mut(at) {
            *reach = Reach::Unknown("the model and the evaluator disagree".to_owned());
        }
    }
}

/// A disagreement between the model and the evaluator.
pub(super) fn internal(place: Span, id: &str, why: &str) -> Diagnostic {
    Diagnostic::new(Code::PX9001, place.at_start(), format!("the model and the evaluator disagree on `{id}`: {why}"))
        .note("nothing is claimed about this question")
        .help("this is a bug of praxiom: please report it with the policy")
}

/// States and classes that are looked at for what comes nearest to an allowed call.
const MAX_NEAREST: usize = 20_000;

struct Teller<'c> {
    policy: &'c Policy,
    place: Span,
    solved: &'c Solved,
    found: Vec<Diagnostic>,
    /// Subjects that a finding was made of.
    told: Vec<Subject>,
}

type Told = Result<Option<Diagnostic>, String>;

impl Teller<'_> {
    /// Whether another finding has told the same thing already.
    fn is_echo(&self, subject: Subject) -> bool {
        let told = |subject| self.told.contains(&subject);
        match subject {
            Subject::CoveredDeadlock => told(Subject::Deadlock),
            // A deadlock by a broken invariant says how the answer broke it.
            Subject::UnsafeResult => {
                let system = self.solved.one();
                told(Subject::Deadlock) && !system.invariants.is_empty() && self.deadlock_is_unsafe()
            }
            Subject::ToolAllowed(at) => {
                let actions = self.solved.one().tools.get(at).and_then(|tool| tool.actions.first());
                actions.is_some_and(|actions| actions.iter().any(|action| told(Subject::ActionAllowed(*action))))
            }
            _ => false,
        }
    }

    fn deadlock_is_unsafe(&self) -> bool {
        let deadlock = self.solved.questions.iter().zip(&self.solved.reaches);
        deadlock.into_iter().any(|(question, reach)| match (question.subject, reach) {
            (Subject::Deadlock, Reach::Reached(hit)) => self.replayed(hit).is_ok_and(|replayed| {
                let safe = super::terms::safe(self.solved.system_of(hit));
                !super::confirm::value(&safe, &replayed.state, &[])
            }),
            _ => false,
        })
    }

    fn replayed(&self, hit: &Hit) -> Result<Replayed, String> {
        let system = self.solved.system_of(hit);
        replay(self.policy, 0, system, &hit.steps, hit.call.as_ref(), hit.shortest)
    }

    fn span(&self, rule: Rule) -> Span {
        self.policy.expression(rule).map_or(self.place, |expr| expr.span)
    }

    fn action_span(&self, at: usize) -> Span {
        self.policy.typed().actions.get(at).map_or(self.place, |action| action.span)
    }

    fn check_span(&self, at: usize) -> Span {
        self.policy.typed().checks.get(at).map_or(self.place, |check| check.span)
    }

    fn reached(&self, question: &Question, hit: &Hit) -> Told {
        let system = self.solved.system_of(hit);
        let mut replayed = self.replayed(hit)?;
        replayed.trace.near_miss = near_miss(system, &question.goal, &hit.steps, hit.call.as_ref());
        if !matches!(question.goal, crate::model::Goal::Call(_))
            && !super::near_miss::reached_in(system, &question.goal, &replayed.state)
        {
            return Err("the run does not end as claimed".to_owned());
        }
        let steps = count(&replayed);
        let overlap = hit.overlapping.then_some("this takes calls that overlap: an answer comes after a later call");
        let diagnostic = match question.subject {
            Subject::Deadlock => self.deadlock(hit, replayed, Code::PX4001, &|_| true)?,
            Subject::CoveredDeadlock => {
                let tools = &system.tools;
                let covered =
                    |class: &Class| class.tool().and_then(|at| tools.get(at)).is_some_and(|tool| tool.covered(0));
                self.deadlock(hit, replayed, Code::PX4002, &covered)?
            }
            Subject::UnsafeResult => self.unsafe_result(hit, replayed),
            Subject::Fault => {
                let rule = replayed.session.fault().map_or(Rule::Invariant(usize::MAX), |fault| fault.rule);
                let what = rule_name(self.policy, rule);
                let message = format!("{what} can have no value, and then the session is faulted: {}", after(steps));
                Diagnostic::new(Code::PX4004, self.span(rule), message)
                    .label("a division by zero")
                    .note("a faulted session denies every later call until it ends")
                    .help("test the divisor first: `ite(n == 0, …, x // n)`")
                    .trace(replayed.trace)
            }
            Subject::NoValue(rule) => {
                let message = format!("{} can have no value: {}", rule_name(self.policy, rule), after(steps));
                Diagnostic::new(Code::PX4004, self.span(rule), message)
                    .label("a division by zero")
                    .note("a rule without a value denies the call, whatever the other rules say")
                    .help("test the divisor first: `n > 0 and x // n < 5`")
                    .trace(replayed.trace)
            }
            Subject::Order { first, second } => self.order(first, second, replayed),
            Subject::LockDownLeft(at) => self.left(at, replayed),
            Subject::Check(at) => self.broken_check(at, hit, replayed),
            _ => return Err("a question that only asks whether something can happen".to_owned()),
        };
        Ok(Some(match overlap {
            Some(note) => diagnostic.note(note),
            None => diagnostic,
        }))
    }

    fn deadlock(
        &self,
        hit: &Hit,
        mut replayed: Replayed,
        code: Code,
        wanted: &dyn Fn(&Class) -> bool,
    ) -> Result<Diagnostic, String> {
        let system = self.solved.system_of(hit);
        let groups = blocked(self.policy, system, &replayed.state, &replayed.session, wanted)?;
        let named: Vec<_> = groups.iter().filter(|group| !group.is_default()).cloned().collect();
        replayed.trace.end = lines(self.policy, &named, true);
        let nature = Nature::of(self.policy, &groups);
        let calls = count(&replayed);
        let rule = main_rule(self.policy, &groups);
        let what = if code == Code::PX4001 { "nothing any more" } else { "nothing that the policy covers any more" };
        let message = match calls {
            0 => format!("a session can do {what} from the start"),
            _ => format!("{} this session can do {what}", after(calls)),
        };
        let mut diagnostic = Diagnostic::new(code, rule.map_or(self.place.at_start(), |rule| self.span(rule)), message);
        if let Some(rule) = rule {
            let values = self.values(rule, &replayed);
            diagnostic = diagnostic.label(format!("{values}; no allowed call changes that"));
            let expr = self.policy.expression(rule);
            if let Some((span, words)) = expr.and_then(|expr| cause(self.policy, system, &hit.steps, expr)) {
                diagnostic = diagnostic.also(span, words);
            }
        }
        let by_result = hit.steps.iter().any(|step| step.outcome > 0);
        let help = match (nature, by_result) {
            (_, true) => {
                "a rule over something that results can change locks the session; guard the calls instead, or declare \
                 it: `terminal: [{when: …, blocks: [\"…\"], reason: …}]`"
            }
            (Nature::Exhausted, _) => {
                "if the session is meant to end when its budget is spent, declare it: `terminal: [{when: …, blocks: \
                 [\"*\"], reason: …}]`; else let something stay open"
            }
            _ => {
                "let some call undo it or stay open, or declare the lock-down: `terminal: [{when: …, blocks: [\"…\"], \
                 reason: …}]`"
            }
        };
        if code == Code::PX4002 && nature == Nature::Exhausted {
            diagnostic = diagnostic.with_severity(Severity::Info);
        }
        Ok(diagnostic.help(help).trace(replayed.trace))
    }

    /// The state variables that a rule reads, with their values at the end of a run.
    fn values(&self, rule: Rule, replayed: &Replayed) -> String {
        let Some(expr) = self.policy.expression(rule) else { return String::new() };
        let reads = super::confirm::reads(self.policy.typed(), expr);
        let shown: Vec<String> = reads
            .into_iter()
            .filter_map(|id| {
                let name = &self.policy.typed().var(id)?.name;
                let value = serde_json::to_string(replayed.session.state().get(id.0 as usize)?).ok()?;
                Some(format!("{name} = {value}"))
            })
            .collect();
        if shown.is_empty() { "denies".to_owned() } else { shown.join(", ") }
    }

    fn unsafe_result(&self, hit: &Hit, replayed: Replayed) -> Diagnostic {
        let system = self.solved.system_of(hit);
        let typed = self.policy.typed();
        let broken = system
            .invariants
            .iter()
            .find(|invariant| !super::confirm::value(&super::terms::holds(&invariant.term), &replayed.state, &[]));
        let rule = Rule::Invariant(broken.map_or(0, |invariant| invariant.index));
        let name = broken.and_then(|broken| typed.invariants.get(broken.index)).map_or("?", |found| &*found.name);
        let message = format!("an answer can break the invariant '{name}': {}", after(count(&replayed)));
        let mut diagnostic =
            Diagnostic::new(Code::PX4003, self.span(rule), message).label(self.values(rule, &replayed));
        let expr = self.policy.expression(rule);
        if let Some((span, words)) = expr.and_then(|expr| cause(self.policy, system, &hit.steps, expr)) {
            diagnostic = diagnostic.also(span, words);
        }
        diagnostic
            .note("`on_result` cannot refuse; while an invariant is broken, only calls that mend it are allowed")
            .help("guard the later calls by the variable instead of an invariant, or declare it under `terminal:`")
            .trace(replayed.trace)
    }

    fn order(&self, first: Rule, second: Rule, replayed: Replayed) -> Diagnostic {
        let variable = self.assigned(second);
        let message =
            format!("`{variable}` is assigned twice on one call, and the order matters: {}", after(count(&replayed)));
        Diagnostic::new(Code::PX4013, self.span(second), message)
            .label(rule_name(self.policy, second))
            .also(self.span(first), rule_name(self.policy, first))
            .note("they compose in file order; the other order would give another value")
            .help("assign the variable in one action, or narrow the globs so that they do not overlap")
            .trace(replayed.trace)
    }

    fn assigned(&self, rule: Rule) -> String {
        let typed = self.policy.typed();
        let variable = match rule {
            Rule::Effect { action, assignment } => typed.actions.get(action).and_then(|a| a.effect.get(assignment)),
            Rule::OnResult { action, assignment } => {
                typed.actions.get(action).and_then(|a| a.on_result.get(assignment))
            }
            _ => None,
        };
        let variable = variable.and_then(|assignment| typed.var(assignment.variable));
        variable.map_or_else(|| "?".to_owned(), |var| var.name.to_string())
    }

    fn left(&self, at: usize, replayed: Replayed) -> Diagnostic {
        let terminal = self.policy.typed().terminal.get(at);
        let span = terminal.map_or(self.place, |terminal| terminal.when.span);
        let name = terminal_name(at, terminal.and_then(|terminal| terminal.name.as_deref()));
        let tool = replayed.trace.rows.last().map_or("?", |row| &row.tool).to_owned();
        let message = format!("the lock-down {name} can be left: `{tool}` is allowed again");
        Diagnostic::new(Code::PX4007, span, message)
            .label("held before, and was to close these calls for good")
            .note("`terminal:` says that the blocked calls stay denied for ever once its condition has held")
            .help("remove what resets the variable, or let the guard of the tool read it")
            .trace(replayed.trace)
    }

    fn broken_check(&self, at: usize, hit: &Hit, replayed: Replayed) -> Diagnostic {
        let typed = self.policy.typed();
        let Some(check) = typed.checks.get(at) else {
            return Diagnostic::new(Code::PX4015, self.place, "a check does not hold").trace(replayed.trace);
        };
        let calls = count(&replayed);
        let last = replayed.trace.rows.last().map_or("?", |row| &row.tool).to_owned();
        let what = match &check.kind {
            CheckKind::Never { after: None, .. } => format!("`{last}` is allowed, and never was to be"),
            CheckKind::Never { after: Some(_), .. } => {
                format!("`{last}` is allowed after a call that was to close it")
            }
            CheckKind::Always { text, .. } => format!("`{text}` is broken {}", after(calls)),
            CheckKind::AtMost { count, .. } => format!("more than {count} such calls are allowed"),
            CheckKind::Before { .. } => format!("`{last}` is allowed without the call that it requires"),
            CheckKind::Possible { .. } => "a call is not possible".to_owned(),
        };
        let mut diagnostic = Diagnostic::new(Code::PX4015, check.span, format!("check '{}': {what}", check.name));
        if let CheckKind::Always { expr, .. } = &check.kind
            && let Some((span, words)) = cause(self.policy, self.solved.system_of(hit), &hit.steps, expr)
        {
            diagnostic = diagnostic.also(span, words);
        }
        if let Some(reason) = &check.reason {
            diagnostic = diagnostic.note(reason.to_string());
        }
        let passed = replayed.trace.rows.last().is_some_and(|row| row.verdict == "pass");
        let help = match &check.kind {
            CheckKind::Never { .. } | CheckKind::Before { .. } if passed => {
                "no action covers the last call, and `default: allow` lets it pass: write `default: deny`, or an action \
                 with a guard for it"
            }
            CheckKind::Always { .. } => {
                "add an invariant or a guard that keeps it, or correct the effect that breaks it"
            }
            CheckKind::AtMost { .. } => "count the calls in a variable, and guard every tool of the check by it",
            _ => "let the first call set a variable, and guard the last one by it",
        };
        diagnostic.help(help).trace(replayed.trace)
    }

    fn never(&self, question: &Question, how: &How) -> Told {
        let typed = self.policy.typed();
        let known = match how {
            How::Explicit { states: 1, .. } => "in the only reachable state".to_owned(),
            How::Explicit { states, .. } => format!("in all {states} reachable states"),
            How::Symbolic { engine, .. } => format!("in every reachable state (proved by {engine})"),
        };
        Ok(Some(match question.subject {
            Subject::ActionAllowed(at) => {
                let Some(action) = typed.actions.get(at) else { return Ok(None) };
                let message = format!("no call of '{}' is ever allowed", action.name);
                let mut diagnostic = Diagnostic::new(Code::PX4005, self.action_span(at), message)
                    .label(format!("denied {known}, with any arguments"));
                diagnostic = self.blamed(diagnostic, &|class| takes_part(self.solved.one(), class, at));
                diagnostic.help("weaken the rule that denies; if a ban is meant, write `requires: false`")
            }
            Subject::ToolAllowed(at) => {
                let Some(tool) = self.solved.one().tools.get(at) else { return Ok(None) };
                let action = tool.actions.first().and_then(|actions| actions.last()).copied().unwrap_or(0);
                let message = format!("no call of `{}` is ever allowed", tool.name);
                let mut diagnostic = Diagnostic::new(Code::PX4005, self.action_span(action), message)
                    .label(format!("matches it; denied {known}, with any arguments"));
                diagnostic = self.blamed(diagnostic, &|class| class.tool() == Some(at));
                diagnostic
                    .help("narrow a glob so that the tool is left out of one action, or ban it: `requires: false`")
            }
            Subject::GuardDecides { action, guard } => {
                let rule = Rule::Guard { action, guard };
                // An action that is never allowed has another problem.
                if self.told.contains(&Subject::ActionAllowed(action)) {
                    return Ok(None);
                }
                let message = format!("{} never decides", rule_name(self.policy, rule));
                Diagnostic::new(Code::PX4009, self.span(rule), message)
                    .label(format!("{known}, no call is denied by it alone"))
                    .note("it always holds, or other rules deny whatever it denies: removing it changes no decision")
                    .help("remove it, or correct the variable or text that it compares")
            }
            Subject::InvariantDecides(at) => {
                let Some(invariant) = typed.invariants.get(at) else { return Ok(None) };
                let message = format!("the invariant '{}' never decides", invariant.name);
                Diagnostic::new(Code::PX4012, invariant.expr.span, message)
                    .label(format!("{known}, no call is denied by it alone"))
                    .note("removing it changes no decision; the rule holds because of the guards")
                    .help("if it states what the guards are for, make it a check: `checks: [{name: …, always: …}]`")
            }
            Subject::Branch { rule, span, value } => {
                let other = Subject::Branch { rule, span, value: !value };
                let all = self.solved.questions.iter().zip(&self.solved.reaches);
                let never_asked = all
                    .into_iter()
                    .any(|(question, reach)| question.subject == other && matches!(reach, Reach::Never(_)));
                if never_asked {
                    return Ok(None);
                }
                let message = format!("this condition in {} is always {}", rule_name(self.policy, rule), !value);
                Diagnostic::new(Code::PX4011, span, message)
                    .label(format!("{known}, whenever it is asked"))
                    .note("one branch of the rule is never taken")
                    .help("remove the branch, or correct the variable or text that the condition compares")
            }
            Subject::LockDownReached(at) => {
                let Some(terminal) = typed.terminal.get(at) else { return Ok(None) };
                let name = terminal_name(at, terminal.name.as_deref());
                Diagnostic::new(Code::PX4008, terminal.when.span, format!("the lock-down {name} can never begin"))
                    .label(format!("false {known}"))
                    .help("correct the condition, or remove the entry")
            }
            Subject::EventHappens { check, event } => {
                let Some(found) = typed.checks.get(check) else { return Ok(None) };
                let message = format!("check '{}' holds only because `{event}` can never happen", found.name);
                let why = if event == "never" { "there is no such call" } else { "no such call is allowed" };
                Diagnostic::new(Code::PX4016, found.span, message)
                    .label(format!("{why} {known}"))
                    .help("correct the glob or the condition of the event")
            }
            Subject::Possible { check, call } => {
                let Some(found) = typed.checks.get(check) else { return Ok(None) };
                let CheckKind::Possible { calls } = &found.kind else { return Ok(None) };
                let span = calls.get(call).map_or(self.check_span(check), |event| event.span);
                let message = format!("check '{}': the call is not possible", found.name);
                let diagnostic = Diagnostic::new(Code::PX4015, span, message).label(format!("denied {known}"));
                let wanted = calls.get(call);
                let diagnostic = self.blamed(diagnostic, &|class| {
                    let tool = class.tool().and_then(|at| self.solved.one().tools.get(at));
                    tool.is_some_and(|tool| wanted.is_some_and(|event| event.matches(&tool.name)))
                });
                diagnostic
                    .help("weaken the rule that denies, or correct the glob")
                    .verdict(crate::text::Verdict::Refuted)
            }
            _ => return Ok(None),
        }))
    }

    /// The fewest rules that deny such a call in any of the first states, and how many calls lead there.
    fn nearest(&self, wanted: &dyn Fn(&Class) -> bool) -> Option<(Vec<Rule>, usize)> {
        let (system, graph) = (self.solved.one(), &self.solved.graph);
        let classes: Vec<(&Class, super::terms::Conditions)> = system
            .classes
            .iter()
            .filter(|class| class.witnessed && wanted(class))
            .map(|class| (class, super::terms::Conditions::of(system, class)))
            .collect();
        let mut best: Option<(Vec<Rule>, usize)> = None;
        for state in 0..graph.states().min(MAX_NEAREST / classes.len().max(1)) {
            let values = graph.state(state);
            for (class, conditions) in &classes {
                let params = super::blockers::some_params(class, values);
                let fails = |term: &crate::model::Term| !super::confirm::value(term, values, &params);
                if conditions.guards.iter().any(|(label, term)| label.is_none() && fails(term)) {
                    continue;
                }
                let guards = conditions.guards.iter().filter(|(_, term)| fails(term));
                let mut rules: Vec<Rule> = guards.filter_map(|(label, _)| Some((*label)?.rule)).collect();
                let invariants = system.invariants.iter().zip(&conditions.invariants).filter(|(_, term)| fails(term));
                rules.extend(invariants.map(|(invariant, _)| Rule::Invariant(invariant.index)));
                if !rules.is_empty() && best.as_ref().is_none_or(|(known, _)| rules.len() < known.len()) {
                    best = Some((rules, graph.depth(state)));
                }
            }
        }
        best
    }

    /// Adds who denies the calls.
    fn blamed(&self, diagnostic: Diagnostic, wanted: &dyn Fn(&Class) -> bool) -> Diagnostic {
        let system = self.solved.one();
        let session = self.policy.session();
        let Ok(groups) = blocked(self.policy, system, &system.initial(), &session, wanted) else { return diagnostic };
        if let Some((rules, calls)) = self.nearest(wanted) {
            let mut diagnostic = diagnostic;
            let names: Vec<String> = rules.iter().map(|rule| rule_name(self.policy, *rule)).collect();
            for rule in &rules {
                diagnostic = diagnostic.also(self.span(*rule), format!("{} denies", rule_name(self.policy, *rule)));
            }
            return diagnostic.note(format!(
                "it comes nearest {}: then only {} denies",
                after(calls),
                names.join(" and ")
            ));
        }
        let by_ban = groups.iter().all(|group| {
            group.by.iter().any(|by| match by {
                super::blockers::By::Rule(Rule::Guard { action, .. }) => {
                    self.policy.typed().actions.get(*action).is_some_and(is_ban)
                }
                _ => false,
            })
        });
        let mut diagnostic = diagnostic;
        if let Some(rule) = main_rule(self.policy, &groups) {
            diagnostic = diagnostic.also(self.span(rule), format!("{} denies at first", rule_name(self.policy, rule)));
        }
        let lines = lines(self.policy, &groups, by_ban);
        if lines.is_empty() {
            diagnostic
        } else {
            diagnostic.note(format!("before the first call: {}", lines.join("; ")))
        }
    }
}

/// Calls of a run, late answers aside.
pub(super) fn count(replayed: &Replayed) -> usize {
    replayed.trace.rows.iter().filter(|row| row.answers.is_none()).count()
}

/// `after 2 calls`.
pub(super) fn after(calls: usize) -> String {
    match calls {
        0 => "before the first call".to_owned(),
        1 => "after 1 call".to_owned(),
        _ => format!("after {calls} calls"),
    }
}
