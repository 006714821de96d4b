//! Factorisation of a small dense matrix stored by columns, with loops of compile-time length.
//!
//! Columns are processed in SIMD chunks of [`LANES`] rows. Chunks that an elimination step does not change are skipped; with pivoting, columns of small
//! matrices are processed as a whole instead. Entries beyond the matrix are unspecified. The code is compiled for eleven numbers of chunks of a column,
//! to which the others are rounded up. Without pivoting the factorisation is compiled for one to six remaining chunks at a time.

use std::ops::Range;

use super::sizes::{Column, LANES, MAX_ROWS};
use crate::linalg::simd::{self, Kernel};

/// Smallest pivot, as a fraction of the mean diagonal; a smaller one counts as zero.
const RELATIVE_PIVOT: f64 = 1e-14;

/// Largest number of chunks of a column that pivoting processes as a whole: skipping leading chunks would take longer.
const MAX_WHOLE_CHUNKS: usize = 3;

/// Factor that the matrix holds after factorisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stored {
    /// None: the matrix is not factored or is singular.
    #[default]
    Nothing,
    /// U of P A = L U, with zeros below its diagonal.
    Upper,
    /// D of A = L D Lᵀ, on the diagonal.
    Diagonal,
}

/// Factor L of P A = L U or A = L D Lᵀ; U or D stays in the matrix.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    stored: Stored,
    /// L without its unit diagonal: zeros on the diagonal and above.
    lower: Vec<Column>,
    /// Row that was interchanged with each row.
    interchanges: [usize; MAX_ROWS],
}

impl Default for Factors {
    fn default() -> Self {
        Self { stored: Stored::Nothing, lower: vec![[0.0; MAX_ROWS]; MAX_ROWS], interchanges: [0; MAX_ROWS] }
    }
}

/// Calls a function that is compiled for this number of rows, in chunks.
macro_rules! by_chunks {
    ($n:expr, $function:ident($($argument:expr),*)) => {
        match $n.div_ceil(LANES) {
            0 | 1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 | 8 => $function::<8>($($argument),*),
            9 | 10 => $function::<10>($($argument),*),
            11 | 12 => $function::<12>($($argument),*),
            13..=15 => $function::<15>($($argument),*),
            _ => $function::<{ MAX_ROWS / LANES }>($($argument),*),
        }
    };
}

impl Factors {
    /// Invalidates the factors.
    pub(super) fn clear(&mut self) {
        self.stored = Stored::Nothing;
    }

    /// Factors a symmetric matrix, A = L D Lᵀ. Returns false if a pivot is not positive; the matrix is overwritten in any case.
    pub(super) fn factor_symmetric(&mut self, a: &mut [Column]) -> bool {
        let factored = simd::run(Symmetric { a, lower: &mut self.lower });
        self.stored = if factored { Stored::Diagonal } else { Stored::Nothing };
        factored
    }

    /// Factors P A = L U. If a pivot vanishes, [`solve`](Self::solve) returns false.
    pub(super) fn factor_with_pivoting(&mut self, a: &mut [Column]) {
        let factored = simd::run(Pivoting { a, lower: &mut self.lower, interchanges: &mut self.interchanges });
        self.stored = if factored { Stored::Upper } else { Stored::Nothing };
    }

    /// b ← A⁻¹ b. Returns false without valid factors or if the result is not finite.
    pub(super) fn solve(&self, a: &[Column], b: &mut Column) -> bool {
        simd::run(Solving { factors: self, a, b })
    }
}

/// [`Factors::factor_symmetric`].
struct Symmetric<'a> {
    a: &'a mut [Column],
    lower: &'a mut [Column],
}

impl Kernel for Symmetric<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        without_pivoting(self.a, self.lower)
    }
}

/// [`Factors::factor_with_pivoting`].
struct Pivoting<'a> {
    a: &'a mut [Column],
    lower: &'a mut [Column],
    interchanges: &'a mut [usize; MAX_ROWS],
}

impl Kernel for Pivoting<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        by_chunks!(self.a.len(), with_pivoting(self.a, self.lower, self.interchanges))
    }
}

