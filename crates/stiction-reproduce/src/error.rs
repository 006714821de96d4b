//! Errors of running a case.

use stiction::geometry::ShapeError;
use stiction::multibody::expression::ExpressionError;
use stiction::{BuildError, ModelError, StepError};

/// Error that ended a case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The file of the case lacks a value, or has one of another type.
    #[error("{file}: `{path}` {problem}")]
    Reference {
        /// The file.
        file: String,
        /// The path in it.
        path: String,
        /// Reason of the error.
        problem: String,
    },
    /// A shape with illegal numbers.
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
    /// A step that failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The simulation has no element of that name, or its shape is not the expected one.
    #[error("the model has no {0}")]
    Absent(String),
    /// An event of the case did not occur.
    #[error("{0} did not happen")]
    Never(String),
    /// Any other error, as a text.
    #[error("{0}")]
    Other(String),
}

impl CaseError {
    /// Converts any other error by its text.
    pub(crate) fn other(error: impl std::fmt::Display) -> Self {
        Self::Other(error.to_string())
    }
}
