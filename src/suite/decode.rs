//! YAML tree to [`Suite`]: the shape of a test file, every problem in one run. Knows no policy, so
//! names of rules and variables are not looked up here.

use super::written::{Expect, StateValue, Suite, Test, TestCall};
use super::yaml_json::json;
use crate::eval::Decision;
use crate::ir::{Value, int_literal};
use crate::json::{Json, Object};
use crate::policy::{Fields, Reader, Text};
use crate::recording::{Record, upstream_of};
use crate::text::suggest::nearest;
use crate::text::{Code, Diagnostic, FileId, Span};
use crate::yaml::{self, Document, Kind, Node, Value as Yaml};
use std::collections::HashMap;

const TOP: &[&str] = &["policy", "tests"];
const TEST: &[&str] = &["name", "calls", "state"];
const CALL: &[&str] = &["call", "upstream", "args", "result", "is_error", "expect", "by", "reason"];
const VERDICTS: [Decision; 3] = [Decision::Allow, Decision::Deny, Decision::Pass];

/// Reads a test file. The suite holds what could be read; it is complete only if no diagnostic is an
/// error. `None` where the file is not YAML or not a mapping at all.
#[must_use]
pub fn decode(text: &str, file: FileId) -> (Option<Suite>, Vec<Diagnostic>) {
    let Document { root, diagnostics, .. } = yaml::read(text, file);
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    let mut decoder = Decoder { reader: Reader { diagnostics } };
    let Some(root) = root else {
        if !broken {
            decoder.reader.report(
                Diagnostic::new(Code::PX1003, Span::new(file, 0, 0), "the test file is empty")
                    .help("a test file has `tests:`, each with a `name` and `calls`"),
            );
        }
        return (None, decoder.reader.diagnostics);
    };
    let suite = decoder.suite(&root);
    (suite, decoder.reader.diagnostics)
}

struct Decoder {
    reader: Reader,
}

impl Decoder {
    fn suite(&mut self, root: &Node) -> Option<Suite> {
        let fields = self.reader.fields(root, "a test file", TOP, "a test file is a mapping with `tests:`")?;
        let policy = fields.get("policy").and_then(|node| self.reader.line(node, "`policy`"));
        let help = "write `tests: [{name: NAME, calls: [{call: TOOL, expect: deny}]}]`";
        let mut tests: Vec<Test> = Vec::new();
        let mut names: HashMap<String, Span> = HashMap::new();
        if let Some(node) = self.reader.required(&fields, "tests", help) {
            let items = self.reader.list(node, "`tests`", help);
            if items.is_empty() && node.as_sequence().is_some() {
                self.reader.report(
                    Diagnostic::new(Code::PX5003, node.span, "this file has no tests")
                        .help("add a test, or remove the file"),
                );
            }
            for item in items {
                let Some(test) = self.test(item, help) else { continue };
                if let Some(first) = names.insert(test.name.text.clone(), test.name.span) {
                    let message = format!("two tests are named `{}`", test.name.text.escape_debug());
                    self.reader.report(
                        Diagnostic::new(Code::PX1006, test.name.span, message)
                            .also(first, "first here")
                            .help("give each test its own name: reports and `--filter` tell them apart by it"),
                    );
                }
                tests.push(test);
            }
        }
        Some(Suite { policy, tests })
    }

    fn test(&mut self, node: &Node, help: &str) -> Option<Test> {
        let fields = self.reader.fields(node, "a test", TEST, help)?;
        let name = self.reader.required(&fields, "name", "add `name: NAME`, a sentence about what must be so");
        let name = name.and_then(|node| self.reader.line(node, "the name of a test"));
        let before = self.reader.diagnostics.len();
        let calls = self.reader.required(&fields, "calls", "add `calls: [{call: TOOL, expect: allow}]`");
        let calls = calls.map(|node| self.calls(node)).unwrap_or_default();
        let state = fields.get("state").map(|node| self.state(node)).unwrap_or_default();
        let name = name?;
        // What could not be read may have been the expectation.
        let complete = before == self.reader.diagnostics.len();
        if complete && state.is_empty() && !calls.iter().any(TestCall::expects) {
            self.reader.report(
                Diagnostic::new(Code::PX1002, name.span, "this test expects nothing, so it could never fail")
                    .help("give a call `expect`, `by` or `reason`, or the test a `state`"),
            );
        }
        Some(Test { name, calls, state })
    }

    fn calls(&mut self, node: &Node) -> Vec<TestCall> {
        let help = "write `calls: [{call: TOOL, args: {…}, expect: deny, by: RULE}]`";
        let items = self.reader.list(node, "`calls`", help);
        if items.is_empty() && node.as_sequence().is_some() {
            let message = "`calls` is empty, so nothing is tested";
            self.reader.report(Diagnostic::new(Code::PX1004, node.span, message).help(help));
        }
        items.iter().filter_map(|item| self.call(item, help)).collect()
    }

