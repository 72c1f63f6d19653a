//! What the checker says of 200 random policies holds up: a run that it shows is decided so by the evaluator, and what
//! it has proved survives 10,000 random calls a policy.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use praxiom::catalogue::Catalogue;
use praxiom::check::{InFlight, Options, Report, check, compare};
use praxiom::eval::{Answer, Call, Failure, Policy, Session};
use praxiom::json::{self, Json};
use praxiom::text::{Code, FileId, Row, Span, Verdict};
use std::collections::HashSet;
use std::fmt::Write;
use std::time::Duration;

/// A small generator: the same policies on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const TOOLS: [&str; 4] = ["fs__read", "fs__write", "web__get", "web__post"];
/// Names that no glob spells out.
const OTHERS: [&str; 4] = ["web__more", "fs__more", "x__run", "other__tool"];
const GLOBS: [&str; 7] = ["fs__read", "fs__write", "web__get", "web__post", "fs__*", "web__*", "*__[rg]*"];
const TEXTS: [&str; 4] = ["/.env", "key", "/w/.env.prod", "x"];

fn condition(random: &mut Random, args: bool, result: bool) -> String {
    let depth = random.below(3);
    let mut out = atom(random, args, result);
    for _ in 0..depth {
        let other = atom(random, args, result);
        out = match random.below(4) {
            0 => format!("{out} and {other}"),
            1 => format!("({out} or {other})"),
            2 => format!("implies({out}, {other})"),
            _ => format!("not ({out})"),
        };
    }
    out
}

fn atom(random: &mut Random, args: bool, result: bool) -> String {
    let text = random.pick(&TEXTS);
    match random.below(if args { 11 } else { 8 }) {
        0 => "a".to_owned(),
        1 => "not b".to_owned(),
        2 => format!("n {} {}", random.pick(&["<", "<=", "==", ">"]), random.below(4)),
        3 => format!("m < {}", random.below(4)),
        4 => format!("mode == '{}'", random.pick(&["idle", "busy", "done"])),
        5 if result => format!("contains(result, '{text}')"),
        5 | 6 => format!("contains(call.text, '{text}')"),
        7 => "a or b".to_owned(),
        8 => format!("contains(path, '{text}')"),
        9 => format!("startswith(path, '{text}')"),
        _ => format!("k <= {}", random.below(4)),
    }
}

fn value(random: &mut Random, variable: &str, args: bool, result: bool) -> String {
    match variable {
        "a" | "b" if random.chance(30) => random.pick(&["true", "false"]).to_owned(),
        "a" | "b" => format!("{variable} or {}", condition(random, args, result)),
        "mode" => {
            let other = random.pick(&["idle", "busy", "done"]);
            format!("ite({}, '{other}', mode)", condition(random, args, result))
        }
        _ => match random.below(4) {
            0 => "0".to_owned(),
            1 => format!("{variable} + ite({}, 1, 0)", condition(random, args, result)),
            2 if args => format!("ite(0 < k and k < 3 and {variable} < 5, {variable} + k, {variable})"),
            _ => format!("{variable} + 1"),
        },
    }
}

