//! Any text as a policy: no panic, valid places, and every complaint can be shown in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use praxiom::eval::Policy;
use praxiom::report::{human, json, short};
use praxiom::text::{Diagnostic, Sources};

fuzz_target!(|text: &str| {
    let mut sources = Sources::default();
    let file = sources.add("policy.yaml", text);
    let compiled = Policy::compile(text, file);
    assert_eq!(compiled.policy.is_none(), compiled.diagnostics.iter().any(Diagnostic::is_error));
    for found in &compiled.diagnostics {
        for label in std::iter::once(&found.primary).chain(&found.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{found:?}");
        }
        assert!(!short::line(found, &sources).contains('\n'));
        for colour in [false, true] {
            assert!(!human::render(found, &sources, colour).is_empty());
        }
    }
    let document = json::document(&[], &compiled.diagnostics, &sources);
    assert_eq!(document["diagnostics"].as_array().map(Vec::len), Some(compiled.diagnostics.len()));
});
