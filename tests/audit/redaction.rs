//! What must not be written is not written: neither in the line, nor in the file, nor in what replay says.

use crate::gateway::{Gateway, POLICY, folder, options};
use crate::replaying::replay;
use praxiom::audit::{LogArguments, Outcome};
use proptest::prelude::*;
use std::fs;

/// Everything that is written of a session in which the marker is in every place that a stranger fills.
fn written(name: &str, mode: LogArguments, key: &str, marker: &str) -> String {
    let path = folder(name).join("log");
    let mut gateway = Gateway::new(POLICY, Some(&path), options(mode));
    let quoted = serde_json::to_string(&format!("a{marker}b")).unwrap();
    let key = serde_json::to_string(key).unwrap();
    let note = gateway.call("me", "fs__note", &format!(r#"{{"say": {quoted}, {key}: {{"x": [{quoted}]}}}}"#)).unwrap();
    gateway.answer(&note, Ok(&format!(r#"{{"content": [{{"type": "text", "text": {quoted}}}], "isError": true}}"#)));
    let note = gateway.call("me", "fs__note", &format!(r#"{{"say": {quoted}}}"#)).unwrap();
    gateway.answer(&note, Err(&format!(r#"{{"code": 1, "message": {quoted}, "data": {quoted}}}"#)));
    let read = gateway.call("me", "fs__read", "{}").unwrap();
    gateway.came(&read, Outcome::Failed { why: "gone", said: Some(marker) });
    let read = gateway.call("me", "fs__read", "{}").unwrap();
    gateway.answer(&read, Ok(r#""PRIVATE""#));
    // Denied: the reason tells the state.
    assert!(gateway.call("me", "hub__post", &format!("{{{key}: {quoted}}}")).is_none());
    gateway.refuse("me", "zz__x", &format!("{{{key}: {quoted}}}"));
    let policy = path.with_file_name("policy.yaml");
    fs::write(&policy, POLICY).unwrap();
    let (_, human) = replay(&policy, &path, "human");
    let (_, json) = replay(&policy, &path, "json");
    [gateway.screen.text(), fs::read_to_string(path).unwrap(), human, json].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn none_shows_nothing_of_a_call(marker in "AKIA[A-Z0-9]{12}", key in "[a-z]{1,8}") {
        prop_assert!(!written("none", LogArguments::None, &key, &marker).contains(&marker));
    }
}

#[test]
fn redacted_shows_no_credential_no_result_and_no_text_of_the_state() {
    let marker = "AKIA0123456789";
    for key in ["password", "x-API-KEY", "accessToken"] {
        let text = written("redacted", LogArguments::Redacted, key, marker);
        let shown: Vec<&str> = text.lines().filter(|line| line.contains(marker)).collect();
        // The argument `say` is no credential: each call with it has a line and a record.
        assert!(!shown.is_empty());
        for line in shown {
            assert_eq!(line.matches(marker).count(), line.matches("\"say\"").count(), "{line}");
        }
    }
    assert!(written("full", LogArguments::Full, "password", marker).matches(marker).count() > 20);
}
