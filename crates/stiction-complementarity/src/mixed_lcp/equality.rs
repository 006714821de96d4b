//! The factorised equality block A, by the method that suits its structure.
//!
//! Diagonal blocks no larger than one body go to dense LU block by block; a larger block that is symmetric goes to the
//! sparse LDLᵀ; anything else goes to dense LU whatever its size. The LDLᵀ does not pivot for size, so when it meets a
//! vanished pivot, dense LU decides whether the matrix is singular or only not a saddle matrix.

use crate::linalg::{BlockLu, SingularRow, SparseLdl, SparseMatrix};
use std::ops::Range;

/// Diagonal blocks up to this size are factorised densely: the mass matrix of one body.
///
/// Measured on chains of 2 to 24 bodies with 2, 3 or 5 rows per joint: as soon as a joint couples two bodies the sparse
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
        // When A is singular, the row met in the order of the saddle matrix is the redundant joint.
        self.block_lu.factor(a).map_err(|_| vanished)
    }

    /// x ← A⁻¹ b.
    pub(super) fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        if self.uses_ldl { self.ldl.solve(b, x) } else { self.block_lu.solve(b, x) }
    }

    /// y ← A⁻ᵀ d for a sparse d; only the rows listed in `touched` are written, the others of A⁻ᵀ d are zero.
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

    /// Exact symmetry, by comparing Aᵀ with (Aᵀ)ᵀ, both with sorted rows.
    fn is_symmetric(&mut self, a: &SparseMatrix) -> bool {
        a.transpose_into(&mut self.transposed);
        self.transposed.transpose_into(&mut self.sorted);
        self.transposed == self.sorted
    }
}
