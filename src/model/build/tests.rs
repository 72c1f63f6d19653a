//! The model against the evaluator.

mod judge;
mod random;

use super::*;
use crate::catalogue::Catalogue;
use crate::eval::{Answer, Call};
use crate::text::FileId;
use judge::{Figures, Judge};
use random::Random;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

fn policy(text: &str) -> Policy {
    let compiled = Policy::compile(text, FileId(0));
    compiled.policy.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn of(policy: &Policy, catalogue: Option<&Catalogue>) -> System {
    let (tools, gaps) = crate::model::universe(&[policy], &[], catalogue);
    let mut system = build(&Request { sides: &[policy], tools: &tools, marks: &[], watched: &[] });
    system.gaps.extend(gaps);
    system
}

/// The policies of the repository, with their lists of tools.
fn real() -> Vec<(String, Policy, Option<Catalogue>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("tests/fixtures/readme.yaml")];
    for name in ["banking", "slack", "travel"] {
        files.push(root.join(format!("tests/fixtures/agentdojo/{name}.core.yaml")));
    }
    for name in ["demo", "etherscan", "filesystem", "github", "mixed"] {
        files.push(root.join(format!("policies/{name}/policy.yaml")));
    }
    let mut all = Vec::new();
    for file in files {
        let policy = policy(&std::fs::read_to_string(&file).unwrap());
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let mut catalogue = Catalogue::default();
        for server in ["fs", "github"] {
            if let Ok(text) = std::fs::read_to_string(file.with_file_name(format!("{server}.tools.json"))) {
                catalogue.add(&text, FileId(0), Some(server)).unwrap();
            }
        }
        let listed = !catalogue.servers.is_empty();
        all.push((name.clone(), policy.clone(), None));
        if listed {
            all.push((format!("{name} with tools"), policy, Some(catalogue)));
        }
    }
    all
}

#[test]
fn the_policies_of_the_repository_have_no_gaps() {
    let mut figures = String::new();
    for (name, policy, catalogue) in real() {
        let start = Instant::now();
        let system = of(&policy, catalogue.as_ref());
        let time = start.elapsed();
        let outcomes = system.classes.iter().flat_map(|class| &class.outcomes);
        let lost = outcomes.filter(|outcome| !outcome.witnessed).count();
        let unwitnessed = system.classes.iter().filter(|class| !class.witnessed).count();
        let (tools, classes) = (system.tools.len(), system.classes.len());
        writeln!(
            figures,
            "{name}: {tools} tools, {classes} classes, {unwitnessed} + {lost} without a witness, {time:?}"
        )
        .unwrap();
        assert_eq!((unwitnessed, lost), (0, 0), "{name}");
        assert_eq!(system.gaps, [], "{name}");
    }
    println!("{figures}");
}

/// Random policies of each test.
const POLICIES: usize = 28;

/// A text gives these answers iff the model says so.
#[test]
fn one_text_gives_the_answers_that_can_be() {
    use atom::Test as Ask;
    let mut texts = vec![String::new()];
    let mut at = 0;
    while at < texts.len() {
        let text = texts[at].clone();
        at += 1;
        if text.len() < 6 {
            texts.extend(["a", "b", "#"].map(|c| format!("{text}{c}")));
        }
    }
    let mut random = Random::new(1);
    let (mut possible, mut impossible) = (0, 0);
    for _ in 0..4_000 {
        let literal =
            |random: &mut Random| -> Arc<str> { random.of(&["", "a", "b", "aa", "ab", "ba", "bb", "aba"]).into() };
        let all = |random: &mut Random| (0..=random.below(2)).map(|_| literal(random)).collect::<Vec<_>>();
        let tests: Vec<(Ask, bool)> = (0..=random.below(5))
            .map(|_| {
                let test = match random.below(6) {
                    0..=2 => Ask::Contains(all(&mut random)),
                    3 => Ask::Prefix(literal(&mut random)),
                    4 => Ask::Suffix(literal(&mut random)),
                    _ => Ask::Equals(all(&mut random)),
                };
                (test, random.below(2) == 0)
            })
            .collect();
        let signs: signs::Signs<'_> = tests.iter().map(|(test, wanted)| (test, *wanted)).collect();
        let found = signs::texts(&signs, "path", &[], 3);
        assert_eq!(signs::satisfiable(&signs), !found.is_empty(), "{signs:?}");
        assert!(found.iter().all(|text| signs::holds(&signs, text)));
        if found.is_empty() {
            impossible += 1;
            assert_eq!(texts.iter().find(|text| signs::holds(&signs, text)), None, "{signs:?}");
        } else {
            possible += 1;
        }
    }
    assert!(possible > 500 && impossible > 500, "{possible} {impossible}");
}

