//! A compiled policy: the typed policy and what makes deciding fast.

use super::call::{Call, Facts};
use super::run::{Env, Silent, Val, run};
use super::search::Search;
use super::verdict::{Rule, Undefined};
use crate::ir::{self, ExprKind, Glob, Int, ListId, Value};
use crate::json::Json;
use crate::policy::{PolicyFile, decode};
use crate::text::{Code, Diagnostic, FileId, Span, limit_diagnostics};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A policy that is ready to decide. Cheap to clone; sessions share it.
#[derive(Clone, Debug)]
pub struct Policy(pub(super) Arc<Program>);

/// Everything that came out of a policy's text.
#[derive(Debug)]
pub struct Compiled {
    /// As written; `None` where the text is no YAML mapping.
    pub file: Option<PolicyFile>,
    /// Present iff no diagnostic is an error.
    pub policy: Option<Policy>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) typed: ir::Policy,
    digest: String,
    /// Actions by a tool name that a glob spells out.
    literal: HashMap<String, Vec<u32>>,
    /// The other globs, by action.
    globs: Vec<(Glob, u32)>,
    lists: Vec<List>,
    /// For each variable the invariants that read it.
    pub(super) invariants_of: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct List {
    /// Present where a rule asks for a part, not for a member.
    search: Option<Search>,
    members: HashSet<Arc<str>>,
}

impl Policy {
    /// Actions and their globs that match no name of any of these servers, whatever its tools are.
    #[must_use]
    pub fn of_no_server(&self, servers: &[&str]) -> Vec<(String, String)> {
        let all: Vec<Glob> = servers.iter().map(|server| Glob::parse(&format!("{server}__*"))).collect();
        let mut found = Vec::new();
        for action in &self.0.typed.actions {
            for (glob, _) in &action.globs {
                if all.iter().all(|server| ir::glob::overlap(server, glob).is_none()) {
                    found.push((action.name.to_string(), glob.text().to_owned()));
                }
            }
        }
        found
    }

    /// Whether every call of this name is let through, since no action covers it and the default is allow.
    #[must_use]
    pub fn passes(&self, tool: &str) -> bool {
        self.0.typed.default == crate::policy::Default::Allow && self.0.matching(tool).is_empty()
    }

    /// Compiles a policy's text; `file` is where its diagnostics point.
    #[must_use]
    pub fn compile(text: &str, file: FileId) -> Compiled {
        let (written, mut diagnostics) = decode(text, file);
        let Some(written) = written else {
            return Compiled { file: None, policy: None, diagnostics };
        };
        let (typed, found) = ir::compile(&written);
        diagnostics.extend(found);
        forget_echoes(&mut diagnostics);
        let mut policy = None;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let program = if is_complete(&written, &typed) {
                Program::new(typed, ir::digest::digest(&written))
            } else {
                Err("a rule was lost while the policy was compiled".to_owned())
            };
            match program {
                Ok(program) => {
                    let candidate = Self(Arc::new(program));
                    let broken = candidate.broken_initially();
                    if broken.is_empty() {
                        policy = Some(candidate);
                    }
                    diagnostics.extend(broken);
                }
                Err(message) => {
                    diagnostics.push(Diagnostic::new(Code::PX9001, written.span.at_start(), message));
                }
            }
        }
        limit_diagnostics(&mut diagnostics);
        Compiled { file: Some(written), policy, diagnostics }
    }

    /// The typed policy.
    #[must_use]
    pub fn typed(&self) -> &ir::Policy {
        &self.0.typed
    }

    /// `sha256:…` of the policy's meaning.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.0.digest
    }

    /// The value of an expression without names; `None` if it has any, `Err` if it has no value.
    #[must_use]
    pub fn constant(&self, expr: &ir::Expr) -> Option<Result<Value, Undefined>> {
        let named = |node: &ir::Expr| matches!(node.kind, ExprKind::State(_) | ExprKind::Arg(_) | ExprKind::Context(_));
        if expr.any(&named) {
            return None;
        }
        let call = Call { tool: "", upstream: "", arguments: &Json::Null };
        let facts = Facts::new(call, None);
        let env = Env { program: &self.0, state: &[], overlay: &[], args: &[], facts: &facts };
        Some(run(expr, &env, &mut Silent).map(|value| value.to_value()).map_err(|error| error.reason))
    }

    /// The expression of a rule.
    #[must_use]
    pub fn expression(&self, rule: Rule) -> Option<&ir::Expr> {
        let typed = &self.0.typed;
        Some(match rule {
            Rule::Guard { action, guard } => &typed.actions.get(action)?.guards.get(guard)?.expr,
            Rule::Effect { action, assignment } => &typed.actions.get(action)?.effect.get(assignment)?.expr,
            Rule::OnResult { action, assignment } => &typed.actions.get(action)?.on_result.get(assignment)?.expr,
            Rule::Invariant(at) => &typed.invariants.get(at)?.expr,
        })
    }

    /// Invariants that the initial state violates or that cannot be evaluated in it.
    fn broken_initially(&self) -> Vec<Diagnostic> {
        let session = self.session();
        let mut diagnostics = Vec::new();
        let state = super::state_text(&self.0.typed, session.state());
        for (at, invariant) in self.0.typed.invariants.iter().enumerate() {
            let complaint = match session.invariant(at) {
                Ok(true) => continue,
                Ok(false) => format!("the initial state violates the invariant '{}'", invariant.name),
                Err(reason) => {
                    format!("the invariant '{}' cannot be evaluated in the initial state: {reason}", invariant.name)
                }
            };
            diagnostics.push(
                Diagnostic::new(Code::PX2011, invariant.expr.span, complaint)
                    .label(format!("initially {state}"))
                    .help("change an initial value or the invariant: it must hold before the first call"),
            );
        }
        diagnostics
    }
}

