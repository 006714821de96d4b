//! All problems within reach: the collection of this repository and the external sets below `STICTION_DATA`.

#![allow(clippy::disallowed_methods)] // Programs read problems from the repository and from the folder that the environment names.

use super::Manifest;
use std::path::{Path, PathBuf};
use stiction_complementarity::ProblemFile;

/// A problem with its place in a report.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The set: `problems` or the folder of the external one.
    pub set: String,
    /// The family inside the set.
    pub family: String,
    /// Name of the file inside the set, without its ending.
    pub name: String,
    /// The problem.
    pub problem: ProblemFile,
}

/// External sets below `STICTION_DATA`.
pub const EXTERNAL: [&str; 3] = ["friction_contact", "lcp_mlcp", "mcp"];

/// Folder of the external sets, if `STICTION_DATA` names one.
pub fn external_folder() -> Option<PathBuf> {
    std::env::var_os("STICTION_DATA").map(PathBuf::from)
}

/// Reads all available problems. Unreadable files are named on standard error and omitted.
pub fn available() -> Vec<Listed> {
    let mut listed: Vec<Listed> = Manifest::load()
        .files
        .into_iter()
        .filter_map(|entry| {
            let problem = read(&super::folder().join(&entry.file))?;
            let name = entry.file.trim_end_matches(".json").to_owned();
            Some(Listed { set: "problems".to_owned(), family: entry.family, name, problem })
        })
        .collect();
    match external_folder() {
        Some(root) => listed.extend(EXTERNAL.iter().flat_map(|set| external(&root, set))),
        None => eprintln!("STICTION_DATA is not set: external sets are left out"),
    }
    listed
}

fn external(root: &Path, set: &str) -> Vec<Listed> {
    let folder = root.join(set);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let listed = |path: &PathBuf| {
        let problem = read(path)?;
        let family = family(path, &problem);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Some(Listed { set: set.to_owned(), family, name, problem })
    };
    paths.iter().filter_map(listed).collect()
}

fn read(path: &Path) -> Option<ProblemFile> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    match text.and_then(|text| ProblemFile::read(&text).map_err(|error| error.to_string())) {
        Ok(problem) => Some(problem),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            None
        }
    }
}

/// The `family` of the file, or its kind.
fn family(path: &Path, problem: &ProblemFile) -> String {
    let named = || {
        let text = std::fs::read_to_string(path).ok()?;
        let facts: serde_json::Value = serde_json::from_str(&text).ok()?;
        facts["family"].as_str().map(str::to_owned)
    };
    named().unwrap_or_else(|| kind(problem).to_owned())
}

/// The kind of a problem, by which reports group methods.
pub fn kind(problem: &ProblemFile) -> &'static str {
    match problem {
        ProblemFile::Lcp(_) => "lcp",
        ProblemFile::MixedLcp(_) => "mixed lcp",
        ProblemFile::BoxLcp(_) => "box lcp",
        ProblemFile::Ncp { .. } => "nonlinear",
        _ => "friction",
    }
}
