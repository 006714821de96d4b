//! Errors of writing and reading recordings.

use std::path::{Path, PathBuf};

/// Error of writing a recording. The simulation itself is never affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Input/output error.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The table cannot be encoded.
    #[error("cannot encode {}: {reason}", path.display())]
    Encode {
        /// File.
        path: PathBuf,
        /// Message of the encoder.
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

/// Shortens a name from a file and removes control characters, for messages.
pub(crate) fn presentable(name: &str) -> String {
    const LONGEST: usize = 80;
    let cut: String = name.chars().take(LONGEST).collect();
    let mut short = stiction_scene::text::line(&cut).into_owned();
    if name.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// Error of reading a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// Input/output error.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file is damaged, truncated before its first rows, or not a Parquet file.
    #[error("{} is damaged, truncated or not a Parquet file: {reason}", path.display())]
    NotATable {
        /// File.
        path: PathBuf,
        /// Message of the decoder.
        reason: String,
    },
    /// A Parquet file that stiction did not write, or that a newer version wrote.
    #[error("{} is not a recording this version can read: {reason}", path.display())]
    Foreign {
        /// File.
        path: PathBuf,
        /// Missing or unknown content.
        reason: String,
    },
    /// A column is missing, has the wrong type or is damaged.
    #[error("{}: column \"{column}\" is missing or damaged", path.display())]
    BadColumn {
        /// File.
        path: PathBuf,
        /// Column.
        column: String,
    },
    /// Content beyond the limits of a page.
    #[error("{} cannot be shown in a page: {count} {what}, and a page shows up to {limit}", path.display())]
    TooLarge {
        /// Folder of the run.
        path: PathBuf,
        /// Kind of the items.
        what: &'static str,
        /// Number of items.
        count: usize,
        /// Largest number of items in a page.
        limit: usize,
    },
}