/// [`Factors::solve`].
struct Solving<'a> {
    factors: &'a Factors,
    a: &'a [Column],
    b: &'a mut Column,
}

impl Kernel for Solving<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { factors, a, b } = self;
        debug_assert!(a.len() <= MAX_ROWS, "the matrix fits");
        let (n, lower) = (a.len(), &factors.lower[..a.len()]);
        match factors.stored {
            Stored::Nothing => return false,
            Stored::Upper => {
                factors.interchanges[..n].iter().enumerate().for_each(|(k, pivot)| b.swap(k, *pivot));
                by_chunks!(n, solve_upper(lower, a, b));
            }
            Stored::Diagonal => by_chunks!(n, solve_diagonal(lower, a, b)),
        }
        b[..n].iter().all(|x| x.is_finite())
    }
}

/// Number of rows that are processed in columns of C chunks; the triangular solves read as many rows of L.
#[inline(always)]
fn rows<const C: usize>() -> usize {
    C * LANES
}

/// Smallest pivot of a matrix that counts as nonzero.
#[inline(always)]
fn smallest_pivot(a: &[Column]) -> f64 {
    RELATIVE_PIVOT * a.iter().enumerate().map(|(k, column)| column[k].abs()).sum::<f64>() / a.len().max(1) as f64
}

/// Left-looking factorisation A = L D Lᵀ: each column subtracts the multiples of all columns before it.
#[inline(always)]
fn without_pivoting(a: &mut [Column], lower: &mut [Column]) -> bool {
    let (n, smallest) = (a.len(), smallest_pivot(a));
    let padded = by_chunks!(n, rows());
    let mut factors = [0.0; MAX_ROWS];
    for j in 0..n {
        let (known, rest) = a.split_at_mut(j);
        let (Some(column), (known_lower, [lower, ..])) = (rest.first_mut(), lower.split_at_mut(j)) else {
            return false;
        };
        // By symmetry the multipliers of column j are in row j.
        factors.iter_mut().zip(known).for_each(|(factor, column)| *factor = column[j]);
        subtract_multiples(known_lower, &factors, chunk_of(j)..n.div_ceil(LANES), column);
        let pivot = column[j];
        if !(pivot > smallest && pivot.is_finite()) {
            return false;
        }
        let inverse = 1.0 / pivot;
        lower[chunk_of(j) * LANES..=j].fill(0.0);
        lower[j + 1..n].iter_mut().zip(&column[j + 1..n]).for_each(|(l, a)| *l = a * inverse);
        lower[n..padded].fill(0.0);
    }
    true
}

/// Right-looking factorisation P A = L U with partial pivoting.
#[inline(always)]
fn with_pivoting<const C: usize>(a: &mut [Column], lower: &mut [Column], interchanges: &mut [usize; MAX_ROWS]) -> bool {
    let (n, smallest) = (a.len(), smallest_pivot(a));
    for k in 0..n {
        let (mut pivot, mut largest) = (k, 0.0);
        for (i, x) in (k..).zip(&a[k][k..n]) {
            if x.abs() > largest {
                (pivot, largest) = (i, x.abs());
            }
        }
        if !(largest > smallest && largest.is_finite()) {
            return false;
        }
        interchanges[k] = pivot;
        if pivot != k {
            lower[..k].iter_mut().for_each(|column| column.swap(k, pivot));
            a[k..].iter_mut().for_each(|column| column.swap(k, pivot));
        }
        let (known, rest) = a.split_at_mut(k + 1);
        let (Some(head), lower) = (known.last_mut(), &mut lower[k]) else { return false };
        write_lower::<C>(head, k, first_chunk_of::<C>(k), lower);
        head[k + 1..C * LANES].fill(0.0);
        for column in rest {
            subtract_multiple::<C>(lower, column[k], first_chunk_of::<C>(k + 1), column);
        }
    }
    true
}

