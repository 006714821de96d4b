//! Symmetric product A Bᵀ of two block matrices of one pattern.

use super::{BlockMatrix, dot};

/// Position of a block of the product: its first row and column, and the length of a row.
#[derive(Clone, Copy)]
struct At {
    row: usize,
    col: usize,
    stride: usize,
}

impl BlockMatrix {
    /// out ← A Bᵀ, row by row, for B with the pattern of A and a symmetric product.
    ///
    /// Entries above the diagonal are summed, the others copied.
    pub(crate) fn symmetric_product_into(&self, b: &Self, out: &mut [f64]) {
        debug_assert_eq!(out.len(), self.rows() * self.rows(), "entries of the product");
        out.fill(0.0);
        let stride = self.rows();
        self.for_each_pair(b, |(i, a), (j, b), size| {
            let at = At { row: self.row_range(i).start, col: self.row_range(j).start, stride };
            match size {
                6 => add_fixed::<6>(a, b, at, out),
                3 => add_fixed::<3>(a, b, at, out),
                1 => add_fixed::<1>(a, b, at, out),
                _ => add(size, a, b, at, out),
            }
        });
    }
}

/// Adds A Bᵀ with rows of N numbers, with kernels for the three rows of spatial and the two of planar contacts.
fn add_fixed<const N: usize>(a: &[f64], b: &[f64], at: At, out: &mut [f64]) {
    match b.len() / N {
        3 => add_columns::<N, 3>(a, b, at, out),
        2 => add_columns::<N, 2>(a, b, at, out),
        _ => add(N, a, b, at, out),
    }
}

/// Adds A Bᵀ with rows of N numbers and C rows of B.
fn add_columns<const N: usize, const C: usize>(a: &[f64], b: &[f64], at: At, out: &mut [f64]) {
    let Ok(b) = <&[[f64; N]; C]>::try_from(b.as_chunks::<N>().0) else {
        debug_assert!(false, "a kernel for {C} x {N} blocks got another size");
        return;
    };
    for (k, a) in a.as_chunks::<N>().0.iter().enumerate() {
        let row = at.row + k;
        let place = out.get_mut(row * at.stride + at.col..).and_then(|row| row.first_chunk_mut::<C>());
        let Some(upper) = place else {
            debug_assert!(false, "row {row} of a block lies outside of the product");
            return;
        };
        let known = if at.row == at.col { k } else { 0 };
        for (l, (upper, b)) in upper.iter_mut().zip(b).enumerate() {
            *upper += if l < known { 0.0 } else { dot(a, b) };
        }
        let upper = *upper;
        for (l, sum) in upper.into_iter().enumerate() {
            out[(at.col + l) * at.stride + row] = sum;
        }
    }
}

/// Adds A Bᵀ for blocks of any size.
fn add(size: usize, a: &[f64], b: &[f64], at: At, out: &mut [f64]) {
    for (row, a) in (at.row..).zip(a.chunks_exact(size.max(1))) {
        for (col, b) in (at.col..).zip(b.chunks_exact(size.max(1))) {
            if col >= row {
                let sum = out[row * at.stride + col] + dot(a, b);
                out[row * at.stride + col] = sum;
                out[col * at.stride + row] = sum;
            }
        }
    }
}
