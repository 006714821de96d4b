//! The collection in `problems/` at the root of the repository: how its files are made, and the manifest beside them.
//!
//! Three sources: `generated/` comes from [`problems`](crate::problems) and seeded random numbers, `textbook/` restates
//! problems of the literature, `scenes/` holds steps that `stiction run --keep-problems` wrote. The first two are written
//! by `cargo xtask corpus`, the same bytes every time; the third is data.

mod generated;
mod manifest;
mod textbook;

pub use manifest::{Entry, Expectation, Manifest};

use std::path::PathBuf;
use stiction_complementarity::ProblemFile;

/// A file of the collection that is made from code.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusFile {
    /// Its path below `problems/`, with forward slashes.
    pub path: String,
    /// The family it belongs to.
    pub family: &'static str,
    /// Where it comes from: a citation, or how it is generated.
    pub provenance: String,
    /// The problem.
    pub problem: ProblemFile,
}

impl CorpusFile {
    fn new(
        folder: &str,
        name: &str,
        family: &'static str,
        provenance: impl Into<String>,
        problem: ProblemFile,
    ) -> Self {
        Self { path: format!("{folder}/{name}.json"), family, provenance: provenance.into(), problem }
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// When the problem cannot be written.
    pub fn text(&self) -> String {
        self.problem.to_json().unwrap_or_else(|error| panic!("{}: {error}", self.path)) + "\n"
    }
}

/// Every file that is made from code, in the order of its path.
pub fn files() -> Vec<CorpusFile> {
    let mut files = [generated::files(), textbook::files()].concat();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The folder `problems/` of this repository.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../problems"))
}
