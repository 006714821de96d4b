//! The factorised equality block A, by the method that suits its structure.
//!
//! Small diagonal blocks (bodies without joints, or a small mechanism) go to dense LU block by block; a large block that
//! is symmetric goes to the sparse LDLᵀ; anything else goes to dense LU whatever its size.

use crate::linalg::{BlockLu, SingularRow, SparseLdl, SparseMatrix};
use std::ops::Range;

/// Diagonal blocks up to this size are factorised densely.
///
/// Measured on chains of bodies with ball joints: below about 60 rows dense LU wins, above it the sparse factorisation
/// does, by a factor that grows with the cube of the length.
pub(super) const DENSE_LIMIT: usize = 60;

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
        if self.uses_ldl { self.ldl.factor(a) } else { self.block_lu.factor(a) }
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