/// b ← U⁻¹ L⁻¹ b.
#[inline(always)]
fn solve_upper<const C: usize>(lower: &[Column], upper: &[Column], b: &mut Column) {
    lower.iter().enumerate().for_each(|(k, l)| subtract_multiple::<C>(l, b[k], first_chunk_of::<C>(k + 1), b));
    for (k, u) in upper.iter().enumerate().rev() {
        let x = b[k] / u[k];
        subtract_multiple::<C>(u, x, 0, b);
        b[k] = x;
    }
}

/// b ← L⁻ᵀ D⁻¹ L⁻¹ b.
#[inline(always)]
fn solve_diagonal<const C: usize>(lower: &[Column], diagonal: &[Column], b: &mut Column) {
    b[lower.len()..C * LANES].fill(0.0);
    lower.iter().enumerate().for_each(|(k, l)| subtract_multiple::<C>(l, b[k], chunk_of(k + 1), b));
    for (k, (d, l)) in diagonal.iter().zip(lower).enumerate().rev() {
        b[k] = b[k] / d[k] - dot_from::<C>(l, b, chunk_of(k + 1));
    }
}

/// Chunk that contains a row.
#[inline(always)]
fn chunk_of(row: usize) -> usize {
    row / LANES
}

/// First chunk to process from a row on: that of the row, or 0 if columns are processed as a whole.
#[inline(always)]
fn first_chunk_of<const C: usize>(row: usize) -> usize {
    if C <= MAX_WHOLE_CHUNKS { 0 } else { chunk_of(row) }
}

/// Writes column k of L without its diagonal, from column k of the partly eliminated matrix.
#[inline(always)]
fn write_lower<const C: usize>(head: &Column, k: usize, first: usize, lower: &mut Column) {
    let inverse = 1.0 / head[k];
    let (from, to) = (head.as_chunks::<LANES>().0, lower.as_chunks_mut::<LANES>().0);
    for (to, from) in to[first.min(C)..C].iter_mut().zip(&from[first.min(C)..C]) {
        to.iter_mut().zip(from).for_each(|(l, a)| *l = a * inverse);
    }
    lower[first * LANES..=k].fill(0.0);
}

/// to ← to − factor · from, beginning with chunk `first`.
#[inline(always)]
fn subtract_multiple<const C: usize>(from: &Column, factor: f64, first: usize, to: &mut Column) {
    if factor != 0.0 {
        let (from, to) = (from.as_chunks::<LANES>().0, to.as_chunks_mut::<LANES>().0);
        for (to, from) in to[first.min(C)..C].iter_mut().zip(&from[first.min(C)..C]) {
            to.iter_mut().zip(from).for_each(|(x, l)| *x -= factor * l);
        }
    }
}

/// to ← to − Σ factor · from in these chunks, as many at a time as fit into SIMD registers.
#[inline(always)]
fn subtract_multiples(from: &[Column], factors: &Column, mut chunks: Range<usize>, to: &mut Column) {
    while !chunks.is_empty() {
        let first = chunks.start;
        chunks.start += match chunks.len() {
            1 => subtract_multiples_in::<1>(from, factors, first, to),
            2 => subtract_multiples_in::<2>(from, factors, first, to),
            3 => subtract_multiples_in::<3>(from, factors, first, to),
            4 => subtract_multiples_in::<4>(from, factors, first, to),
            5 => subtract_multiples_in::<5>(from, factors, first, to),
            _ => subtract_multiples_in::<6>(from, factors, first, to),
        };
    }
}

/// to ← to − Σ factor · from in R chunks, beginning with chunk `first`; returns R.
#[inline(always)]
fn subtract_multiples_in<const R: usize>(from: &[Column], factors: &Column, first: usize, to: &mut Column) -> usize {
    let Some(to) = to.as_chunks_mut::<LANES>().0[first..].first_chunk_mut::<R>() else {
        debug_assert!(false, "a column has {R} chunks from chunk {first} on");
        return R;
    };
    let mut rest = *to;
    for (from, factor) in from.iter().zip(factors).filter(|(_, factor)| **factor != 0.0) {
        let Some(from) = from.as_chunks::<LANES>().0[first..].first_chunk::<R>() else {
            debug_assert!(false, "a column has {R} chunks from chunk {first} on");
            return R;
        };
        for (rest, from) in rest.iter_mut().zip(from) {
            rest.iter_mut().zip(from).for_each(|(x, l)| *x -= factor * l);
        }
    }
    *to = rest;
    R
}

