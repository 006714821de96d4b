//! Small dense matrices: product, transpose, and their sparse and mixed forms.

use stiction_complementarity::{DenseMatrix, MixedLcp, ProblemError, RowBlock, SparseMatrix};

/// The product a b.
pub fn product(a: &DenseMatrix, b: &DenseMatrix) -> DenseMatrix {
    let mut result = DenseMatrix::zeros(a.rows(), b.cols());
    for i in 0..a.rows() {
        for j in 0..b.cols() {
            result[(i, j)] = (0..a.cols()).map(|k| a[(i, k)] * b[(k, j)]).sum();
        }
    }
    result
}

/// The transpose of a matrix.
pub fn transpose(a: &DenseMatrix) -> DenseMatrix {
    let mut result = DenseMatrix::zeros(a.cols(), a.rows());
    for i in 0..a.rows() {
        for j in 0..a.cols() {
            result[(j, i)] = a[(i, j)];
        }
    }
    result
}

/// The nonzero entries of a matrix.
pub fn sparse(a: &DenseMatrix) -> SparseMatrix {
    let mut result = SparseMatrix::default();
    result.clear(a.rows(), a.cols());
    for i in 0..a.rows() {
        for (j, &value) in a.row(i).iter().enumerate() {
            if value != 0.0 {
                result.push(j, value);
            }
        }
        result.finish_row();
    }
    result
}

/// The mixed problem with these dense blocks.
pub fn mixed(
    [a, c, d, b]: [&DenseMatrix; 4],
    constant_a: Vec<f64>,
    constant_b: Vec<f64>,
) -> Result<MixedLcp, ProblemError> {
    MixedLcp::new(
        RowBlock { on_free: sparse(a), on_complementary: sparse(c), constant: constant_a },
        RowBlock { on_free: sparse(d), on_complementary: sparse(b), constant: constant_b },
    )
}