/// Whether every written rule has become a typed one. It has wherever no error was reported; a rule that
/// vanished in silence would leave its tools open.
fn is_complete(file: &PolicyFile, typed: &ir::Policy) -> bool {
    let actions = file.actions.iter().zip(&typed.actions).all(|(written, action)| {
        written.globs.len() == action.globs.len()
            && written.args.len() == action.args.len()
            && written.requires.len() == action.guards.len()
            && written.effect.len() == action.effect.len()
            && written.on_result.len() == action.on_result.len()
    });
    actions
        && file.actions.len() == typed.actions.len()
        && file.invariants.len() == typed.invariants.len()
        && file.state.len() == typed.state.len()
        && file.checks.len() == typed.checks.len()
        && file.terminal.len() == typed.terminal.len()
}

/// Drops what only follows from another finding. An ambiguous scalar is read as a text, and a broken
/// alias or tag as nothing: that this has the wrong type is no news. And a policy with a broken part may
/// well be one that denies.
fn forget_echoes(diagnostics: &mut Vec<Diagnostic>) {
    let broken: HashSet<Span> = diagnostics
        .iter()
        .filter(|d| matches!(d.code, Code::PX0003 | Code::PX0008 | Code::PX0009))
        .flat_map(|d| [d.primary.span, d.primary.span.at_end()])
        .collect();
    diagnostics.retain(|d| d.code < Code::PX1001 || !broken.contains(&d.primary.span));
    if diagnostics.iter().any(|d| d.is_error() && d.code != Code::PX2012) {
        diagnostics.retain(|d| d.code != Code::PX2012);
    }
}

impl Program {
    fn new(typed: ir::Policy, digest: String) -> Result<Self, String> {
        let mut searched: HashSet<ListId> = HashSet::new();
        for expr in typed.expressions() {
            expr.walk(&mut |node| {
                if let ExprKind::Matches(_, list) = node.kind {
                    searched.insert(list);
                }
            });
        }
        let mut lists = Vec::with_capacity(typed.lists.len());
        for (at, list) in (0..).zip(&typed.lists) {
            let search = if searched.contains(&ListId(at)) {
                let built = Search::new(list.texts.iter().map(|(text, _)| &**text));
                Some(built.map_err(|error| format!("a pattern list cannot be compiled: {error}"))?)
            } else {
                None
            };
            lists.push(List { search, members: list.texts.iter().map(|(text, _)| Arc::clone(text)).collect() });
        }
        let mut literal: HashMap<String, Vec<u32>> = HashMap::new();
        let mut globs = Vec::new();
        for (at, action) in (0..).zip(&typed.actions) {
            for (glob, _) in &action.globs {
                match glob.is_literal() {
                    Some(name) => literal.entry(name).or_default().push(at),
                    None => globs.push((glob.clone(), at)),
                }
            }
        }
        let mut invariants_of: Vec<Vec<usize>> = vec![Vec::new(); typed.state.len()];
        for (at, invariant) in typed.invariants.iter().enumerate() {
            invariant.expr.walk(&mut |node| {
                if let ExprKind::State(id) = node.kind
                    && let Some(readers) = invariants_of.get_mut(id.0 as usize)
                    && readers.last() != Some(&at)
                {
                    readers.push(at);
                }
            });
        }
        Ok(Self { typed, digest, literal, globs, lists, invariants_of })
    }

    pub(super) fn matching(&self, tool: &str) -> Vec<u32> {
        let mut found = self.literal.get(tool).cloned().unwrap_or_default();
        for (glob, action) in &self.globs {
            if glob.matches(tool) {
                found.push(*action);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a text of the list occurs in `text`.
    pub(super) fn matches(&self, list: ListId, text: &str) -> bool {
        let search = self.lists.get(list.0 as usize).and_then(|list| list.search.as_ref());
        search.is_some_and(|search| search.is_match(text))
    }

    /// The leftmost text of the list that occurs in `text`, and where.
    pub(super) fn find(&self, list: ListId, text: &str) -> Option<(usize, std::ops::Range<usize>)> {
        self.lists.get(list.0 as usize)?.search.as_ref()?.find(text)
    }

    /// Every text of the list that occurs in `text`, in the list's order.
    pub(super) fn find_all(&self, list: ListId, text: &str) -> Vec<usize> {
        let texts = self.typed.list(list).map(|list| list.texts.as_slice()).unwrap_or_default();
        texts.iter().enumerate().filter(|(_, (part, _))| text.contains(&**part)).map(|(at, _)| at).collect()
    }

    pub(super) fn member(&self, list: ListId, text: &str) -> bool {
        self.lists.get(list.0 as usize).is_some_and(|list| list.members.contains(text))
    }
}

/// An argument as a value of the declared type; `Err` names the type that it has instead.
pub(super) fn argument(json: &Json, ty: ir::Type) -> Result<Val<'_>, &'static str> {
    match (ty, json) {
        (ir::Type::Bool, Json::Bool(value)) => Ok(Val::Bool(*value)),
        (ir::Type::Str, Json::String(text)) => Ok(Val::Str(text)),
        (ir::Type::Int, Json::Number(number)) if number.is_integer() => {
            if let Some(value) = number.as_i64() {
                return Ok(Val::Int(Int::from(value)));
            }
            Int::parse_decimal(&number.spelling()).map(Val::Int).ok_or("int of more than 4300 digits")
        }
        _ => Err(json.python_type()),
    }
}

/// The state before the first call.
pub(super) fn initial(typed: &ir::Policy) -> Vec<Value> {
    typed.state.iter().map(|var| var.init.clone()).collect()
}
