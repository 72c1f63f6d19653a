//! What occurs in some payload is never called impossible.

use praxiom::ir::can_occur_in_payload;
use praxiom::json;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\\\\\"/:,{}\\[\\] \n\t\u{1}\u{7f}éx0-9e.+-]{0,10}"]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1e-3..1e-3).prop_map(|small: f64| Value::from(small)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_part_of_a_payload_can_occur(members in btree_map(text(), document(), 0..4)) {
        let arguments = Value::Object(members.into_iter().collect()).to_string();
        let mut payload = String::new();
        json::write_python(&json::parse(arguments.as_bytes()).unwrap(), true, &mut payload);
        let ends: Vec<usize> = payload.char_indices().map(|(at, _)| at).chain([payload.len()]).collect();
        for (at, start) in ends.iter().enumerate() {
            // Every short part, and of the long ones the rest of the payload.
            for end in ends[at + 1..].iter().take(12).chain(ends.last()).filter(|end| *end > start) {
                let part = &payload[*start..*end];
                prop_assert!(can_occur_in_payload(part), "{part:?} of {payload:?}");
            }
        }
    }
}
