//! Compressed-row matrix that is refilled row by row without new memory.

/// A sparse matrix by rows. Entries of one row may come in any order; duplicate entries add up.
///
/// ```
/// use stiction_complementarity::SparseMatrix;
/// let mut a = SparseMatrix::default();
/// a.clear(2, 3);
/// a.push(2, 5.0);
/// a.finish_row();
/// a.finish_row();
/// assert_eq!(a.row(0).collect::<Vec<_>>(), [(2, 5.0)]);
/// assert_eq!(a.row(1).count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    rows: usize,
    cols: usize,
    /// End of each finished row in `entry_cols` and `entry_values`.
    row_ends: Vec<usize>,
    entry_cols: Vec<usize>,
    entry_values: Vec<f64>,
}

impl SparseMatrix {
    /// A matrix of zeros, with every row finished.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, row_ends: vec![0; rows], ..Self::default() }
    }

    /// Resets to an empty matrix of the given size; rows are then filled from the first on.
    pub fn clear(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.row_ends.clear();
        self.entry_cols.clear();
        self.entry_values.clear();
    }

    /// Adds an entry to the row being filled.
    ///
    /// # Panics
    /// Panics if `col` lies outside of the matrix or all rows are finished: errors of the assembling code.
    pub fn push(&mut self, col: usize, value: f64) {
        assert!(col < self.cols, "column {col} of a matrix with {} columns", self.cols);
        assert!(!self.is_complete(), "an entry after the last of {} rows", self.rows);
        self.entry_cols.push(col);
        self.entry_values.push(value);
    }

    /// Ends the row being filled.
    ///
    /// # Panics
    /// Panics if all rows are finished already: an error of the assembling code.
    pub fn finish_row(&mut self) {
        assert!(!self.is_complete(), "a row after the last of {} rows", self.rows);
        self.row_ends.push(self.entry_cols.len());
    }

    /// Finishes the remaining rows as rows of zeros.
    pub fn finish(&mut self) {
        self.row_ends.resize(self.rows, self.entry_cols.len());
    }

    /// True if every row is finished.
    pub fn is_complete(&self) -> bool {
        self.row_ends.len() == self.rows
    }

    /// Number of finished rows.
    pub fn finished_rows(&self) -> usize {
        self.row_ends.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.entry_cols.len()
    }

    /// The entries of row `i` as (column, value); empty for a row not yet finished.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let range = self.row_range(i);
        self.entry_cols[range.clone()].iter().copied().zip(self.entry_values[range].iter().copied())
    }

    /// Range of the columns of row `i`; `None` if they are not contiguous and ascending.
    pub(crate) fn contiguous_columns(&self, i: usize) -> Option<std::ops::Range<usize>> {
        let cols = &self.entry_cols[self.row_range(i)];
        let first = *cols.first()?;
        cols.iter().enumerate().all(|(k, &col)| col == first + k).then_some(first..first + cols.len())
    }

    /// The values of row `i` in the order of [`Self::row`].
    pub(crate) fn row_values(&self, i: usize) -> &[f64] {
        &self.entry_values[self.row_range(i)]
    }

    /// Row `i` times `x`.
    pub fn row_dot(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(col, value)| value * x[col]).sum()
    }

    /// y ← y + A x.
    pub fn mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!(y.len(), self.rows, "length of y");
        for (i, y_i) in y.iter_mut().enumerate().take(self.rows) {
            *y_i += self.row_dot(i, x);
        }
    }

    /// `transposed` ← Aᵀ, with the columns of each row in ascending order.
    pub fn transpose_into(&self, transposed: &mut Self) {
        debug_assert_eq!(
            self.row_ends.last().copied().unwrap_or(0),
            self.entries(),
            "no entries in a row that is not finished"
        );
        transposed.clear(self.cols, self.rows);
        transposed.entry_cols.resize(self.entries(), 0);
        transposed.entry_values.resize(self.entries(), 0.0);
        // Counting sort: `row_ends` holds the begin of each row first, and its end after the scatter.
        transposed.row_ends.resize(self.cols, 0);
        for &col in &self.entry_cols {
            transposed.row_ends[col] += 1;
        }
        let mut begin = 0;
        for end in &mut transposed.row_ends {
            begin += std::mem::replace(end, begin);
        }
        for i in 0..self.rows {
            for (col, value) in self.row(i) {
                let place = transposed.row_ends[col];
                transposed.entry_cols[place] = i;
                transposed.entry_values[place] = value;
                transposed.row_ends[col] += 1;
            }
        }
        debug_assert_eq!(
            transposed.row_ends.last().copied().unwrap_or(0),
            self.entries(),
            "every entry has been moved once"
        );
    }

    /// True if both matrices store entries at the same places, in the same order.
    pub fn same_pattern(&self, other: &Self) -> bool {
        self.cols == other.cols && self.row_ends == other.row_ends && self.entry_cols == other.entry_cols
    }

    /// Copies `other` and reuses the memory of this matrix.
    pub fn copy_from(&mut self, other: &Self) {
        self.rows = other.rows;
        self.cols = other.cols;
        self.row_ends.clone_from(&other.row_ends);
        self.entry_cols.clone_from(&other.entry_cols);
        self.entry_values.clone_from(&other.entry_values);
    }

    /// The first non-finite entry as (row, value).
    pub fn first_not_finite(&self) -> Option<(usize, f64)> {
        let place = self.entry_values.iter().position(|value| !value.is_finite())?;
        Some((self.row_ends.partition_point(|&end| end <= place), self.entry_values[place]))
    }

    fn row_range(&self, i: usize) -> std::ops::Range<usize> {
        let Some(&end) = self.row_ends.get(i) else { return 0..0 };
        let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
        begin..end
    }
}
