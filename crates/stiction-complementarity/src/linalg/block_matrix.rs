//! Block-sparse matrix stored by block rows: few blocks per row, each small and dense, refilled in place.

use super::block;
use super::columns::AddColumns;
use super::lazy::Lazy;
use super::simd;
use crate::problem::all_finite;
use std::ops::Range;

/// Block-sparse matrix. Block row i has `row_size(i)` rows, block column j has `col_size(j)` columns.
///
/// ```
/// use stiction_complementarity::linalg::BlockMatrix;
/// let mut a = BlockMatrix::default();
/// a.clear([2, 1], [2]);
/// a.push(0, &[1.0, 2.0, 3.0, 4.0]);
/// a.finish_row();
/// a.push(0, &[5.0, 6.0]);
/// a.finish_row();
/// let mut y = [0.0; 3];
/// a.mul_add_into(&[1.0, 1.0], &mut y);
/// assert_eq!(y, [3.0, 7.0, 11.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    row_offsets: Vec<usize>,
    col_offsets: Vec<usize>,
    /// End of each finished block row in `places`.
    row_ends: Vec<usize>,
    places: Vec<Place>,
    /// Block column of each place; products with blocks of one size read these only, which keeps memory traffic low.
    cols: Vec<usize>,
    /// Block row of each place, and the next place of its block column.
    links: Vec<(usize, Option<usize>)>,
    /// Last place of each block column.
    column_ends: Vec<Option<usize>>,
    /// Entries of all places, unless they are stored in `dense`.
    data: Vec<f64>,
    /// All entries row by row if the matrix is full and symmetric; empty otherwise.
    dense: Vec<f64>,
    /// Entries of `dense` in the order of the places, computed at the first access to blocks.
    blocks_of_dense: Lazy,
    /// Rows and columns of the blocks if all are equal: products then use kernels of fixed size.
    uniform: Option<(usize, usize)>,
}

/// Equality of sizes, pattern and entries, independent of dense or block storage.
impl PartialEq for BlockMatrix {
    fn eq(&self, other: &Self) -> bool {
        self.row_offsets == other.row_offsets
            && self.col_offsets == other.col_offsets
            && self.row_ends == other.row_ends
            && self.places == other.places
            && self.data() == other.data()
    }
}

/// A stored block: its block column, the columns of that, and the range of its entries in `data`.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    col: usize,
    columns: Range<usize>,
    data: Range<usize>,
}

/// Writes the offsets of blocks of the given sizes: one entry per block, and the total at the end.
fn offsets(sizes: impl IntoIterator<Item = usize>, out: &mut Vec<usize>) {
    out.clear();
    out.push(0);
    let mut total = 0;
    out.extend(sizes.into_iter().map(|size| {
        total += size;
        total
    }));
}

/// Common size of all blocks between these offsets; `None` if sizes differ.
fn common_size(offsets: &[usize]) -> Option<usize> {
    let mut sizes = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(first)
}

impl BlockMatrix {
    /// Resets to an empty matrix with block rows and columns of these sizes; rows are then filled from the first on.
    pub fn clear(&mut self, rows: impl IntoIterator<Item = usize>, cols: impl IntoIterator<Item = usize>) {
        offsets(rows, &mut self.row_offsets);
        offsets(cols, &mut self.col_offsets);
        self.uniform = common_size(&self.row_offsets).zip(common_size(&self.col_offsets));
        self.row_ends.clear();
        self.places.clear();
        self.cols.clear();
        self.links.clear();
        self.column_ends.clear();
        self.column_ends.resize(self.block_cols(), None);
        self.data.clear();
        self.dense.clear();
    }

    /// Entries of all places.
    #[inline]
    fn data(&self) -> &[f64] {
        if self.dense.is_empty() {
            return &self.data;
        }
        self.blocks_of_dense.get(|out| self.write_blocks(out))
    }

    /// Copies the pattern of `other`; `map` writes each block from its block column and the entries in `other`.
    pub(crate) fn map_from(&mut self, other: &Self, mut map: impl FnMut(usize, &[f64], &mut [f64])) {
        self.row_offsets.clone_from(&other.row_offsets);
        self.col_offsets.clone_from(&other.col_offsets);
        self.uniform = other.uniform;
        self.row_ends.clone_from(&other.row_ends);
        self.places.clone_from(&other.places);
        self.cols.clone_from(&other.cols);
        self.links.clone_from(&other.links);
        self.column_ends.clone_from(&other.column_ends);
        let from = other.data();
        self.data.resize(from.len(), 0.0);
        self.dense.clear();
        for place in &other.places {
            map(place.col, &from[place.data.clone()], &mut self.data[place.data.clone()]);
        }
    }