/// Scalar product of a and b, beginning with chunk `first`, in LANES independent sums. Beyond the matrix both are zero.
#[inline(always)]
fn dot_from<const C: usize>(a: &Column, b: &Column, first: usize) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    for (a, b) in a[first.min(C)..C].iter().zip(&b[first.min(C)..C]) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_testkit::Random;

    /// Largest entry of |A x − b|.
    fn error(a: &[Column], x: &Column, b: &Column) -> f64 {
        let row = |i: usize| a.iter().zip(x).map(|(column, x)| column[i] * x).sum::<f64>() - b[i];
        (0..a.len()).map(|i| row(i).abs()).fold(0.0, f64::max)
    }

    /// Every size, with NaN in all memory beyond the matrix.
    #[test]
    fn all_sizes_are_solved_whatever_stands_beyond_them() {
        let (mut random, mut factors) = (Random::new(11), Factors::default());
        factors.lower.iter_mut().flatten().for_each(|x| *x = f64::NAN);
        for n in (1..=MAX_ROWS).rev() {
            for symmetric in [true, false] {
                let mut a = vec![[f64::NAN; MAX_ROWS]; n];
                for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    (a[j][i], a[i][j]) = (random.normal(), random.normal());
                    if symmetric {
                        (a[i][j], a[i][i]) = (a[j][i], 2.0 * n as f64);
                    }
                }
                let (mut b, original) = ([f64::NAN; MAX_ROWS], a.clone());
                b[..n].fill_with(|| random.normal());
                let mut x = b;
                if symmetric {
                    assert!(factors.factor_symmetric(&mut a), "{n}");
                } else {
                    factors.factor_with_pivoting(&mut a);
                }
                assert!(factors.solve(&a, &mut x), "{n}, symmetric: {symmetric}");
                let error = error(&original, &x, &b);
                assert!(error < 1e-9, "{n}, symmetric: {symmetric}: {error:e}");
            }
        }
    }

    /// The SIMD version and the portable one, on random matrices.
    #[test]
    fn both_versions_of_a_loop_give_the_same_bits() {
        let mut random = Random::new(12);
        for n in 1..=MAX_ROWS {
            let mut a = vec![[0.0; MAX_ROWS]; n];
            for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                a[i][j] = random.normal() * libm::exp2(random.normal());
                (a[j][i], a[i][i]) = (a[i][j], 3.0 * n as f64);
            }
            let (mut b, mut factors) = (a.clone(), [Factors::default(), Factors::default()]);
            let [simd, plain] = &mut factors;
            assert!(simd.factor_symmetric(&mut a) && Symmetric { a: &mut b, lower: &mut plain.lower }.run(), "{n}");
            plain.stored = Stored::Diagonal;
            let mut x = [[0.0; MAX_ROWS]; 2];
            x[0].fill_with(|| random.normal());
            x[1] = x[0];
            let [of_simd, of_plain] = &mut x;
            assert!(simd.solve(&a, of_simd) && Solving { factors: plain, a: &b, b: of_plain }.run(), "{n}");
            let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&x[0][..n]), bits(&x[1][..n]), "{n}");
            for (a, b) in a.iter().zip(&b) {
                assert_eq!(bits(&a[..n]), bits(&b[..n]), "{n}");
            }
        }
    }

    #[test]
    fn singular_and_indefinite_are_reported() {
        let mut factors = Factors::default();
        let mut a = vec![[0.0; MAX_ROWS]; 2];
        a[0][..2].copy_from_slice(&[1.0, 2.0]);
        a[1][..2].copy_from_slice(&[2.0, 1.0]);
        assert!(!factors.factor_symmetric(&mut a.clone()));
        assert!(!factors.solve(&a, &mut [1.0; MAX_ROWS]));
        a[1][..2].copy_from_slice(&[2.0, 4.0]);
        factors.factor_with_pivoting(&mut a);
        assert!(!factors.solve(&a, &mut [1.0; MAX_ROWS]));
    }
}
