//! What can go wrong when a case is run.

use stiction::geometry::ShapeError;
use stiction::multibody::expression::ExpressionError;
use stiction::{BuildError, ModelError, StepError};

/// Why a case could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The file of the case lacks something, or holds something else.
    #[error("{file}: `{path}` {problem}")]
    Reference {
        /// The file.
        file: String,
        /// The place in it.
        path: String,
        /// What is wrong there.
        problem: String,
    },
    /// A shape with impossible numbers.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A function of time that cannot be read.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// A model that is refused.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A scheme that is refused.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A step that did not happen.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The simulation has nothing of that name, or it has another shape than the case expects.
    #[error("the model has no {0}")]
    Absent(String),
    /// What the case waits for did not happen.
    #[error("{0} did not happen")]
    Never(String),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

impl CaseError {
    /// Anything else, in the words of its own error.
    pub(crate) fn other(error: impl std::fmt::Display) -> Self {
        Self::Other(error.to_string())
    }
}
