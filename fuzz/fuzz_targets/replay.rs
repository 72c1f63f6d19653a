//! Any bytes as recorded calls, decided by the policy of the README: no panic, and a row for each call.
#![no_main]

use libfuzzer_sys::fuzz_target;
use praxiom::eval::Policy;
use praxiom::replay;
use praxiom::text::FileId;
use std::sync::LazyLock;

static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let text = include_str!("../../tests/fixtures/readme.yaml");
    Policy::compile(text, FileId(0)).policy.expect("the fixture compiles")
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(calls) = replay::read(bytes) {
        let rows = replay::replay(&POLICY, &calls, 0);
        assert_eq!(rows.len(), calls.len());
        for row in rows {
            assert_eq!(row.reason.is_some(), matches!(row.verdict, "deny" | "malformed"));
        }
    }
});
