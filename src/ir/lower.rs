//! Written policy to typed policy: declarations first, then every expression against its scope.

mod advice;
mod checks;
mod expression;
mod lists;
mod payload;

use super::expr::{ArgId, VarId};
use super::glob::Glob;
use super::policy::{Action, Argument, Assignment, Guard, Invariant, Policy, StateVar};
use super::scope::{Declared, Globals, Place, Scope};
use super::types::Type;
use super::value::Value;
use super::{Context, Int};
use crate::policy::{self as written, Default, Literal, LiteralKind, PolicyFile};
use crate::text::suggest::{list_names, nearest};
use crate::text::{Code, Diagnostic, Span};
use expression::Lowering;
use lists::Lists;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The typed policy, and every problem with names, types and scopes. The policy holds what could be
/// typed; it means something only if no diagnostic is an error.
#[must_use]
pub fn compile(file: &PolicyFile) -> (Policy, Vec<Diagnostic>) {
    let mut compiler = Compiler { diagnostics: Vec::new(), lists: Lists::default() };
    let policy = compiler.policy(file);
    (policy, compiler.diagnostics)
}

struct Compiler {
    diagnostics: Vec<Diagnostic>,
    lists: Lists,
}

/// Names that a state variable or an argument cannot have.
const RESERVED: [Context; 4] = [Context::Payload, Context::Tool, Context::Upstream, Context::Result];

impl Compiler {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn policy(&mut self, file: &PolicyFile) -> Policy {
        let mut globals = Globals::default();
        for list in &file.patterns {
            globals.patterns.entry(list.name.text.clone()).or_insert(list.name.span);
            self.lists.declare(list);
        }
        let state = self.state(file, &mut globals);
        for action in &file.actions {
            for (name, _) in &action.args {
                let entry = (action.name.text.clone(), name.span);
                globals.args_elsewhere.entry(name.text.clone()).or_insert(entry);
            }
        }
        let no_args = HashMap::new();
        let scope = Scope { globals: &globals, args: &no_args, place: Place::Invariant };
        let mut invariants = Vec::new();
        for invariant in &file.invariants {
            if let Some(expr) = self.expression(&invariant.expr, &scope, Type::Bool, format_args!("an invariant")) {
                let name = invariant.name.text.as_str().into();
                invariants.push(Invariant {
                    name,
                    text: invariant.expr.text.as_str().into(),
                    expr,
                    reason: words(invariant.reason.as_ref()),
                    hint: words(invariant.hint.as_ref()),
                });
            }
        }
        let actions: Vec<Action> = file.actions.iter().map(|action| self.action(action, &globals)).collect();
        let checks = self.checks(file, &globals);
        let terminal = self.terminal(file, &globals);
        self.labels(file);
        self.can_deny(file);
        let lists = std::mem::take(&mut self.lists).into_lists();
        Policy { default: file.default, state, lists, invariants, actions, checks, terminal }
    }

    fn state(&mut self, file: &PolicyFile, globals: &mut Globals) -> Vec<StateVar> {
        let mut state = Vec::with_capacity(file.state.len());
        for written in &file.state {
            self.reserved(&written.name, "a state variable");
            let ty = self.type_named(&written.ty);
            let init = ty.and_then(|ty| self.init(&written.name.text, ty, &written.init));
            let id = VarId(index(state.len()));
            let declared = Declared { id, ty, span: written.name.span };
            globals.state.entry(written.name.text.clone()).or_insert(declared);
            // A broken declaration keeps its slot so that later slots stay right.
            let ty = ty.unwrap_or(Type::Bool);
            state.push(StateVar {
                name: written.name.text.as_str().into(),
                ty,
                init: init.unwrap_or(Value::Bool(false)),
                span: written.name.span,
            });
        }
        state
    }

    fn reserved(&mut self, name: &written::Text, what: &str) {
        if RESERVED.iter().any(|context| context.name() == name.text) {
            let text = &name.text;
            self.report(
                Diagnostic::new(
                    Code::PX2008,
                    name.span,
                    format!("`{text}` is the call's own `{text}` in every expression, so it cannot name {what}"),
                )
                .help(if what == "an argument" {
                    "an expression could not read the argument: match on `payload` or `call.text` instead"
                } else {
                    "choose another name"
                }),
            );
        }
    }

