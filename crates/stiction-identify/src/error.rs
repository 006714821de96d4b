//! Errors of identification.

use stiction::{BuildError, RestoreError, SceneError, StepError, gradient::GradientError};

/// Reason why an identification failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifyError {
    /// The scene refuses the values of the parameters.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// The scheme refuses the scene.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A run could not start from the measured state.
    #[error("{recording}: the run cannot start there: {source}")]
    Start {
        /// Name of the recording.
        recording: String,
        /// Reason.
        source: RestoreError,
    },
    /// A run stopped.
    #[error("{recording}: {source}")]
    Step {
        /// Name of the recording.
        recording: String,
        /// Reason.
        source: Box<StepError>,
    },
    /// A run has no derivative.
    #[error("{recording}: {source}")]
    Gradient {
        /// Name of the recording.
        recording: String,
        /// Reason.
        source: Box<GradientError>,
    },
    /// A recording does not fit the scene.
    #[error("{recording}: {reason}")]
    Recording {
        /// Name of the recording.
        recording: String,
        /// Reason.
        reason: String,
    },
    /// The direct transcription could not be solved.
    #[cfg(feature = "mpec")]
    #[error(transparent)]
    Program(#[from] stiction_mpec::MpecError),
    /// All particles of a filter failed.
    #[error("{recording}: at {time} s all {count} particles failed, the first because: {reason}")]
    Particles {
        /// Name of the recording.
        recording: String,
        /// Time, s.
        time: f64,
        /// Number of particles.
        count: usize,
        /// Reason of the first failure.
        reason: String,
    },
    /// The options are invalid.
    #[error("{0}")]
    Options(String),
    /// A method that this build does not have.
    #[error("the method `{method}` is not in this build")]
    NotInBuild {
        /// Name of the method.
        method: &'static str,
    },
    /// There are no measurements to compare with.
    #[error("no recording has a moment to compare with: each run needs at least two rows")]
    Nothing,
}

impl From<SceneError> for IdentifyError {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}
