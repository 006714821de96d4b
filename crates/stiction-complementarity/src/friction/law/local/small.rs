//! Small dense systems, solved by elimination with partial pivoting.

/// Largest pivot that counts as zero, as a fraction of the entries of the matrix. Rounding leaves a few 1e-16 times the growth of the elimination;
/// pivots of blocks with condition numbers up to 1e12 are larger.
pub(super) const SMALLEST_PIVOT: f64 = 1e-13;

/// LU factors of a small matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SmallLu<const N: usize> {
    lu: [[f64; N]; N],
    order: [usize; N],
}

impl<const N: usize> SmallLu<N> {
    /// Factors P A = L U; returns none if A is singular to working precision. `size` is the magnitude of the entries from which A was
    /// computed.
    pub(super) fn new(mut lu: [[f64; N]; N], size: f64) -> Option<Self> {
        let mut order: [usize; N] = std::array::from_fn(|k| k);
        for k in 0..N {
            let pivot = (k + 1..N).fold(k, |best, i| if lu[i][k].abs() > lu[best][k].abs() { i } else { best });
            lu.swap(k, pivot);
            order.swap(k, pivot);
            let head = lu[k];
            if head[k].abs() <= SMALLEST_PIVOT * size || head[k].is_nan() {
                return None;
            }
            for row in &mut lu[k + 1..] {
                row[k] /= head[k];
                let factor = row[k];
                row[k + 1..].iter_mut().zip(&head[k + 1..]).for_each(|(x, h)| *x -= factor * h);
            }
        }
        Some(Self { lu, order })
    }

    /// Solves A x = b.
    pub(super) fn solve(&self, b: &[f64; N]) -> [f64; N] {
        let mut x: [f64; N] = self.order.map(|k| b[k]);
        for k in 0..N {
            for i in k + 1..N {
                x[i] -= self.lu[i][k] * x[k];
            }
        }
        for k in (0..N).rev() {
            x[k] /= self.lu[k][k];
            for i in 0..k {
                x[i] -= self.lu[i][k] * x[k];
            }
        }
        x
    }
}

/// Largest absolute entry.
pub(super) fn largest<const R: usize, const C: usize>(a: &[[f64; C]; R]) -> f64 {
    a.as_flattened().iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// Scalar product.
pub(super) fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Matrix times vector.
pub(super) fn times<const N: usize>(a: &[[f64; N]; N], x: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|i| dot(&a[i], x))
}
