//! The model checker against policies with one planted fault each, and against their repaired twins.
//! What the files say is described in `fixtures/faults/README.md`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use praxiom::eval::Policy;
use praxiom::replay::{read, replay};
use praxiom::text::{Code, FileId};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faults")
}

/// What a bad file says of itself.
struct Fault {
    name: String,
    text: String,
    expect: String,
    steps: Option<usize>,
    /// The finding is of level info, and nothing else is expected.
    quiet: bool,
    entails: Vec<String>,
    tools: Option<String>,
}

impl Fault {
    fn read(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".bad.yaml").unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let mut fault = Self {
            name,
            text: String::new(),
            expect: String::new(),
            steps: None,
            quiet: false,
            entails: Vec::new(),
            tools: None,
        };
        for line in text.lines().map_while(|line| line.strip_prefix("# ")) {
            let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{}: {line}", fault.name));
            match key {
                "expect" => value.clone_into(&mut fault.expect),
                "steps" => fault.steps = Some(value.parse().unwrap()),
                "severity" => fault.quiet = value == "info",
                "entails" => fault.entails = value.split(", ").map(str::to_owned).collect(),
                "tools" => fault.tools = Some(value.to_owned()),
                "about" => {}
                _ => panic!("{}: what is `{key}`?", fault.name),
            }
        }
        assert!(Code::parse(&fault.expect).is_some(), "{}: no code", fault.name);
        fault.text = text;
        fault
    }

    /// Runs `check` on one of the twins: the exit code and the findings.
    fn check(&self, twin: &str, more: &[&str]) -> Result<(i32, Vec<Value>), String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_praxiom"));
        command.arg("check").arg(format!("{}.{twin}.yaml", self.name)).args(["--format", "json"]).args(more);
        if let Some(tools) = &self.tools {
            command.args(["--tools", tools]);
        }
        let output = command.current_dir(folder()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let exit = output.status.code().unwrap_or(-1);
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("{} {twin}: exit {exit}, no report: {errors}", self.name))?;
        Ok((exit, report["diagnostics"].as_array().unwrap().clone()))
    }

    /// What is wrong with the findings in the policy with the fault.
    fn judge_bad(&self) -> Vec<String> {
        let (exit, found) = match self.check("bad", &[]) {
            Ok(found) => found,
            Err(what) => return vec![what],
        };
        let mut wrong = Vec::new();
        let mut say = |what: String| wrong.push(format!("{} bad: {what}", self.name));
        let failed = found.iter().any(|finding| finding["severity"] == "error");
        if exit != i32::from(failed) {
            say(format!("exit {exit}"));
        }
        for finding in found.iter().filter(|finding| counts(finding)) {
            let code = finding["code"].as_str().unwrap();
            if (code != self.expect || self.quiet) && !self.entails.iter().any(|entailed| entailed == code) {
                say(format!("unexpected {}", shown(finding)));
            }
        }
        let planted: Vec<&Value> =
            found.iter().filter(|finding| finding["code"] == self.expect && (self.quiet || counts(finding))).collect();
        if planted.is_empty() {
            say(format!("no {}", self.expect));
            return wrong;
        }
        let traces: Vec<&Vec<Value>> = planted.iter().filter_map(|finding| finding["trace"].as_array()).collect();
        let shortest = traces.iter().map(|trace| trace.len()).min();
        if self.steps.is_some() && shortest != self.steps {
            say(format!("the shortest trace has {shortest:?} calls instead of {:?}", self.steps));
        }
        for finding in &found {
            if let Some(what) = self.replayed(finding) {
                say(what);
            }
        }
        wrong
    }

    /// Where the evaluator decides a call of the trace in another way than the trace says.
    fn replayed(&self, finding: &Value) -> Option<String> {
        let trace = finding["trace"].as_array()?;
        let policy = Policy::compile(&self.text, FileId(0)).policy?;
        let Ok(calls) = read(finding["trace"].to_string().as_bytes()) else {
            return Some(format!("a trace that cannot be replayed in {}", shown(finding)));
        };
        let verdicts: Vec<&str> = replay(&policy, &calls, 0).iter().map(|row| row.verdict).collect();
        let claimed: Vec<&str> = trace.iter().filter_map(|step| step["verdict"].as_str()).collect();
        (verdicts != claimed).then(|| format!("decided {verdicts:?} and not {claimed:?} in {}", shown(finding)))
    }

    /// What is wrong with the findings in the repaired policy.
    fn judge_good(&self) -> Vec<String> {
        let (exit, found) = match self.check("good", &[]) {
            Ok(found) => found,
            Err(what) => return vec![what],
        };
        let mut wrong: Vec<String> = found
            .iter()
            .filter(|finding| counts(finding) || finding["code"] == self.expect)
            .map(|finding| format!("{} good: unexpected {}", self.name, shown(finding)))
            .collect();
        if exit != 0 {
            wrong.push(format!("{} good: exit {exit}", self.name));
        }
        wrong
    }
}

