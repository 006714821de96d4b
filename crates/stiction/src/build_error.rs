//! Why a simulation cannot be made or restored.

use stiction_stepping::SchemeError;

/// A simulation that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An option of the scheme.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The step size.
    #[error("the step must be between {least:e} and {most} seconds, but is {value}")]
    Step {
        /// Smallest step accepted, s.
        least: f64,
        /// Largest step accepted, s.
        most: f64,
        /// The value given.
        value: f64,
    },
}

/// A saved state that cannot be restored; the simulation is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Not a saved state, or a damaged one.
    #[error("not a readable saved state: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// Written by another version.
    #[error("saved by format version {found}, this program reads version {expected}")]
    Version {
        /// Version in the file.
        found: u32,
        /// Version understood.
        expected: u32,
    },
    /// Changed after it was saved.
    #[error("the saved state was changed or damaged: its checksum is another")]
    Damaged,
    /// Of another model or step.
    #[error("the saved state is of another simulation: {0}")]
    Mismatch(String),
}