    fn type_named(&mut self, name: &written::Text) -> Option<Type> {
        let found = Type::parse(&name.text);
        if found.is_none() {
            let alias = match name.text.to_lowercase().as_str() {
                "string" | "text" => Some("str"),
                "boolean" => Some("bool"),
                "integer" | "number" => Some("int"),
                other => nearest(other, Type::ALL.map(Type::name)),
            };
            let help = match alias {
                Some(alias) => format!("write `{alias}`"),
                None => format!("the types are {}", list_names(Type::ALL.map(Type::name), "and")),
            };
            let text = name.text.escape_debug();
            self.report(Diagnostic::new(Code::PX1007, name.span, format!("`{text}` is not a type")).help(help));
        }
        found
    }

    fn init(&mut self, name: &str, ty: Type, literal: &Literal) -> Option<Value> {
        let value = match (&literal.kind, ty) {
            (LiteralKind::Bool(value), Type::Bool) => Value::Bool(*value),
            (LiteralKind::Text(text), Type::Str) => Value::Str(text.as_str().into()),
            (LiteralKind::Int(digits), Type::Int) => {
                let Some(value) = int_literal(digits) else {
                    self.report(
                        Diagnostic::new(Code::PX2009, literal.span, "the number has more than 4,300 digits")
                            .help("use a smaller number"),
                    );
                    return None;
                };
                Value::Int(value)
            }
            _ => {
                let help = match ty {
                    Type::Bool => "write `true` or `false`, without quotes",
                    Type::Int => "write a whole number, without quotes",
                    Type::Str => "write a text in quotes",
                };
                let found = &literal.described;
                self.report(
                    Diagnostic::new(
                        Code::PX2009,
                        literal.span,
                        format!("`{name}` is {ty}, but its initial value is {found}"),
                    )
                    .help(help),
                );
                return None;
            }
        };
        Some(value)
    }

    fn action(&mut self, written: &written::Action, globals: &Globals) -> Action {
        let mut args = Vec::with_capacity(written.args.len());
        let mut names = HashMap::new();
        for (name, ty) in &written.args {
            self.reserved(name, "an argument");
            if let Some(var) = globals.state.get(&name.text) {
                self.report(
                    Diagnostic::new(
                        Code::PX2007,
                        name.span,
                        format!("the argument `{0}` hides the state variable `{0}`", name.text),
                    )
                    .also(var.span, "the state variable")
                    .help("rename the state variable; the argument's name is the tool's"),
                );
            }
            let ty = self.type_named(ty);
            let id = ArgId(index(args.len()));
            names.entry(name.text.clone()).or_insert(Declared { id, ty, span: name.span });
            args.push(Argument { name: name.text.as_str().into(), ty: ty.unwrap_or(Type::Str), span: name.span });
        }
        let before = Scope { globals, args: &names, place: Place::BeforeCall };
        let after = Scope { globals, args: &names, place: Place::OnResult };
        let several = written.requires.len() > 1;
        let mut guards = Vec::with_capacity(written.requires.len());
        for (at, requires) in written.requires.iter().enumerate() {
            let name = &written.name.text;
            let label = if several { format!("{name}#{}", at + 1) } else { name.clone() };
            if let Some(expr) = self.expression(requires, &before, Type::Bool, format_args!("a guard")) {
                guards.push(Guard { label: label.into(), text: requires.text.as_str().into(), expr });
            }
        }
        Action {
            name: written.name.text.as_str().into(),
            span: written.name.span,
            globs: self.globs(&written.globs, "match"),
            args,
            guards,
            effect: self.assignments(&written.effect, &before),
            on_result: self.assignments(&written.on_result, &after),
            reason: words(written.reason.as_ref()),
            hint: words(written.hint.as_ref()),
        }
    }

    /// `key`: under which they stand.
    fn globs(&mut self, written: &[written::Text], key: &str) -> Vec<(Glob, Span)> {
        for text in written {
            if let Some(inner) = alternatives(&text.text) {
                self.report(
                    Diagnostic::new(
                        Code::PX1008,
                        text.span,
                        format!("`{inner}`: braces are not alternatives in a glob, so this matches no tool you mean"),
                    )
                    .help(format!("write one glob for each alternative: `{key}: [\"fs__read_*\", \"fs__write_*\"]`")),
                );
            }
        }
        let globs: Vec<(Glob, Span)> = written.iter().map(|text| (Glob::parse(&text.text), text.span)).collect();
        for (glob, span) in &globs {
            if glob.is_empty() {
                self.report(
                    Diagnostic::new(Code::PX1008, *span, format!("no name can match `{}`", glob.text()))
                        .warning()
                        .help("a class such as `[z-a]` is empty: write the smaller character first"),
                );
            }
        }
        globs
    }

