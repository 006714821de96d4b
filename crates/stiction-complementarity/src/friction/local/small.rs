//! Dense systems of at most four unknowns, by elimination with row exchanges.

/// Pivots smaller than this fraction of the numbers they come from count as zero. Rounding leaves a few 1e-16
/// there, times the growth of the elimination; blocks of condition up to 1e12 keep their pivots.
pub(super) const VANISHING: f64 = 1e-13;

/// The factors of a small matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SmallLu<const N: usize> {
    lu: [[f64; N]; N],
    order: [usize; N],
}

impl<const N: usize> SmallLu<N> {
    /// L U = P A, or nothing when A is singular to working precision. `size` is that of the numbers A was computed from.
    pub(super) fn new(mut lu: [[f64; N]; N], size: f64) -> Option<Self> {
        let mut order: [usize; N] = std::array::from_fn(|k| k);
        for k in 0..N {
            let pivot = (k + 1..N).fold(k, |best, i| if lu[i][k].abs() > lu[best][k].abs() { i } else { best });
            lu.swap(k, pivot);
            order.swap(k, pivot);
            let head = lu[k];
            if head[k].abs() <= VANISHING * size || head[k].is_nan() {
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

    /// A⁻¹ b.
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

/// The largest absolute entry.
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
