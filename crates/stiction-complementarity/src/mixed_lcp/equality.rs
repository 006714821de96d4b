//! Factorisation of the equality block A, by a method that suits its structure.
//!
//! Diagonal blocks no larger than one body are factorised by dense LU block by block. A larger symmetric block is factorised
//! by sparse LDLᵀ, any other by dense LU. The LDLᵀ has no numerical pivoting, so if a pivot vanishes, dense LU decides
//! whether the matrix is singular or only not a saddle-point matrix.

use crate::linalg::{BlockLu, SingularRow, SparseLdl, SparseMatrix};
use std::ops::Range;

/// Largest size of a diagonal block that is factorised densely: the mass matrix of one body.
///
/// Measured on chains of 2 to 24 bodies with 2, 3 or 5 rows per joint: if a joint couples two bodies, the sparse
/// factorisation with its solves is faster, by 1.3 to 2 times at 15 rows and by 10 times at 250.
const DENSE_LIMIT: usize = 6;

/// The factors of A, in memory that is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct EqualityFactor {
    block_lu: BlockLu,
    ldl: SparseLdl,
    uses_ldl: bool,
    transposed: SparseMatrix,
    sorted: SparseMatrix,
    size: usize,
}

impl EqualityFactor {
    /// Factorises A.
    pub(super) fn factor(&mut self, a: &SparseMatrix) -> Result<(), SingularRow> {
        self.size = a.rows();
        let largest_block = self.block_lu.find_blocks(a);
        self.uses_ldl = largest_block > DENSE_LIMIT && self.is_symmetric(a);
        if !self.uses_ldl {
            return self.block_lu.factor(a);
        }
        let Err(vanished) = self.ldl.factor(a) else { return Ok(()) };
        self.uses_ldl = false;
        // If A is singular, the row found in the elimination order of the saddle-point matrix is the redundant joint.
        self.block_lu.factor(a).map_err(|_| vanished)
    }

    /// x ← A⁻¹ b.
    pub(super) fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        if self.uses_ldl { self.ldl.solve(b, x) } else { self.block_lu.solve(b, x) }
    }

    /// y ← A⁻ᵀ d for a sparse d; writes only the rows listed in `touched`, the other rows of A⁻ᵀ d are zero.
    pub(super) fn solve_transposed(
        &mut self,
        d: impl Iterator<Item = (usize, f64)> + Clone,
        y: &mut [f64],
        touched: &mut Vec<Range<usize>>,
    ) {
        if self.uses_ldl {
            touched.clear();
            touched.push(0..self.size);
            self.ldl.solve_sparse(d, y);
        } else {
            self.block_lu.solve_transposed_sparse(d, y, touched);
        }
    }

    /// True if A is exactly symmetric; compares Aᵀ with (Aᵀ)ᵀ, both with sorted rows.
    fn is_symmetric(&mut self, a: &SparseMatrix) -> bool {
        a.transpose_into(&mut self.transposed);
        self.transposed.transpose_into(&mut self.sorted);
        self.transposed == self.sorted
    }
}