/// The class of a call gives every rule the value that the evaluator gives it, in any state; and so do its outcomes,
/// whatever the answer.
#[test]
fn every_call_is_of_some_class() {
    let mut random = Random::new(7);
    let mut figures = Figures::default();
    for at in 0..POLICIES {
        let texts = [random.policy(), random.policy()];
        // Every fourth time two policies are compared.
        let texts = if at % 4 == 3 { &texts[..] } else { &texts[..1] };
        let policies: Vec<Policy> = texts.iter().filter_map(|text| Policy::compile(text, FileId(0)).policy).collect();
        if policies.len() < texts.len() {
            continue;
        }
        let sides: Vec<&Policy> = policies.iter().collect();
        let (tools, gaps) = crate::model::universe(&sides, &[], None);
        assert_eq!(gaps, []);
        let system = build(&Request { sides: &sides, tools: &tools, marks: &[], watched: &[] });
        assert!(!system.gaps.iter().any(|gap| gap.why.contains("internal")), "{texts:?}\n{:?}", system.gaps);
        if system.gaps.iter().any(|gap| gap.why.contains("too many")) {
            continue;
        }
        figures.built += 1;
        figures.classes += system.classes.len();
        figures.lost += system.classes.iter().filter(|class| !class.witnessed).count();
        let known: Vec<String> = system.texts.iter().map(ToString::to_string).collect();
        for _ in 0..25 {
            let tool = random.below(system.tools.len());
            let arguments = random.call(&known);
            let answer = random.answer();
            let state: Vec<i64> = system
                .vars
                .iter()
                .enumerate()
                .map(|(at, var)| match var.ty {
                    _ if system.fault == Some(at) => 0,
                    VarType::Bool => i64::try_from(random.below(2)).unwrap(),
                    VarType::Int => i64::try_from(random.below(8)).unwrap(),
                    VarType::Text => i64::try_from(random.below(system.texts.len())).unwrap(),
                })
                .collect();
            // An invariant that no answer can break holds in every reachable state.
            let holds = |(invariant, fragile): (&Invariant, &bool)| {
                *fragile || invariant.term.value(&state, &[]).is_ok_and(|value| value != 0)
            };
            if !system.invariants.iter().zip(&system.fragile).all(holds) {
                continue;
            }
            let judged = Judge { system: &system, sides: &sides, tool, arguments: &arguments, answer: &answer };
            if let Err(why) = judged.judge(&state, &mut figures) {
                panic!(
                    "{at}: {why}\n{texts:#?}\n{:?} {arguments:?} {answer:?} {state:?}\n{known:?}",
                    system.tools[tool]
                );
            }
        }
    }
    println!("{figures:?}");
    assert!(figures.built > POLICIES / 2 && figures.allowed > POLICIES && figures.answers > POLICIES, "{figures:?}");
}

