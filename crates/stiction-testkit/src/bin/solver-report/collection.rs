//! Problems of the report: the collection of this repository and the external sets.

use std::path::{Path, PathBuf};
use stiction_complementarity::ProblemFile;
use stiction_testkit::corpus::{self, Manifest};

/// A problem with its place in the report.
pub(crate) struct Listed {
    /// The set: `problems` or the folder of the external one.
    pub(crate) set: String,
    /// The family inside the set.
    pub(crate) family: String,
    /// The problem.
    pub(crate) problem: ProblemFile,
}

/// External sets below `STICTION_DATA`.
const EXTERNAL: [&str; 3] = ["friction_contact", "lcp_mlcp", "mcp"];

/// Reads all available problems. Names and omits unreadable files.
pub(crate) fn all() -> Vec<Listed> {
    let mut listed: Vec<Listed> = Manifest::load()
        .files
        .into_iter()
        .filter_map(|entry| {
            let problem = read(&corpus::folder().join(&entry.file))?;
            Some(Listed { set: "problems".to_owned(), family: entry.family, problem })
        })
        .collect();
    match std::env::var_os("STICTION_DATA").map(PathBuf::from) {
        Some(root) => listed.extend(EXTERNAL.iter().flat_map(|set| external(&root, set))),
        None => println!("STICTION_DATA is not set: external sets are left out"),
    }
    listed
}

fn external(root: &Path, set: &str) -> Vec<Listed> {
    let folder = root.join(set);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => {
            println!("{}: {error}", folder.display());
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let listed = |path: &PathBuf| {
        let problem = read(path)?;
        let family = family(path, &problem);
        Some(Listed { set: set.to_owned(), family, problem })
    };
    paths.iter().filter_map(listed).collect()
}

fn read(path: &Path) -> Option<ProblemFile> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    match text.and_then(|text| ProblemFile::read(&text).map_err(|error| error.to_string())) {
        Ok(problem) => Some(problem),
        Err(error) => {
            println!("{}: {error}", path.display());
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

/// The kind of a problem, by which the report groups methods.
pub(crate) fn kind(problem: &ProblemFile) -> &'static str {
    match problem {
        ProblemFile::Lcp(_) => "lcp",
        ProblemFile::MixedLcp(_) => "mixed lcp",
        ProblemFile::BoxLcp(_) => "box lcp",
        ProblemFile::Ncp { .. } => "nonlinear",
        _ => "friction",
    }
}
