//! YAML tree to [`PolicyFile`]: keys, shapes, names; every problem of the file in one run.

mod checks;

use super::shape::{Fields, Reader};
use super::written::{Action, Default, ExprText, Literal, LiteralKind, Named, PatternList, PolicyFile, StateVar, Text};
use crate::syntax;
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, FileId, Span};
use crate::yaml::{self, Document, Kind, Node, Value};
use std::collections::HashMap;

const TOP: &[&str] = &["default", "patterns", "state", "invariants", "actions", "checks", "terminal"];
const ACTION: &[&str] = &["name", "match", "args", "requires", "effect", "on_result", "reason", "hint"];
const INVARIANT: &[&str] = &["name", "expr", "reason", "hint"];

/// How many actions, invariants, variables and pattern lists a policy may have, and an action globs.
const MAX_PARTS: usize = 2_000;

/// Reads a policy. `None` where the file is not YAML or not a mapping at all.
#[must_use]
pub fn decode(text: &str, file: FileId) -> (Option<PolicyFile>, Vec<Diagnostic>) {
    let Document { root, comments, diagnostics } = yaml::read(text, file);
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    let mut decoder = Decoder { reader: Reader { diagnostics } };
    let Some(root) = root else {
        if !broken {
            let span = Span::new(file, 0, 0);
            decoder.reader.report(
                Diagnostic::new(Code::PX1003, span, "the policy is empty")
                    .help("a policy has at least `actions:`, each with a `name` and a `match`"),
            );
        }
        return (None, decoder.reader.diagnostics);
    };
    if let Some(key) = servers_key(&root) {
        let message = "this looks like a configuration of servers, and a policy belongs here";
        let help = "were `--config` and `--policy` swapped? A policy is the file with `actions:`";
        decoder.reader.report(Diagnostic::new(Code::PX1001, key, message).help(help));
        return (None, decoder.reader.diagnostics);
    }
    let policy = decoder.policy(&root).map(|policy| PolicyFile { comments, ..policy });
    (policy, decoder.reader.diagnostics)
}

/// Where a file that has no actions has what only a configuration has.
fn servers_key(root: &Node) -> Option<Span> {
    let entries = root.as_mapping()?;
    if entries.iter().any(|entry| entry.key_text() == "actions") {
        return None;
    }
    entries.iter().find(|entry| matches!(entry.key_text(), "servers" | "mcpServers")).map(|entry| entry.key.span)
}

/// Where globs stand, in the words of its messages.
struct GlobPlace {
    key: &'static str,
    /// What an empty list means.
    consequence: &'static str,
    many: &'static str,
}

const MATCH: GlobPlace =
    GlobPlace { key: "match", consequence: "the action never applies", many: "globs of one action" };

struct Decoder {
    reader: Reader,
}

impl Decoder {
    fn policy(&mut self, root: &Node) -> Option<PolicyFile> {
        let fields = self.reader.fields(root, "a policy", TOP, "a policy is a mapping with `actions:` and more")?;
        let mut policy = PolicyFile {
            span: root.span,
            default: Default::Allow,
            default_span: root.span.at_start(),
            patterns: Vec::new(),
            state: Vec::new(),
            invariants: Vec::new(),
            actions: Vec::new(),
            checks: Vec::new(),
            terminal: Vec::new(),
            comments: Vec::new(),
        };
        if let Some(node) = fields.get("default") {
            policy.default_span = node.span;
            policy.default = self.default(node);
        }
        if let Some(node) = fields.get("patterns") {
            policy.patterns = self.patterns(node);
        }
        if let Some(node) = fields.get("state") {
            policy.state = self.state(node);
        }
        if let Some(node) = fields.get("invariants") {
            policy.invariants = self.invariants(node);
        }
        if let Some(node) = fields.get("actions") {
            policy.actions = self.actions(node);
        }
        if let Some(node) = fields.get("checks") {
            policy.checks = self.checks(node);
        }
        if let Some(node) = fields.get("terminal") {
            policy.terminal = self.terminal(node);
        }
        Some(policy)
    }

