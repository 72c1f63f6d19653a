//! Every question that is asked of a policy, as goals over transition systems. A question says which answer is
//! the finding; it searches nothing itself.

use super::branches::conditions;
use super::ghost;
use super::terms::{Conditions, holds, safe};
use crate::catalogue::Catalogue;
use crate::eval::{Policy, Rule};
use crate::ir::{CheckKind, Expr, ExprKind, Glob};
use crate::model::build::{Mark, Request, build};
use crate::model::universe::{ToolName, universe};
use crate::model::{Class, Gap, Goal, System, Term};
use crate::policy::Default;
use crate::proof::Level;
use crate::text::Span;

/// Questions about one system.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) system: System,
    pub(super) questions: Vec<Question>,
}

/// One question.
#[derive(Debug)]
pub(super) struct Question {
    /// Stable within a policy: certificates name questions by it.
    pub(super) id: String,
    pub(super) subject: Subject,
    pub(super) goal: Goal,
    pub(super) wants: Wants,
}

/// Which answer is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// The goal must not be reachable.
    Unreachable,
    /// It must be.
    Reachable,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Deadlock,
    CoveredDeadlock,
    UnsafeResult,
    Fault,
    NoValue(Rule),
    ActionAllowed(usize),
    ToolAllowed(usize),
    GuardDecides {
        action: usize,
        guard: usize,
    },
    InvariantDecides(usize),
    /// Assignments of one variable by two actions, in file order.
    Order {
        first: Rule,
        second: Rule,
    },
    LockDownReached(usize),
    LockDownLeft(usize),
    /// What the policy's check says.
    Check(usize),
    /// Whether an event of the check can happen at all.
    EventHappens {
        check: usize,
        event: &'static str,
    },
    /// A condition inside a rule has this value.
    Branch {
        rule: Rule,
        span: Span,
        value: bool,
    },
    /// The new one of two policies allows what the old one denies.
    NewAccess,
    NewDenial,
    /// One of the calls that a check wants to be possible.
    Possible {
        check: usize,
        call: usize,
    },
}

impl Subject {
    /// How bad the bad answer is.
    pub(super) fn level(self) -> Level {
        match self {
            Self::Deadlock
            | Self::UnsafeResult
            | Self::Fault
            | Self::NoValue(_)
            | Self::ActionAllowed(_)
            | Self::ToolAllowed(_)
            | Self::Order { .. }
            | Self::LockDownLeft(_)
            | Self::Check(_)
            | Self::Possible { .. } => Level::Error,
            Self::CoveredDeadlock
            | Self::GuardDecides { .. }
            | Self::InvariantDecides(_)
            | Self::LockDownReached(_)
            | Self::Branch { .. }
            | Self::EventHappens { .. }
            | Self::NewAccess => Level::Warning,
            Self::NewDenial => Level::Info,
        }
    }
}

/// The tools of a policy's model.
pub(super) fn tools(policy: &Policy, catalogue: Option<&Catalogue>) -> (Vec<ToolName>, Vec<Gap>) {
    let typed = policy.typed();
    let terminal = typed.terminal.iter().map(|terminal| terminal.blocks.iter().map(|(glob, _)| glob).collect());
    let events = typed.checks.iter().flat_map(|check| check.kind.events());
    let events = events.map(|event| event.globs.iter().map(|(glob, _)| glob).collect());
    let extra: Vec<Vec<&Glob>> = terminal.chain(events).collect();
    universe(&[policy], &extra, catalogue)
}

/// Every group of questions; the first is about the policy as it stands.
pub(super) fn groups(policy: &Policy, tools: &[ToolName]) -> Vec<Group> {
    let mut groups = vec![base(policy, tools)];
    groups.extend((0..policy.typed().terminal.len()).map(|at| lock_down(policy, tools, at)));
    groups.extend((0..policy.typed().checks.len()).filter_map(|at| check(policy, tools, at)));
    groups.extend(branches(policy, tools));
    groups
}