/// Many predicates in one action cost what the classes that they make cost.
#[test]
fn many_predicates_make_few_classes() {
    let words: Vec<String> = (0..15).map(|at| format!("/secret{at}/")).collect();
    let guards = |subject: &str| -> Vec<String> {
        words.iter().map(|word| format!("\"not contains({subject}, '{word}')\"")).collect()
    };
    let count: Vec<String> = words.iter().map(|word| format!("ite(contains(path, '{word}'), 1, 0)")).collect();
    let counters: Vec<String> = words
        .iter()
        .enumerate()
        .take(9)
        .map(|(at, word)| format!("n{at}: \"n{at} + ite(contains(path, '{word}'), 1, 0)\""))
        .collect();
    let state: Vec<String> = (0..9).map(|at| format!("n{at}: {{type: int, init: 0}}")).collect();
    let action = |body: &str| format!("actions: [{{name: a, match: fs__read, args: {{path: str}}, {body}}}]\n");
    for (name, text, wanted) in [
        ("fifteen guards", action(&format!("requires: [{}]", guards("path").join(", "))), 16),
        ("fifteen guards on the payload", action(&format!("requires: [{}]", guards("payload").join(", "))), 16),
        ("one guard", action(&format!("requires: {}", guards("path").join(" and ").replace("\" and \"", " and "))), 2),
        (
            "a sum",
            "state: {n: {type: int, init: 0}}\n".to_owned()
                + &action(&format!("effect: {{n: \"n + {}\"}}", count.get(..10).unwrap().join(" + "))),
            11,
        ),
        (
            "nine counters",
            format!("state: {{{}}}\n", state.join(", "))
                + &action(&format!("requires: \"not contains(path, 'q')\", effect: {{{}}}", counters.join(", "))),
            513,
        ),
    ] {
        let policy = policy(&text);
        let start = Instant::now();
        let system = of(&policy, None);
        println!("{name}: {} classes in {:?}, {:?}", system.classes.len(), start.elapsed(), system.gaps);
        let of_tool = system.classes.iter().filter(|class| class.tool() == Some(0)).count();
        assert_eq!(of_tool, wanted, "{name}");
        assert!(system.classes.iter().all(|class| class.witnessed), "{name}");
    }
}

/// What the model says a witness does, the evaluator does, answers and texts included.
#[test]
fn witnesses_do_what_their_classes_say() {
    let mut random = Random::new(3);
    let (mut steps, mut answers, mut faults) = (0, 0, 0);
    for seed in 0..POLICIES {
        let text = random.policy();
        let Some(policy) = Policy::compile(&text, FileId(0)).policy else { continue };
        let system = of(&policy, None);
        let witnessed: Vec<_> = system.classes.iter().filter(|class| class.witnessed).collect();
        for _ in 0..20 {
            let mut session = policy.session();
            let mut state = system.initial();
            for _ in 0..6 {
                let class = witnessed[random.below(witnessed.len())];
                let params: Vec<i64> =
                    class.params.iter().map(|_| i64::try_from(random.below(9)).unwrap() - 2).collect();
                let outcome = &class.outcomes[random.below(class.outcomes.len())];
                let tool = &system.tools[class.tool().unwrap()];
                let arguments = class.arguments(&params);
                // The digits of a parameter are part of the payload.
                if !class.params.is_empty() && text.contains("k\\\": ") {
                    continue;
                }
                let call = Call { tool: &tool.name, upstream: &tool.upstream, arguments: &arguments };
                let permits = session.check(&call).decision.permits();
                let model = system.allowed(class, None).value(&state, &params);
                assert_eq!(model, Ok(i64::from(permits)), "{seed} {text} {arguments:?} {state:?}");
                steps += 1;
                if !permits {
                    continue;
                }
                let commit = |assigns: &[crate::model::Assign], state: &mut Vec<i64>| -> bool {
                    let values: Vec<_> = assigns.iter().map(|one| (one.var, one.term.value(state, &params))).collect();
                    let all = values.iter().all(|(_, value)| value.is_ok());
                    for (var, value) in values {
                        if all {
                            state[var] = value.unwrap();
                        }
                    }
                    all
                };
                assert!(commit(&class.effect, &mut state));
                if outcome.witnessed
                    && let Some(answer) = &outcome.answer
                {
                    let fault = session.observe(&call, Answer::Result(&answer.0)).fault.is_some();
                    let done = commit(&outcome.changes, &mut state);
                    assert_eq!(fault, !done, "{seed} {text}");
                    if fault {
                        state[system.fault.unwrap()] = 1;
                        faults += 1;
                    }
                    answers += 1;
                }
                for (var, (value, real)) in system.vars.iter().zip(state.iter().zip(session.state())) {
                    let same = match real {
                        Value::Bool(real) => *value == i64::from(*real),
                        Value::Int(real) => real.as_i64() == Some(*value),
                        Value::Str(real) => system.texts[usize::try_from(*value).unwrap()] == *real,
                    };
                    assert!(same, "{seed} {} {value} {real:?} {text} {arguments:?}", var.name);
                }
            }
        }
    }
    println!("{steps} steps, {answers} answers, {faults} faults");
    assert!(steps > 1_000 && answers > 50, "{steps} {answers}");
}

