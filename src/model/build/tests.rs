//! The model against the evaluator.

use super::*;
use crate::catalogue::Catalogue;
use crate::text::FileId;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

fn policy(text: &str) -> Policy {
    let compiled = Policy::compile(text, FileId(0));
    compiled.policy.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn of(policy: &Policy, catalogue: Option<&Catalogue>) -> System {
    let (tools, gaps) = crate::model::universe(&[policy], &[], catalogue);
    let mut system = build(&Request { sides: &[policy], tools: &tools, marks: &[], watched: &[] });
    system.gaps.extend(gaps);
    system
}

/// The policies of the repository, with their lists of tools.
fn real() -> Vec<(String, Policy, Option<Catalogue>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("tests/fixtures/readme.yaml")];
    for name in ["banking", "slack", "travel"] {
        files.push(root.join(format!("tests/fixtures/agentdojo/{name}.core.yaml")));
    }
    for name in ["demo", "etherscan", "filesystem", "github", "mixed"] {
        files.push(root.join(format!("policies/{name}/policy.yaml")));
    }
    let mut all = Vec::new();
    for file in files {
        let policy = policy(&std::fs::read_to_string(&file).unwrap());
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let mut catalogue = Catalogue::default();
        for server in ["fs", "github"] {
            if let Ok(text) = std::fs::read_to_string(file.with_file_name(format!("{server}.tools.json"))) {
                catalogue.add(&text, FileId(0), Some(server)).unwrap();
            }
        }
        let listed = !catalogue.servers.is_empty();
        all.push((name.clone(), policy.clone(), None));
        if listed {
            all.push((format!("{name} with tools"), policy, Some(catalogue)));
        }
    }
    all
}

#[test]
fn the_policies_of_the_repository_have_no_gaps() {
    let mut figures = String::new();
    for (name, policy, catalogue) in real() {
        let start = Instant::now();
        let system = of(&policy, catalogue.as_ref());
        let time = start.elapsed();
        let outcomes = system.classes.iter().flat_map(|class| &class.outcomes);
        let lost = outcomes.filter(|outcome| !outcome.witnessed).count();
        let unwitnessed = system.classes.iter().filter(|class| !class.witnessed).count();
        let (tools, classes) = (system.tools.len(), system.classes.len());
        writeln!(figures, "{name}: {tools} tools, {classes} classes, {unwitnessed} + {lost} without a witness, {time:?}")
            .unwrap();
        if std::env::var_os("SHOW").is_some() {
            for class in &system.classes {
                let mut call = String::new();
                crate::json::write_python(&class.call, true, &mut call);
                let guards: Vec<String> = class.guards.iter().map(|g| system.shown(&g.term).to_string()).collect();
                let effect: Vec<String> = class.effect.iter().map(|g| format!("{}'={}", system.vars[g.var].name, system.shown(&g.term))).collect();
                let outs: Vec<String> = class.outcomes.iter().map(|o| format!("{}{:?}", if o.witnessed {""} else {"!"}, o.answer)).collect();
                writeln!(figures, "   {}{} {call} {guards:?} {effect:?} {:?} {:?} {outs:?}", if class.witnessed {""} else {"!"}, system.tools[class.tool().unwrap()].name, class.params, class.affected).unwrap();
            }
        }
        assert_eq!(system.gaps, [], "{name}");
    }
    println!("{figures}");
}
