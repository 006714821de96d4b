//! Linear algebra of the solvers: sparse, block and dense matrices, LU factorisations, and a sparse LDLᵀ.
//!
//! Every type owns its memory and reuses it: a second factorisation of a problem of the same shape does not allocate.

pub(crate) mod block;
mod block_factor;
mod block_lu;
mod block_matrix;
mod block_product;
mod block_sparse_lu;
mod columns;
mod dense;
mod lazy;
mod ldl;
mod lu;
mod ordering;
pub mod simd;
mod sparse;

pub(crate) use block_factor::invert_in_place;
pub use block_lu::BlockLu;
pub use block_matrix::BlockMatrix;
pub use block_sparse_lu::BlockSparseLu;
pub use dense::DenseMatrix;
pub(crate) use dense::dot;
pub use ldl::SparseLdl;
pub use lu::DenseLu;
pub use sparse::SparseMatrix;

/// Relative size below which a pivot counts as zero: the fraction of the terms it was computed from. Dimensionless.
///
/// Exact cancellation in f64 leaves about n·1e-16, so 1e-13 detects every exactly dependent row up to a few hundred rows
/// and rejects no matrix whose condition number, after row scaling, is below 1e12.
pub const VANISHED_PIVOT: f64 = 1e-13;

/// Error of a matrix that is singular to working precision: `row` depends on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} depends linearly on the other rows")]
pub struct SingularRow {
    /// The row, in the order of the matrix that was given.
    pub row: usize,
}
