//! Any text as an expression: no panic, places inside it, and printing undone by reading.
#![no_main]

use libfuzzer_sys::fuzz_target;
use praxiom::syntax::parse;
use praxiom::syntax::print::print;
use praxiom::text::{FileId, Span};
use std::ops::Range;

fn place(range: Range<usize>) -> Span {
    Span::new(FileId(0), range.start, range.end)
}

fuzz_target!(|text: &str| {
    let parsed = parse(text, &place);
    for found in &parsed.diagnostics {
        for label in std::iter::once(&found.primary).chain(&found.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{found:?}");
        }
    }
    let printed = print(&parsed.expr);
    if parsed.diagnostics.is_empty() {
        let again = parse(&printed, &place);
        assert!(again.diagnostics.is_empty(), "{printed}: {:?}", again.diagnostics);
        assert!(again.expr.same_shape(&parsed.expr), "{printed}");
    }
});
