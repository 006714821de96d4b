//! Interface of complementarity problems: the natural-map residual, and the errors of construction.
//!
//! The problem owns the residual, so all methods are measured alike and none measures itself.

use serde::Serialize;

/// A problem that computes the residual of any proposed solution.
pub trait Problem {
    /// Unknowns that a method has to find.
    type Solution;

    /// Natural-map residual of `solution`, scaled as the problem documents, with the row that is worst.
    ///
    /// Non-finite numbers and wrong lengths give an infinite residual.
    fn residual(&self, solution: &Self::Solution) -> Residual;

    /// True if an initial guess has the right length, is finite, and is not far worse than zero.
    ///
    /// The scaled residual of zero is about one. An initial guess with a thousand times that belongs to another problem.
    /// Problems with an unscaled residual require a finite residual only.
    fn accepts_guess(&self, guess: &Self::Solution) -> bool {
        self.residual(guess).value <= MAX_GUESS_RESIDUAL
    }
}

/// Largest residual of an initial guess that is still used. Dimensionless.
const MAX_GUESS_RESIDUAL: f64 = 1e3;

/// Largest violation and its row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// Scaled largest violation; zero is exact, infinity means that the proposal is not finite or has a wrong length.
    pub value: f64,
    /// Row of the largest violation (the first of equals; 0 for an empty problem).
    pub row: usize,
}

impl Residual {
    /// Infinite value of an undefined residual: the proposal is not finite or has a wrong length at `row`.
    pub fn undefined(row: usize) -> Self {
        Self { value: f64::INFINITY, row }
    }

    /// Largest absolute entry of `violations` divided by `scale`; a NaN counts as infinite.
    pub(crate) fn worst_of(violations: impl Iterator<Item = f64>, scale: f64) -> Self {
        let mut worst = Self { value: 0.0, row: 0 };
        for (row, violation) in violations.enumerate() {
            let size = if violation.is_nan() { f64::INFINITY } else { violation.abs() };
            if size > worst.value {
                worst = Self { value: size, row };
            }
        }
        Self { value: worst.value / scale, row: worst.row }
    }
}

/// Natural map min(z, w), which is zero exactly if z ≥ 0, w ≥ 0 and z w = 0.   [LCP-2]
pub(crate) fn natural_map(z: f64, w: f64) -> f64 {
    // `f64::min` drops a NaN, and min(∞, 0) looks solved: both are caught here.
    if z.is_finite() && w.is_finite() { z.min(w) } else { f64::INFINITY }
}

/// The divisor max(1, ‖q‖∞) of every residual.   [LCP-2] [MLCP-2]
pub(crate) fn residual_scale(constants: impl Iterator<Item = f64>) -> f64 {
    constants.fold(1.0, |largest, value| largest.max(value.abs()))
}

/// Error of a problem at construction or after refilling.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// The matrix of an LCP is not square.
    #[error("the matrix has {rows} rows and {cols} columns, but must be square")]
    NotSquare {
        /// Rows found.
        rows: usize,
        /// Columns found.
        cols: usize,
    },
    /// Two parts of a problem disagree about its size.
    #[error("`{part}` has size {found}, but the rest of the problem needs {expected}")]
    SizeMismatch {
        /// The part that disagrees.
        part: &'static str,
        /// The size the other parts imply.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A row holds NaN or an infinity.
    #[error("row {row} of `{part}` holds {value}, which is not a finite number")]
    NotFinite {
        /// The matrix or vector.
        part: &'static str,
        /// The row inside that part.
        row: usize,
        /// The number found.
        value: f64,
    },
    /// A block that must be symmetric positive definite is not.
    #[error("block {block} of `{part}` is not positive definite")]
    NotDefinite {
        /// The part.
        part: &'static str,
        /// The block inside it.
        block: usize,
    },
    /// The bounds of a variable are an empty interval.
    #[error("the bounds of variable {row} are [{lower}, {upper}], which is an empty interval")]
    BadBounds {
        /// The variable.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// An expression uses a variable that the problem does not have.
    #[error("the expression of row {row} uses a variable that does not exist")]
    UnknownVariable {
        /// The row.
        row: usize,
    },
    /// A contact law has parameters out of range.
    #[error("law {block} is not supported or has parameters out of range: {law}")]
    BadLaw {
        /// The block it belongs to.
        block: usize,
        /// The law, in words.
        law: String,
    },
}

/// Error of an option whose value is out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("option `{name}` is {value}, but must lie in {range}")]
pub struct OptionError {
    /// The option.
    pub name: &'static str,
    /// The value given.
    pub value: f64,
    /// The legal values, as an interval.
    pub range: &'static str,
}

/// Returns the first non-finite entry of `values` as an error that names `part` and the row.
pub(crate) fn ensure_finite(part: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    if all_finite(values) {
        return Ok(());
    }
    let first = values.iter().enumerate().find(|(_, value)| !value.is_finite());
    debug_assert!(first.is_some(), "`all_finite` rejected {part}, which has only finite entries");
    first.map_or(Ok(()), |(row, &value)| Err(ProblemError::NotFinite { part, row, value }))
}

/// True if all are finite: zero times a non-finite number is NaN, and a sum with a NaN stays NaN.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut zeros = [0.0; 8];
    for chunk in chunks {
        zeros.iter_mut().zip(chunk).for_each(|(zero, value)| *zero += 0.0 * value);
    }
    zeros.iter().all(|zero| *zero == 0.0) && rest.iter().all(|value| value.is_finite())
}

/// Returns an error unless `found` equals `expected`.
pub(crate) fn ensure_size(part: &'static str, expected: usize, found: usize) -> Result<(), ProblemError> {
    if expected == found { Ok(()) } else { Err(ProblemError::SizeMismatch { part, expected, found }) }
}
