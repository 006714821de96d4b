//! LU factorisation of a block-sparse matrix with unsymmetric entries and a symmetric (or symmetrised) pattern.   [NEWTON-5]
//!
//! The elimination order is minimum degree on the symmetrised pattern and stays fixed. Rows are pivoted inside a diagonal
//! block, not between blocks. Factors fill row by row (the "IKJ" form): with row i scattered over a map, L_ik = A_ik U_kk⁻¹,
//! A_ij ← A_ij − L_ik U_kj, and at last P A_ii = L_ii U_ii and U_ij = L_ii⁻¹ P A_ij. Diagonal blocks stay triangular factors
//! and are never inverted: if stiff contacts couple bodies, a product with an inverse would lose the masses to rounding.
//! Blocks of zeros, such as the rows of open contacts, are skipped.

use super::block;
use super::block_factor::{factor_in_place, solve_lower, solve_lower_column, solve_upper, solve_upper_from_right};
use super::ordering::Elimination;
use super::{SingularRow, VANISHED_PIVOT, simd};
use std::ops::Range;

/// Block LU factors in memory that is reused; the analysis is kept until the next [`analyse`](Self::analyse).
///
/// ```
/// use stiction_complementarity::linalg::BlockSparseLu;
/// let mut lu = BlockSparseLu::default();
/// lu.analyse(&[1, 1], &[(0, 1)]);
/// lu.clear();
/// for (i, j, value) in [(0, 0, 2.0), (0, 1, 1.0), (1, 0, -1.0), (1, 1, 3.0)] {
///     let place = lu.place(i, j).unwrap();
///     lu.block_mut(place)[0] += value;
/// }
/// lu.factor()?;
/// let mut x = [3.0, 2.0];
/// lu.solve(&mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), stiction_complementarity::linalg::SingularRow>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockSparseLu {
    /// `order[k]` is the block eliminated at step k, `step[i]` the step of block i.
    order: Vec<usize>,
    step: Vec<usize>,
    /// Size of the block of each step, and its first row in vectors in the caller's order.
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    /// Entries of each step's row: `columns[row_offsets[k]..row_offsets[k + 1]]`, ascending steps.
    row_offsets: Vec<usize>,
    columns: Vec<usize>,
    /// Entry on the diagonal of each row.
    diagonal: Vec<usize>,
    /// Offset of each entry in `data`, and the total at the end.
    entry_offsets: Vec<usize>,
    data: Vec<f64>,
    /// Entry of each column in the row being eliminated.
    entry_of: Vec<usize>,
    /// Row interchanges inside the diagonal blocks, one number per row, in the caller's order.
    interchanges: Vec<usize>,
    /// Fraction of its row below which a pivot counts as vanished.
    vanished: Vanished,
    scratch: Vec<f64>,
    /// Scratch of the analysis.
    graph: Graph,
    elimination: Elimination,
}

/// Relative bound of a vanished pivot, by default [`VANISHED_PIVOT`]. Dimensionless.
#[derive(Clone, Copy, Debug)]
struct Vanished(f64);

impl Default for Vanished {
    fn default() -> Self {
        Self(VANISHED_PIVOT)
    }
}

impl BlockSparseLu {
    /// Factors that accept any pivot above this fraction of its row; the default is [`VANISHED_PIVOT`].
    pub fn with_pivot_bound(pivot: f64) -> Self {
        Self { vanished: Vanished(pivot), ..Self::default() }
    }

    /// Chooses the order for diagonal blocks of these sizes coupled by these pairs, and lays out the factors.
    ///
    /// Pairs may come in any order, repeatedly, and in either direction; both blocks of a pair get a place.
    pub fn analyse(&mut self, sizes: &[usize], couplings: &[(usize, usize)]) {
        let n = sizes.len();
        self.graph.rewrite(n, couplings);
        let mut elimination = std::mem::take(&mut self.elimination);
        elimination.minimum_degree(n, |i| self.graph.row(i).iter().copied(), |_| false);
        self.order.clone_from(&elimination.order);
        fill(&mut self.step, n, 0);
        self.order.iter().enumerate().for_each(|(k, &block)| self.step[block] = k);
        self.sizes.clear();
        self.sizes.extend(self.order.iter().map(|&block| sizes[block]));
        fill(&mut self.offsets, n, 0);
        let mut begin = 0;
        for (&size, &step) in sizes.iter().zip(&self.step) {
            self.offsets[step] = begin;
            begin += size;
        }
        debug_assert_eq!(begin, self.sizes.iter().sum::<usize>(), "the order is a permutation of the blocks");
        self.lay_out(&elimination);
        self.elimination = elimination;
    }

