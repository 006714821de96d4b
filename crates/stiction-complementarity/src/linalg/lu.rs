//! Dense LU factorisation P A = L U with row-scaled partial pivoting.
//!
//! The pivot of each step is the entry that is largest relative to the original size of its row, because rows of a
//! complementarity problem have different units. L (unit diagonal) and U overwrite the matrix.

use super::dense::dot;
use super::simd::{self, Kernel};
use super::{SingularRow, VANISHED_PIVOT};

/// LU factors of a dense square matrix, in memory that is reused.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    n: usize,
    factors: Vec<f64>,
    order: Vec<usize>,
    row_sizes: Vec<f64>,
}

impl DenseLu {
    /// Factorises the n × n matrix that `fill` writes, row after row, into a slice of zeros.
    pub fn factor(&mut self, n: usize, fill: impl FnOnce(&mut [f64])) -> Result<(), SingularRow> {
        self.n = n;
        self.factors.clear();
        self.factors.resize(n * n, 0.0);
        self.order.resize(n, 0);
        fill(&mut self.factors);
        factor_in_place(&mut self.factors, &mut self.order, &mut self.row_sizes)
    }

    /// Reserves memory for matrices of up to n rows.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.factors.clear();
        self.factors.reserve(n * n);
        self.order.clear();
        self.order.reserve(n);
        self.row_sizes.clear();
        self.row_sizes.reserve(n);
    }

    /// x ← A⁻¹ b.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        solve_factored(&self.factors, &self.order, b, x);
    }
}

/// Factorises the matrix `a` in place; `order[k]` becomes the original row at position k.
pub(super) fn factor_in_place(a: &mut [f64], order: &mut [usize], sizes: &mut Vec<f64>) -> Result<(), SingularRow> {
    debug_assert_eq!(a.len(), order.len() * order.len(), "a square matrix");
    simd::run(Factoring { a, order, sizes })
}

/// Kernel of [`factor_in_place`].
struct Factoring<'a> {
    a: &'a mut [f64],
    order: &'a mut [usize],
    sizes: &'a mut Vec<f64>,
}

impl Kernel for Factoring<'_> {
    type Output = Result<(), SingularRow>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { a, order, sizes } = self;
        let n = order.len();
        sizes.clear();
        for (i, place) in order.iter_mut().enumerate() {
            *place = i;
            let size = a[i * n..(i + 1) * n].iter().fold(0.0, |size: f64, x| size.max(x.abs()));
            if size == 0.0 || !size.is_finite() {
                return Err(SingularRow { row: i });
            }
            sizes.push(size);
        }
        for k in 0..n {
            let (pivot, relative_size) = (k..n)
                .map(|i| (i, a[i * n + k].abs() / sizes[order[i]]))
                .fold((k, -1.0), |best, next| if next.1 > best.1 { next } else { best });
            // The negated comparison rejects a NaN too.
            if !(relative_size > VANISHED_PIVOT && relative_size.is_finite()) {
                return Err(SingularRow { row: order[k] });
            }
            if pivot != k {
                order.swap(k, pivot);
                let (upper, lower) = a.split_at_mut(pivot * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = a.split_at_mut((k + 1) * n);
            let pivot_row = &upper[k * n + k..];
            let inverse = 1.0 / pivot_row[0];
            for row in lower.chunks_exact_mut(n) {
                if row[k] != 0.0 {
                    let factor = row[k] * inverse;
                    row[k] = factor;
                    for (x, p) in row[k + 1..].iter_mut().zip(&pivot_row[1..]) {
                        *x -= factor * p;
                    }
                }
            }
        }
        Ok(())
    }
}

/// x ← A⁻¹ b from the factors of [`factor_in_place`].
pub(super) fn solve_factored(lu: &[f64], order: &[usize], b: &[f64], x: &mut [f64]) {
    let n = order.len();
    debug_assert_eq!(lu.len(), n * n, "factors of a square matrix");
    for (i, &row) in order.iter().enumerate() {
        x[i] = b[row] - dot(&lu[i * n..i * n + i], &x[..i]);
    }
    for i in (0..n).rev() {
        let row = &lu[i * n..(i + 1) * n];
        x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..n])) / row[i];
    }
}

/// y ← A⁻ᵀ d from the factors of [`factor_in_place`]; `d` is used as scratch.
pub(super) fn solve_transposed_factored(lu: &[f64], order: &[usize], d: &mut [f64], y: &mut [f64]) {
    let n = order.len();
    debug_assert_eq!((lu.len(), d.len()), (n * n, n), "factors and right side of a square matrix");
    // Uᵀ t = d, then Lᵀ s = t, both by rows of the factors so that memory is read in order; then y = Pᵀ s.
    for k in 0..n {
        let row = &lu[k * n..(k + 1) * n];
        d[k] /= row[k];
        let t = d[k];
        if t != 0.0 {
            for (x, u) in d[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *x -= u * t;
            }
        }
    }
    for k in (1..n).rev() {
        let s = d[k];
        if s != 0.0 {
            for (x, l) in d[..k].iter_mut().zip(&lu[k * n..k * n + k]) {
                *x -= l * s;
            }
        }
    }
    for (&row, &s) in order.iter().zip(d.iter()) {
        y[row] = s;
    }
}
