//! Alart-Curnier function of a contact, which is zero if and only if its law holds, and its derivative.   [NEWTON-1] [NEWTON-2]

use super::parts::{Part, Parts, norm, shrink};
use super::{Kind, Law, MAX_CONTACT_ROWS};

impl Law {
    /// End of the rows with a common ρ that begin at `first`: a part of the friction, or a single row.
    pub(crate) fn part_end(&self, first: usize) -> usize {
        let Kind::Contact(parts) = self.kind() else { return first + 1 };
        parts.iter().find(|part| part.first == first).map_or(first + 1, |part| part.range().end)
    }
}

/// Computes f ← r − P(r − ρ u) of a contact with these parts.   [NEWTON-1]
///
/// P projects the normal component onto the half-line and each part onto the ball of radius μ max(0, r_N − ρ_N u_N). `rho` has the same
/// value for all components of one part.
pub(super) fn function(parts: &Parts, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
    let normal = r[0] - rho[0] * u[0];
    f[0] = if normal > 0.0 { rho[0] * u[0] } else { r[0] };
    for part in parts.iter() {
        let (z, length) = argument(rho, r, u, part);
        let radius = part.mu * normal.max(0.0);
        for (k, z) in part.range().zip(z) {
            f[k] = if length > radius { r[k] - radius / length * z } else { rho[k] * u[k] };
        }
    }
}

/// z ← P(z): the normal component projected onto the half-line, each part onto its ball of radius μ max(0, z_N).
#[inline]
pub(super) fn project(parts: &Parts, z: &mut [f64]) {
    z[0] = z[0].max(0.0);
    let normal = z[0];
    for part in parts.iter() {
        let friction = &mut z[part.range()];
        shrink(friction, norm(friction), part.mu * normal);
    }
}

/// Components r_k − ρ u_k of one part, and their norm.
fn argument(rho: &[f64], r: &[f64], u: &[f64], part: &Part) -> ([f64; MAX_CONTACT_ROWS], f64) {
    let mut z = [0.0; MAX_CONTACT_ROWS];
    z.iter_mut().zip(part.range()).for_each(|(z, k)| *z = r[k] - rho[k] * u[k]);
    let length = norm(&z[..part.rows]);
    (z, length)
}

/// Computes a ← ∂f/∂r and b ← ∂f/∂u, row by row; at kinks one element of the generalised Jacobian. Both are zero before.   [NEWTON-2]
pub(super) fn jacobian(parts: &Parts, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
    let n = r.len();
    let normal = r[0] - rho[0] * u[0];
    (a[0], b[0]) = if normal > 0.0 { (0.0, rho[0]) } else { (1.0, 0.0) };
    for part in parts.iter() {
        let (z, length) = argument(rho, r, u, part);
        let radius = part.mu * normal.max(0.0);
        if length <= radius && normal > 0.0 {
            part.range().for_each(|k| b[k * (n + 1)] = rho[k]);
        } else {
            // If length and radius are zero, r_T = ρ u_T and the contact is open: f_T = r_T.
            let t = z.map(|z| if length > 0.0 { z / length } else { 0.0 });
            let ratio = if length > 0.0 { radius / length } else { 0.0 };
            let mu = if normal > 0.0 { part.mu } else { 0.0 };
            slip_derivative(rho, part, (&t, ratio, mu), (a, b));
        }
    }
}

/// Computes d ← P'(z) diag ρ, row by row: what [`jacobian`] computes as ∂f/∂u, without ∂f/∂r. `d` is zero before.
#[inline]
pub(super) fn slope(parts: &Parts, rho: &[f64], z: &[f64], d: &mut [f64]) {
    let n = z.len();
    debug_assert_eq!((rho.len(), d.len()), (n, n * n), "a square block");
    let normal = z[0];
    if normal <= 0.0 {
        return;
    }
    d[0] = rho[0];
    for part in parts.iter() {
        let (rows, radius) = (part.range(), part.mu * normal);
        let length = norm(&z[rows.clone()]);
        if length <= radius {
            rows.for_each(|k| d[k * (n + 1)] = rho[k]);
            continue;
        }
        let ratio = radius / length;
        for row in rows.clone() {
            let t = z[row] / length;
            d[row * n] = part.mu * t * rho[0];
            for column in rows.clone() {
                let identity = if row == column { 1.0 } else { 0.0 };
                d[row * n + column] = ratio * (identity - t * (z[column] / length)) * rho[column];
            }
        }
    }
}

/// Adds the derivative of f_T = r_T − μ z_N t with t = z_T/‖z_T‖, which is ∂f_T = ∂r_T − μ t ∂z_N − s (I − t tᵀ) ∂z_T.
///
/// `ratio` is s = μ z_N/‖z_T‖ < 1.
fn slip_derivative(rho: &[f64], part: &Part, (t, ratio, mu): (&[f64], f64, f64), (a, b): (&mut [f64], &mut [f64])) {
    let n = rho.len();
    for (i, row) in part.range().enumerate() {
        a[row * n + row] += 1.0;
        a[row * n] -= mu * t[i];
        b[row * n] += mu * t[i] * rho[0];
        for (j, column) in part.range().enumerate() {
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

    fn laws() -> [Law; 10] {
        [
            Law::Equality { rows: 6 },
            Law::Bounded { lower: -0.3, upper: 0.4 },
            Law::Cone { rows: 2, mu: 0.6 },
            Law::Cone { rows: 3, mu: 0.4 },
            Law::Cone { rows: 3, mu: 0.0 },
            Law::Cone { rows: 4, mu: 1.3 },
            Law::Rolling { rows: 3, mu: 0.5, mu_r: 1.0 },
            Law::Rolling { rows: 4, mu: 0.5, mu_r: 0.2 },
            Law::Rolling { rows: 5, mu: 0.8, mu_r: 0.3 },
            Law::Rolling { rows: 6, mu: 0.7, mu_r: 1.0 },
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
                law.alart_curnier_jacobian(&rho, &r, &u, &mut a, &mut b);
                for (jacobian, of_r) in [(&a, true), (&b, false)] {
                    for column in 0..n {
                        let value = |change: f64| {
                            let (mut r, mut u, mut f) = (r.clone(), u.clone(), vec![0.0; n]);
                            *if of_r { &mut r[column] } else { &mut u[column] } += change;
                            law.alart_curnier_function(&rho, &r, &u, &mut f);
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

    /// The slope of the projection is the derivative with respect to u, bit for bit.
    #[test]
    fn slopes_are_derivatives_with_respect_to_velocities() {
        let (mut seed, mut scratch) = (11, Vec::new());
        for law in laws() {
            let n = law.rows();
            for _ in 0..300 {
                let (z, rho) = (numbers(&mut seed, n), vec![0.7 + numbers(&mut seed, 1)[0].abs(); n]);
                let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n * n]);
                law.alart_curnier_jacobian(&rho, &z, &vec![0.0; n], &mut a, &mut b);
                let mut d = vec![f64::NAN; n * n];
                law.alart_curnier_slope(&rho, &z, &mut d, &mut scratch);
                assert!(d.iter().zip(&b).all(|(d, b)| d == b), "{law:?} at {z:?}: {d:?} and {b:?}");
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
            law.alart_curnier_function(&rho, &r, &u, &mut f);
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
            law.alart_curnier_function(&rho, &r, &u, &mut f);
            assert!(norm(&f) > 1e-3, "{r:?} {u:?} gives {f:?}");
        }
    }
}
