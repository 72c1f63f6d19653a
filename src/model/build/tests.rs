//! The model against the evaluator.

use super::*;
use crate::text::FileId;

fn policy(text: &str) -> Policy {
    let compiled = Policy::compile(text, FileId(0));
    compiled.policy.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn of(policy: &Policy) -> System {
    let (tools, gaps) = crate::model::universe(&[policy], &[], None);
    assert!(gaps.is_empty(), "{gaps:?}");
    build(&Request { sides: &[policy], tools: &tools, marks: &[], watched: &[] })
}

#[test]
fn the_readme_policy() {
    let policy = policy(include_str!("../../../tests/fixtures/readme.yaml"));
    let system = of(&policy);
    for tool in &system.tools {
        println!("{tool:?}");
    }
    for class in &system.classes {
        println!("{class:#?}");
    }
    assert_eq!(system.gaps, []);
}
