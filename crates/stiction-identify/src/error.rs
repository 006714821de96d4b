//! Why nothing could be identified.

use stiction::{BuildError, RestoreError, SceneError, StepError, gradient::GradientError};

/// Why nothing could be identified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifyError {
    /// The scene does not take the values of the parameters.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// The scheme does not take the scene.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A run could not start where it was measured.
    #[error("{recording}: the run cannot start there: {source}")]
    Start {
        /// Of which recording.
        recording: String,
        /// Why.
        source: RestoreError,
    },
    /// A run stopped.
    #[error("{recording}: {source}")]
    Step {
        /// Of which recording.
        recording: String,
        /// Why.
        source: Box<StepError>,
    },
    /// A run has no derivative.
    #[error("{recording}: {source}")]
    Gradient {
        /// Of which recording.
        recording: String,
        /// Why.
        source: Box<GradientError>,
    },
    /// A recording is not what the scene needs.
    #[error("{recording}: {reason}")]
    Recording {
        /// Which.
        recording: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The program of all steps could not be solved.
    #[cfg(feature = "mpec")]
    #[error(transparent)]
    Program(#[from] stiction_mpec::MpecError),
    /// No particle of a filter could go on.
    #[error("{recording}: at {time} s none of {count} particles could go on; the first because: {reason}")]
    Particles {
        /// Of which recording.
        recording: String,
        /// When, s.
        time: f64,
        /// How many there were.
        count: usize,
        /// What stopped the first.
        reason: String,
    },
    /// What was asked for makes no sense.
    #[error("{0}")]
    Options(String),
    /// A method that this build does not have.
    #[error("the method `{method}` is not in this build")]
    NotInBuild {
        /// Which.
        method: &'static str,
    },
    /// There is nothing to compare with.
    #[error("no recording has a moment to compare with: each run needs at least two rows")]
    Nothing,
}

impl From<SceneError> for IdentifyError {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}