/// Whether a finding is a warning or an error.
fn counts(finding: &Value) -> bool {
    finding["severity"] == "error" || finding["severity"] == "warning"
}

fn shown(finding: &Value) -> String {
    format!(
        "{} {}: {}",
        finding["severity"].as_str().unwrap_or("?"),
        finding["code"].as_str().unwrap_or("?"),
        finding["message"].as_str().unwrap_or("?"),
    )
}

fn faults() -> Vec<Fault> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().unwrap().ends_with(".bad.yaml"));
    paths.sort();
    paths.iter().map(|path| Fault::read(path)).collect()
}

#[test]
fn every_planted_fault_is_found_and_nothing_else() {
    let faults = faults();
    // Each search is a process of its own, so a thread only waits for it.
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut wrong = Vec::new();
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(fault.judge_bad());
            wrong.extend(fault.judge_good());
        }
        wrong
    };
    let mut wrong: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    wrong.sort();
    assert!(wrong.is_empty(), "{} things wrong with {} faults:\n{}", wrong.len(), faults.len(), wrong.join("\n"));
}

#[test]
fn every_finding_of_one_policy_alone_is_planted_somewhere() {
    let planted: BTreeSet<String> = faults().into_iter().map(|fault| fault.expect).collect();
    // PX4017 depends on limits of time; the codes after it are about two policies, or a certificate.
    let findings = Code::ALL.iter().filter(|code| (Code::PX4001..Code::PX4017).contains(*code));
    let missing: Vec<&str> = findings.map(|code| code.id()).filter(|id| !planted.contains(*id)).collect();
    assert!(missing.is_empty(), "no fault shows {missing:?}");
}

/// A policy whose states are too many to visit gets a verdict for every question within the time.
#[test]
fn large_policies_are_decided() {
    for (name, open) in [("large", vec!["permanent-blocks"]), ("parts", vec![])] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/checker/{name}.yaml"));
        let proof = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.proof.json"));
        // Slow machines may take longer; that it takes no longer than 10 s elsewhere is measured, not asserted.
        let output = Command::new(env!("CARGO_BIN_EXE_praxiom"))
            .args(["check", "--stats", "--time-limit", "60s", "--proof"])
            .args([&proof, &path])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let table = text.split("how each question was answered").nth(1).unwrap();
        let unknown: Vec<&str> = table
            .lines()
            .filter(|line| line.split_whitespace().nth(1) == Some("unknown"))
            .map(|line| line.split_whitespace().next().unwrap())
            .collect();
        assert_eq!(unknown, open, "{name}: {table}");
        assert_eq!(output.status.code(), Some(1), "{text}");
        // What was proved is confirmed by another run, without search: only the verdicts are objected to.
        let verified =
            Command::new(env!("CARGO_BIN_EXE_praxiom")).arg("verify").args([&proof, &path]).output().unwrap();
        let text = String::from_utf8(verified.stderr).unwrap();
        let objections: Vec<&str> = text.lines().filter(|line| line.contains("= note: ")).collect();
        assert!(!objections.is_empty(), "{text}");
        assert!(
            objections.iter().all(|line| line.ends_with("does not hold") || line.ends_with("when it was made")),
            "{objections:?}"
        );
    }
}