fn policy(random: &mut Random) -> String {
    let mut out = format!("default: {}\n", random.pick(&["allow", "deny"]));
    out.push_str("state:\n  a: {type: bool, init: false}\n  b: {type: bool, init: false}\n");
    out.push_str("  n: {type: int, init: 0}\n  m: {type: int, init: 0}\n  mode: {type: str, init: idle}\n");
    out.push_str("invariants:\n  - {name: small, expr: n <= 4}\n  - {name: smaller, expr: m <= 3}\n");
    if random.chance(40) {
        let _ = writeln!(out, "  - {{name: more, expr: \"{}\"}}", random.pick(&["not (a and b)", "implies(a, n < 3)"]));
    }
    out.push_str("actions:\n");
    for at in 0..2 + random.below(4) {
        let args = random.chance(50);
        let glob = random.pick(&GLOBS);
        let _ = writeln!(out, "  - name: act{at}\n    match: \"{glob}\"");
        if args {
            out.push_str("    args: {path: str, k: int}\n");
        }
        if random.chance(70) {
            let _ = writeln!(out, "    requires: \"{}\"", condition(random, args, false));
        }
        for (key, result, chance) in [("effect", false, 80), ("on_result", true, 30)] {
            if random.chance(chance) {
                let variable = random.pick(&["a", "b", "n", "m", "mode"]);
                let _ = writeln!(out, "    {key}: {{{variable}: \"{}\"}}", value(random, variable, args, result));
            }
        }
    }
    out.push_str("checks:\n");
    let _ = writeln!(
        out,
        "  - {{name: always, always: \"{}\"}}",
        condition(random, false, false).replace("call.text", "mode")
    );
    let (one, other) = (random.pick(&TOOLS), random.pick(&TOOLS));
    let _ = writeln!(out, "  - {{name: never, never: {{call: {one}}}, after: {{call: {other}}}}}");
    let _ = writeln!(out, "  - {{name: most, at_most: {}, of: {{call: {one}}}}}", random.below(4));
    let _ = writeln!(out, "  - {{name: before, before: {{call: {one}}}, requires: {{call: {other}}}}}");
    out
}

fn arguments(random: &mut Random) -> Json {
    let texts = ["/.env", "key", "/w/.env.prod", "x", "", "/w/a", "x/.env key", "key\\n"];
    let path = random.pick(&texts);
    let k = i64::try_from(random.below(6)).unwrap() - 1;
    let extra = if random.chance(30) { format!(", \"note\": \"{}\"", random.pick(&texts)) } else { String::new() };
    json::parse(format!("{{\"path\": \"{path}\", \"k\": {k}{extra}}}").as_bytes()).unwrap()
}

fn answer(random: &mut Random) -> Json {
    Json::String(random.pick(&["", "key", "/.env", "/w/.env.prod and key", "x"]).to_owned())
}

/// What random calls have shown.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each claim")]
struct Seen {
    allowed: [bool; 8],
    failed: [bool; 8],
    alone: [bool; 4],
    stuck: bool,
    broken: bool,
    never: bool,
    most: usize,
    before: bool,
    states: HashSet<Vec<String>>,
}

fn walk(policy: &Policy, text: &str, random: &mut Random, seen: &mut Seen) {
    let event = |name: &str, key: &str| {
        let line = text.lines().find(|line| line.contains(&format!("name: {name},"))).unwrap();
        let from = line.find(&format!("{key}: {{call: ")).unwrap() + key.len() + 9;
        line[from..].split('}').next().unwrap().to_owned()
    };
    let (one, other) = (event("never", "never"), event("never", "after"));
    for _ in 0..100 {
        let mut session = policy.session();
        let (mut after, mut count, mut required) = (false, 0, false);
        let mut pending: Vec<(String, Json)> = Vec::new();
        for _ in 0..100 {
            let tool = if random.chance(10) { random.pick(&OTHERS) } else { random.pick(&TOOLS) }.to_owned();
            let arguments = arguments(random);
            let upstream = tool.split("__").next().unwrap().to_owned();
            let call = Call { tool: &tool, upstream: &upstream, arguments: &arguments };
            let verdict = session.check(&call);
            if verdict.decision.permits() {
                for action in &verdict.actions {
                    seen.allowed[*action as usize] = true;
                }
                seen.never |= tool == one && after;
                seen.before |= tool == one && !required;
                count += usize::from(tool == one);
                seen.most = seen.most.max(count);
                after |= tool == other;
                required |= tool == other;
                pending.push((tool, arguments));
            } else {
                for failure in &verdict.failures {
                    match failure {
                        Failure::Guard { action, .. } if verdict.failures.len() == 1 => seen.failed[*action] = true,
                        Failure::Invariant(at) if verdict.failures.len() == 1 => seen.alone[*at] = true,
                        _ => {}
                    }
                }
            }
            // Answers come in any order, or never.
            if !pending.is_empty() && random.chance(60) {
                let (tool, arguments) = pending.remove(random.below(pending.len()));
                let upstream = tool.split("__").next().unwrap().to_owned();
                let result = answer(random);
                let call = Call { tool: &tool, upstream: &upstream, arguments: &arguments };
                session.observe(&call, Answer::Result(&result));
            }
            seen.broken |= !holds(policy, &session);
            let values: Vec<String> = session.state().iter().map(ToString::to_string).collect();
            if seen.states.insert(values) {
                seen.stuck |= is_stuck(&session, random);
            }
        }
    }
}

