//! Two policies against each other: a sequence of calls that one of them allows to its end and the other does not, or a
//! proof that there is none. As what is allowed is closed under prefixes, the first call that they decide otherwise
//! says it all.

use super::confirm::replay;
use super::findings::{after, count, internal};
use super::plan::{Group, Question, Subject, Wants};
use super::solve::{How, Reach, solve};
use super::{Answered, Options, how};
use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::model::build::{Request, build};
use crate::model::universe::universe;
use crate::model::{Gap, Goal, Term};
use crate::text::{Code, Diagnostic, Span, Verdict};
use std::time::Instant;

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Comparison {
    /// PX4018 and PX4019, and what stayed open.
    pub diagnostics: Vec<Diagnostic>,
    pub answered: Vec<Answered>,
    /// Whether some sequence is allowed by the new policy alone; `None`: undecided.
    pub new_access: Option<bool>,
    /// Whether some sequence is allowed by the old policy alone; `None`: undecided.
    pub new_denial: Option<bool>,
}

/// Compares the policies over all sequences of calls. `place` is in the new policy.
pub fn compare(
    old: &Policy,
    new: &Policy,
    place: Span,
    catalogue: Option<&Catalogue>,
    options: &Options,
    progress: &mut dyn FnMut(usize),
) -> Comparison {
    let deadline = Instant::now() + options.time;
    let (tools, gaps) = universe(&[old, new], &[], catalogue);
    let mut system = build(&Request { sides: &[old, new], tools: &tools, marks: &[], watched: &[] });
    system.gaps.extend(gaps);
    if system.fault.is_some() {
        let why = "an `on_result` that can have no value is not compared".to_owned();
        system.gaps.push(Gap { span: place, why });
    }
    let differs = |allows: usize, denies: usize| {
        let classes = system.classes.iter().enumerate();
        let goals = classes.map(|(at, class)| {
            let denied = Term::not(system.allowed(class, Some(denies)));
            (at, Term::and([system.allowed(class, Some(allows)), denied]))
        });
        Goal::Call(goals.filter(|(_, term)| *term != Term::FALSE).collect())
    };
    let question = |id: &str, subject, goal| Question { id: id.to_owned(), subject, goal, wants: Wants::Unreachable };
    let questions = vec![
        question("new-access", Subject::NewAccess, differs(1, 0)),
        question("new-denial", Subject::NewDenial, differs(0, 1)),
    ];
    let mut comparison = Comparison::default();
    let Some(solved) = solve(vec![Group { system, questions }], options, deadline, progress).pop() else {
        return comparison;
    };
    for (question, reach) in solved.questions.iter().zip(&solved.reaches) {
        let (code, allows, denies) = match question.subject {
            Subject::NewAccess => (Code::PX4018, (new, 1), (old, 0)),
            _ => (Code::PX4019, (old, 0), (new, 1)),
        };
        let (verdict, found) = match reach {
            Reach::Never(_) => (Verdict::Proved, Some(false)),
            Reach::Reached(_) => (Verdict::Refuted, Some(true)),
            Reach::Unknown(_) => (Verdict::Unknown, None),
        };
        match question.subject {
            Subject::NewAccess => comparison.new_access = found,
            _ => comparison.new_denial = found,
        }
        comparison.answered.push(Answered {
            id: question.id.clone(),
            verdict,
            level: question.subject.level(),
            how: how(&solved, reach),
            evidence: None,
        });
        match reach {
            Reach::Reached(hit) => {
                let run = |(policy, side): (&Policy, usize)| {
                    replay(policy, side, solved.system_of(hit), &hit.steps, hit.call.as_ref(), hit.shortest)
                };
                let told = run(denies).and_then(|denied| run(allows).map(|allowed| (denied, allowed)));
                comparison.diagnostics.push(match told {
                    Ok((denied, allowed)) => difference(code, place, &denied, allowed, hit.overlapping),
                    Err(why) => internal(place, &question.id, &why),
                });
            }
            Reach::Unknown(why) => {
                let what = if code == Code::PX4018 { "new access" } else { "new denials" };
                let message = format!("whether there are {what} is undecided: {why}");
                comparison.diagnostics.push(
                    Diagnostic::new(Code::PX4017, place.at_start(), message)
                        .help("give it more time with `--time-limit`, or bound the numbers by guards")
                        .verdict(Verdict::Unknown),
                );
            }
            Reach::Never(How::Explicit { .. } | How::Symbolic { .. }) => {}
        }
    }
    comparison
}

fn difference(
    code: Code,
    place: Span,
    denied: &super::confirm::Replayed,
    mut allowed: super::confirm::Replayed,
    overlapping: bool,
) -> Diagnostic {
    let calls = count(&allowed);
    let tool = allowed.trace.rows.last().map_or("?", |row| &row.tool).to_owned();
    let when = if calls > 1 { format!(" {}", after(calls - 1)) } else { String::new() };
    let reason = denied.trace.rows.last().and_then(|row| row.reason.clone()).unwrap_or_default();
    let message = if code == Code::PX4018 {
        format!("new access: `{tool}`{when} was denied and is allowed now")
    } else {
        format!("new denial: `{tool}`{when} was allowed and is denied now")
    };
    let who = if code == Code::PX4018 { "the old policy" } else { "the new policy" };
    allowed.trace.end = vec![format!("{who} denies call {calls}: {reason}")];
    let mut diagnostic = Diagnostic::new(code, place.at_start(), message).trace(allowed.trace);
    if overlapping {
        diagnostic = diagnostic.note("this takes calls that overlap: an answer comes after a later call");
    }
    diagnostic
}
