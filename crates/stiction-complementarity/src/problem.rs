//! What every complementarity problem offers: a ruler, and the reasons a problem can be refused.
//!
//! The problem owns the residual, so every method is graded by the same ruler and none grades itself.

use serde::Serialize;

/// A problem that can measure any proposed solution of itself.
pub trait Problem {
    /// What a method has to find.
    type Solution;

    /// Natural-map residual of `solution`, scaled as the problem documents, with the row that is worst.
    ///
    /// Non-finite numbers and wrong lengths measure as infinity.
    fn residual(&self, solution: &Self::Solution) -> Residual;

    /// Whether a guess is worth starting from: it fits, is finite, and is not far worse than no guess at all.
    ///
    /// Zero measures about one with every scaled ruler here, so a guess that measures a thousand times that comes from
    /// elsewhere. Problems whose ruler is not scaled ask for a finite residual only.
    fn accepts_guess(&self, guess: &Self::Solution) -> bool {
        self.residual(guess).value <= LARGEST_GUESS
    }
}

/// The residual of a guess beyond which it is ignored. Dimensionless.
const LARGEST_GUESS: f64 = 1e3;

/// The size of the worst violation and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// Scaled worst violation; zero is exact, infinity means the proposal holds non-finite numbers or has a wrong length.
    pub value: f64,
    /// The row of the worst violation (the first of equals; 0 for an empty problem).
    pub row: usize,
}

impl Residual {
    /// The residual of a proposal that cannot be measured because of `row`.
    pub fn immeasurable(row: usize) -> Self {
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

/// The natural map min(z, w), which is zero exactly where z ≥ 0, w ≥ 0 and z w = 0.   [LCP-2]
pub(crate) fn natural_map(z: f64, w: f64) -> f64 {
    // `f64::min` drops a NaN, and min(∞, 0) looks solved: both are caught here.
    if z.is_finite() && w.is_finite() { z.min(w) } else { f64::INFINITY }
}

/// The divisor max(1, ‖q‖∞) of every residual.   [LCP-2] [MLCP-2]
pub(crate) fn residual_scale(constants: impl Iterator<Item = f64>) -> f64 {
    constants.fold(1.0, |largest, value| largest.max(value.abs()))
}

/// Why a problem was refused at construction or after refilling.
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
    /// Bounds that leave no place for a variable.
    #[error("the bounds of variable {row} are [{lower}, {upper}], which holds no number")]
    BadBounds {
        /// The variable.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// An expression holds a variable that the problem does not have.
    #[error("the expression of row {row} holds a variable that does not exist")]
    UnknownVariable {
        /// The row.
        row: usize,
    },
    /// A contact law with impossible numbers.
    #[error("law {block} is impossible: {law}")]
    BadLaw {
        /// The block it belongs to.
        block: usize,
        /// The law, in words.
        law: String,
    },
}

/// An option whose value makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("option `{name}` is {value}, but must lie in {range}")]
pub struct OptionError {
    /// The option.
    pub name: &'static str,
    /// The value given.
    pub value: f64,
    /// The values that make sense, as an interval.
    pub range: &'static str,
}

/// The first non-finite entry of `values`, as an error that names `part` and the row.
pub(crate) fn ensure_finite(part: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    if all_finite(values) {
        return Ok(());
    }
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((row, &value)) => Err(ProblemError::NotFinite { part, row, value }),
        None => Ok(()),
    }
}

/// Whether all are finite: zero times infinity is no number, and once it is in a sum it stays there.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut zeros = [0.0; 8];
    for chunk in chunks {
        zeros.iter_mut().zip(chunk).for_each(|(zero, value)| *zero += 0.0 * value);
    }
    zeros.iter().all(|zero| *zero == 0.0) && rest.iter().all(|value| value.is_finite())
}

/// An error unless `found` equals `expected`.
pub(crate) fn ensure_size(part: &'static str, expected: usize, found: usize) -> Result<(), ProblemError> {
    if expected == found { Ok(()) } else { Err(ProblemError::SizeMismatch { part, expected, found }) }
}
