//! Every example on the pages of the diagnostics, run through the binary or the reader of configurations:
//! the bad one shows the page's code, the good one shows no error and not the code.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use praxiom::config::{self, Environment};
use praxiom::report::short;
use praxiom::text::{Code, FileId, Sources};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block: its info string (`yaml`, `json tools=fs`) and its text.
struct Block {
    info: String,
    text: String,
}

/// The blocks under a heading.
fn blocks(page: &str, heading: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match &mut open {
            Some(block) if line == "```" => {
                if inside {
                    found.push(Block { info: block.info.clone(), text: block.text.clone() });
                }
                open = None;
            }
            Some(block) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            None if line.starts_with("## ") => inside = line == heading,
            None => {
                if let Some(info) = line.strip_prefix("```") {
                    open = Some(Block { info: info.to_owned(), text: String::new() });
                }
            }
        }
    }
    found
}

fn praxiom(args: &[&str], folder: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_praxiom")).args(args).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().unwrap_or(-1), text)
}

/// Reads one configuration, with the variables of a block `env`.
fn read_config(text: &str, blocks: &[Block]) -> (i32, String) {
    let mut environment = Environment::default();
    for block in blocks.iter().filter(|block| block.info == "env") {
        environment.add_file(&block.text).unwrap();
    }
    let reading = config::read(text, FileId(0), Path::new("."), &environment);
    let mut sources = Sources::default();
    sources.add("praxiom.yaml", reading.shown);
    let lines: Vec<String> = reading.diagnostics.iter().map(|found| short::line(found, &sources)).collect();
    (i32::from(reading.config.is_none()), lines.join("\n"))
}

/// Runs one example as its blocks ask and gives the exit code and what was printed.
fn run(code: Code, name: &str, blocks: &[Block]) -> (i32, String) {
    if let Some(config) = blocks.iter().find(|block| block.info == "yaml config") {
        return read_config(&config.text, blocks);
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("docs-{code}-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut args: Vec<String> = vec!["check".into(), "policy.yaml".into(), "--format".into(), "short".into()];
    let mut test = false;
    let mut diff = false;
    for block in blocks {
        match block.info.as_str() {
            "yaml" | "yaml policy" => fs::write(folder.join("policy.yaml"), &block.text).unwrap(),
            "yaml test" => {
                fs::write(folder.join("policy.test.yaml"), &block.text).unwrap();
                test = true;
            }
            "yaml old" | "yaml new" => {
                fs::write(folder.join(format!("{}.yaml", &block.info["yaml ".len()..])), &block.text).unwrap();
                diff = true;
            }
            "json lock" => {
                fs::write(folder.join("lock.json"), &block.text).unwrap();
                args.extend(["--tools".into(), "lock.json".into()]);
            }
            info => match info.strip_prefix("json tools=") {
                Some(server) => {
                    fs::write(folder.join("tools.json"), &block.text).unwrap();
                    args.extend(["--tools".into(), format!("{server}=tools.json")]);
                }
                None => panic!("{code}: what is a block `{info}`?"),
            },
        }
    }
    if diff {
        args.splice(..2, ["diff", "old.yaml", "new.yaml"].map(String::from));
    }
    if test {
        args = vec!["test".into(), ".".into()];
        if code == Code::PX5002 {
            args.extend(["--coverage-threshold".into(), "100".into()]);
        }
    }
    praxiom(&args.iter().map(String::as_str).collect::<Vec<_>>(), &folder)
}

#[test]
fn every_page_has_its_title_and_examples_that_do_what_they_say() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let page = code.page();
        let title = format!("# {} {} ({})", code.id(), code.name(), code.severity().as_str());
        if page.lines().next() != Some(title.as_str()) {
            wrong.push(format!("{code}: the title is not `{title}`"));
        }
        if page.contains("\nNo example: ") {
            continue;
        }
        let shown = format!("[{code}]");
        let bad = blocks(page, "## Bad");
        let good = blocks(page, "## Good");
        if bad.is_empty() || good.is_empty() {
            wrong.push(format!("{code}: no bad or no good example"));
            continue;
        }
        let (exit, text) = run(*code, "bad", &bad);
        if !text.contains(&shown) {
            wrong.push(format!("{code}: the bad example does not show it (exit {exit}):\n{text}"));
        }
        let (exit, text) = run(*code, "good", &good);
        if text.contains(&shown) || text.contains("error[") || exit != 0 {
            wrong.push(format!("{code}: the good example is not good (exit {exit}):\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn explain_prints_the_page_by_code_and_by_name() {
    let here = Path::new(".");
    for name in ["PX2003", "px2003", "type-mismatch"] {
        let (exit, text) = praxiom(&["explain", name], here);
        assert_eq!((exit, text.trim_end()), (0, Code::PX2003.page().trim_end()));
    }
    let (exit, text) = praxiom(&["explain", "PX2033"], here);
    assert_eq!(exit, 2);
    assert!(text.contains("did you mean PX2003?"), "{text}");
}
