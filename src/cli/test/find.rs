//! Which test files the paths of the command line mean.

use crate::cli::error::ToolError;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of other tools, full of files that nobody here wrote.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// The files in order, each once. Folders are searched; a link to a folder is not followed.
pub(super) fn test_files(paths: &[String]) -> Result<Vec<String>, ToolError> {
    let mut files = Vec::new();
    for path in paths {
        if path == "-" || !is_folder(path)? {
            files.push(path.clone());
            continue;
        }
        let mut found = BTreeSet::new();
        let mut folders = vec![PathBuf::from(path)];
        while let Some(folder) = folders.pop() {
            search(&folder, &mut folders, &mut found)?;
        }
        files.extend(found.iter().map(|file| shown(file)));
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))));
    Ok(files)
}

fn is_folder(path: &str) -> Result<bool, ToolError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ToolError::Missing { path: path.to_owned() }),
        Err(source) => Err(ToolError::Unreadable { path: path.to_owned(), source }),
    }
}

fn search(folder: &Path, folders: &mut Vec<PathBuf>, found: &mut BTreeSet<PathBuf>) -> Result<(), ToolError> {
    let unreadable = |source| ToolError::Unreadable { path: folder.display().to_string(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        // The type of the entry itself, so a link is neither here.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            if !SKIPPED.contains(&&*name) {
                folders.push(entry.path());
            }
        } else if (name.ends_with(".test.yaml") || name.ends_with(".test.yml")) && entry.path().is_file() {
            found.insert(entry.path());
        }
    }
    Ok(())
}

/// Without the `./` that a search from `.` would put before every path.
fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}
