//! An expectation about a call that is not met, as a diagnostic: what was decided, what was expected,
//! and the values that decided it.

use super::names::{DEFAULT, several_guards};
use super::values::{at_rule, show};
use super::written::{Test, TestCall};
use crate::eval::{Decision, FailedKind, Failure, Policy, Rule, RuleEvidence, Verdict};
use crate::ir::Action;
use crate::policy::Text;
use crate::text::suggest::list_names;
use crate::text::{Code, Diagnostic, Span, visible};

/// Most rules whose values one finding shows.
const MAX_RULES: usize = 3;

/// One call of a test after its decision.
pub(super) struct Decided<'t> {
    pub(super) test: &'t Test,
    /// From 1.
    pub(super) number: usize,
    pub(super) call: &'t TestCall,
    pub(super) policy: &'t Policy,
    pub(super) verdict: &'t Verdict,
    /// Every rule that was evaluated.
    pub(super) trace: &'t [RuleEvidence],
}

impl Decided<'_> {
    /// What is expected and not so.
    pub(super) fn failures(&self) -> Vec<Diagnostic> {
        let decision = self.verdict.decision;
        let wanted = if self.call.expects_denial() {
            Some(Decision::Deny)
        } else {
            self.call.expect.map(|expect| expect.decision)
        };
        match wanted {
            Some(wanted) if wanted != decision => vec![self.wrong_verdict(wanted)],
            Some(Decision::Deny) => self.wrong_cause(),
            _ => Vec::new(),
        }
    }

    fn wrong_verdict(&self, wanted: Decision) -> Diagnostic {
        let written = self.call.expect.map(|expect| expect.span);
        let first_by = self.call.by.first().map(|name| name.span);
        let reason = self.call.reason.as_ref().map(|reason| reason.span);
        let span = written.or(first_by).or(reason).unwrap_or(self.test.name.span);
        let expected = match wanted {
            Decision::Allow => "an allowed call is expected".to_owned(),
            Decision::Pass => "a call that no action covers is expected".to_owned(),
            Decision::Deny if self.call.by.is_empty() => "a denial is expected".to_owned(),
            Decision::Deny => {
                let names: Vec<String> = self.call.by.iter().map(|name| name.text.escape_debug().to_string()).collect();
                format!("a denial by {} is expected", list_names(names.iter().map(String::as_str), "and"))
            }
        };
        let message = format!("{} {}, but {expected}", self.subject(), self.outcome());
        let diagnostic = Diagnostic::new(Code::PX5001, span, message)
            .label(format!("the verdict is `{}`", self.verdict.decision.as_str()));
        if self.verdict.decision == Decision::Deny {
            return self.denied_because(diagnostic).help("if the policy is right, correct the expectation");
        }
        let diagnostic = diagnostic.note(self.matching()).help("tighten the policy, or correct the expectation");
        match (wanted, self.verdict.decision) {
            (Decision::Deny, _) if self.call.by.is_empty() => self
                .trace
                .iter()
                .filter(|rule| !is_effect(rule.rule))
                .take(MAX_RULES)
                .fold(diagnostic, |diagnostic, rule| show(diagnostic, self.policy, rule)),
            (Decision::Deny, _) => {
                self.call.by.iter().fold(diagnostic, |diagnostic, name| self.why_not(diagnostic, name))
            }
            (Decision::Allow, _) => diagnostic.help("write `expect: pass`, or add the tool to an action's `match`"),
            (Decision::Pass, _) => diagnostic.help("write `expect: allow`, or narrow the action's `match`"),
        }
    }

    /// The call was denied as expected; whether for the expected cause is the question.
    fn wrong_cause(&self) -> Vec<Diagnostic> {
        let failed = self.verdict.failed();
        let absent = self.call.by.iter().filter(|name| !failed.iter().any(|failed| *failed.name == *name.text));
        let mut found: Vec<Diagnostic> = absent
            .map(|name| {
                let actual = list_names(failed.iter().map(|failed| &*failed.name), "and");
                let message = format!(
                    "{} was denied by {actual}, but a denial by `{}` is expected",
                    self.subject(),
                    name.text.escape_debug()
                );
                let diagnostic = Diagnostic::new(Code::PX5001, name.span, message).label("this did not deny it");
                let diagnostic = self.why_not(self.denied_because(diagnostic), name);
                diagnostic
                    .help("if the policy is right, correct `by`")
                    .maybe_help(several_guards(&name.text, self.policy))
            })
            .collect();
        if let Some(part) = &self.call.reason
            && let Some(reason) = self.verdict.reason()
            && !reason.contains(&part.text)
        {
            let message = format!("{} was denied for another reason than expected", self.subject());
            let diagnostic = Diagnostic::new(Code::PX5001, part.span, message).label("not part of the reason");
            found.push(self.denied_because(diagnostic).help("`reason` is a part of the reason, letter by letter"));
        }
        found
    }

    fn subject(&self) -> String {
        format!("call {} of {}", self.number, quoted(&self.test.name.text))
    }

    fn outcome(&self) -> &'static str {
        match self.verdict.decision {
            Decision::Allow => "was allowed",
            Decision::Deny => "was denied",
            Decision::Pass => "passed, as no action covers it",
        }
    }

    fn matched(&self) -> impl Iterator<Item = &Action> {
        self.verdict.actions.iter().filter_map(|at| self.policy.typed().actions.get(*at as usize))
    }

    fn matching(&self) -> String {
        let tool = self.call.record.tool.escape_debug();
        match list_names(self.matched().map(|action| &*action.name), "and").as_str() {
            "" => format!("no action matches `{tool}`"),
            names if self.verdict.actions.len() == 1 => format!("the action {names} matches `{tool}`"),
            names => format!("the actions {names} match `{tool}`"),
        }
    }

    /// The reason of the denial and the values behind it.
    fn denied_because(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        if let Some(reason) = self.verdict.reason() {
            diagnostic = diagnostic.note(visible(&reason));
        }
        for failure in &self.verdict.failures {
            if let Failure::Argument { action, argument, .. } = failure
                && let Some(declared) =
                    self.policy.typed().actions.get(*action).and_then(|action| action.arg(*argument))
            {
                diagnostic = diagnostic.also(declared.span, format!("`{}` is declared here", declared.name));
            }
        }
        let denying = self.trace.iter().filter(|rule| rule.denies()).take(MAX_RULES);
        denying.fold(diagnostic, |diagnostic, rule| show(diagnostic, self.policy, rule))
    }

    /// Why the named thing did not deny the call.
    fn why_not(&self, diagnostic: Diagnostic, name: &Text) -> Diagnostic {
        let typed = self.policy.typed();
        let shown = name.text.escape_debug();
        if name.text == DEFAULT && !self.verdict.actions.is_empty() {
            return diagnostic.note("the default is for tools that no action covers");
        }
        for (action_at, action) in typed.actions.iter().enumerate() {
            let labelled = action.guards.iter().position(|guard| *guard.label == *name.text);
            let declared = action.args.iter().find(|argument| *argument.name == *name.text);
            let owns = labelled.is_some() || declared.is_some() || *action.name == *name.text;
            if !owns {
                continue;
            }
            if !self.matched().any(|matched| std::ptr::eq(matched, action)) {
                let message =
                    format!("no glob of `{}` matches `{}`", action.name, self.call.record.tool.escape_debug());
                return diagnostic.also(globs(action), message);
            }
            if let Some(guard) = labelled {
                let rule = Rule::Guard { action: action_at, guard };
                return self.show_or_say(diagnostic, rule, || format!("guard `{shown}` was not evaluated"));
            }
            if let Some(argument) = declared {
                return diagnostic.also(argument.span, format!("the call gives `{shown}` as {}", argument.ty));
            }
            return diagnostic.note(format!("every rule of `{shown}` has a value on this call"));
        }
        let Some(at) = typed.invariants.iter().position(|invariant| *invariant.name == *name.text) else {
            return diagnostic;
        };
        self.show_or_say(diagnostic, Rule::Invariant(at), || {
            format!("the call changes nothing that the invariant `{shown}` reads")
        })
    }

    fn show_or_say(&self, diagnostic: Diagnostic, rule: Rule, otherwise: impl Fn() -> String) -> Diagnostic {
        if let Some(evidence) = self.trace.iter().find(|evidence| evidence.rule == rule) {
            return show(diagnostic, self.policy, evidence);
        }
        let early = self.verdict.failed().iter().any(|failed| failed.kind == FailedKind::Argument);
        let message = if early { "not evaluated: the arguments do not fit".to_owned() } else { otherwise() };
        at_rule(diagnostic, self.policy, rule, message)
    }
}

fn is_effect(rule: Rule) -> bool {
    matches!(rule, Rule::Effect { .. } | Rule::OnResult { .. })
}

/// From the first glob of an action to its last.
fn globs(action: &Action) -> Span {
    let spans = action.globs.iter().map(|(_, span)| *span);
    spans.reduce(Span::to).unwrap_or(action.span)
}

/// A test's name in a message.
pub(super) fn quoted(name: &str) -> String {
    format!("'{}'", visible(name))
}