/// Whether each condition inside a rule can have either value.
fn branches(policy: &Policy, tools: &[ToolName]) -> Option<Group> {
    let typed = policy.typed();
    let conditions = conditions(policy);
    if conditions.is_empty() {
        return None;
    }
    let action_of = |rule: Rule| match rule {
        Rule::Guard { action, .. } | Rule::Effect { action, .. } | Rule::OnResult { action, .. } => Some(action),
        Rule::Invariant(_) => None,
    };
    let globs: Vec<Vec<Glob>> =
        typed.actions.iter().map(|action| action.globs.iter().map(|(glob, _)| glob.clone()).collect()).collect();
    let mut marks: Vec<Mark<'_>> = Vec::new();
    let mut watched: Vec<(usize, &Expr)> = Vec::new();
    for condition in &conditions {
        match action_of(condition.rule) {
            Some(action) => marks.extend(condition.cases.iter().map(|case| Mark {
                side: 0,
                globs: globs.get(action).map(Vec::as_slice).unwrap_or_default(),
                when: Some(case),
                action: Some(action),
            })),
            None => watched.extend(condition.cases.iter().map(|case| (0, case))),
        }
    }
    let system = build(&Request { sides: &[policy], tools, marks: &marks, watched: &watched });
    let (mut mark, mut watch) = (0, 0);
    let mut questions = Vec::new();
    for (at, condition) in conditions.iter().enumerate() {
        for value in [true, false] {
            let goal = if action_of(condition.rule).is_some() {
                let calls = system.classes.iter().enumerate().map(|(index, class)| {
                    let asked = ghost::mark_of(&system, index, mark);
                    // An effect counts where it is carried out.
                    let counts = match condition.rule {
                        Rule::Effect { .. } => system.allowed(class, None),
                        _ => Term::TRUE,
                    };
                    (index, Term::and([asked, counts]))
                });
                let goal = Goal::Call(calls.filter(|(_, term)| *term != Term::FALSE).collect());
                mark += 1;
                goal
            } else {
                let term = system.watched.get(watch).map_or(Term::FALSE, holds);
                watch += 1;
                Goal::State(term)
            };
            questions.push(Question {
                id: format!("branch:{}:{value}", at + 1),
                subject: Subject::Branch { rule: condition.rule, span: condition.span, value },
                goal,
                wants: Wants::Reachable,
            });
        }
    }
    Some(Group { system, questions })
}

/// The system without anything that an analysis adds; its watched terms are the conditions of `terminal:`, then the
/// expressions of `always` checks.
fn plain(policy: &Policy, tools: &[ToolName], marks: &[Mark<'_>]) -> System {
    let typed = policy.typed();
    let terminal = typed.terminal.iter().map(|terminal| (0, &terminal.when));
    let always = typed.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Always { expr, .. } => Some((0, expr)),
        _ => None,
    });
    let watched: Vec<(usize, &Expr)> = terminal.chain(always).collect();
    build(&Request { sides: &[policy], tools, marks, watched: &watched })
}

