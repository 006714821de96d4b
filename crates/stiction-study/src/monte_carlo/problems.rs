//! Unsolved problems of failed trials, as files for `stiction solve`.
//!
//! The files of the failed trials with the lowest numbers are kept. They do not depend on the number of threads or on interruptions. The
//! file of a trial is written before its line in the journal.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::StudyError;

/// Largest number of problem files.
pub const MOST_PROBLEMS: usize = 20;

/// Folder of problem files, inside that of the study.
const FOLDER: &str = "failures";

/// Unsolved problem of a failed trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptProblem {
    /// The number of the trial.
    pub trial: u64,
    /// Its file, relative to the folder of the study.
    pub file: String,
}

/// Problem files of a study.
pub(super) struct Problems {
    folder: PathBuf,
    kept: BTreeSet<u64>,
}

impl Problems {
    /// Opens the problem files of a study.
    pub(super) fn open(folder: &Path) -> Self {
        let folder = folder.join(FOLDER);
        let number = |file: fs::DirEntry| file.file_name().to_str()?.strip_suffix(".json")?.parse().ok();
        let kept = fs::read_dir(&folder).map(|files| files.flatten().filter_map(number).collect()).unwrap_or_default();
        Self { folder, kept }
    }

    /// Keeps the problem of a trial, if it is among the first.
    pub(super) fn keep(&mut self, trial: u64, problem: Option<String>) -> Result<(), StudyError> {
        let Some(problem) = problem else { return Ok(()) };
        if self.kept.len() >= MOST_PROBLEMS && self.kept.last().is_some_and(|last| trial > *last) {
            return Ok(());
        }
        let path = self.path(trial);
        // Files are what this module is for.
        #[allow(clippy::disallowed_methods)]
        let written = fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, problem));
        written.map_err(|source| StudyError::write(&path, source))?;
        self.kept.insert(trial);
        while self.kept.len() > MOST_PROBLEMS {
            self.remove_last()?;
        }
        Ok(())
    }

    /// Removes the problems of trials from this number on: those of another study, or of trials that do not count any more.
    pub(super) fn remove_from(&mut self, trial: u64) -> Result<(), StudyError> {
        while self.kept.last().is_some_and(|last| *last >= trial) {
            self.remove_last()?;
        }
        Ok(())
    }

    /// Problems of the first `made` trials.
    pub(super) fn among(&self, made: u64) -> Vec<KeptProblem> {
        self.kept
            .range(..made)
            .map(|trial| KeptProblem { trial: *trial, file: format!("{FOLDER}/{trial}.json") })
            .collect()
    }

    fn remove_last(&mut self) -> Result<(), StudyError> {
        let Some(path) = self.kept.pop_last().map(|last| self.path(last)) else { return Ok(()) };
        fs::remove_file(&path).map_err(|source| StudyError::write(&path, source))
    }

    fn path(&self, trial: u64) -> PathBuf {
        self.folder.join(format!("{trial}.json"))
    }
}