    fn call(&mut self, node: &Node, help: &str) -> Option<TestCall> {
        let fields = self.reader.fields(node, "a call", CALL, help)?;
        let tool = self.reader.required(&fields, "call", "add `call: server__tool`, the tool's public name");
        let tool = tool.and_then(|node| self.reader.line(node, "the name of a tool"));
        let upstream = fields.get("upstream").and_then(|node| self.reader.text(node, "`upstream`"));
        let arguments = fields.get("args").map(|node| self.arguments(node));
        let result = fields.get("result").and_then(|node| self.result(node));
        let is_error = fields.get("is_error").is_some_and(|node| self.is_error(node, &fields));
        let expect = fields.get("expect").and_then(|node| self.expect(node));
        let by = fields.get("by").map(|node| self.by(node)).unwrap_or_default();
        let reason = fields.get("reason").and_then(|node| self.reason(node));
        if let Some(expect) = expect
            && expect.decision != Decision::Deny
        {
            for key in ["by", "reason"] {
                let Some(node) = fields.get(key) else { continue };
                let message = format!("`{key}` is about a denial, but `{}` is expected", expect.decision.as_str());
                self.reader.report(
                    Diagnostic::new(Code::PX1007, node.span, message)
                        .also(expect.span, "expected here")
                        .help(format!("write `expect: deny`, or remove `{key}`")),
                );
            }
        }
        let tool = tool?.text;
        let upstream = match upstream {
            Some(upstream) => upstream.text,
            None => upstream_of(&tool).to_owned(),
        };
        let arguments = arguments.flatten().unwrap_or_else(|| Json::Object(Object::default()));
        Some(TestCall { record: Record { tool, upstream, arguments, result, is_error }, expect, by, reason })
    }

    fn arguments(&mut self, node: &Node) -> Option<Json> {
        if node.as_mapping().is_none() {
            self.reader.wrong_shape(node, "`args`", "a mapping", "write `args: {NAME: value}`, or leave `args` out");
            return None;
        }
        json(node, &mut self.reader)
    }

    fn result(&mut self, node: &Node) -> Option<Json> {
        match &node.value {
            Yaml::Mapping(_) => json(node, &mut self.reader),
            Yaml::Scalar(scalar) if scalar.kind != Kind::Null => {
                self.reader.text(node, "`result`").map(|text| Json::String(text.text))
            }
            _ => {
                let help =
                    "write a text, or `{content: [{type: text, text: …}]}`; a call without `result` has not returned";
                self.reader.wrong_shape(node, "`result`", "a text or a mapping", help);
                None
            }
        }
    }

    fn is_error(&mut self, node: &Node, fields: &Fields<'_>) -> bool {
        let Some(value) = node.as_bool() else {
            self.reader.wrong_shape(
                node,
                "`is_error`",
                "`true` or `false`",
                "write it without quotes, or leave it out",
            );
            return false;
        };
        if fields.get("result").is_none() {
            self.reader.report(
                Diagnostic::new(
                    Code::PX1002,
                    fields.key_span("is_error").unwrap_or(node.span),
                    "`is_error` needs `result`",
                )
                .help("add the answer: `result: \"no such file\"`"),
            );
        }
        value
    }

    fn expect(&mut self, node: &Node) -> Option<Expect> {
        let written = node.as_text();
        let found = VERDICTS.into_iter().find(|decision| written == Some(decision.as_str()));
        if let Some(decision) = found {
            return Some(Expect { decision, span: node.span });
        }
        let shown = written.map_or_else(|| node.describe(), |text| format!("`{}`", text.escape_debug()));
        // `denied` and `allowed` are far off by letters.
        let stem = |decision: &str| written.is_some_and(|text| text.starts_with(decision.get(..3).unwrap_or(decision)));
        let near = VERDICTS.map(Decision::as_str).into_iter().find(|decision| stem(decision));
        let near = near.or_else(|| written.and_then(|text| nearest(text, VERDICTS.map(Decision::as_str))));
        let help = near.map_or_else(
            || "a call is allowed, denied, or passes because no action covers its tool".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        self.reader.report(
            Diagnostic::new(
                Code::PX1007,
                node.span,
                format!("`expect` must be `allow`, `deny` or `pass`, not {shown}"),
            )
            .help(help),
        );
        None
    }

    fn by(&mut self, node: &Node) -> Vec<Text> {
        let items = match &node.value {
            Yaml::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if items.is_empty() {
            self.reader.report(
                Diagnostic::new(Code::PX1004, node.span, "`by` names no rule")
                    .help("name one, or write `expect: deny` alone"),
            );
        }
        items.iter().filter_map(|item| self.reader.line(item, "a name in `by`")).collect()
    }

    fn reason(&mut self, node: &Node) -> Option<Text> {
        let text = self.reader.text(node, "`reason`")?;
        if text.text.is_empty() {
            self.reader.report(
                Diagnostic::new(Code::PX1004, node.span, "every reason contains the empty text")
                    .help("write a part of the reason, or `expect: deny` alone"),
            );
            return None;
        }
        Some(text)
    }

    fn state(&mut self, node: &Node) -> Vec<StateValue> {
        let help = "write `state: {NAME: value}`";
        let mut state = Vec::new();
        for (variable, node) in self.reader.pairs(node, "`state`", help) {
            let value = node.as_scalar().and_then(|scalar| match scalar.kind {
                Kind::Bool(value) => Some(Value::Bool(value)),
                Kind::Int => int_literal(&scalar.text).map(Value::Int),
                Kind::Text => Some(Value::Str(scalar.text.as_str().into())),
                Kind::Null | Kind::Float => None,
            });
            if let Some(value) = value {
                state.push(StateValue { variable, value, span: node.span });
            } else {
                let what = format!("the value of `{}`", variable.text.escape_debug());
                self.reader.wrong_shape(node, &what, "a boolean, a whole number or a text", help);
            }
        }
        state
    }
}