    /// Lays out the pattern of the factors.
    ///
    /// Column k of L couples the same steps as row k of U, because the pattern is symmetric. So row k has the earlier steps
    /// that couple it, itself, and the steps it couples.
    fn lay_out(&mut self, elimination: &Elimination) {
        let n = self.order.len();
        // ---- Begin of each row: first their lengths, shifted by one ----
        fill(&mut self.row_offsets, n + 1, 0);
        for k in 0..n {
            self.row_offsets[k + 1] += 1 + elimination.couples(k).len();
            elimination.couples(k).iter().for_each(|&block| self.row_offsets[self.step[block] + 1] += 1);
        }
        for k in 0..n {
            self.row_offsets[k + 1] += self.row_offsets[k];
        }
        // ---- Columns of each row, ascending; `entry_of` holds the next free entry of each row ----
        fill(&mut self.columns, self.row_offsets[n], 0);
        fill(&mut self.diagonal, n, 0);
        self.entry_of.clear();
        self.entry_of.extend_from_slice(&self.row_offsets[..n]);
        for k in 0..n {
            let own = self.entry_of[k];
            self.diagonal[k] = own;
            self.columns[own] = k;
            let later = &mut self.columns[own + 1..self.row_offsets[k + 1]];
            debug_assert_eq!(later.len(), elimination.couples(k).len(), "entries of row {k} right of the diagonal");
            later.iter_mut().zip(elimination.couples(k)).for_each(|(column, &block)| *column = self.step[block]);
            later.sort_unstable();
            for &block in elimination.couples(k) {
                let row = self.step[block];
                self.columns[self.entry_of[row]] = k;
                self.entry_of[row] += 1;
            }
        }
        debug_assert_eq!(self.entry_of, self.diagonal, "every row is filled up to its diagonal");
        // ---- Offsets of the entries ----
        self.entry_offsets.clear();
        self.entry_offsets.push(0);
        let mut total = 0;
        for k in 0..n {
            for &column in &self.columns[self.row_offsets[k]..self.row_offsets[k + 1]] {
                total += self.sizes[k] * self.sizes[column];
                self.entry_offsets.push(total);
            }
        }
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        fill(&mut self.entry_of, n, 0);
        fill(&mut self.scratch, largest * largest, 0.0);
        fill(&mut self.interchanges, self.sizes.iter().sum(), 0);
        fill(&mut self.data, total, 0.0);
    }

