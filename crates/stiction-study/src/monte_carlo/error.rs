//! Errors that end a study.

use std::path::{Path, PathBuf};

use stiction::record::RecordError;

use crate::ThreadsError;

/// Reason why a study could not be made; a failed trial is not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// The journal belongs to another study.
    #[error("{} cannot be continued: {reason}", path.display())]
    OtherStudy {
        /// The journal.
        path: PathBuf,
        /// Difference.
        reason: String,
    },
    /// The folder holds trials already, and replacing them was not requested.
    #[error("{} holds {made} of {count} trials of this study already", path.display())]
    Present {
        /// The journal.
        path: PathBuf,
        /// Number of trials present.
        made: u64,
        /// Trials in all.
        count: u64,
    },
    /// The folder holds trials of another study, and replacing them was not requested.
    #[error("{} holds {made} trials of another study: {reason}", path.display())]
    OtherPresent {
        /// The journal.
        path: PathBuf,
        /// Number of trials present.
        made: u64,
        /// Difference.
        reason: String,
    },
    /// Another kind of file has the name of the journal.
    #[error("{} is no journal of a study, or its first line is damaged", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The table could not be written.
    #[error(transparent)]
    Table(#[from] RecordError),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl StudyError {
    pub(super) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { path: path.to_path_buf(), source }
    }

    pub(super) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_path_buf(), source }
    }
}
