//! The mixed linear complementarity problem: find u free and z ≥ 0 with   [MLCP-1]
//!
//! ```text
//! 0 = A u + C z + a,        0 ≤ z ⊥ w = D u + B z + b ≥ 0.
//! ```

mod equality;
pub(crate) mod ladder;
pub(crate) mod pivoting;
pub(crate) mod schur;

use crate::linalg::SparseMatrix;
use crate::problem::{Problem, ProblemError, Residual, ensure_finite, ensure_size, natural_map, residual_scale};

/// A mixed linear complementarity problem with sparse blocks, refilled in place.   [MLCP-1]
///
/// The fields are public so that an assembler can write rows directly: [`clear`](Self::clear), push rows, set constants,
/// then [`ensure_shapes`](Self::ensure_shapes) and [`ensure_finite`](Self::ensure_finite).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedLcp {
    /// The rows 0 = A u + C z + a.
    pub equality: RowBlock,
    /// The rows w = D u + B z + b.
    pub complementarity: RowBlock,
}

/// Rows of a mixed problem: `on_free` · u + `on_complementary` · z + `constant`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowBlock {
    /// Coefficients of the free variables u: A or D.
    pub on_free: SparseMatrix,
    /// Coefficients of the complementary variables z: C or B.
    pub on_complementary: SparseMatrix,
    /// Constants: a or b.
    pub constant: Vec<f64>,
}

/// Proposed u and z; w follows from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedLcpSolution {
    /// The free variables u.
    pub free: Vec<f64>,
    /// The complementary variables z.
    pub complementary: Vec<f64>,
}

impl RowBlock {
    /// The value of row `i` at (u, z).
    pub fn value(&self, i: usize, free: &[f64], complementary: &[f64]) -> f64 {
        self.on_free.row_dot(i, free) + self.on_complementary.row_dot(i, complementary) + self.constant[i]
    }

    fn clear(&mut self, rows: usize, free: usize, complementary: usize) {
        self.on_free.clear(rows, free);
        self.on_complementary.clear(rows, complementary);
        self.constant.clear();
        self.constant.resize(rows, 0.0);
    }
}

impl MixedLcp {
    /// The problem with these rows; rejects wrong sizes and non-finite numbers.
    pub fn new(equality: RowBlock, complementarity: RowBlock) -> Result<Self, ProblemError> {
        let problem = Self { equality, complementarity };
        problem.ensure_shapes()?;
        problem.ensure_finite()?;
        Ok(problem)
    }

    /// Resets to a problem with these numbers of free and complementary variables, empty rows and zero constants.
    pub fn clear(&mut self, free: usize, complementary: usize) {
        self.equality.clear(free, free, complementary);
        self.complementarity.clear(complementary, free, complementary);
    }

    /// The number of free variables, which is also the number of equality rows.
    pub fn free_size(&self) -> usize {
        self.equality.constant.len()
    }

    /// The number of complementary pairs.
    pub fn complementary_size(&self) -> usize {
        self.complementarity.constant.len()
    }

    /// The number of all unknowns: n_u + n_z.
    pub fn size(&self) -> usize {
        self.free_size() + self.complementary_size()
    }

    /// Rejects blocks of inconsistent sizes or with unfinished rows.
    pub fn ensure_shapes(&self) -> Result<(), ProblemError> {
        let (free, complementary) = (self.free_size(), self.complementary_size());
        for (part, matrix, rows, cols) in [
            ("equality.on_free", &self.equality.on_free, free, free),
            ("equality.on_complementary", &self.equality.on_complementary, free, complementary),
            ("complementarity.on_free", &self.complementarity.on_free, complementary, free),
            ("complementarity.on_complementary", &self.complementarity.on_complementary, complementary, complementary),
        ] {
            ensure_size(part, rows, matrix.rows())?;
            ensure_size(part, cols, matrix.cols())?;
            ensure_size(part, rows, matrix.finished_rows())?;
        }
        Ok(())
    }

    /// Rejects NaN and infinities; the error names the block and the row.
    pub fn ensure_finite(&self) -> Result<(), ProblemError> {
        for (part, matrix) in [
            ("equality.on_free", &self.equality.on_free),
            ("equality.on_complementary", &self.equality.on_complementary),
            ("complementarity.on_free", &self.complementarity.on_free),
            ("complementarity.on_complementary", &self.complementarity.on_complementary),
        ] {
            if let Some((row, value)) = matrix.first_not_finite() {
                return Err(ProblemError::NotFinite { part, row, value });
            }
        }
        ensure_finite("equality.constant", &self.equality.constant)?;
        ensure_finite("complementarity.constant", &self.complementarity.constant)
    }
}

impl MixedLcpSolution {
    /// Copies `other` and reuses the memory of this solution.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.free.clone_from(&other.free);
        self.complementary.clone_from(&other.complementary);
    }

    /// Resets to zeros of these sizes.
    pub(crate) fn reset(&mut self, free: usize, complementary: usize) {
        self.free.clear();
        self.free.resize(free, 0.0);
        self.complementary.clear();
        self.complementary.resize(complementary, 0.0);
    }
}

impl Problem for MixedLcp {
    type Solution = MixedLcpSolution;

    /// max(‖A u + C z + a‖∞, ‖min(z, w)‖∞) / max(1, ‖a‖∞, ‖b‖∞); equality rows are counted first.   [MLCP-2]
    fn residual(&self, solution: &MixedLcpSolution) -> Residual {
        let (u, z) = (&solution.free, &solution.complementary);
        if u.len() != self.free_size() || self.ensure_shapes().is_err() {
            return Residual::undefined(0);
        }
        if z.len() != self.complementary_size() {
            return Residual::undefined(self.free_size());
        }
        let equalities = (0..u.len()).map(|i| self.equality.value(i, u, z));
        let pairs = z.iter().enumerate().map(|(i, &z_i)| natural_map(z_i, self.complementarity.value(i, u, z)));
        let constants = self.equality.constant.iter().chain(&self.complementarity.constant);
        // A free variable without a coefficient could hide a NaN: the equality row of its index reports it.
        let hidden = |(violation, u): (f64, &f64)| if u.is_finite() { violation } else { f64::INFINITY };
        Residual::worst_of(equalities.zip(u).map(hidden).chain(pairs), residual_scale(constants.copied()))
    }
}
