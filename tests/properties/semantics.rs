//! The evaluator against the plain reference: verdicts, every failure, states.

use super::expressions::{Grammar, call, name};
use super::reference::{Action, Names, Session, Value};
use num_bigint::BigInt;
use praxiom::eval::{Answer, Call, Policy};
use praxiom::ir;
use praxiom::json::{self, Json};
use praxiom::syntax::ast::Expr;
use praxiom::syntax::print::print;
use praxiom::text::FileId;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Initially false: invariants hold until an action sets it.
const ARMED: &str = "armed";

const STATE: Grammar = Grammar { bools: &[ARMED, "b"], ints: &["i", "j"], strs: &["s"], depth: 2 };
const BEFORE: Grammar = Grammar {
    bools: &[ARMED, "b", "p"],
    ints: &["i", "j", "n"],
    strs: &["s", "t", "payload", "tool", "upstream", "call.text"],
    depth: 2,
};
const AFTER: Grammar = Grammar { strs: &["s", "t", "tool", "result"], ..BEFORE };

/// A policy and the state it begins with.
#[derive(Clone)]
struct Model {
    state: Names,
    invariants: Vec<Expr>,
    actions: Vec<Action>,
}

/// As the policy's text, which says more than the trees.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Model {
    fn text(&self) -> String {
        let mut out = String::from("state:\n");
        for (name, value) in &self.state {
            let (ty, init) = match value {
                Value::Bool(value) => ("bool", value.to_string()),
                Value::Int(value) => ("int", value.to_string()),
                Value::Str(value) => ("str", quoted(value)),
            };
            writeln!(out, "  {name}: {{type: {ty}, init: {init}}}").unwrap();
        }
        out.push_str("invariants:\n");
        for (at, expr) in self.invariants.iter().enumerate() {
            writeln!(out, "  - {{name: invariant{at}, expr: {}}}", quoted(&print(expr))).unwrap();
        }
        out.push_str("actions:\n");
        for (at, action) in self.actions.iter().enumerate() {
            writeln!(out, "  - name: action{at}\n    match: {}", quoted(action.glob)).unwrap();
            out.push_str("    args: {p: bool, n: int, t: str}\n    requires:\n");
            for guard in &action.guards {
                writeln!(out, "      - {}", quoted(&print(guard))).unwrap();
            }
            for (key, assignments) in [("effect", &action.effect), ("on_result", &action.on_result)] {
                if !assignments.is_empty() {
                    writeln!(out, "    {key}:").unwrap();
                }
                for (variable, expr) in assignments {
                    writeln!(out, "      {variable}: {}", quoted(&print(expr))).unwrap();
                }
            }
        }
        out
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn state() -> impl Strategy<Value = Names> {
    (any::<bool>(), -3..4i64, any::<i64>(), select(vec!["", "a", "ab", "é\n"])).prop_map(|(b, i, j, s)| {
        let values = [
            (ARMED, Value::Bool(false)),
            ("b", Value::Bool(b)),
            ("i", Value::Int(i.into())),
            ("j", Value::Int(j.into())),
            ("s", Value::Str(s.to_owned())),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    })
}

/// New values for some of the variables.
fn assignments(grammar: Grammar) -> impl Strategy<Value = BTreeMap<&'static str, Expr>> {
    let rarely = |expr| option::weighted(0.4, expr);
    let (bool, int) = (grammar.bool(), grammar.int());
    (rarely(bool.clone()), rarely(bool), rarely(int.clone()), rarely(int), rarely(grammar.str())).prop_map(
        |(armed, b, i, j, s)| {
            let all = [(ARMED, armed), ("b", b), ("i", i), ("j", j), ("s", s)];
            all.into_iter().filter_map(|(name, expr)| Some((name, expr?))).collect()
        },
    )
}

fn action() -> impl Strategy<Value = Action> {
    let glob = select(vec!["u__x", "u__*", "*", "*__x", "v__*"]);
    (glob, vec(BEFORE.bool(), 1..3), assignments(BEFORE), assignments(AFTER)).prop_map(
        |(glob, guards, effect, on_result)| {
            // Most guards hold, so that there is something to see behind them.
            let guards = guards.into_iter().map(|guard| call("implies", vec![name("p"), guard])).collect();
            Action { glob, guards, effect, on_result }
        },
    )
}

fn model() -> impl Strategy<Value = Model> {
    (state(), vec(STATE.bool(), 1..3), vec(action(), 1..5)).prop_map(|(state, invariants, actions)| {
        let invariants = invariants.into_iter().map(|expr| call("implies", vec![name(ARMED), expr])).collect();
        Model { state, invariants, actions }
    })
}

/// Tool, arguments, and the text that comes back.
#[derive(Clone, Debug)]
struct Made {
    tool: &'static str,
    p: bool,
    n: String,
    t: String,
    result: String,
}

fn made() -> impl Strategy<Value = Made> {
    let tool = select(vec!["u__x", "u__y", "v__x"]);
    let number = prop_oneof![(-3..4i64).prop_map(|n| n.to_string()), "-?[1-9][0-9]{0,40}"];
    let text = || select(vec!["", "a", "ba", "é", "\"\\\n", "x\u{1f600}ab"]).prop_map(str::to_owned);
    (tool, prop::bool::weighted(0.3), number, text(), text()).prop_map(|(tool, p, n, t, result)| Made {
        tool,
        p,
        n,
        t,
        result,
    })
}

impl Made {
    fn arguments(&self) -> Json {
        let text = format!(r#"{{"t": {}, "p": {}, "n": {}}}"#, quoted(&self.t), self.p, self.n);
        json::parse(text.as_bytes()).unwrap()
    }

    fn upstream(&self) -> &'static str {
        self.tool.split_once("__").unwrap().0
    }

    fn names(&self, arguments: &Json) -> Names {
        let (mut payload, mut call_text) = (String::new(), String::new());
        json::write_python(arguments, true, &mut payload);
        json::strings(arguments, &mut call_text);
        let texts = [
            ("t", self.t.as_str()),
            ("tool", self.tool),
            ("upstream", self.upstream()),
            ("payload", &payload),
            ("call.text", &call_text),
            ("result", &self.result),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), Value::Str(text.to_owned())));
        let number: BigInt = self.n.parse().unwrap();
        texts.into_iter().chain([("p".to_owned(), Value::Bool(self.p)), ("n".to_owned(), Value::Int(number))]).collect()
    }
}

