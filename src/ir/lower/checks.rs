//! `checks:` and `terminal:`: their globs and conditions, against the names that each may read.

use super::{Compiler, words};
use crate::ir::policy::{Check, CheckKind, Event, Terminal};
use crate::ir::scope::{Globals, Place, Scope};
use crate::ir::types::Type;
use crate::policy::{self as written, CheckForm, PolicyFile};
use std::collections::HashMap;

impl Compiler {
    pub(super) fn checks(&mut self, file: &PolicyFile, globals: &Globals) -> Vec<Check> {
        let mut checks = Vec::with_capacity(file.checks.len());
        for check in &file.checks {
            if let Some(kind) = self.kind(&check.form, globals) {
                checks.push(Check {
                    name: check.name.text.as_str().into(),
                    span: check.name.span,
                    reason: words(check.reason.as_ref()),
                    kind,
                });
            }
        }
        checks
    }

    /// Of two broken events both are told.
    fn kind(&mut self, form: &CheckForm, globals: &Globals) -> Option<CheckKind> {
        Some(match form {
            CheckForm::Never { call, after } => {
                let call = self.event(call, globals);
                let after = match after {
                    Some(after) => Some(self.event(after, globals)?),
                    None => None,
                };
                CheckKind::Never { call: call?, after }
            }
            CheckForm::Always(expr) => {
                let no_args = HashMap::new();
                let scope = Scope { globals, args: &no_args, place: Place::Claim };
                let text = expr.text.as_str().into();
                CheckKind::Always { text, expr: self.expression(expr, &scope, Type::Bool, format_args!("`always`"))? }
            }
            CheckForm::AtMost { count, of } => CheckKind::AtMost { count: *count, of: self.event(of, globals)? },
            CheckForm::Before { call, requires } => {
                let (call, requires) = (self.event(call, globals), self.event(requires, globals));
                CheckKind::Before { call: call?, requires: requires? }
            }
            CheckForm::Possible(calls) => {
                let calls: Vec<Option<Event>> = calls.iter().map(|call| self.event(call, globals)).collect();
                CheckKind::Possible { calls: calls.into_iter().collect::<Option<_>>()? }
            }
        })
    }

    fn event(&mut self, written: &written::Event, globals: &Globals) -> Option<Event> {
        let globs = self.globs(&written.globs, "call");
        let no_args = HashMap::new();
        let scope = Scope { globals, args: &no_args, place: Place::Event };
        let when = match &written.when {
            Some(when) => {
                let expr = self.expression(when, &scope, Type::Bool, format_args!("`when`"))?;
                Some((when.text.as_str().into(), expr))
            }
            None => None,
        };
        Some(Event { span: written.span, globs, when })
    }

    pub(super) fn terminal(&mut self, file: &PolicyFile, globals: &Globals) -> Vec<Terminal> {
        let no_args = HashMap::new();
        let scope = Scope { globals, args: &no_args, place: Place::Claim };
        let mut all = Vec::with_capacity(file.terminal.len());
        for terminal in &file.terminal {
            let blocks = self.globs(&terminal.blocks, "blocks");
            if let Some(when) = self.expression(&terminal.when, &scope, Type::Bool, format_args!("`when`")) {
                all.push(Terminal {
                    name: words(terminal.name.as_ref()),
                    span: terminal.span,
                    text: terminal.when.text.as_str().into(),
                    when,
                    blocks,
                    reason: words(terminal.reason.as_ref()),
                });
            }
        }
        all
    }
}
