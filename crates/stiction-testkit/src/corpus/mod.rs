//! The collection in `problems/` at the root of the repository: generation of its files, and the manifest beside them.
//!
//! There are three sources: `generated/` comes from [`problems`](crate::problems) and seeded random numbers, `textbook/`
//! contains problems of the literature, `scenes/` contains steps written by `stiction run --keep-problems`. The first two are
//! written by `cargo xtask corpus`, the same bytes every time; the third is data.

mod available;
mod generated;
mod manifest;
mod textbook;

pub use available::{EXTERNAL, Listed, available, external_folder, kind};
pub use manifest::{Entry, Expectation, Manifest};

use std::path::PathBuf;
use stiction_complementarity::ProblemFile;

/// A generated file of the collection.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusFile {
    /// Its path below `problems/`, with forward slashes.
    pub path: String,
    /// The family it belongs to.
    pub family: &'static str,
    /// Origin: a citation, or a description of the generation.
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
    /// Panics if the problem cannot be written.
    pub fn text(&self) -> String {
        self.problem.to_json().unwrap_or_else(|error| panic!("{}: {error}", self.path)) + "\n"
    }
}

/// All generated files, in the order of their paths.
pub fn files() -> Vec<CorpusFile> {
    let mut files = [generated::files(), textbook::files()].concat();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The folder `problems/` of this repository.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../problems"))
}
