//! A matrix of dense blocks by block rows: few blocks per row, each small, refilled in place.

use super::block;
use super::columns::AddColumns;
use super::lazy::Lazy;
use super::simd;
use crate::problem::all_finite;
use std::ops::Range;

/// Sparse in blocks, dense inside them. Block row i has `row_size(i)` rows, block column j has `col_size(j)` columns.
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
    /// Their block columns alone: all that a product needs where blocks have one size, and little beside the numbers.
    cols: Vec<usize>,
    /// Block row of each place, and the next place of its block column.
    links: Vec<(usize, Option<usize>)>,
    /// The last place of each block column.
    column_ends: Vec<Option<usize>>,
    /// The numbers of all places, unless they are dense.
    data: Vec<f64>,
    /// All numbers row by row, where all blocks are there and the matrix is symmetric; empty otherwise.
    dense: Vec<f64>,
    /// The dense numbers by places, once somebody asks for blocks.
    blocks_of_dense: Lazy,
    /// Rows and columns of the blocks, where all have the same: products then run over the blocks without looking at each.
    uniform: Option<(usize, usize)>,
}

/// The same blocks in the same places, however they were filled.
impl PartialEq for BlockMatrix {
    fn eq(&self, other: &Self) -> bool {
        self.row_offsets == other.row_offsets
            && self.col_offsets == other.col_offsets
            && self.row_ends == other.row_ends
            && self.places == other.places
            && self.data() == other.data()
    }
}

/// A stored block: its block column, the columns of that, and where its numbers are.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    col: usize,
    columns: Range<usize>,
    data: Range<usize>,
}

/// Offsets of blocks of the given sizes: as many entries as blocks, and the total at the end.
fn offsets(sizes: impl IntoIterator<Item = usize>, out: &mut Vec<usize>) {
    out.clear();
    out.push(0);
    let mut total = 0;
    out.extend(sizes.into_iter().map(|size| {
        total += size;
        total
    }));
}

/// The size of all blocks between these offsets, where it is one.
fn common_size(offsets: &[usize]) -> Option<usize> {
    let mut sizes = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(first)
}

impl BlockMatrix {
    /// Becomes an empty matrix with block rows and columns of these sizes; its rows are to be filled from the first on.
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

    /// The numbers of all places.
    #[inline]
    fn data(&self) -> &[f64] {
        if self.dense.is_empty() {
            return &self.data;
        }
        self.blocks_of_dense.get(|out| self.write_blocks(out))
    }

    /// Becomes the matrix `other` with every block replaced by `map` of its block column and numbers, as many as there are.
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

    /// Adds a block, row by row, to the block row being filled. Blocks of one row may come in any order, each place once.
    ///
    /// # Panics
    /// When the block has the wrong size or lies outside: mistakes of the assembling code.
    pub fn push(&mut self, col: usize, block: &[f64]) {
        let row = self.row_ends.len();
        assert!(row < self.block_rows() && col < self.block_cols(), "block ({row}, {col}) lies outside");
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

    /// Becomes the symmetric matrix with all its blocks, of these sizes, whose numbers are given row by row with `stride` to a row; all are multiplied by
    /// `factor`. The pattern is made anew only where it is another one. Products with such a matrix run along whole rows.
    ///
    /// # Panics
    /// When there are fewer numbers than the sizes ask for: a mistake of the assembling code.
    pub fn fill_symmetric(
        &mut self,
        sizes: impl Iterator<Item = usize> + Clone,
        (numbers, stride): (&[f64], usize),
        factor: f64,
    ) {
        self.become_full(sizes);
        let size = self.cols();
        self.dense.clear();
        (0..size).for_each(|row| self.dense.extend(numbers[row * stride..][..size].iter().map(|w| factor * w)));
        self.blocks_of_dense.forget(size * size);
    }

    /// Copies the dense numbers to their places.
    fn write_blocks(&self, out: &mut Vec<f64>) {
        let (size, mut first) = (self.cols(), 0);
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

    /// All numbers row by row, of a matrix that [`Self::fill_symmetric`] filled.
    pub(crate) fn dense(&self) -> Option<&[f64]> {
        Some(&self.dense[..]).filter(|dense| !dense.is_empty())
    }

    /// Adds a number to the diagonal.
    pub fn add_to_diagonal(&mut self, row: usize, value: f64) {
        let size = self.cols();
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

    /// Takes the pattern of a matrix with all blocks of these sizes; numbers mean nothing then.
    fn become_full(&mut self, sizes: impl Iterator<Item = usize> + Clone) {
        let count = sizes.clone().count();
        let is_full = self.places.len() == count * count && self.row_ends.len() == count;
        let starts = sizes.clone().scan(0, |next, size| Some(std::mem::replace(next, *next + size)));
        let is_same = |offsets: &[usize]| {
            offsets.len() == count + 1
                && offsets.iter().copied().zip(starts.clone()).all(|(a, b)| a == b)
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
    }

    /// Ends the block row being filled.
    ///
    /// # Panics
    /// When all rows are finished already: a mistake of the assembling code.
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

    /// The blocks of block row `i` as (block column, numbers row by row).
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> + Clone + '_ {
        let data = self.data();
        self.places(i).iter().map(|place| (place.col, &data[place.data.clone()]))
    }

    fn places(&self, i: usize) -> &[Place] {
        let begin = if i == 0 { 0 } else { self.row_ends[i - 1] };
        let end = self.row_ends.get(i).copied().unwrap_or(begin);
        &self.places[begin..end]
    }

    /// Adds block row `i` times `x` to `y`, which has the rows of the block row.
    pub fn row_mul_add(&self, i: usize, x: &[f64], y: &mut [f64]) {
        let data = self.data();
        for place in self.places(i) {
            block::mul_add(&data[place.data.clone()], &x[place.columns.clone()], y);
        }
    }

    /// y ← y + A x.
    pub fn mul_add_into(&self, x: &[f64], y: &mut [f64]) {
        if let Some(dense) = self.dense() {
            // Rows are columns too.
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

    /// The size of the blocks where all have the same.
    pub(crate) fn uniform(&self) -> Option<(usize, usize)> {
        self.uniform
    }

    /// All blocks in the order of their places; they have R rows and N columns.
    fn uniform_blocks<const R: usize, const N: usize>(&self) -> &[[[f64; N]; R]] {
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

    /// Adds (block row `i`)ᵀ `x` to `y`; `x` has the rows of the block row.
    pub fn row_transpose_mul_add(&self, i: usize, x: &[f64], y: &mut [f64]) {
        let data = self.data();
        for place in self.places(i) {
            block::transpose_mul_add(&data[place.data.clone()], x, &mut y[place.columns.clone()]);
        }
    }

    /// The blocks of this matrix, each with those of `other`, which has its pattern, in the same block column and in the same or a later block row: as
    /// (block row, block, block row in `other`, block of `other`, columns of both).
    pub(super) fn for_each_pair<'a>(
        &'a self,
        other: &'a Self,
        mut visit: impl FnMut((usize, &'a [f64]), (usize, &'a [f64]), usize),
    ) {
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