    /// Complains about more parts than the limit and cuts the list.
    fn within_limit<T>(&mut self, parts: &mut Vec<T>, what: &str, span: Span) {
        if parts.len() > MAX_PARTS {
            let count = parts.len();
            self.reader.report(
                Diagnostic::new(Code::PX2015, span.at_start(), format!("{count} {what}: more than {MAX_PARTS}"))
                    .help("split the policy by server, or join rules with globs and pattern lists"),
            );
            parts.truncate(MAX_PARTS);
        }
    }

    fn default(&mut self, node: &Node) -> Default {
        match node.as_text() {
            Some("allow") => return Default::Allow,
            Some("deny") => return Default::Deny,
            _ => {}
        }
        let near = node.as_text().and_then(|text| nearest(text, ["allow", "deny"]));
        self.reader.report(
            Diagnostic::new(
                Code::PX1007,
                node.span,
                match node.as_text() {
                    Some(text) => format!("`default` must be `allow` or `deny`, not `{text}`"),
                    None => format!("`default` must be `allow` or `deny`, not {}", node.describe()),
                },
            )
            .help(near.map_or_else(
                || "`deny` refuses every tool that no action covers".to_owned(),
                |near| format!("did you mean `{near}`?"),
            )),
        );
        Default::Deny
    }

    fn patterns(&mut self, node: &Node) -> Vec<PatternList> {
        let help = "write `patterns: {NAME: [text, …]}`";
        let mut lists = Vec::new();
        for (name, value) in self.reader.pairs(node, "`patterns`", help) {
            self.check_name(&name, "a pattern list");
            let what = format!("pattern list `{}`", name.text);
            let items = self.reader.list(value, &what, help);
            if items.is_empty() && matches!(value.value, Value::Sequence(_)) {
                self.reader.report(
                    Diagnostic::new(Code::PX1004, value.span, format!("{what} is empty, so it matches nothing"))
                        .help("add a pattern, or remove the list"),
                );
            }
            let mut texts = Vec::with_capacity(items.len());
            for item in items {
                let Some(text) = self.reader.text(item, "a pattern") else { continue };
                if text.text.is_empty() {
                    self.reader.report(
                        Diagnostic::new(Code::PX1004, item.span, "an empty pattern is part of every text")
                            .help("remove it"),
                    );
                    continue;
                }
                texts.push(text);
            }
            lists.push(PatternList { name, texts });
        }
        self.within_limit(&mut lists, "pattern lists", node.span);
        lists
    }

    fn state(&mut self, node: &Node) -> Vec<StateVar> {
        let help = "write `state: {NAME: {type: bool, init: false}}`";
        let mut variables = Vec::new();
        for (name, value) in self.reader.pairs(node, "`state`", help) {
            self.check_name(&name, "a state variable");
            let fields = self.reader.fields(value, "a state variable", &["type", "init"], help);
            let Some(fields) = fields else { continue };
            let ty = self
                .reader
                .required(&fields, "type", "add `type: bool`, `int` or `str`")
                .and_then(|node| self.reader.text(node, "a type"));
            let init = self.reader.required(&fields, "init", "add the value before the first call, e.g. `init: false`");
            if let (Some(ty), Some(init)) = (ty, init) {
                variables.push(StateVar { name, ty, init: literal(init) });
            }
        }
        self.within_limit(&mut variables, "state variables", node.span);
        variables
    }

