//! Any text as YAML: no panic, and every place lies in the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use praxiom::text::FileId;
use praxiom::yaml::{self, Node, Value};

fuzz_target!(|text: &str| {
    let document = yaml::read(text, FileId(0));
    for found in &document.diagnostics {
        for label in std::iter::once(&found.primary).chain(&found.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{found:?}");
        }
    }
    for comment in &document.comments {
        assert!(text.get(comment.span.range()).is_some_and(|comment| comment.starts_with('#')), "{comment:?}");
    }
    if let Some(root) = &document.root {
        walk(root, text);
    }
});

fn walk(node: &Node, text: &str) {
    assert!(text.get(node.span.range()).is_some(), "{node:?}");
    match &node.value {
        Value::Scalar(scalar) => {
            for (at, c) in scalar.text.char_indices().take(64) {
                let span = scalar.span_of(node.span, at..at + c.len_utf8());
                assert!(text.get(span.range()).is_some(), "{node:?} at {at}");
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| walk(item, text)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| {
            walk(&entry.key, text);
            walk(&entry.value, text);
        }),
    }
}
