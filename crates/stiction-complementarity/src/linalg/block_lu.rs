//! LU factorisation of a block-diagonal matrix, block by block.
//!
//! A full matrix is the special case of one block. Blocks are contiguous rows; rows are not reordered.

use super::lu::{factor_in_place, solve_factored, solve_transposed_factored};
use super::{SingularRow, SparseMatrix};
use std::ops::Range;

/// LU factors of the diagonal blocks of a sparse matrix, in memory that is reused.
#[derive(Clone, Debug, Default)]
pub struct BlockLu {
    blocks: Vec<Block>,
    /// Block of each row.
    block_of: Vec<usize>,
    factors: Vec<f64>,
    order: Vec<usize>,
    row_sizes: Vec<f64>,
    right_side: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Block {
    rows: Range<usize>,
    /// Range of the factors of this block in `factors`.
    place: Range<usize>,
}

impl BlockLu {
    /// Finds the finest contiguous diagonal blocks of the square matrix `a` and returns the size of the largest.
    pub fn find_blocks(&mut self, a: &SparseMatrix) -> usize {
        let n = a.rows();
        // `order` serves as scratch: the last row that row i is coupled to by an entry on either side of the diagonal.
        self.order.clear();
        self.order.extend(0..n);
        for i in 0..n {
            for (j, _) in a.row(i) {
                let (low, high) = (i.min(j), i.max(j));
                self.order[low] = self.order[low].max(high);
            }
        }
        self.blocks.clear();
        self.block_of.clear();
        let (mut begin, mut reach, mut filled, mut largest) = (0, 0, 0, 0);
        for i in 0..n {
            reach = reach.max(self.order[i]);
            self.block_of.push(self.blocks.len());
            if reach == i {
                let size = i + 1 - begin;
                largest = largest.max(size);
                self.blocks.push(Block { rows: begin..i + 1, place: filled..filled + size * size });
                filled += size * size;
                begin = i + 1;
            }
        }
        debug_assert_eq!(begin, n, "the blocks cover all rows");
        largest
    }

    /// Factorises `a`, whose blocks were found by [`find_blocks`](Self::find_blocks).
    pub fn factor(&mut self, a: &SparseMatrix) -> Result<(), SingularRow> {
        debug_assert_eq!(self.block_of.len(), a.rows(), "the blocks were found for this matrix");
        self.factors.clear();
        self.factors.resize(self.blocks.last().map_or(0, |block| block.place.end), 0.0);
        self.order.resize(a.rows(), 0);
        self.right_side.resize(a.rows(), 0.0);
        for block in &self.blocks {
            let size = block.rows.len();
            let factors = &mut self.factors[block.place.clone()];
            for i in block.rows.clone() {
                for (j, value) in a.row(i) {
                    factors[(i - block.rows.start) * size + j - block.rows.start] += value;
                }
            }
            factor_in_place(factors, &mut self.order[block.rows.clone()], &mut self.row_sizes)
                .map_err(|singular| SingularRow { row: block.rows.start + singular.row })?;
        }
        Ok(())
    }

    /// x ← A⁻¹ b.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        for block in &self.blocks {
            let rows = block.rows.clone();
            solve_factored(
                &self.factors[block.place.clone()],
                &self.order[rows.clone()],
                &b[rows.clone()],
                &mut x[rows],
            );
        }
    }

    /// y ← A⁻ᵀ d for a sparse d, only in the blocks with an entry of d; their rows are listed in `touched`.
    ///
    /// Entries of `y` outside the touched rows are left as they are.
    pub fn solve_transposed_sparse(
        &mut self,
        d: impl Iterator<Item = (usize, f64)> + Clone,
        y: &mut [f64],
        touched: &mut Vec<Range<usize>>,
    ) {
        touched.clear();
        for (i, _) in d.clone() {
            let rows = &self.blocks[self.block_of[i]].rows;
            if !touched.contains(rows) {
                touched.push(rows.clone());
                self.right_side[rows.clone()].fill(0.0);
            }
        }
        for (i, value) in d {
            self.right_side[i] += value;
        }
        for rows in touched {
            let block = &self.blocks[self.block_of[rows.start]];
            let lu = &self.factors[block.place.clone()];
            let order = &self.order[rows.clone()];
            solve_transposed_factored(lu, order, &mut self.right_side[rows.clone()], &mut y[rows.clone()]);
        }
    }
}