fn base(policy: &Policy, tools: &[ToolName]) -> Group {
    let system = plain(policy, tools, &[]);
    let mut questions = Vec::new();
    let mut ask = |id: String, subject, wants, goal| questions.push(Question { id, subject, goal, wants });
    let typed = policy.typed();
    let conditions: Vec<Conditions> = system.classes.iter().map(|class| Conditions::of(&system, class)).collect();
    let classes = || system.classes.iter().zip(&conditions).enumerate();

    let declared = Term::or(system.watched.iter().take(typed.terminal.len()).map(holds));
    let alive = system.fault.map_or(Term::TRUE, |fault| Term::not(Term::Var(fault)));
    let free = Term::and([alive, Term::not(declared.clone())]);
    let stuck = |classes: Vec<usize>| Goal::Stuck { state: free.clone(), classes };
    let all: Vec<usize> = (0..system.classes.len()).collect();
    ask("deadlock".to_owned(), Subject::Deadlock, Wants::Unreachable, stuck(all));
    let covered = |class: &Class| class.tool().and_then(|at| system.tools.get(at)).is_some_and(|tool| tool.covered(0));
    let open: Vec<usize> = classes().filter(|(_, (class, _))| covered(class)).map(|(at, _)| at).collect();
    let bans = |class: &Class| banned(policy, &system, class);
    if typed.default == Default::Allow && classes().any(|(_, (class, _))| covered(class) && !bans(class)) {
        ask("covered-deadlock".to_owned(), Subject::CoveredDeadlock, Wants::Unreachable, stuck(open));
    }

    let unsafe_state = Term::and([Term::not(safe(&system)), Term::not(declared)]);
    if typed.actions.iter().any(|action| !action.on_result.is_empty()) && !typed.invariants.is_empty() {
        ask("unsafe-result".to_owned(), Subject::UnsafeResult, Wants::Unreachable, Goal::State(unsafe_state));
    }
    if let Some(fault) = system.fault {
        ask("fault".to_owned(), Subject::Fault, Wants::Unreachable, Goal::State(Term::Var(fault)));
    }
    no_value(&system, &conditions, &mut ask);

    for (at, action) in typed.actions.iter().enumerate() {
        let of_action: Vec<(usize, Term)> = classes()
            .filter(|(_, (class, _))| takes_part(&system, class, at))
            .map(|(index, (class, _))| (index, system.allowed(class, None)))
            .collect();
        if !of_action.is_empty() && !is_ban(action) {
            let id = format!("allowed:{}", action.name);
            ask(id, Subject::ActionAllowed(at), Wants::Reachable, Goal::Call(of_action));
        }
        for (guard_at, guard) in action.guards.iter().enumerate() {
            if is_constant(policy, &guard.expr) {
                continue;
            }
            let this = Rule::Guard { action: at, guard: guard_at };
            let alone: Vec<(usize, Term)> = classes()
                .filter_map(|(index, (class, conditions))| {
                    let own =
                        class.guards.iter().position(|guard| guard.label.is_some_and(|label| label.rule == this))?;
                    let fails = Term::not(conditions.guards.get(own)?.1.clone());
                    let others = [conditions.guards_but(Some(own)), conditions.invariants_but(None)];
                    let term = Term::and(others.into_iter().chain([conditions.rest.clone(), fails]));
                    Some((index, term))
                })
                .collect();
            if !alone.is_empty() {
                let subject = Subject::GuardDecides { action: at, guard: guard_at };
                ask(format!("guard-decides:{}", guard.label), subject, Wants::Reachable, Goal::Call(alone));
            }
        }
    }
    for (at, tool) in system.tools.iter().enumerate().filter(|(_, tool)| tool.listed && tool.covered(0)) {
        let of_tool: Vec<(usize, Term)> = classes()
            .filter(|(_, (class, _))| class.tool() == Some(at) && !bans(class))
            .map(|(index, (class, _))| (index, system.allowed(class, None)))
            .collect();
        if !of_tool.is_empty() {
            let id = format!("allowed-tool:{}", tool.name);
            ask(id, Subject::ToolAllowed(at), Wants::Reachable, Goal::Call(of_tool));
        }
    }
    for (at, invariant) in typed.invariants.iter().enumerate() {
        if is_constant(policy, &invariant.expr) {
            continue;
        }
        let alone: Vec<(usize, Term)> = classes()
            .map(|(index, (_, conditions))| {
                let fails = Term::not(conditions.invariants.get(at).cloned().unwrap_or(Term::TRUE));
                let rest = [conditions.guards_but(None), conditions.invariants_but(Some(at)), conditions.rest.clone()];
                (index, Term::and(rest.into_iter().chain([fails])))
            })
            .collect();
        let id = format!("invariant-decides:{}", invariant.name);
        ask(id, Subject::InvariantDecides(at), Wants::Reachable, Goal::Call(alone));
    }
    orders(&system, &conditions, &mut ask);
    for (at, terminal) in typed.terminal.iter().enumerate() {
        if let Some(when) = system.watched.get(at) {
            let id = format!("lock-down-reached:{}", terminal_name(at, terminal.name.as_deref()));
            ask(id, Subject::LockDownReached(at), Wants::Reachable, Goal::State(holds(when)));
        }
    }
    let always = typed.checks.iter().enumerate().filter(|(_, check)| matches!(check.kind, CheckKind::Always { .. }));
    for ((at, check), term) in always.zip(system.watched.iter().skip(typed.terminal.len())) {
        let broken = Term::not(holds(term));
        ask(format!("check:{}", check.name), Subject::Check(at), Wants::Unreachable, Goal::State(broken));
    }
    Group { system, questions }
}

/// Conditions on calls of classes, by index.
type Goals = Vec<(usize, Term)>;