    /// Adds a block, given row by row, to the block row being filled. Blocks of one row come in any order, each place once.
    ///
    /// # Panics
    /// Panics if the block has the wrong size or lies outside of the matrix: errors of the assembling code.
    pub fn push(&mut self, col: usize, block: &[f64]) {
        let row = self.row_ends.len();
        assert!(row < self.block_rows() && col < self.block_cols(), "block ({row}, {col}) lies outside of the matrix");
        assert_eq!(block.len(), self.row_size(row) * self.col_size(col), "size of block ({row}, {col})");
        let (first, place) = (self.data.len(), self.places.len());
        if let Some(before) = self.column_ends[col].replace(place) {
            self.links[before].1 = Some(place);
        }
        self.links.push((row, None));
        self.places.push(Place { col, columns: self.col_range(col), data: first..first + block.len() });
        self.cols.push(col);
        self.data.extend_from_slice(block);
    }

    /// Fills a full symmetric matrix with blocks of these sizes from entries given row by row, times `factor`.
    ///
    /// Row i begins at `i * stride`. The pattern is rebuilt only if it has changed. Products with such a matrix run along
    /// whole rows.
    ///
    /// # Panics
    /// Panics if there are fewer entries than the sizes require: an error of the assembling code.
    pub fn fill_symmetric(
        &mut self,
        sizes: impl Iterator<Item = usize> + Clone,
        (numbers, stride): (&[f64], usize),
        factor: f64,
    ) {
        self.become_full(sizes);
        let size = self.cols();
        self.dense.clear();
        debug_assert!(stride >= size, "the stride {stride} of a matrix with {size} columns");
        (0..size).for_each(|row| self.dense.extend(numbers[row * stride..][..size].iter().map(|w| factor * w)));
        self.blocks_of_dense.forget(size * size);
    }

    /// Copies the dense entries to their places.
    fn write_blocks(&self, out: &mut Vec<f64>) {
        let (size, mut first) = (self.cols(), 0);
        debug_assert_eq!(self.dense.len(), self.rows() * size, "entries of a full matrix");
        debug_assert_eq!(self.row_ends.len(), self.block_rows(), "finished block rows of a full matrix");
        out.resize(self.dense.len(), 0.0);
        for (rows, &end) in self.row_offsets.windows(2).zip(&self.row_ends) {
            for place in &self.places[first..end] {
                let (block, columns) = (&mut out[place.data.clone()], place.columns.clone());
                let from = self.dense[rows[0] * size..].chunks_exact(size.max(1));
                let rows = block.chunks_exact_mut(columns.len().max(1)).zip(from);
                rows.for_each(|(out, row)| out.copy_from_slice(&row[columns.clone()]));
            }
            first = end;
        }
    }

    /// All entries row by row, if [`Self::fill_symmetric`] filled the matrix.
    pub(crate) fn dense(&self) -> Option<&[f64]> {
        Some(&self.dense[..]).filter(|dense| !dense.is_empty())
    }

    /// Adds `value` to the diagonal entry of `row`; no effect if the diagonal block is not stored.
    pub fn add_to_diagonal(&mut self, row: usize, value: f64) {
        let size = self.cols();
        debug_assert!(row < self.rows(), "row {row} of a matrix with {} rows", self.rows());
        if let Some(entry) = self.dense.get_mut(row * size + row) {
            *entry += value;
            self.blocks_of_dense.forget(size * size);
            return;
        }
        let Some(block) = self.row_offsets.partition_point(|first| *first <= row).checked_sub(1) else { return };
        let Some(place) = self.places(block).iter().find(|place| place.col == block) else { return };
        let (inside, width, first) = (row - self.row_offsets[block], place.columns.len(), place.data.start);
        self.data[first + inside * width + inside] += value;
    }

