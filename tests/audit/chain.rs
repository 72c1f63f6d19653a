//! The file: its chain, its one writer, its torn end.

use crate::gateway::{Gateway, POLICY, folder, options, parse, policy, start};
use praxiom::audit::{Level, Log, LogArguments, NoteKind, OpenError, Report, verify};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

fn check(bytes: &[u8]) -> Report {
    verify(bytes).unwrap()
}

fn open(path: &Path) -> Result<Log, OpenError> {
    Log::open(path, start(&policy(POLICY)), options(LogArguments::Full), SystemTime::now())
}

/// A short session, with a stop in order.
fn write(path: &Path) {
    let mut gateway = Gateway::new(POLICY, Some(path), options(LogArguments::Full));
    for text in ["PRIVATE", "plain\u{9b}\u{7f}"] {
        let read = gateway.call("me", "fs__read", r#"{"path": "/w/\u001b[2K"}"#).unwrap();
        gateway.answer(&read, Ok(&format!(r#"{{"content": [{{"type": "text", "text": "{text}"}}]}}"#)));
    }
    gateway.call("me", "hub__post", r#"{"n": 1E400}"#.replace("1E400", "1.0E4").as_str());
    gateway.note(NoteKind::Stop, Level::Info, "end of input", "");
}

static LOG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = folder("chain").join("log");
    write(&path);
    write(&path);
    fs::read(path).unwrap()
});

#[test]
fn a_chain_goes_on_where_the_last_process_left_it() {
    let report = check(&LOG);
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.records, report.starts, report.recovered, report.stopped), (14, 2, 0, true));
    assert_eq!(report.first_prev, "0".repeat(64));
    let text = String::from_utf8(LOG.clone()).unwrap();
    // Looking at the file is safe, and numbers keep their spelling.
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    assert!(text.contains(r#""arguments":{"n":1.0E4}"#), "{text}");
    let decision = text.lines().nth(1).unwrap();
    let (head, _) = decision.split_once(r#","prev":""#).unwrap();
    assert_eq!(
        head,
        r#"{"seq":2,"time":"2026-09-21T14:13:20.123456Z","kind":"decision","principal":"me","session":null,"connection":"c1","method":"tools/call","call":{"tool":"fs__read","upstream":"fs","arguments":{"path":"/w/\u001b[2K"}},"verdict":"allow","code":null,"reason":null,"failed":[],"actions":["read"],"forwarded":true,"faulted":false,"state":{"before":{"tainted":false,"reads":0,"last":""},"after":{"tainted":false,"reads":1,"last":""}},"latency_us":7"#
    );
    let record = parse(text.lines().nth(2).unwrap());
    let record = record.as_object().unwrap();
    for member in ["of", "result", "is_error", "observed", "state", "latency_us"] {
        assert!(record.get(member).is_some(), "{member}");
    }
}

#[test]
fn a_torn_end_is_closed_wherever_it_was_torn() {
    let folder = folder("torn");
    let last = LOG.len() - 1 - LOG[..LOG.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    // One byte less is a whole record without its end.
    for cut in (1..last).step_by(7) {
        let path = folder.join("log");
        fs::write(&path, &LOG[..LOG.len() - cut]).unwrap();
        write(&path);
        let bytes = fs::read(&path).unwrap();
        let report = check(&bytes);
        assert!(report.is_clean(), "{cut}: {:?}", report.problems);
        assert_eq!((report.recovered, report.starts), (1, 3), "{cut}");
        // What was torn, and the record before it, are protected too.
        if cut > 1 {
            for at in [LOG.len() - cut - 1, LOG.len() - last - 3] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1;
                assert!(!check(&bytes).is_clean(), "{cut}");
            }
        }
    }
    // The very first record, and a closing that was torn itself.
    for torn in ["{\"seq\":1,\"ti", "{\"seq\":1,\"ti\n{\"seq\":1,\"time\":\"", "{"] {
        let path = folder.join("first");
        fs::write(&path, torn).unwrap();
        write(&path);
        let report = check(&fs::read(&path).unwrap());
        assert!(report.is_clean() && report.recovered == 1, "{torn}: {:?}", report.problems);
    }
}

#[test]
fn what_cannot_be_the_log_is_refused() {
    let folder = folder("refused");
    let path = folder.join("log");
    let first = open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let error = open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    drop(first);
    drop(open(&path).unwrap());

    symlink(&path, folder.join("link")).unwrap();
    let fifo = folder.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for name in ["link", "fifo", "."] {
        let error = open(&folder.join(name)).unwrap_err();
        assert!(matches!(error, OpenError::NotAFile { .. }), "{name}: {error:?}");
    }
    let error = open(Path::new("/dev/full")).unwrap_err();
    assert!(matches!(error, OpenError::NotAFile { .. } | OpenError::Open { .. }), "{error:?}");
    for text in ["servers: {}\n", "\n", "x", "{}\nx\n", "\0\0\0\0"] {
        let path = folder.join("foreign");
        fs::write(&path, text).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. }), "{text:?}: {error:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_rotated_file_begins_with_its_predecessors_last_digest() {
    let folder = folder("rotated");
    let (path, old) = (folder.join("log"), folder.join("log.1"));
    let mut gateway = Gateway::new(POLICY, Some(&path), options(LogArguments::Full));
    gateway.call("me", "fs__read", "{}");
    assert!(!gateway.audit.reopen().unwrap());
    fs::rename(&path, &old).unwrap();
    assert!(gateway.audit.reopen().unwrap());
    gateway.call("me", "fs__read", "{}");
    let (first, second) = (fs::read(old).unwrap(), fs::read(path).unwrap());
    let (before, after) = (check(&first), check(&second));
    assert!(before.is_clean() && after.is_clean(), "{before:?} {after:?}");
    assert_eq!(before.last_hash, after.first_prev);
    assert_eq!((before.records, after.records), (2, 2));
    // A file with records of its own is not taken over.
    fs::write(folder.join("log"), &first).unwrap();
    fs::rename(folder.join("log"), folder.join("log.2")).unwrap();
    write(&folder.join("log"));
    let error = gateway.audit.reopen().unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    // The two are one chain.
    assert!(check(&[first, second].concat()).is_clean());
}

#[test]
fn an_empty_file_and_a_missing_beginning_are_damage() {
    assert!(!check(b"").is_clean());
    let second = LOG.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let report = check(&LOG[second..]);
    assert_eq!(report.problems.len(), 1);
    assert!(report.problems[0].what.contains("begins with a `start`"), "{:?}", report.problems);
    assert!(!check(&LOG[..LOG.len() - 1]).is_clean());
}

/// One change of a line's bytes.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Insert(prop::sample::Index, u8),
    RemoveLine(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    SwapLines(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 1..=255_u8).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        at().prop_map(Damage::Remove),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        at().prop_map(Damage::RemoveLine),
        at().prop_map(Damage::RepeatLine),
        at().prop_map(Damage::SwapLines),
    ]
}

fn damaged(damage: &Damage) -> Vec<u8> {
    let last = LOG[..LOG.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    let mut bytes = LOG.clone();
    let mut lines: Vec<&[u8]> = LOG.split_inclusive(|byte| *byte == b'\n').collect();
    // What becomes of the last line alone nobody can tell.
    let most = lines.len() - 2;
    match damage {
        Damage::Flip(at, bits) => bytes[at.index(last)] ^= bits,
        Damage::Remove(at) => {
            bytes.remove(at.index(last));
        }
        Damage::Insert(at, byte) => bytes.insert(at.index(last), *byte),
        Damage::RemoveLine(at) => {
            lines.remove(at.index(most));
            bytes = lines.concat();
        }
        Damage::RepeatLine(at) => {
            lines.insert(at.index(most), lines[at.index(most)]);
            bytes = lines.concat();
        }
        Damage::SwapLines(at) => {
            lines.swap(at.index(most), at.index(most) + 1);
            bytes = lines.concat();
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_found(damage in damage()) {
        let bytes = damaged(&damage);
        let report = check(&bytes);
        prop_assert!(!report.is_clean() || bytes == *LOG, "{damage:?}");
    }

    #[test]
    fn nothing_makes_the_check_panic(text in "[\\PC\n]{0,200}", at in any::<prop::sample::Index>()) {
        check(text.as_bytes());
        let mut bytes = LOG.clone();
        let at = at.index(bytes.len());
        bytes.splice(at..at, text.bytes());
        check(&bytes);
    }
}

#[test]
fn the_command_says_what_it_finds() {
    let path = folder("verify").join("log");
    fs::write(&path, &*LOG).unwrap();
    let run = |path: &str, format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
        let output = command.args(["audit", "verify", "--format", format, path]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let path = path.to_str().unwrap();
    let (code, text) = run(path, "human");
    assert_eq!(code, 0, "{text}");
    assert!(text.ends_with("the chain is whole\n") && text.contains("14 records, 2 starts"), "{text}");
    let mut bytes = LOG.clone();
    let at = String::from_utf8(bytes.clone()).unwrap().find("\"allow\"").unwrap();
    bytes.splice(at..at + 7, *b"\"deny\"");
    fs::write(path, bytes).unwrap();
    let (code, text) = run(path, "human");
    assert_eq!(code, 1);
    assert!(text.starts_with(&format!("{path}:3: `prev` is not the digest of line 2")), "{text}");
    let (code, text) = run(path, "json");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &document["problems"][0]["line"], &document["clean"]), (1, &3.into(), &false.into()));
    assert_eq!(run("nowhere", "human").0, 2);
}