/// Rules that can have no value where nothing else denies the call.
fn no_value(system: &System, conditions: &[Conditions], ask: &mut impl FnMut(String, Subject, Wants, Goal)) {
    let mut by_rule: Vec<(Rule, Goals)> = Vec::new();
    let mut add = |rule: Rule, class: usize, term: Term| {
        if term == Term::FALSE {
            return;
        }
        match by_rule.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, goals)) => goals.push((class, term)),
            None => by_rule.push((rule, vec![(class, term)])),
        }
    };
    for (index, (class, conditions)) in system.classes.iter().zip(conditions).enumerate() {
        let alive = system.fault.map_or(Term::TRUE, |fault| Term::not(Term::Var(fault)));
        for (at, guard) in class.guards.iter().enumerate() {
            if let Some(label) = guard.label {
                let missing = Term::not(guard.term.has_value());
                add(label.rule, index, Term::and([alive.clone(), conditions.guards_but(Some(at)), missing]));
            }
        }
        for assign in &class.effect {
            if let Some(label) = assign.label {
                let missing = Term::not(assign.term.has_value());
                add(label.rule, index, Term::and([alive.clone(), conditions.guards_but(None), missing]));
            }
        }
        let effect = class.committed();
        for (at, invariant) in system.invariants.iter().enumerate() {
            let missing = Term::not(crate::model::after(&invariant.term, &effect).has_value());
            let others = conditions.invariants_but(Some(at));
            let rest = [conditions.rest.clone(), conditions.guards_but(None), others, missing];
            add(Rule::Invariant(invariant.index), index, Term::and(rest));
        }
    }
    for (rule, goals) in by_rule {
        ask(format!("value:{rule:?}"), Subject::NoValue(rule), Wants::Unreachable, Goal::Call(goals));
    }
}

/// Pairs of assignments of one variable on one call: whether the other order would give another value.
fn orders(system: &System, conditions: &[Conditions], ask: &mut impl FnMut(String, Subject, Wants, Goal)) {
    let mut by_pair: Vec<(Rule, Rule, Goals)> = Vec::new();
    for (index, (class, _)) in system.classes.iter().zip(conditions).enumerate() {
        let outcomes = class.outcomes.iter().map(|outcome| (outcome.changes.as_slice(), Term::TRUE));
        let allowed = system.allowed(class, None);
        for (assigns, extra) in std::iter::once((class.effect.as_slice(), Term::TRUE)).chain(outcomes) {
            for (at, second) in assigns.iter().enumerate() {
                for first in assigns.iter().take(at).filter(|first| first.var == second.var) {
                    let (Some(a), Some(b)) = (first.label, second.label) else { continue };
                    let swap = |outer: &Term, inner: &Term| crate::model::after(outer, &[(second.var, inner)]);
                    let written = swap(&second.alone, &first.alone);
                    let other = swap(&first.alone, &second.alone);
                    let differ = Term::not(Term::eq(written.guarded(), other.guarded()));
                    if differ == Term::FALSE {
                        continue;
                    }
                    let term = Term::and([allowed.clone(), extra.clone(), differ]);
                    match by_pair.iter_mut().find(|(first, second, _)| (*first, *second) == (a.rule, b.rule)) {
                        Some((_, _, goals)) => goals.push((index, term)),
                        None => by_pair.push((a.rule, b.rule, vec![(index, term)])),
                    }
                }
            }
        }
    }
    for (first, second, goals) in by_pair {
        let subject = Subject::Order { first, second };
        ask(format!("order:{first:?}:{second:?}"), subject, Wants::Unreachable, Goal::Call(goals));
    }
}

fn lock_down(policy: &Policy, tools: &[ToolName], at: usize) -> Group {
    let mut system = plain(policy, tools, &[]);
    let mut questions = Vec::new();
    if let (Some(terminal), Some(when)) = (policy.typed().terminal.get(at), system.watched.get(at).map(holds)) {
        let name = terminal_name(at, terminal.name.as_deref());
        let locked = ghost::held(&mut system, &format!("locked by {name}"), &when);
        let blocked = |class: &Class| {
            let tool = class.tool().and_then(|at| system.tools.get(at));
            tool.is_some_and(|tool| terminal.blocks.iter().any(|(glob, _)| glob.matches(&tool.name)))
        };
        let goals = system.classes.iter().enumerate().filter(|(_, class)| blocked(class)).map(|(index, class)| {
            let since = Term::or([Term::Var(locked), when.clone()]);
            (index, Term::and([since, system.allowed(class, None)]))
        });
        questions.push(Question {
            id: format!("lock-down-kept:{name}"),
            subject: Subject::LockDownLeft(at),
            goal: Goal::Call(goals.collect()),
            wants: Wants::Unreachable,
        });
    }
    Group { system, questions }
}

