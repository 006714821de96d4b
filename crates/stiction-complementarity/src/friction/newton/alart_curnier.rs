//! Alart-Curnier function of one block, which is zero if and only if the law holds, and its derivative.   [NEWTON-1] [NEWTON-2]

use crate::friction::Law;
use crate::friction::law::{MAX_CONTACT_ROWS, norm};
use std::ops::Range;

/// Friction discs of a contact law: components and friction coefficient of each disc.
fn discs(law: &Law) -> impl Iterator<Item = (Range<usize>, f64)> {
    let list = match *law {
        Law::Cone { rows, mu } => [Some((1..rows, mu)), None],
        Law::Rolling { mu, mu_r } => [Some((1..3, mu)), Some((3..5, mu_r))],
        _ => [None, None],
    };
    list.into_iter().flatten()
}

impl Law {
    /// Computes the Alart-Curnier function f ← r − P(r − ρ u).   [NEWTON-1]
    ///
    /// It is zero if and only if the law holds, for every ρ > 0. ρ is one number for the normal component and one for all components of
    /// a disc. All slices have as many entries as the law has rows.
    pub fn alart_curnier_function(&self, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
        function(self, rho, r, u, f);
    }

    /// Computes the derivatives a ← ∂f/∂r and b ← ∂f/∂u of [`Law::alart_curnier_function`], row by row.   [NEWTON-2]
    ///
    /// At kinks they are one element of the generalised Jacobian.
    pub fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
        derivative(self, rho, r, u, a, b);
    }
}

/// End of the group of components with a common ρ that begins at `first`.
pub(super) fn disc_end(law: &Law, first: usize) -> usize {
    discs(law).find(|(disc, _)| disc.start == first).map_or(first + 1, |(disc, _)| disc.end)
}

/// Computes the Alart-Curnier function f ← r − P(r − ρ u).   [NEWTON-1]
///
/// P projects the normal component onto the half-line and friction onto the disc of radius μ max(0, r_N − ρ_N u_N). `rho` has the same
/// value for all components of one disc.
pub(super) fn function(law: &Law, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
    debug_assert!([rho.len(), r.len(), u.len(), f.len()] == [law.rows(); 4], "all slices have the rows of the law");
    match *law {
        Law::Equality { .. } => f.iter_mut().zip(rho.iter().zip(u)).for_each(|(f, (rho, u))| *f = rho * u),
        Law::Boxed { lower, upper } => {
            let z = r[0] - rho[0] * u[0];
            // Between the bounds r − z is computed as ρ u, without cancellation.
            f[0] = if z < lower {
                r[0] - lower
            } else if z > upper {
                r[0] - upper
            } else {
                rho[0] * u[0]
            };
        }
        Law::Cone { .. } | Law::Rolling { .. } => {
            let normal = r[0] - rho[0] * u[0];
            f[0] = if normal > 0.0 { rho[0] * u[0] } else { r[0] };
            for (disc, mu) in discs(law) {
                let (z, length) = disc_argument(rho, r, u, disc.clone());
                let radius = mu * normal.max(0.0);
                for (k, z) in disc.zip(z) {
                    f[k] = if length > radius { r[k] - radius / length * z } else { rho[k] * u[k] };
                }
            }
        }
    }
}

/// Components r_T − ρ u_T of one disc, and their norm.
fn disc_argument(rho: &[f64], r: &[f64], u: &[f64], disc: Range<usize>) -> ([f64; MAX_CONTACT_ROWS], f64) {
    let mut z = [0.0; MAX_CONTACT_ROWS];
    let count = disc.len();
    z.iter_mut().zip(disc).for_each(|(z, k)| *z = r[k] - rho[k] * u[k]);
    let length = norm(&z[..count]);
    (z, length)
}

/// Computes a ← ∂f/∂r and b ← ∂f/∂u, row by row; at kinks one element of the generalised Jacobian.   [NEWTON-2]
pub(super) fn derivative(law: &Law, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
    let n = r.len();
    debug_assert!([rho.len(), n, u.len()] == [law.rows(); 3], "all vectors have the rows of the law");
    debug_assert!(a.len() == n * n && b.len() == n * n, "both matrices are square");
    a.fill(0.0);
    b.fill(0.0);
    match *law {
        Law::Equality { .. } => rho.iter().enumerate().for_each(|(k, rho)| b[k * (n + 1)] = *rho),
        Law::Boxed { lower, upper } => {
            let z = r[0] - rho[0] * u[0];
            (a[0], b[0]) = if z < lower || z > upper { (1.0, 0.0) } else { (0.0, rho[0]) };
        }
        Law::Cone { .. } | Law::Rolling { .. } => {
            let normal = r[0] - rho[0] * u[0];
            (a[0], b[0]) = if normal > 0.0 { (0.0, rho[0]) } else { (1.0, 0.0) };
            for (disc, mu) in discs(law) {
                let (z, length) = disc_argument(rho, r, u, disc.clone());
                let radius = mu * normal.max(0.0);
                if length <= radius && normal > 0.0 {
                    disc.for_each(|k| b[k * (n + 1)] = rho[k]);
                } else {
                    // At length = radius = 0 the contact is open and f_T = r_T.
                    let t = z.map(|z| if length > 0.0 { z / length } else { 0.0 });
                    let ratio = if length > 0.0 { radius / length } else { 0.0 };
                    let mu = if normal > 0.0 { mu } else { 0.0 };
                    slip_derivative(rho, disc, (&t, ratio, mu), (a, b));
                }
            }
        }
    }
}