    fn invariants(&mut self, node: &Node) -> Vec<Named> {
        let help = "write `invariants: [{name: NAME, expr: EXPR}]`";
        let mut invariants: Vec<Named> = Vec::new();
        let mut names = Names::default();
        for item in self.reader.list(node, "`invariants`", help) {
            let Some(fields) = self.reader.fields(item, "an invariant", INVARIANT, help) else { continue };
            let name = self.reader.required(&fields, "name", "add `name: NAME`; denials name it");
            let name = name.and_then(|node| self.reader.line(node, "the name of an invariant"));
            let expr = self.reader.required(&fields, "expr", "add `expr: EXPR`, a condition over the state");
            let expr = expr.and_then(|node| self.expression(node, "`expr`"));
            if let Some(name) = &name {
                names.check(&mut self.reader, name, "invariant");
            }
            let (reason, hint) = (self.words(&fields, "reason"), self.words(&fields, "hint"));
            if let (Some(name), Some(expr)) = (name, expr) {
                invariants.push(Named { name, expr, reason, hint });
            }
        }
        self.within_limit(&mut invariants, "invariants", node.span);
        invariants
    }

    fn actions(&mut self, node: &Node) -> Vec<Action> {
        let help = "write `actions: [{name: NAME, match: GLOB, requires: EXPR}]`";
        let mut actions = Vec::new();
        let mut names = Names::default();
        for item in self.reader.list(node, "`actions`", help) {
            let Some(fields) = self.reader.fields(item, "an action", ACTION, help) else { continue };
            let name = self.reader.required(&fields, "name", "add `name: NAME`; denials name it");
            let name = name.and_then(|node| self.reader.line(node, "the name of an action"));
            if let Some(name) = &name {
                names.check(&mut self.reader, name, "action");
            }
            let globs = self.reader.required(&fields, "match", "add `match: \"server__tool\"` or a list of globs");
            let globs = globs.map(|node| self.globs(node, &MATCH)).unwrap_or_default();
            let args = fields.get("args").map(|node| self.args(node)).unwrap_or_default();
            let requires = fields.get("requires").map(|node| self.requires(node)).unwrap_or_default();
            let effect = fields.get("effect").map(|node| self.assignments(node, "`effect`")).unwrap_or_default();
            let on_result = fields.get("on_result").map(|node| self.assignments(node, "`on_result`"));
            actions.push(Action {
                name: name.unwrap_or_else(|| Text { text: "?".to_owned(), span: item.span }),
                span: item.span,
                globs,
                args,
                requires,
                effect,
                on_result: on_result.unwrap_or_default(),
                reason: self.words(&fields, "reason"),
                hint: self.words(&fields, "hint"),
            });
        }
        self.within_limit(&mut actions, "actions", node.span);
        actions
    }

    /// Words for people: a text that says something.
    fn words(&mut self, fields: &Fields<'_>, key: &str) -> Option<Text> {
        let node = fields.get(key)?;
        let Text { text, span } = self.reader.text(node, &format!("`{key}`"))?;
        let text = text.trim();
        if text.is_empty() {
            let message = format!("`{key}` is empty");
            self.reader.report(Diagnostic::new(Code::PX1004, span, message).help("write why, or remove it"));
            return None;
        }
        Some(Text { text: text.to_owned(), span })
    }

    fn globs(&mut self, node: &Node, place: &GlobPlace) -> Vec<Text> {
        let GlobPlace { key, consequence, many } = place;
        let items = match &node.value {
            Value::Sequence(items) => {
                if items.is_empty() {
                    self.reader.report(
                        Diagnostic::new(Code::PX1004, node.span, format!("`{key}` is empty, so {consequence}"))
                            .help(format!("name the tools: `{key}: [\"fs__read_*\"]`")),
                    );
                }
                items.as_slice()
            }
            _ => std::slice::from_ref(node),
        };
        let mut globs = Vec::with_capacity(items.len());
        for item in items {
            let Some(text) = self.reader.text(item, "a glob") else { continue };
            if text.text.is_empty() {
                self.reader.report(
                    Diagnostic::new(Code::PX1004, item.span, "an empty glob matches no tool")
                        .help(format!("name a tool: `{key}: [\"fs__read_*\"]`")),
                );
                continue;
            }
            globs.push(text);
        }
        self.within_limit(&mut globs, many, node.span);
        globs
    }

