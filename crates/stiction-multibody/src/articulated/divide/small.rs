//! Factorisation of the divide-and-conquer algorithm: systems of at most six equations.
//!
//! All linear systems of `divide` are solved by [`solve`]. It records the sizes, so that a test can check that none grows with
//! the number of links.

use nalgebra::{Matrix6, Vector6};

/// Pivoting strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pivots {
    /// Diagonal in order, for symmetric positive definite matrices; other matrices give an error.
    Diagonal,
    /// Partial pivoting: the largest of the column.
    Rows,
}

/// Counts of factorisations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of factorisations.
    pub factorisations: usize,
    /// Number of equations of the largest one.
    pub largest: usize,
    /// Number of joints eliminated.
    pub joints: usize,
}

impl Tally {
    /// Sum of two tallies.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            factorisations: self.factorisations + other.factorisations,
            largest: self.largest.max(other.largest),
            joints: self.joints + other.joints,
        }
    }
}

/// Ratio of a pivot to the original diagonal entry, up to which the pivot is round-off.
const NEGLIGIBLE: f64 = 1e-14;

/// Replaces `right` by the solution of `matrix` x = `right`, column by column, in the first `size` rows; `matrix` is overwritten.
/// The error is the number of the pivot that vanishes.
#[inline]
pub(super) fn solve(
    (matrix, size): (&mut Matrix6<f64>, usize),
    pivots: Pivots,
    (right, columns): (&mut Matrix6<f64>, usize),
    tally: &mut Tally,
) -> Result<(), usize> {
    debug_assert!(size <= 6 && columns <= 6, "{size} equations with {columns} right sides exceed six");
    tally.factorisations += 1;
    tally.largest = tally.largest.max(size);
    let diagonal: Vector6<f64> = matrix.diagonal();
    for k in 0..size {
        if pivots == Pivots::Rows {
            let pivot_row =
                (k..size).fold(k, |best, i| if matrix[(i, k)].abs() > matrix[(best, k)].abs() { i } else { best });
            matrix.swap_rows(k, pivot_row);
            right.swap_rows(k, pivot_row);
        }
        let pivot = matrix[(k, k)];
        let sound = match pivots {
            Pivots::Diagonal => pivot > if k == 0 { 0.0 } else { NEGLIGIBLE * diagonal[k] },
            Pivots::Rows => pivot != 0.0,
        };
        if !(sound && pivot.is_finite()) {
            return Err(k);
        }
        let inverse = 1.0 / pivot;
        for i in k + 1..size {
            let factor = matrix[(i, k)] * inverse;
            for j in k + 1..size {
                matrix[(i, j)] -= factor * matrix[(k, j)];
            }
            for j in 0..columns {
                right[(i, j)] -= factor * right[(k, j)];
            }
        }
    }
    for j in 0..columns {
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| matrix[(i, k)] * right[(k, j)]).sum();
            right[(i, j)] = (right[(i, j)] - known) / matrix[(i, i)];
        }
    }
    Ok(())
}