fn shown(system: &System) -> Vec<String> {
    let mut all = Vec::new();
    for class in &system.classes {
        let mut call = String::new();
        crate::json::write_python(&class.call, true, &mut call);
        let tool = class.tool().map_or("", |tool| &system.tools[tool].name);
        let mut line = format!("{}{tool} {call}", if class.witnessed { "" } else { "?" });
        for guard in &class.guards {
            let side = if guard.label.is_some() { "" } else { "!" };
            write!(line, " [{}{side} {}]", guard.side, system.shown(&guard.term)).unwrap();
        }
        for assign in &class.effect {
            write!(line, " {} = {}", system.vars[assign.var].name, system.shown(&assign.term)).unwrap();
        }
        for param in &class.params {
            let terms = |all: &[Term]| all.iter().map(|t| system.shown(t).to_string()).collect::<Vec<_>>().join(", ");
            write!(line, " {} in [{}]..[{}]", param.name, terms(&param.lower), terms(&param.upper)).unwrap();
        }
        for outcome in class.outcomes.iter().skip(1) {
            let answer = outcome.answer.as_ref().map(|answer| {
                let mut text = String::new();
                crate::json::write_python(&answer.0, true, &mut text);
                text
            });
            write!(line, " -> {}", answer.unwrap_or_else(|| "?".to_owned())).unwrap();
            for change in &outcome.changes {
                write!(line, " {} = {}", system.vars[change.var].name, system.shown(&change.term)).unwrap();
            }
        }
        for (at, mark) in class.marks.iter().enumerate() {
            write!(line, " m{at}: {}", system.shown(mark)).unwrap();
        }
        all.push(line);
    }
    all
}

/// Lines of [`shown`], the texts of the state, and the gaps.
fn told(policy: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let system = of(&self::policy(policy), None);
    let lines = shown(&system).into_iter().filter(|line| !line.starts_with("other__tool")).collect();
    let gaps = system.gaps.into_iter().map(|gap| gap.why).collect();
    (lines, system.texts.iter().map(ToString::to_string).collect(), gaps)
}

#[test]
fn whole_numbers() {
    for (text, wanted) in [
        (
            "state: {spent: {type: int, init: 0}}\ninvariants: [{name: i, expr: spent <= 100}]\n\
             actions: [{name: a, match: p__send, args: {n: int}, requires: n > 0, effect: {spent: spent + n}}]",
            &["p__send {\"n\": 1} [0 0 < argument 0] spent = spent + argument 0 n in [1]..[100 - spent]"][..],
        ),
        (
            "actions: [{name: a, match: p__send, args: {n: int}, requires: 0 < n <= 7 or n == 50}]",
            &["p__send {\"n\": 1} [0 true]", "p__send {\"n\": 0} [0 false]"],
        ),
        (
            "state: {n: {type: int, init: 0}}\n\
             actions: [{name: a, match: p__go, args: {k: int, m: int}, requires: [n + 2 * k <= m, m < 10, k >= 0], \
             on_result: {n: \"n // k\"}}]",
            &[
                "p__go {\"k\": 1, \"m\": 2} [0 n + 2 * argument 0 <= argument 1] [0 argument 1 < 10] [0 0 <= argument 0] \
              k in [0]..[(9 - n) // 2] m in [n + 2 * argument 0]..[9] -> \"ok\" n = n // argument 0",
            ],
        ),
        (
            "state: {c: {type: int, init: 0}}\n\
             actions: [{name: a, match: p__go, args: {k: int}, requires: \"c - 3 * k >= 2 and not k < -5\"}]",
            &["p__go {\"k\": -1} [0 2 <= c - 3 * argument 0 and argument 0 >= -5] k in [-5]..[(c - 2) // 3]"],
        ),
    ] {
        let (lines, _, gaps) = told(text);
        assert_eq!(
            (lines.as_slice(), gaps.as_slice()),
            (wanted.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice(), &[][..]),
            "{text}"
        );
    }
}