/// The groups of checks that are fed by calls.
fn check(policy: &Policy, tools: &[ToolName], at: usize) -> Option<Group> {
    let check = policy.typed().checks.get(at)?;
    let events = check.kind.events();
    if events.is_empty() {
        return None;
    }
    let globs: Vec<Vec<Glob>> =
        events.iter().map(|event| event.globs.iter().map(|(glob, _)| glob.clone()).collect()).collect();
    let marks: Vec<Mark<'_>> = events
        .iter()
        .zip(&globs)
        .map(|(event, globs)| Mark { side: 0, globs, when: event.when.as_ref().map(|(_, expr)| expr), action: None })
        .collect();
    let mut system = plain(policy, tools, &marks);
    let mut questions = Vec::new();
    let happens = |system: &System, mark: usize, also: &Term| {
        let of = |(index, class): (usize, &Class)| {
            let event = ghost::mark_of(system, index, mark);
            let term = Term::and([also.clone(), event, system.allowed(class, None)]);
            (term != Term::FALSE).then_some((index, term))
        };
        Goal::Call(system.classes.iter().enumerate().filter_map(of).collect())
    };
    // Whether such a call can be asked for at all, allowed or not.
    let attempted = |system: &System| {
        let of = |(index, _): (usize, &Class)| {
            let event = ghost::mark_of(system, index, 0);
            (event != Term::FALSE).then_some((index, event))
        };
        Goal::Call(system.classes.iter().enumerate().filter_map(of).collect())
    };
    let mut ask = |id: String, subject, wants, goal| questions.push(Question { id, subject, goal, wants });
    let id = format!("check:{}", check.name);
    let this = Subject::Check(at);
    let can =
        |event: &'static str| (format!("check:{}:{event}", check.name), Subject::EventHappens { check: at, event });
    match &check.kind {
        CheckKind::Always { .. } => {}
        CheckKind::Never { after: None, .. } => {
            ask(id, this, Wants::Unreachable, happens(&system, 0, &Term::TRUE));
            let (id, subject) = can("never");
            ask(id, subject, Wants::Reachable, attempted(&system));
        }
        CheckKind::Never { after: Some(_), .. } => {
            let seen = ghost::happened(&mut system, "seen", 1);
            ask(id, this, Wants::Unreachable, happens(&system, 0, &Term::Var(seen)));
            let (id, subject) = can("after");
            ask(id, subject, Wants::Reachable, happens(&system, 1, &Term::TRUE));
            let (id, subject) = can("never");
            ask(id, subject, Wants::Reachable, attempted(&system));
        }
        CheckKind::AtMost { count, .. } => {
            let count = i64::try_from(*count).unwrap_or(i64::MAX - 1).min(i64::MAX - 1);
            let counter = ghost::counted(&mut system, "count", 0, count);
            let over = Term::le(Term::Int(count), Term::Var(counter));
            ask(id, this, Wants::Unreachable, happens(&system, 0, &over));
            let (id, subject) = can("of");
            ask(id, subject, Wants::Reachable, happens(&system, 0, &Term::TRUE));
        }
        CheckKind::Before { .. } => {
            let seen = ghost::happened(&mut system, "seen", 1);
            ask(id, this, Wants::Unreachable, happens(&system, 0, &Term::not(Term::Var(seen))));
            let (id, subject) = can("before");
            ask(id, subject, Wants::Reachable, happens(&system, 0, &Term::TRUE));
        }
        CheckKind::Possible { calls } => {
            for call in 0..calls.len() {
                let subject = Subject::Possible { check: at, call };
                ask(format!("{id}:{call}"), subject, Wants::Reachable, happens(&system, call, &Term::TRUE));
            }
        }
    }
    Some(Group { system, questions })
}

/// How messages call the `at`th entry of `terminal:`.
pub(super) fn terminal_name(at: usize, name: Option<&str>) -> String {
    name.map_or_else(|| format!("#{}", at + 1), str::to_owned)
}

/// Whether the action takes part in calls of the class.
pub(super) fn takes_part(system: &System, class: &Class, action: usize) -> bool {
    let tool = class.tool().and_then(|at| system.tools.get(at));
    tool.and_then(|tool| tool.actions.first()).is_some_and(|actions| actions.contains(&action))
}

/// Whether an action that takes part is a declared ban.
pub(super) fn banned(policy: &Policy, system: &System, class: &Class) -> bool {
    let actions = policy.typed().actions.iter().enumerate();
    actions.filter(|(_, action)| is_ban(action)).any(|(at, _)| takes_part(system, class, at))
}

/// A guard that is literally `false` declares that the tools are forbidden.
pub(super) fn is_ban(action: &crate::ir::Action) -> bool {
    action.guards.iter().any(|guard| matches!(guard.expr.kind, ExprKind::Bool(false)))
}

/// Without any name in it: the lints have told.
fn is_constant(policy: &Policy, expr: &Expr) -> bool {
    policy.constant(expr).is_some()
}
