//! The layers: a module imports smaller layers and its own children, never the reverse; each foreign
//! crate stays where it belongs; every module says what it is for.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Layer of each top-level module, as the design numbers them.
const LAYERS: &[(&str, u8)] = &[
    ("text", 0),
    ("json", 1),
    ("yaml", 1),
    ("syntax", 1),
    ("policy", 2),
    ("catalogue", 2),
    ("boundary", 3),
    ("ir", 3),
    ("eval", 4),
    ("model", 5),
    ("recording", 5),
    ("explicit", 6),
    ("proof", 6),
    ("smt", 6),
    ("check", 7),
    ("config", 7),
    ("audit", 7),
    ("lint", 7),
    ("suite", 7),
    ("replay", 8),
    ("report", 8),
    ("embed", 9),
    ("gateway", 9),
    ("cli", 10),
];

/// Crates that only one module may name.
const OWNED: &[(&str, &[&str])] = &[
    ("granit_parser", &["yaml"]),
    ("logos", &["syntax"]),
    ("lalrpop_util", &["syntax"]),
    ("z3", &["smt"]),
    ("hifijson", &["json"]),
    ("aho_corasick", &["config", "eval"]),
    ("regex", &["boundary", "config", "gateway"]),
    ("url", &["config"]),
    ("num_bigint", &["ir"]),
    ("codespan_reporting", &["report"]),
    ("quick_junit", &["report"]),
    ("chrono", &["audit"]),
    ("rustix", &["audit", "gateway", "smt"]),
    ("clap", &["cli"]),
    ("miette", &["cli"]),
    ("base64", &["boundary", "gateway"]),
    ("axum", &["gateway"]),
    ("reqwest", &["gateway"]),
    ("getrandom", &["boundary", "gateway"]),
    ("rmcp", &["cli", "gateway"]),
    ("tokio", &["cli", "gateway"]),
    ("similar", &["catalogue"]),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| (path.strip_prefix(&root).unwrap().to_path_buf(), fs::read_to_string(&path).unwrap());
    paths.into_iter().map(read).collect()
}

/// The top-level module a file belongs to; `None` for `lib.rs` and `main.rs`.
fn module(path: &Path) -> Option<String> {
    let first = path.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(module, _)| *module == name).map(|(_, layer)| *layer)
}

/// Every `crate::name` of a file, tests included, with its line; comments aside.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        for (position, _) in code.match_indices("crate::") {
            let rest = &code[position + "crate::".len()..];
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            found.push((at + 1, name));
        }
    }
    found
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(own) = module(&path) else { continue };
        let Some(own_layer) = layer(&own) else {
            wrong.push(format!("{}: the module `{own}` has no layer", path.display()));
            continue;
        };
        for (line, name) in imports(&text) {
            let Some(other) = layer(&name) else {
                wrong.push(format!("{}:{line}: `crate::{name}` is no module with a layer", path.display()));
                continue;
            };
            if name != own && other >= own_layer {
                wrong.push(format!(
                    "{}:{line}: `{own}` (layer {own_layer}) imports `{name}` (layer {other})",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What decides live calls, and what it must never wait for.
#[test]
fn the_live_side_knows_neither_solver_nor_linter() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !matches!(module(&path).as_deref(), Some("eval" | "boundary" | "audit" | "config" | "gateway")) {
            continue;
        }
        for (line, name) in imports(&text) {
            if matches!(name.as_str(), "smt" | "check" | "lint" | "lsp") {
                wrong.push(format!("{}:{line}: imports `{name}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn foreign_crates_stay_where_they_belong() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let own = module(&path);
        for (name, owners) in OWNED {
            if own.as_deref().is_some_and(|own| owners.contains(&own)) {
                continue;
            }
            // Tests compare with big integers, which is no dependency of the product.
            let used = text.lines().any(|line| {
                let code = line.trim_start();
                !code.starts_with("//")
                    && (code.contains(&format!("{name}::")) && !code.contains(&format!("_{name}::")))
            });
            if used {
                wrong.push(format!("{}: names `{name}`, which belongs to {owners:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_small_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let tests = path.file_name().is_some_and(|name| name == "tests.rs");
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not begin with `//!`", path.display()));
        }
        if text.lines().count() > 800 {
            wrong.push(format!("{}: more than 800 lines", path.display()));
        }
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            wrong.push(format!("{}: write `x.rs` beside `x/`", path.display()));
        }
        if !tests && text.contains("todo!(") {
            wrong.push(format!("{}: unfinished", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_layers_are_those_of_the_library() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for (module, _) in LAYERS {
        assert!(lib.contains(&format!("pub mod {module};")), "`{module}` has a layer but is no module");
    }
}