    fn assignments(&mut self, written: &[(written::Text, written::ExprText)], scope: &Scope<'_>) -> Vec<Assignment> {
        let mut assignments = Vec::with_capacity(written.len());
        for (name, value) in written {
            let Some(var) = scope.globals.state.get(&name.text) else {
                let help =
                    scope.globals.nearest(&name.text, scope.globals.state.keys().map(String::as_str)).map_or_else(
                        || format!("declare it: `state: {{{}: {{type: bool, init: false}}}}`", name.text),
                        |near| format!("did you mean `{near}`?"),
                    );
                let what = if scope.args.contains_key(&name.text) {
                    format!("`{}` is an argument: effects assign state variables", name.text)
                } else {
                    format!("no state variable is named `{}`", name.text)
                };
                self.report(Diagnostic::new(Code::PX2010, name.span, what).help(help));
                // The value is still checked.
                Lowering::new(&mut self.diagnostics, &mut self.lists, scope).value(&value.expr);
                continue;
            };
            let expr = if let Some(ty) = var.ty {
                self.expression(value, scope, ty, format_args!("`{}`", name.text))
            } else {
                Lowering::new(&mut self.diagnostics, &mut self.lists, scope).value(&value.expr);
                None
            };
            if let Some(expr) = expr {
                let text = value.text.as_str().into();
                assignments.push(Assignment { variable: var.id, name_span: name.span, text, expr });
            }
        }
        assignments
    }

    fn expression(
        &mut self,
        written: &written::ExprText,
        scope: &Scope<'_>,
        ty: Type,
        what: fmt::Arguments<'_>,
    ) -> Option<super::Expr> {
        let before = self.diagnostics.len();
        let lowered = Lowering::new(&mut self.diagnostics, &mut self.lists, scope).expect(&written.expr, ty, what);
        if !written.sound {
            // The form is wrong, so the types of what was guessed say nothing.
            let found = self.diagnostics.split_off(before);
            let telling = |d: &Diagnostic| !matches!(d.code, Code::PX2003 | Code::PX2004);
            self.diagnostics.extend(found.into_iter().filter(telling));
        }
        lowered
    }

    /// Two guards with one label could not be told apart in a denial.
    fn labels(&mut self, file: &PolicyFile) {
        let mut labels: HashMap<String, Span> = HashMap::new();
        for action in &file.actions {
            let name = &action.name.text;
            let count = action.requires.len();
            for (at, guard) in action.requires.iter().enumerate() {
                let label = if count > 1 { format!("{name}#{}", at + 1) } else { name.clone() };
                let Some(first) = labels.insert(label.clone(), guard.span) else { continue };
                let same_name = file.actions.iter().filter(|other| other.name.text == *name).count() > 1;
                if !same_name {
                    self.report(
                        Diagnostic::new(
                            Code::PX2013,
                            action.name.span,
                            format!("two guards would be labelled `{label}`"),
                        )
                        .also(first, "the other guard")
                        .help("rename the action: `#` and a number label the guards of an action that has several"),
                    );
                }
            }
        }
    }

    /// A policy that allows every call is a mistake: it looks like protection.
    fn can_deny(&mut self, file: &PolicyFile) {
        let can = file.default == Default::Deny
            || !file.invariants.is_empty()
            || file.actions.iter().any(|action| !action.requires.is_empty() || !action.args.is_empty());
        // Where a part could not be read, it may have been the one that denies.
        if !can {
            self.report(
                Diagnostic::new(Code::PX2012, file.span.at_start(), "this policy can never deny anything")
                    .note("it has no guard, no invariant, no declared argument, and `default: allow`")
                    .help("add `default: deny`, or a `requires` to an action"),
            );
        }
    }
}

/// The first `{a,b}` of a glob: alternatives to a shell, plain characters to fnmatch.
fn alternatives(glob: &str) -> Option<&str> {
    let start = glob.find('{')?;
    let length = glob.get(start..)?.find('}')? + 1;
    glob.get(start..start + length).filter(|inner| inner.contains(','))
}

fn words(text: Option<&written::Text>) -> Option<Arc<str>> {
    text.map(|text| text.text.as_str().into())
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// An integer that YAML 1.1 and 1.2 read alike: decimal with a sign, or `0x…`.
pub(crate) fn int_literal(text: &str) -> Option<Int> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => Int::parse_radix(hex, 16),
        None => Int::parse_radix(digits, 10),
    }?;
    if negative { value.neg().ok() } else { Some(value) }
}

/// For messages that name where a literal stands.
fn shared(text: &str) -> Arc<str> {
    Arc::from(text)
}