#[test]
fn texts_of_the_state() {
    for (text, wanted, texts, gap) in [
        (
            "state: {last: {type: str, init: \"\"}}\n\
             actions: [{name: a, match: p__send, args: {to: str}, requires: to != last, effect: {last: to}}]",
            &[
                "p__send {\"to\": \"\"} [0 last != \"\"] last = 0",
                "p__send {\"to\": \"ann@example.com\"} [0 last != \"ann@example.com\"] last = 1",
                "p__send {\"to\": \"ann\"} [0 last != \"ann\"] last = 2",
            ][..],
            &["", "ann@example.com", "ann"][..],
            "",
        ),
        (
            "state: {last: {type: str, init: \"\"}}\n\
             actions:\n- {name: a, match: p__read, args: {path: str}, effect: {last: path}}\n\
             - {name: b, match: p__send, requires: \"not contains(last, '.env')\"}",
            &[
                "p__read {\"path\": \"\"} last = 0",
                "p__read {\"path\": \"/w/a.txt\"} last = 1",
                "p__read {\"path\": \"/w/.env\"} last = 2",
                "p__send {} [0 not member(last, [\"/w/.env\"])]",
            ],
            &["", "/w/a.txt", "/w/.env"],
            "",
        ),
        (
            "state: {mode: {type: str, init: idle}}\n\
             actions:\n- {name: a, match: p__go, requires: mode == 'idle', effect: {mode: \"'busy'\"}}\n\
             - {name: b, match: p__stop, effect: {mode: \"ite(mode == 'busy', 'done', mode)\"}, on_result: {mode: result}}",
            &[
                "p__go {} [0 mode == \"idle\"] mode = 1",
                "p__stop {} mode = ite(mode == \"busy\", 2, mode) \
                 -> \"idle\" mode = 0 -> \"busy\" mode = 1 -> \"done\" mode = 2 -> \"x\" mode = 3",
            ],
            &["idle", "busy", "done", "x"],
            "",
        ),
        (
            "state: {last: {type: str, init: \"\"}}\n\
             actions:\n- {name: a, match: p__go, effect: {last: payload}}\n- {name: b, match: p__stop, requires: last == ''}",
            &["?p__go {} last = 1", "?p__go {} last = 0", "p__stop {} [0 last == \"\"]"],
            &["", "x"],
            "the state holds a whole text of the call or of its answer, or is compared with one",
        ),
    ] {
        let (lines, found, gaps) = told(text);
        assert_eq!(lines, wanted, "{text}");
        assert_eq!(found, texts, "{text}");
        assert_eq!(gaps.first().map_or("", String::as_str), gap, "{text}");
    }
}