/// The policy's `always` check in the state of the session.
fn holds(policy: &Policy, session: &Session) -> bool {
    let typed = policy.typed();
    let always = typed.checks.iter().find_map(|check| match &check.kind {
        praxiom::ir::CheckKind::Always { expr, .. } => Some(expr),
        _ => None,
    });
    session.holds(always.unwrap()) == Ok(true)
}

fn is_stuck(session: &Session, random: &mut Random) -> bool {
    if session.fault().is_some() {
        return false;
    }
    // Most states are no dead ends: the first calls tried show it.
    for attempt in 0..200 {
        let tool = TOOLS.iter().chain(&OTHERS).nth(attempt % 8).copied().unwrap();
        let arguments = arguments(random);
        let upstream = tool.split("__").next().unwrap();
        if session.clone().check(&Call { tool, upstream, arguments: &arguments }).decision.permits() {
            return false;
        }
    }
    true
}

/// Replays a trace through the evaluator by what it shows alone.
fn replays(policy: &Policy, rows: &[Row]) -> Result<Session, String> {
    let mut session = policy.session();
    let mut made: Vec<(String, String, Json)> = Vec::new();
    for row in rows {
        let answer = row.result.as_ref().map(Json::from);
        if let Some(number) = row.answers {
            let (tool, upstream, arguments) = made[number - 1].clone();
            let call = Call { tool: &tool, upstream: &upstream, arguments: &arguments };
            session.observe(&call, Answer::Result(&answer.unwrap()));
        } else {
            let arguments = Json::from(&row.arguments);
            let call = Call { tool: &row.tool, upstream: &row.upstream, arguments: &arguments };
            let verdict = session.check(&call);
            if verdict.decision.as_str() != row.verdict {
                return Err(format!("{} is {}, not {}", row.tool, verdict.decision.as_str(), row.verdict));
            }
            if let Some(answer) = answer {
                session.observe(&call, Answer::Result(&answer));
            }
            made.push((row.tool.clone(), row.upstream.clone(), arguments));
        }
        let state: Vec<String> = session.state().iter().map(|value| serde_json::to_string(value).unwrap()).collect();
        let shown: Vec<String> = row.state.values().map(ToString::to_string).collect();
        if state != shown {
            return Err(format!("the state is {state:?}, not {shown:?}"));
        }
    }
    Ok(session)
}

fn verdict(report: &Report, id: &str) -> Option<Verdict> {
    report.answered.iter().find(|answered| answered.id == id).map(|answered| answered.verdict)
}

