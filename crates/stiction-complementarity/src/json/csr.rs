//! Compressed-row matrix of a file: row i has the entries `indptr[i]..indptr[i + 1]` of `indices` and `data`.

use super::ProblemFileError;
use crate::linalg::BlockMatrix;
use serde::{Deserialize, Serialize};

/// Compressed rows as read from a file. The numbers are unchecked until [`check`](Self::check) has passed.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Csr {
    pub(super) nrows: usize,
    pub(super) ncols: usize,
    #[serde(default)]
    nnz: usize,
    indptr: Vec<usize>,
    indices: Vec<usize>,
    data: Vec<f64>,
}

impl Csr {
    /// Rejects anything but a legal matrix of this size; `field` is its name in the file.
    pub(super) fn check(&self, field: &'static str, rows: usize, cols: usize) -> Result<(), ProblemFileError> {
        let bad = |row: usize, what: &'static str| Err(ProblemFileError::BadMatrix { field, row, what });
        for (part, expected, found) in [
            ("nrows", rows, self.nrows),
            ("ncols", cols, self.ncols),
            ("indptr", rows.saturating_add(1), self.indptr.len()),
            ("data", self.indices.len(), self.data.len()),
        ] {
            if expected != found {
                return Err(ProblemFileError::WrongMatrixSize { field, part, expected, found });
            }
        }
        if self.indptr.first() != Some(&0) {
            return bad(0, "`indptr` must begin with 0");
        }
        for (row, ends) in self.indptr.windows(2).enumerate() {
            if ends[1] < ends[0] || ends[1] > self.data.len() {
                return bad(row, "`indptr` must not decrease and must not exceed the number of entries");
            }
        }
        if self.indptr.last() != Some(&self.data.len()) {
            return bad(rows, "`indptr` must end with the number of entries");
        }
        for (row, col, value) in self.entries() {
            if col >= cols {
                return bad(row, "a column index is not less than the number of columns");
            }
            if !value.is_finite() {
                return bad(row, "an entry is not a finite number");
            }
        }
        Ok(())
    }

    /// The entries of row `i` as (column, value).
    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        debug_assert!(i + 1 < self.indptr.len(), "row {i} of a matrix with {} finished rows", self.indptr.len() - 1);
        let range = self.indptr.get(i).copied().unwrap_or(0)..self.indptr.get(i + 1).copied().unwrap_or(0);
        let (indices, data) = (self.indices.get(range.clone()), self.data.get(range));
        indices.unwrap_or(&[]).iter().copied().zip(data.unwrap_or(&[]).iter().copied())
    }

    /// All entries as (row, column, value), row by row.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.nrows).flat_map(|row| self.row(row).map(move |(col, value)| (row, col, value)))
    }

    fn push(&mut self, col: usize, value: f64) {
        self.indices.push(col);
        self.data.push(value);
    }

    fn finish_row(&mut self) {
        self.nnz = self.data.len();
        self.indptr.push(self.nnz);
    }

    fn empty(nrows: usize, ncols: usize) -> Self {
        Self { nrows, ncols, indptr: vec![0], ..Self::default() }
    }

    /// Converts a dense matrix, given row by row, without its zeros.
    pub(super) fn from_dense(nrows: usize, ncols: usize, values: &[f64]) -> Self {
        let mut csr = Self::empty(nrows, ncols);
        for row in values.chunks_exact(ncols.max(1)) {
            row.iter().enumerate().filter(|(_, value)| **value != 0.0).for_each(|(col, value)| csr.push(col, *value));
            csr.finish_row();
        }
        debug_assert_eq!(csr.indptr.len(), nrows + 1, "every row is finished");
        csr
    }

    /// Converts every entry of every stored block, so that reading back gives the same blocks.
    ///
    /// Rejects non-finite numbers, which JSON cannot represent.
    pub(super) fn from_blocks(blocks: &BlockMatrix) -> Result<Self, ProblemFileError> {
        if let Some((row, value)) = blocks.first_not_finite() {
            return Err(crate::problem::ProblemError::NotFinite { part: "operator", row, value }.into());
        }
        let mut csr = Self::empty(blocks.rows(), blocks.cols());
        for i in 0..blocks.block_rows() {
            let mut in_order: Vec<_> = blocks.row(i).collect();
            in_order.sort_by_key(|(block_col, _)| *block_col);
            for row in 0..blocks.row_size(i) {
                for (block_col, block) in &in_order {
                    let cols = blocks.col_range(*block_col);
                    let values = block.iter().skip(row * cols.len());
                    cols.zip(values).for_each(|(col, value)| csr.push(col, *value));
                }
                csr.finish_row();
            }
        }
        debug_assert_eq!(csr.indptr.len(), blocks.rows() + 1, "every row is finished");
        Ok(csr)
    }

    /// Converts to blocks of these rows and columns; a block is stored if the file has an entry in it.
    pub(super) fn to_blocks(&self, rows: &[usize], cols: &[usize]) -> BlockMatrix {
        // Block of every column, and its place in the block.
        let places: Vec<(usize, usize)> =
            cols.iter().enumerate().flat_map(|(block, &size)| (0..size).map(move |place| (block, place))).collect();
        let mut blocks = BlockMatrix::default();
        blocks.clear(rows.iter().copied(), cols.iter().copied());
        let mut first = 0;
        for &size in rows {
            let mut found = std::collections::BTreeMap::<usize, Vec<f64>>::new();
            for row in 0..size {
                for (col, value) in self.row(first + row) {
                    let Some(&(block, place)) = places.get(col) else {
                        debug_assert!(false, "column {col} of a checked matrix lies outside of the blocks");
                        continue;
                    };
                    let width = cols[block];
                    found.entry(block).or_insert_with(|| vec![0.0; size * width])[row * width + place] += value;
                }
            }
            first += size;
            for (block, values) in &found {
                blocks.push(*block, values);
            }
            blocks.finish_row();
        }
        debug_assert_eq!(first, self.nrows, "the blocks cover all rows");
        blocks
    }

    /// The transposed matrix, columns of each row in ascending order.
    pub(super) fn transposed(&self) -> Self {
        let mut lines: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.ncols];
        for (row, col, value) in self.entries() {
            if let Some(line) = lines.get_mut(col) {
                line.push((row, value));
            } else {
                debug_assert!(false, "column {col} of a checked matrix with {} columns", self.ncols);
            }
        }
        let mut csr = Self::empty(self.ncols, self.nrows);
        for line in lines {
            for (col, value) in line {
                csr.push(col, value);
            }
            csr.finish_row();
        }
        csr
    }

    /// True if no entry differs from its transposed entry by more than `fraction` of the largest entry.
    pub(super) fn is_symmetric(&self, fraction: f64) -> bool {
        let largest = self.data.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let at =
            |row: usize, col: usize| self.row(row).filter(|entry| entry.0 == col).map(|entry| entry.1).sum::<f64>();
        self.entries().all(|(row, col, _)| (at(row, col) - at(col, row)).abs() <= fraction * largest)
    }

    /// y ← y + A x.
    pub(super) fn mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        for (row, y) in y.iter_mut().enumerate() {
            *y += self.row(row).map(|(col, value)| value * x[col]).sum::<f64>();
        }
    }
}