fn observed(session: &praxiom::eval::Session) -> Names {
    let names = session.policy().typed().state.iter().map(|var| var.name.to_string());
    let values = session.state().iter().map(|value| match value {
        ir::Value::Bool(value) => Value::Bool(*value),
        ir::Value::Int(value) => Value::Int(value.to_string().parse().unwrap()),
        ir::Value::Str(text) => Value::Str(text.to_string()),
    });
    names.zip(values).collect()
}

proptest! {
    #[test]
    fn the_evaluator_agrees_with_the_reference(model in model(), calls in vec(made(), 1..5)) {
        let text = model.text();
        let compiled = Policy::compile(&text, FileId(0));
        let policy = compiled.policy.ok_or_else(|| TestCaseError::fail(format!("{:?}", compiled.diagnostics)))?;
        let mut session = policy.session();
        let mut reference =
            Session { invariants: &model.invariants, actions: &model.actions, state: model.state.clone(), fault: None };
        for made in &calls {
            let arguments = made.arguments();
            let names = made.names(&arguments);
            let call = Call { tool: made.tool, upstream: made.upstream(), arguments: &arguments };
            let verdict = session.check(&call);
            let failures = reference.check(made.tool, &names);
            prop_assert_eq!(&verdict.failures, &failures);
            prop_assert_eq!(verdict.decision.permits(), failures.is_empty());
            prop_assert_eq!(observed(&session), reference.state.clone());
            if failures.is_empty() {
                session.observe(&call, Answer::Result(&Json::String(made.result.clone())));
                reference.observe(made.tool, &names);
                prop_assert_eq!(session.fault().map(|fault| (fault.rule, fault.reason)), reference.fault);
                prop_assert_eq!(observed(&session), reference.state.clone());
            }
        }
    }
}