fn judge(text: &str, random: &mut Random, unknown: &mut usize) -> Result<usize, String> {
    let compiled = Policy::compile(text, FileId(0));
    let Some(policy) = compiled.policy else { return Err(format!("{:?}", compiled.diagnostics)) };
    let options = Options { in_flight: InFlight::Many, ..Options::default() };
    let report = check(&policy, Span::default(), None, &options, &mut |_| {});
    let mut seen = Seen::default();
    walk(&policy, text, random, &mut seen);
    *unknown += report.undecided;
    let proved = |id: &str| verdict(&report, id) == Some(Verdict::Proved);
    let refuted = |id: &str| verdict(&report, id) == Some(Verdict::Refuted);
    let mut wrong = Vec::new();
    let mut no = |is_wrong: bool, what: String| {
        if is_wrong {
            wrong.push(what);
        }
    };
    no(proved("deadlock") && seen.stuck, "a dead end was reached".to_owned());
    no(proved("check:always") && seen.broken, "`always` was broken".to_owned());
    no(proved("check:never") && seen.never, "`never` was broken".to_owned());
    no(proved("check:before") && seen.before, "`before` was broken".to_owned());
    let most: usize = text.split("at_most: ").nth(1).unwrap()[..1].parse().unwrap();
    no(proved("check:most") && seen.most > most, format!("{} calls", seen.most));
    for (at, action) in policy.typed().actions.iter().enumerate() {
        no(refuted(&format!("allowed:{}", action.name)) && seen.allowed[at], format!("{} was allowed", action.name));
        for guard in &action.guards {
            let idle = refuted(&format!("guard-decides:{}", guard.label));
            no(idle && seen.failed[at], format!("guard {} has decided", guard.label));
        }
    }
    for (at, invariant) in policy.typed().invariants.iter().enumerate() {
        let idle = refuted(&format!("invariant-decides:{}", invariant.name));
        no(idle && seen.alone[at], format!("invariant {} has decided", invariant.name));
    }
    let mut shown = 0;
    for found in &report.diagnostics {
        no(found.code == Code::PX9001, found.message.clone());
        let Some(trace) = &found.trace else { continue };
        shown += 1;
        match replays(&policy, &trace.rows) {
            Err(why) => no(true, format!("{}: {why}", found.message)),
            Ok(session) => {
                let stuck = is_stuck(&session, random);
                no(found.code == Code::PX4001 && !stuck, format!("{}: something is allowed", found.message));
            }
        }
    }
    if wrong.is_empty() { Ok(shown) } else { Err(wrong.join("\n")) }
}

#[test]
fn findings_replay_and_proofs_survive_random_runs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut shown, mut unknown) = (0, 0);
    for number in 0..200 {
        let text = policy(&mut random);
        match judge(&text, &mut random, &mut unknown) {
            Ok(traces) => shown += traces,
            Err(why) => panic!("policy {number}: {why}\n{text}"),
        }
    }
    assert!(
        shown > 200,
        "only {shown} traces, {unknown} questions undecided: the generator makes policies without faults"
    );
}