/// Adds the derivative of f_T = r_T − μ z_N t with t = z_T/‖z_T‖, which is ∂f_T = ∂r_T − μ t ∂z_N − s (I − t tᵀ) ∂z_T.
///
/// `ratio` is s = μ z_N/‖z_T‖ < 1.
fn slip_derivative(
    rho: &[f64],
    disc: Range<usize>,
    (t, ratio, mu): (&[f64], f64, f64),
    (a, b): (&mut [f64], &mut [f64]),
) {
    let n = rho.len();
    for (i, row) in disc.clone().enumerate() {
        a[row * n + row] += 1.0;
        a[row * n] -= mu * t[i];
        b[row * n] += mu * t[i] * rho[0];
        for (j, column) in disc.clone().enumerate() {
            let across = ratio * (if i == j { 1.0 } else { 0.0 } - t[i] * t[j]);
            a[row * n + column] -= across;
            b[row * n + column] += across * rho[column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: &mut u64, count: usize) -> Vec<f64> {
        let mut one = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 0.7
        };
        (0..count).map(|_| one()).collect()
    }

    fn laws() -> [Law; 7] {
        [
            Law::Equality { rows: 6 },
            Law::Boxed { lower: -0.3, upper: 0.4 },
            Law::Cone { rows: 2, mu: 0.6 },
            Law::Cone { rows: 3, mu: 0.4 },
            Law::Cone { rows: 3, mu: 0.0 },
            Law::Cone { rows: 4, mu: 1.3 },
            Law::Rolling { mu: 0.8, mu_r: 0.3 },
        ]
    }

    #[test]
    fn derivatives_are_difference_quotients() {
        let (mut seed, step) = (7, 1e-7);
        for law in laws() {
            let n = law.rows();
            let rho = vec![0.7; n];
            for _ in 0..300 {
                let (r, u) = (numbers(&mut seed, n), numbers(&mut seed, n));
                let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n * n]);
                derivative(&law, &rho, &r, &u, &mut a, &mut b);
                for (jacobian, of_r) in [(&a, true), (&b, false)] {
                    for column in 0..n {
                        let value = |change: f64| {
                            let (mut r, mut u, mut f) = (r.clone(), u.clone(), vec![0.0; n]);
                            *if of_r { &mut r[column] } else { &mut u[column] } += change;
                            function(&law, &rho, &r, &u, &mut f);
                            f
                        };
                        let (plus, minus) = (value(step), value(-step));
                        for row in 0..n {
                            let quotient = (plus[row] - minus[row]) / (2.0 * step);
                            let error = (quotient - jacobian[row * n + column]).abs();
                            assert!(error < 1e-6, "{law:?} at {r:?} {u:?}: ({row}, {column}) off by {error}");
                        }
                    }
                }
            }
        }
    }

    /// The Alart-Curnier function is zero at points that satisfy the law and nonzero elsewhere.
    #[test]
    fn zeros_are_those_of_the_law() {
        let (law, rho) = (Law::Cone { rows: 3, mu: 0.5 }, [0.3, 0.8, 0.8]);
        let solutions = [
            ([0.0; 3], [0.4, -0.2, 0.1]),
            ([2.0, 0.3, -0.4], [0.0; 3]),
            ([2.0, 0.6, -0.8], [0.0, -0.3, 0.4]),
            ([0.0; 3], [0.0; 3]),
        ];
        for (r, u) in solutions {
            let mut f = [1.0; 3];
            function(&law, &rho, &r, &u, &mut f);
            assert!(norm(&f) < 1e-15, "{r:?} {u:?} gives {f:?}");
        }
        let wrong = [
            ([2.0, 0.3, -0.4], [0.0, 0.1, 0.0]),
            ([-1.0, 0.0, 0.0], [0.0; 3]),
            ([2.0, 0.6, -0.8], [0.0, 0.3, -0.4]),
            ([2.0, 0.0, 0.0], [0.1, 0.0, 0.0]),
        ];
        for (r, u) in wrong {
            let mut f = [0.0; 3];
            function(&law, &rho, &r, &u, &mut f);
            assert!(norm(&f) > 1e-3, "{r:?} {u:?} gives {f:?}");
        }
    }
}