#[test]
fn what_the_model_cannot_follow_is_a_gap() {
    for (text, gap) in [
        (
            "state: {n: {type: int, init: 99999999999999999999}}\nactions: [{name: a, match: p__go, requires: n > 0}]",
            "64 bits",
        ),
        ("actions: [{name: a, match: p__go, args: {n: int}, requires: n > 99999999999999999999}]", "64 bits"),
        ("actions: [{name: a, match: 'p__*', requires: \"contains(tool, 'write')\"}]", "tells apart tools"),
        (
            "state: {s: {type: str, init: a}}\nactions: [{name: a, match: p__go, args: {x: str}, requires: \"contains(x, s)\", effect: {s: x}}]",
            "searched for",
        ),
        (
            "state: {s: {type: str, init: a}}\nactions: [{name: a, match: p__go, requires: \"contains(payload, s)\"}]",
            "whole",
        ),
    ] {
        let (_, _, gaps) = told(text);
        assert!(gaps.iter().any(|why| why.contains(gap)), "{text} {gaps:?}");
    }
    for text in [
        "actions: [{name: a, match: 'p__*', requires: \"startswith(tool, 'p__') and upstream == 'p'\"}]",
        "actions: [{name: a, match: [p__read, p__write], requires: \"contains(tool, 'write')\"}]",
    ] {
        assert_eq!(told(text).2, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn an_argument_of_two_types_fits_no_call() {
    let (lines, _, gaps) = told(
        "actions:\n- {name: a, match: p__go, args: {x: str}}\n- {name: b, match: 'p__*', args: {x: int}, requires: x < 3}",
    );
    assert_eq!(lines, ["p__go {} [0! false]", "p__tool {\"x\": 1} [0 true]", "p__tool {\"x\": 3} [0 false]"]);
    assert_eq!(gaps, Vec::<String>::new());
}

#[test]
fn two_policies_side_by_side() {
    let old = policy("actions: [{name: a, match: p__send, args: {to: str}, requires: \"endswith(to, '@us')\"}]");
    let new = policy(
        "default: deny\nstate: {c: {type: int, init: 0}}\ninvariants: [{name: few, expr: c <= 9}]\n\
         actions: [{name: a, match: 'p__*', args: {to: str, n: int}, requires: n < 5, effect: {c: c + 1}}]",
    );
    let sides = [&old, &new];
    let (tools, gaps) = crate::model::universe(&sides, &[], None);
    assert_eq!(gaps, []);
    let globs = [Glob::parse("p__s*")];
    let when = policy("actions: [{name: a, match: '*', requires: \"contains(payload, '\\\"n\\\": 7')\"}]");
    let marks = [
        Mark { side: 0, globs: &globs, when: None, action: None },
        Mark { side: 0, globs: &globs, when: Some(&when.typed().actions[0].guards[0].expr), action: None },
    ];
    let watched = [(1, &new.typed().invariants[0].expr)];
    let request = Request { sides: &sides, tools: &tools, marks: &marks[..1], watched: &watched };
    let system = build(&request);
    assert_eq!(
        shown(&system),
        [
            "p__send {\"n\": 1, \"to\": \"ann@example.com\"} [0 false] [1 true] new c = new c + 1 m0: true",
            "p__send {\"n\": 5, \"to\": \"ann@example.com\"} [0 false] [1 false] m0: true",
            "p__send {\"n\": 1, \"to\": \"@us\"} [0 true] [1 true] new c = new c + 1 m0: true",
            "p__send {\"n\": 5, \"to\": \"@us\"} [0 true] [1 false] m0: true",
            "p__send {\"to\": \"ann@example.com\"} [0 false] [1! false] m0: true",
            "p__send {\"to\": \"@us\"} [0 true] [1! false] m0: true",
            "p__tool {\"n\": 1, \"to\": \"ann@example.com\"} [1 true] new c = new c + 1 m0: false",
            "p__tool {\"n\": 5, \"to\": \"ann@example.com\"} [1 false] m0: false",
            "p__tool {} [1! false] m0: false",
            "other__tool {} [1! false] m0: false",
        ]
    );
    assert_eq!(system.gaps, []);
    assert_eq!(system.shown(&system.watched[0]).to_string(), "new c <= 9");
    assert_eq!(system.classes[0].affected, [0]);
    // The same request gives the same system.
    let text = |system: &System| format!("{system:?}");
    assert_eq!(text(&build(&request)), text(&system));
    // A mark tells calls apart.
    let system = build(&Request { marks: &marks, ..request });
    let marked: Vec<String> = shown(&system).into_iter().filter(|line| line.ends_with("m1: true")).collect();
    assert!(marked.iter().any(|line| line.contains("[0 true] [1! false]")));
}