/// Policies of which something false was once said: the text without its first line, a question, and its answer.
const ONCE_WRONG: [(&str, &str, Verdict); 11] = [
    // What bounds a value when its call is decided does not when the answer comes.
    (
        "state: {spent: {type: int, init: 0}, locked: {type: bool, init: false}, bad: {type: bool, init: false}}
actions:
  - name: pay
    match: a__pay
    args: {k: int}
    requires: [not locked, k >= 0, k <= 20 - spent]
    effect: {spent: '20'}
    on_result: {bad: bad or (k > 10 and spent + k > 0 and locked)}
  - {name: lock, match: a__lock, effect: {locked: 'true'}}
checks: [{name: ok, always: not bad}]",
        "check:ok",
        Verdict::Unknown,
    ),
    // Two answers that give the same values, of which one can fault the session.
    (
        "state: {n: {type: int, init: 0}, m: {type: int, init: 1}}
actions:
  - {name: x, match: a__x, on_result: {n: '5'}}
  - {name: z, match: a__z, effect: {m: '0'}}
  - {name: y1, match: a__y, requires: m > 0, on_result: {n: 1 // m}}
  - {name: y2, match: a__y, on_result: {n: '5'}}",
        "fault",
        Verdict::Refuted,
    ),
    // One call is answered once.
    (
        "state: {c: {type: int, init: 0}, p: {type: bool, init: false}, q: {type: bool, init: false}}
actions:
  - name: a
    match: a__a
    requires: c < 1
    effect: {c: c + 1}
    on_result: {p: \"p or contains(result, 'p')\", q: \"q or (contains(result, 'q') and not contains(result, 'p'))\"}
  - {name: b, match: a__b}
checks: [{name: ok, always: not (p and q)}]",
        "check:ok",
        Verdict::Unknown,
    ),
    // Tools for which one name stands, told apart by what the state remembers of the name.
    (
        "state: {last: {type: str, init: ''}}
actions:
  - {name: a, match: 'fs__*', effect: {last: tool}}
checks: [{name: ok, always: last != 'fs__read'}]",
        "check:ok",
        Verdict::Unknown,
    ),
    (
        "state: {f: {type: bool, init: false}}
actions:
  - {name: a, match: 'fs__*', effect: {f: \"f or ite(f, upstream, tool) == 'fs__read'\"}}
checks: [{name: ok, always: not f}]",
        "check:ok",
        Verdict::Unknown,
    ),
    // Arguments may be larger than any number of the model.
    (
        "actions: [{name: a, match: a__a, args: {k: int}, requires: k > 9223372036854775807}]",
        "allowed:a",
        Verdict::Unknown,
    ),
    ("actions: [{name: a, match: a__a, args: {k: int}, requires: k > 99999999999999999999}]", "deadlock", Verdict::Unknown),
    // Walks do not try every value.
    (
        "state: {n: {type: int, init: 0}}
actions:
  - {name: a, match: a__a, args: {k: int}, requires: [0 <= k and k <= 10000 + n, (k + n) % 7 == 5], effect: {n: '0'}}",
        "deadlock",
        Verdict::Unknown,
    ),
    // The digits of an argument are part of the payload.
    (
        "state: {n: {type: int, init: 5}}
actions: [{name: a, match: a__a, args: {k: int}, requires: [k == n, \"not contains(payload, '\\\"k\\\": 5')\"]}]",
        "allowed:a",
        Verdict::Unknown,
    ),
    // Fourteen arguments have too many values to try them all.
    (
        "state: {n: {type: int, init: 1}}
actions:
  - name: a
    match: a__a
    args: {a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, j: int, k: int, l: int, m: int, o: int}
    requires: [a <= n, b <= n, c <= n, d <= n, e <= n, f <= n, g <= n, h <= n, i <= n, j <= n, k <= n, l <= n, m <= n,
      o <= n, n > 5]
  - {name: b, match: a__b, requires: n < 3, effect: {n: n + 1}}",
        "deadlock",
        Verdict::Refuted,
    ),
    // Sixty thousand states in a row, the last of which can go back.
    (
        "state: {n: {type: int, init: 0}}
actions:
  - {name: inc, match: a__inc, requires: n < 60000, effect: {n: n + 1}}
  - {name: dec, match: a__dec, requires: n > 0, effect: {n: n - 1}}
  - {name: x, match: a__x, requires: n == 0}",
        "permanent-blocks",
        Verdict::Proved,
    ),
];

#[test]
fn what_was_once_wrong_is_right() {
    for (text, id, wanted) in ONCE_WRONG {
        let compiled = Policy::compile(&format!("default: deny\n{text}\n"), FileId(0));
        let Some(policy) = compiled.policy else { panic!("{:?}\n{text}", compiled.diagnostics) };
        let options = Options { time: Duration::from_secs(20), ..Options::default() };
        let report = check(&policy, Span::default(), None, &options, &mut |_| {});
        assert_eq!(verdict(&report, id), Some(wanted), "{id}\n{text}");
        let wrong = report.diagnostics.iter().find(|found| found.code == Code::PX9001);
        assert!(wrong.is_none(), "{wrong:?}\n{text}");
    }
}

/// With a list of tools the doors of the servers are open too where the default allows them.
#[test]
fn doors_that_nothing_covers_follow_the_default() {
    let text =
        "state: {n: {type: int, init: 0}}\nactions: [{name: a, match: fs__read, requires: n < 2, effect: {n: n + 1}}]";
    let of = |default: &str| Policy::compile(&format!("default: {default}\n{text}\n"), FileId(0)).policy.unwrap();
    let (deny, allow) = (of("deny"), of("allow"));
    let mut tools = Catalogue::default();
    tools.add(r#"{"tools": [{"name": "read"}]}"#, FileId(0), Some("fs")).unwrap();
    let options = Options::default();
    let compare = |old, new| {
        let found = compare(old, new, Span::default(), Some(&tools), &options, &mut |_| {});
        (found.new_access, found.new_denial)
    };
    assert_eq!(compare(&deny, &allow), (Some(true), Some(false)));
    assert_eq!(compare(&allow, &deny), (Some(false), Some(true)));
    let report = check(&allow, Span::default(), Some(&tools), &options, &mut |_| {});
    assert_eq!(verdict(&report, "deadlock"), Some(Verdict::Proved));
}