    /// Sets the pattern to a full matrix with blocks of these sizes; entries are undefined afterwards.
    fn become_full(&mut self, sizes: impl Iterator<Item = usize> + Clone) {
        let count = sizes.clone().count();
        let is_full = self.places.len() == count * count && self.row_ends.len() == count;
        let expected = sizes.clone().scan(0, |next, size| Some(std::mem::replace(next, *next + size)));
        let is_same = |offsets: &[usize]| {
            offsets.len() == count + 1
                && offsets.iter().copied().zip(expected.clone()).all(|(a, b)| a == b)
                && offsets.last().copied() == Some(sizes.clone().sum())
        };
        if is_full && is_same(&self.row_offsets) && self.col_offsets == self.row_offsets {
            return;
        }
        self.clear(sizes.clone(), sizes);
        let mut first = 0;
        for row in 0..count {
            for col in 0..count {
                let (place, size) = (self.places.len(), self.row_size(row) * self.col_size(col));
                if let Some(before) = self.column_ends[col].replace(place) {
                    self.links[before].1 = Some(place);
                }
                self.links.push((row, None));
                self.places.push(Place { col, columns: self.col_range(col), data: first..first + size });
                self.cols.push(col);
                first += size;
            }
            self.row_ends.push(self.places.len());
        }
        debug_assert_eq!(first, self.rows() * self.cols(), "entries of a full matrix");
    }

    /// Ends the block row being filled.
    ///
    /// # Panics
    /// Panics if all rows are finished already: an error of the assembling code.
    pub fn finish_row(&mut self) {
        assert!(self.row_ends.len() < self.block_rows(), "a row after the last");
        self.row_ends.push(self.places.len());
    }

    /// Number of block rows.
    pub fn block_rows(&self) -> usize {
        self.row_offsets.len().saturating_sub(1)
    }

    /// Number of block columns.
    pub fn block_cols(&self) -> usize {
        self.col_offsets.len().saturating_sub(1)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_offsets.last().copied().unwrap_or(0)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.col_offsets.last().copied().unwrap_or(0)
    }

    /// Number of stored blocks.
    pub fn blocks(&self) -> usize {
        self.places.len()
    }

    /// The rows of block row `i`.
    pub fn row_range(&self, i: usize) -> Range<usize> {
        self.row_offsets[i]..self.row_offsets[i + 1]
    }

    /// The columns of block column `j`.
    pub fn col_range(&self, j: usize) -> Range<usize> {
        self.col_offsets[j]..self.col_offsets[j + 1]
    }

    /// Rows of block row `i`.
    pub fn row_size(&self, i: usize) -> usize {
        self.row_offsets[i + 1] - self.row_offsets[i]
    }

    /// Columns of block column `j`.
    pub fn col_size(&self, j: usize) -> usize {
        self.col_offsets[j + 1] - self.col_offsets[j]
    }

