//! What can go wrong when a run is recorded or read back.

use std::path::{Path, PathBuf};

/// A recording that could not be written. The simulation itself is never affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file system refused.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The table could not be encoded.
    #[error("cannot encode {}: {reason}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        reason: String,
    },
}

impl RecordError {
    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { path: path.to_path_buf(), source }
    }

    pub(crate) fn encode(path: &Path, reason: &dyn std::fmt::Display) -> Self {
        Self::Encode { path: path.to_path_buf(), reason: reason.to_string() }
    }
}

impl RecordingError {
    pub(crate) fn bad_column(path: &Path, column: &str) -> Self {
        Self::BadColumn { path: path.to_path_buf(), column: presentable(column) }
    }
}

/// A name from a file as it may stand in a message: short, and without characters that terminals obey.
pub(crate) fn presentable(name: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if name.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// A recording that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is damaged, cut off before its first rows, or not Parquet at all.
    #[error("{} is damaged, cut off or not a Parquet file: {reason}", path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        reason: String,
    },
    /// The file is Parquet, but stiction did not write it, or a newer version did.
    #[error("{} is not a recording this version can read: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is missing or not understood.
        reason: String,
    },
    /// A column is missing, has the wrong type or is damaged.
    #[error("{}: column \"{column}\" is missing or damaged", path.display())]
    BadColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// More than a page can show.
    #[error("{} cannot be shown in a page: {count} {what}, and a page shows up to {limit}", path.display())]
    TooLarge {
        /// The folder of the run.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many a page shows.
        limit: usize,
    },
}
