//! Errors of building or restoring a simulation.

use stiction_stepping::{SchemeError, UnclosableJoints};

/// Error of building a simulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Invalid option of the scheme.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Open joints that no motion closes.
    #[error(transparent)]
    Joints(#[from] UnclosableJoints),
    /// Step size out of range.
    #[error("the step must be between {least:e} and {most} seconds, but is {value}")]
    Step {
        /// Smallest step accepted, s.
        least: f64,
        /// Largest step accepted, s.
        most: f64,
        /// Given value, s.
        value: f64,
    },
}

/// Error of restoring a saved state; the simulation is left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Text that is not a saved state, or is damaged.
    #[error("not a readable saved state: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// State saved in another format version.
    #[error("saved by format version {found}, this program reads version {expected}")]
    Version {
        /// Version in the file.
        found: u32,
        /// Version that this program reads.
        expected: u32,
    },
    /// State changed after it was saved.
    #[error("the saved state was changed or damaged: its checksum does not match")]
    Damaged,
    /// State of another model or step size.
    #[error("the saved state is of another simulation: {0}")]
    Mismatch(String),
    /// Poses, coordinates or velocities that the model does not allow.
    #[error("{0}")]
    Joints(String),
}