    /// The blocks of block row `i` as (block column, entries row by row).
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> + Clone + '_ {
        let data = self.data();
        self.places(i).iter().map(|place| (place.col, &data[place.data.clone()]))
    }

    /// Places of block row `i`; empty for a row not yet finished.
    fn places(&self, i: usize) -> &[Place] {
        let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
        let end = self.row_ends.get(i).copied().unwrap_or(begin);
        &self.places[begin..end]
    }

    /// Adds block row `i` times `x` to `y`, which has as many rows as the block row.
    pub fn row_mul_add(&self, i: usize, x: &[f64], y: &mut [f64]) {
        let data = self.data();
        for place in self.places(i) {
            block::mul_add(&data[place.data.clone()], &x[place.columns.clone()], y);
        }
    }

    /// y ← y + A x.
    pub fn mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!(y.len(), self.rows(), "length of y");
        if let Some(dense) = self.dense() {
            // The matrix is symmetric, so its rows are its columns.
            debug_assert_eq!(x.len(), self.cols(), "length of x");
            return simd::run(AddColumns { columns: dense, size: self.cols(), x, y });
        }
        match self.uniform {
            Some((3, 6)) => self.mul_add_uniform::<3, 6>(x, y),
            Some((2, 3)) => self.mul_add_uniform::<2, 3>(x, y),
            _ => (0..self.row_ends.len()).for_each(|i| self.row_mul_add(i, x, &mut y[self.row_range(i)])),
        }
    }

    fn mul_add_uniform<const R: usize, const N: usize>(&self, x: &[f64], y: &mut [f64]) {
        let x = x.as_chunks::<N>().0;
        for (y, row) in y.as_chunks_mut::<R>().0.iter_mut().zip(self.uniform_rows::<R, N>()) {
            row.for_each(|(col, block)| block::mul_add_array(block, &x[col], y));
        }
    }

    /// Common size of all blocks; `None` if sizes differ.
    pub(crate) fn uniform(&self) -> Option<(usize, usize)> {
        self.uniform
    }

    /// All blocks of R rows and N columns, in the order of their places.
    fn uniform_blocks<const R: usize, const N: usize>(&self) -> &[[[f64; N]; R]] {
        debug_assert_eq!(self.data().len(), self.places.len() * R * N, "a matrix of {R} x {N} blocks");
        self.data().as_chunks::<N>().0.as_chunks::<R>().0
    }

    /// The blocks of block row `i` of a matrix with blocks of R rows and N columns.
    pub(crate) fn uniform_row<const R: usize, const N: usize>(
        &self,
        i: usize,
    ) -> impl ExactSizeIterator<Item = &[[f64; N]; R]> + '_ {
        let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
        self.uniform_blocks::<R, N>()[begin..self.row_ends[i]].iter()
    }

    /// The block rows of a matrix with blocks of R rows and N columns, each as its block columns and blocks.
    pub(crate) fn uniform_rows<const R: usize, const N: usize>(
        &self,
    ) -> impl Iterator<Item = impl Iterator<Item = (usize, &[[f64; N]; R])> + Clone> + '_ {
        let (blocks, mut begin) = (self.uniform_blocks::<R, N>(), 0);
        self.row_ends.iter().map(move |&end| {
            let row = std::mem::replace(&mut begin, end)..end;
            self.cols[row.clone()].iter().copied().zip(&blocks[row])
        })
    }

    /// y ← y + Aᵀ x.
    pub fn transpose_mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!(x.len(), self.rows(), "length of x");
        match self.uniform {
            Some((3, 6)) => self.transpose_mul_add_uniform::<3, 6>(x, y),
            Some((2, 3)) => self.transpose_mul_add_uniform::<2, 3>(x, y),
            _ => (0..self.row_ends.len()).for_each(|i| self.row_transpose_mul_add(i, &x[self.row_range(i)], y)),
        }
    }

    fn transpose_mul_add_uniform<const R: usize, const N: usize>(&self, x: &[f64], y: &mut [f64]) {
        let y = y.as_chunks_mut::<N>().0;
        for (x, row) in x.as_chunks::<R>().0.iter().zip(self.uniform_rows::<R, N>()) {
            row.for_each(|(col, block)| block::transpose_mul_add_array(block, x, &mut y[col]));
        }
    }

    /// Adds (block row `i`)ᵀ `x` to `y`; `x` has as many rows as the block row.
    pub fn row_transpose_mul_add(&self, i: usize, x: &[f64], y: &mut [f64]) {
        let data = self.data();
        for place in self.places(i) {
            block::transpose_mul_add(&data[place.data.clone()], x, &mut y[place.columns.clone()]);
        }
    }

    /// Visits the pairs of a block of this matrix and a block of `other` that share a block column.
    ///
    /// `other` has the same pattern; its block lies in the same or a later block row. Arguments of `visit` are (block row,
    /// block), (block row in `other`, block of `other`) and the number of columns.
    pub(crate) fn for_each_pair<'a>(
        &'a self,
        other: &'a Self,
        mut visit: impl FnMut((usize, &'a [f64]), (usize, &'a [f64]), usize),
    ) {
        debug_assert!(self.row_ends == other.row_ends && self.places == other.places, "both matrices have one pattern");
        let (data, others) = (self.data(), other.data());
        for (k, place) in self.places.iter().enumerate() {
            let (row, block) = (self.links[k].0, &data[place.data.clone()]);
            let mut next = Some(k);
            while let Some(k) = next {
                let second;
                (second, next) = self.links[k];
                visit((row, block), (second, &others[other.places[k].data.clone()]), place.columns.len());
            }
        }
    }

    /// The first entry that is not finite, as (row, value).
    pub fn first_not_finite(&self) -> Option<(usize, f64)> {
        let numbers = self.dense().unwrap_or(&self.data);
        if all_finite(numbers) {
            return None;
        }
        (0..self.row_ends.len()).find_map(|i| {
            let value = self.row(i).flat_map(|(_, block)| block).find(|x| !x.is_finite())?;
            Some((self.row_offsets[i], *value))
        })
    }
}