    fn args(&mut self, node: &Node) -> Vec<(Text, Text)> {
        let help = "write `args: {NAME: str}` with `bool`, `int` or `str`";
        let mut args = Vec::new();
        for (name, value) in self.reader.pairs(node, "`args`", help) {
            self.check_name(&name, "an argument");
            if let Some(ty) = self.reader.text(value, "the type of an argument") {
                args.push((name, ty));
            }
        }
        args
    }

    fn requires(&mut self, node: &Node) -> Vec<ExprText> {
        let items = match &node.value {
            Value::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        items.iter().filter_map(|item| self.expression(item, "`requires`")).collect()
    }

    fn assignments(&mut self, node: &Node, what: &str) -> Vec<(Text, ExprText)> {
        let help = format!("write {what} as a mapping of variables to new values, e.g. `{{n: n + 1}}`");
        let mut assignments = Vec::new();
        for (name, value) in self.reader.pairs(node, what, &help) {
            let place = format!("the new value of `{}`", name.text);
            if let Some(expr) = self.expression(value, &place) {
                assignments.push((name, expr));
            }
        }
        assignments
    }

    fn expression(&mut self, node: &Node, what: &str) -> Option<ExprText> {
        let scalar = self.reader.scalar(node, what, "write an expression, in quotes where YAML needs them")?;
        let parsed = syntax::parse(&scalar.text, &|range| scalar.span_of(node.span, range));
        let sound = parsed.diagnostics.is_empty();
        self.reader.diagnostics.extend(parsed.diagnostics);
        Some(ExprText { sound, text: scalar.text.trim().to_owned(), span: node.span, expr: parsed.expr })
    }

    fn check_name(&mut self, name: &Text, what: &str) {
        let text = &name.text;
        let (message, help) = if syntax::words::is_keyword(text) {
            let help = if what == "an argument" {
                "an expression could not name it: match on `payload` or `call.text` instead"
            } else {
                "choose another name"
            };
            (format!("`{text}` is a keyword, so it cannot name {what}"), help.to_owned())
        } else if !syntax::words::is_identifier(text) {
            let shown =
                if text.is_empty() { "the empty text".to_owned() } else { format!("`{}`", text.escape_debug()) };
            let fixed: String =
                text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
            let help = if what == "an argument" {
                "an expression could not name it: match on `payload` or `call.text` instead".to_owned()
            } else if syntax::words::is_identifier(&fixed) && fixed.chars().any(|c| c != '_') {
                format!("write `{fixed}`")
            } else {
                "use ASCII letters, digits and `_`, no digit first".to_owned()
            };
            (format!("{shown} cannot name {what}: names are ASCII letters, digits and `_`"), help)
        } else {
            return;
        };
        self.reader.report(Diagnostic::new(Code::PX1005, name.span, message).help(help));
    }
}

fn literal(node: &Node) -> Literal {
    let kind = match &node.value {
        Value::Scalar(scalar) => match scalar.kind {
            Kind::Bool(value) => LiteralKind::Bool(value),
            Kind::Int => LiteralKind::Int(scalar.text.clone()),
            Kind::Text => LiteralKind::Text(scalar.text.clone()),
            Kind::Float | Kind::Null => LiteralKind::Other,
        },
        _ => LiteralKind::Other,
    };
    Literal { kind, span: node.span, described: node.describe() }
}

/// Names seen so far, to find the second of two.
#[derive(Default)]
struct Names(HashMap<String, Span>);

impl Names {
    fn check(&mut self, reader: &mut Reader, name: &Text, what: &str) {
        if let Some(first) = self.0.get(&name.text) {
            let diagnostic = Diagnostic::new(Code::PX1006, name.span, format!("two {what}s are named `{}`", name.text))
                .also(*first, "first here")
                .help("denials and tests name rules: give each its own name");
            reader.report(diagnostic);
        } else {
            self.0.insert(name.text.clone(), name.span);
        }
    }
}
