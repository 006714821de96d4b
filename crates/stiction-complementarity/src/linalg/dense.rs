//! Dense row-major matrix that keeps its memory when its size changes.

/// A dense matrix stored row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseMatrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl DenseMatrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The matrix with these rows.
    pub fn from_rows<const N: usize>(rows: &[[f64; N]]) -> Self {
        Self { rows: rows.len(), cols: N, data: rows.concat() }
    }

    /// The matrix with these entries, row after row; `None` if their number is not `rows * cols`.
    pub fn from_row_major(rows: usize, cols: usize, data: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(cols) == Some(data.len())).then_some(Self { rows, cols, data })
    }

    /// Resets to a matrix of zeros of the given size and reuses its memory.
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Mutable row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// y ← y + A x.
    pub fn mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!(y.len(), self.rows, "length of y");
        for (i, y_i) in y.iter_mut().enumerate().take(self.rows) {
            *y_i += dot(self.row(i), x);
        }
    }
}

impl std::ops::Index<(usize, usize)> for DenseMatrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.row(i)[j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for DenseMatrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.row_mut(i)[j]
    }
}

/// aᵀ b, summed in index order so that all platforms give the same bits.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len(), "lengths of a dot product");
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
