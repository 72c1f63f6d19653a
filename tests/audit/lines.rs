//! What a person reads.

use crate::gateway::{Gateway, POLICY, options};
use praxiom::audit::{Level, LogArguments, NoteKind, Options, Outcome};

/// The lines without the time that each begins with.
fn told(gateway: &Gateway) -> Vec<String> {
    let text = gateway.screen.text();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect()
}

fn session(options: Options) -> Gateway {
    let mut gateway = Gateway::new(POLICY, None, options);
    let read = gateway.call("me", "fs__read", r#"{"path": "/w/a", "n": 1.50, "password": "hunter2"}"#).unwrap();
    gateway.answer(&read, Ok(r#"{"content": [{"type": "text", "text": "PRIVATE long"}]}"#));
    let note = gateway.call("me", "fs__note", r#"{"say": "hello"}"#).unwrap();
    gateway.answer(&note, Err(r#"{"code": -32000, "message": "no\n18:00:00  ALLOW f__write"}"#));
    assert!(gateway.call("me", "hub__post", "{}").is_none());
    gateway.refuse("me", "zz__x\u{1b}[2K", r#"{"a": [true, null]}"#);
    gateway.note(NoteKind::Server, Level::Info, "up", "12 tools");
    gateway
}

#[test]
fn lines_are_those_of_the_original() {
    assert_eq!(
        told(&session(options(LogArguments::Redacted))),
        [
            r#"ALLOW fs__read  "path"="/w/a", "n"=1.5, "password"="***"  [read] result → tainted=True, reads=4, last=***  12ms"#,
            r#"ERROR fs__note  "say"="hello"  the upstream returned an error -32000  12ms"#,
            "DENY  hub__post  fails guard 'publish' [state: tainted=True, reads=4, last=***]",
            r#"DENY  zz__x\u{1b}[2K  "a"=[true, null]  no server offers this tool [tool_denied]"#,
            "· server fs up: 12 tools",
        ]
    );
    assert_eq!(
        told(&session(options(LogArguments::None)))[0],
        "ALLOW fs__read  [read] result → tainted=True, reads=4, last=***  12ms"
    );
    let full = told(&session(options(LogArguments::Full)));
    assert!(full[0].contains(r#""password"="hunter2""#), "{}", full[0]);
    assert!(full[0].contains("last=''"), "{}", full[0]);
    // An upstream's text cannot begin a line of its own.
    assert!(full[1].ends_with(r"error -32000: no\u{a}18:00:00  ALLOW f__write  12ms"), "{}", full[1]);
    assert_eq!(full.len(), 5);
}

#[test]
fn levels_colours_and_principals() {
    let quiet = Options { level: Level::Warning, ..options(LogArguments::Redacted) };
    let words: Vec<String> = told(&session(quiet)).iter().map(|line| line[..5].to_owned()).collect();
    assert_eq!(words, ["ERROR", "DENY ", "DENY "]);
    let coloured = Options { color: true, principals: true, ..options(LogArguments::None) };
    let text = session(coloured).screen.text();
    let line = text.lines().nth(2).unwrap();
    let (_, line) = line.split_once("  ").unwrap();
    assert_eq!(
        line,
        "\u{1b}[31m\u{1b}[1mDENY \u{1b}[0m \u{1b}[1mhub__post\u{1b}[0m  \u{1b}[33mfails guard 'publish' \
         [state: tainted=True, reads=4, last=***]\u{1b}[0m  \u{1b}[34mme\u{1b}[0m"
    );
}

#[test]
fn a_locked_session_a_dry_run_and_a_call_that_failed() {
    let mut gateway = Gateway::new(POLICY, None, options(LogArguments::None));
    for _ in 0..2 {
        let read = gateway.call("me", "fs__read", "{}").unwrap();
        gateway.answer(&read, Ok(r#""long""#));
    }
    let note = gateway.call("you", "fs__note", r#"{"say": ""}"#).unwrap();
    gateway.came(&note, Outcome::Failed { why: "no answer within 60 s", said: Some("secret") });
    assert_eq!(
        told(&gateway)[1..],
        [
            "ALLOW fs__read  [read] result → tainted=False, reads=8, last=***  12ms",
            "· warning the result of fs__read broke the invariants few: calls that leave them broken are denied",
            "ERROR fs__note  no answer within 60 s [server_timed_out]  12ms",
        ]
    );
    let dry = Options { dry_run: true, ..options(LogArguments::None) };
    let mut gateway = Gateway::new(POLICY, None, dry);
    let other = gateway.call("me", "fs__other", "{}").unwrap();
    gateway.answer(&other, Ok(r#""x""#));
    assert_eq!(
        told(&gateway),
        [
            "DENY  fs__other  no policy action covers 'fs__other' and the policy default is deny (forwarded all the same)  dry run"
        ]
    );
}

#[test]
fn a_line_is_bounded() {
    let mut gateway = Gateway::new(POLICY, None, options(LogArguments::Full));
    let long = "\u{202e}".repeat(1 << 20);
    let many = vec!["\"x\""; 100_000].join(",");
    gateway.refuse("me", &long, &format!(r#"{{"long": "{long}", "many": [{many}]}}"#));
    let text = gateway.screen.text();
    assert!(text.len() < 64 * 1024, "{} bytes", text.len());
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains("…[cut, 3145728 bytes]") && text.contains(" more]"), "{text}");
}