    /// Place of block (i, j) in the caller's numbering, for [`block_mut`](Self::block_mut); `None` outside of the pattern.
    pub fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (row, column) = (*self.step.get(i)?, *self.step.get(j)?);
        let begin = self.row_offsets[row];
        let found = self.columns[begin..self.row_offsets[row + 1]].binary_search(&column).ok()?;
        Some(begin + found)
    }

    /// Sets every block to zero, to refill the matrix.
    pub fn clear(&mut self) {
        self.data.fill(0.0);
    }

    /// Entries of a block, row by row.
    pub fn block_mut(&mut self, place: usize) -> &mut [f64] {
        let range = self.range(place);
        &mut self.data[range]
    }

    /// Number of stored blocks, fill-in included.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// Replaces the matrix by its factors: L_ik below the diagonal, U_ik above it, L_ii and U_ii (its diagonal inverted) on it.
    ///
    /// The row of an error is the first row, in the caller's order, of the singular diagonal block.
    pub fn factor(&mut self) -> Result<(), SingularRow> {
        simd::run(Factoring(self))
    }

    #[inline(always)]
    fn factor_rows(&mut self) -> Result<(), SingularRow> {
        for i in 0..self.order.len() {
            self.eliminate_row(i);
            let (size, begin) = (self.sizes[i], self.offsets[i]);
            let interchanges = &mut self.interchanges[begin..begin + size];
            let (until, after) = self.data.split_at_mut(self.entry_offsets[self.diagonal[i] + 1]);
            let block = &mut until[self.entry_offsets[self.diagonal[i]]..];
            if !factor_in_place(size, block, interchanges, self.vanished.0) {
                return Err(SingularRow { row: begin });
            }
            let base = self.entry_offsets[self.diagonal[i] + 1];
            for entry in self.diagonal[i] + 1..self.row_offsets[i + 1] {
                let place = self.entry_offsets[entry] - base..self.entry_offsets[entry + 1] - base;
                solve_lower(size, block, interchanges, &mut after[place]);
            }
        }
        Ok(())
    }

    /// Computes row i of L and the remaining row i of A, from which U is computed.
    #[inline(always)]
    fn eliminate_row(&mut self, i: usize) {
        let row = self.row_offsets[i]..self.row_offsets[i + 1];
        for entry in row.clone() {
            self.entry_of[self.columns[entry]] = entry;
        }
        let size_i = self.sizes[i];
        // Rows above i are read and row i is written; `data` has them in this order.
        let (above, current) = self.data.split_at_mut(self.entry_offsets[row.start]);
        let base = self.entry_offsets[row.start];
        for entry in row.start..self.diagonal[i] {
            let k = self.columns[entry];
            let size_k = self.sizes[k];
            let place = self.entry_offsets[entry] - base..self.entry_offsets[entry + 1] - base;
            if current[place.clone()].iter().all(|x| *x == 0.0) {
                continue;
            }
            let pivot = self.entry_offsets[self.diagonal[k]]..self.entry_offsets[self.diagonal[k] + 1];
            solve_upper_from_right(size_k, &above[pivot], &mut current[place.clone()]);
            let factor = &mut self.scratch[..size_i * size_k];
            factor.copy_from_slice(&current[place]);
            for upper in self.diagonal[k] + 1..self.row_offsets[k + 1] {
                let (j, source) = (self.columns[upper], self.entry_offsets[upper]..self.entry_offsets[upper + 1]);
                let target = self.entry_of[j];
                debug_assert!(row.contains(&target) && self.columns[target] == j, "fill-in outside of the pattern");
                let target = self.entry_offsets[target] - base..self.entry_offsets[target + 1] - base;
                let sizes = (size_i, size_k, self.sizes[j]);
                block::product_add(-1.0, factor, &above[source], sizes, &mut current[target]);
            }
        }
    }

    /// x ← A⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        for i in 0..self.order.len() {
            let rows = self.offsets[i]..self.offsets[i] + self.sizes[i];
            for entry in self.row_offsets[i]..self.diagonal[i] {
                self.subtract_block(entry, rows.clone(), x);
            }
            let pivot = &self.data[self.range(self.diagonal[i])];
            solve_lower_column(self.sizes[i], pivot, &self.interchanges[rows.clone()], &mut x[rows]);
        }
        for i in (0..self.order.len()).rev() {
            let rows = self.offsets[i]..self.offsets[i] + self.sizes[i];
            for entry in self.diagonal[i] + 1..self.row_offsets[i + 1] {
                self.subtract_block(entry, rows.clone(), x);
            }
            solve_upper(self.sizes[i], &self.data[self.range(self.diagonal[i])], &mut x[rows]);
        }
    }

    /// x_i ← x_i − A_ij x_j for the entry (i, j) and the rows of i.
    fn subtract_block(&self, entry: usize, Range { start: begin, end }: Range<usize>, x: &mut [f64]) {
        let j = self.columns[entry];
        let columns = self.offsets[j]..self.offsets[j] + self.sizes[j];
        // The rows of i and those of j are disjoint.
        let (rows, x_j) = if begin < columns.start {
            let (before, from) = x.split_at_mut(columns.start);
            (&mut before[begin..], &from[..self.sizes[j]])
        } else {
            let (before, from) = x.split_at_mut(begin);
            (from, &before[columns])
        };
        block::mul_sub(&self.data[self.range(entry)], x_j, &mut rows[..end - begin]);
    }

    #[inline(always)]
    fn range(&self, entry: usize) -> Range<usize> {
        self.entry_offsets[entry]..self.entry_offsets[entry + 1]
    }
}

/// The factorisation, compiled for SIMD.
struct Factoring<'a>(&'a mut BlockSparseLu);

impl simd::Kernel for Factoring<'_> {
    type Output = Result<(), SingularRow>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.factor_rows()
    }
}

/// Overwrites a vector with `length` times `value` and reuses its memory.
fn fill<T: Clone>(vector: &mut Vec<T>, length: usize, value: T) {
    vector.clear();
    vector.resize(length, value);
}

/// Symmetric graph of the couplings.
#[derive(Clone, Debug, Default)]
struct Graph {
    pairs: Vec<(usize, usize)>,
    offsets: Vec<usize>,
    columns: Vec<usize>,
}

impl Graph {
    fn rewrite(&mut self, n: usize, couplings: &[(usize, usize)]) {
        debug_assert!(couplings.iter().all(|&(i, j)| i < n && j < n), "a coupling with a block that does not exist");
        let both = couplings.iter().flat_map(|&(i, j)| [(i, j), (j, i)]);
        self.pairs.clear();
        self.pairs.extend(both.filter(|&(i, j)| i != j && i < n && j < n));
        self.pairs.sort_unstable();
        self.pairs.dedup();
        fill(&mut self.offsets, n + 1, 0);
        self.pairs.iter().for_each(|&(i, _)| self.offsets[i + 1] += 1);
        for i in 0..n {
            self.offsets[i + 1] += self.offsets[i];
        }
        self.columns.clear();
        self.columns.extend(self.pairs.iter().map(|&(_, j)| j));
    }

    fn row(&self, i: usize) -> &[usize] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }
}
