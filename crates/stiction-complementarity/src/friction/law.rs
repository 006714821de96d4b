//! Laws of the blocks: contact with friction, joint, limit or motor.

use serde::{Deserialize, Serialize};

/// Law between the impulses r and the velocities u of one block. The normal component comes first.
///
/// Every law reads r ∈ K and −û ∈ N_K(r), the normal cone of a closed convex set K at r. For friction û is u with the De Saxcé
/// correction added to its normal component; otherwise û = u.   [CONE-1]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Law {
    /// Bilateral constraint (joint): u = 0, r free.
    Equality {
        /// Number of rows.
        rows: usize,
    },
    /// One row with bounds lower ≤ r ≤ upper: u ≥ 0 at the lower bound, u ≤ 0 at the upper one, u = 0 between them.
    /// A frictionless contact or a joint limit has [0, ∞), a motor or dry joint friction [−τ, τ].
    Boxed {
        /// Lower bound, −∞ allowed.
        lower: f64,
        /// Upper bound, +∞ allowed.
        upper: f64,
    },
    /// Coulomb friction: ‖r_T‖ ≤ μ r_N, with 1 (plane), 2 (space) or 3 (space with torsion) tangential components.
    Cone {
        /// Number of components, normal included: 2, 3 or 4.
        rows: usize,
        /// Friction coefficient μ ≥ 0.
        mu: f64,
    },
    /// Coulomb and rolling friction, components (N, T₁, T₂, M₁, M₂): ‖r_T‖ ≤ μ r_N and ‖r_M‖ ≤ μ_r r_N.
    Rolling {
        /// Friction coefficient μ ≥ 0.
        mu: f64,
        /// Rolling friction coefficient μ_r ≥ 0, in the unit of the moment components.
        mu_r: f64,
    },
}

/// Largest number of rows of a contact law.
pub(crate) const MAX_CONTACT_ROWS: usize = 5;

impl Law {
    /// Number of components.
    pub fn rows(&self) -> usize {
        match *self {
            Self::Equality { rows } | Self::Cone { rows, .. } => rows,
            Self::Boxed { .. } => 1,
            Self::Rolling { .. } => 5,
        }
    }

    /// True if rows, bounds and coefficients are admissible.
    pub fn is_legal(&self) -> bool {
        let coefficient = |mu: f64| mu.is_finite() && mu >= 0.0;
        match *self {
            Self::Equality { rows } => rows > 0,
            Self::Boxed { lower, upper } => lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY,
            Self::Cone { rows, mu } => (2..=4).contains(&rows) && coefficient(mu),
            Self::Rolling { mu, mu_r } => coefficient(mu) && coefficient(mu_r),
        }
    }

    /// Law of impulses and velocities that are both multiplied by `factor`. Bounds are multiplied by it, cones stay the same.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Boxed { lower, upper } if factor != 1.0 => {
                Self::Boxed { lower: lower * factor, upper: upper * factor }
            }
            law => law,
        }
    }

    /// De Saxcé correction of the normal velocity: û_N = u_N + μ ‖u_T‖ (+ μ_r ‖u_M‖).   [CONE-2]
    #[inline]
    pub fn de_saxce_correction(&self, u: &[f64]) -> f64 {
        match (*self, u) {
            (Self::Cone { mu, .. }, [_, tangential @ ..]) => mu * norm(tangential),
            (Self::Rolling { mu, mu_r }, [_, t1, t2, m1, m2]) => mu * norm(&[*t1, *t2]) + mu_r * norm(&[*m1, *m2]),
            _ => 0.0,
        }
    }

    /// Euclidean projection of `r` onto K, in place.   [CONE-3]
    #[inline]
    pub fn project(&self, r: &mut [f64]) {
        match (*self, r) {
            (Self::Boxed { lower, upper }, [r]) => *r = r.max(lower).min(upper),
            (Self::Cone { mu, .. }, [normal, tangential @ ..]) => {
                let length = norm(tangential);
                let n = projected_normal(*normal, [(length, mu)]);
                shrink(tangential, length, mu * n);
                *normal = n;
            }
            (Self::Rolling { mu, mu_r }, [normal, t1, t2, m1, m2]) => {
                let (slide, roll) = (norm(&[*t1, *t2]), norm(&[*m1, *m2]));
                let n = projected_normal(*normal, [(slide, mu), (roll, mu_r)]);
                let (mut t, mut m) = ([*t1, *t2], [*m1, *m2]);
                shrink(&mut t, slide, mu * n);
                shrink(&mut m, roll, mu_r * n);
                ([*t1, *t2], [*m1, *m2], *normal) = (t, m, n);
            }
            _ => {}
        }
    }
}

/// Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Scales a vector of known length down to at most `limit`.
fn shrink(x: &mut [f64], length: f64, limit: f64) {
    if length > limit {
        let factor = limit / length;
        for x in x {
            *x *= factor;
        }
    }
}

/// Normal component of the projection onto {‖r_k‖ ≤ μ_k n for all k}.
///
/// It minimises ½ (n − r_N)² + Σ ½ max(0, ‖r_k‖ − μ_k n)² over n ≥ 0, so n = (r_N + Σ μ_k ‖r_k‖) / (1 + Σ μ_k²) with the sums over
/// the violated cones.   [CONE-3]
fn projected_normal<const K: usize>(r_n: f64, mut parts: [(f64, f64); K]) -> f64 {
    // Cones in descending order of their breakpoints ‖r_k‖/μ_k: as n grows, the first one stays violated longest.
    parts.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
    let (mut numerator, mut denominator) = (r_n, 1.0);
    for (length, mu) in parts {
        let n = numerator / denominator;
        if length <= mu * n.max(0.0) {
            break;
        }
        numerator += mu * length;
        denominator += mu * mu;
    }
    (numerator / denominator).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least squared distance over a fine grid of normal components.
    fn least_distance_on_grid(r: &[f64], law: Law) -> f64 {
        let distance = |n: f64| {
            let part = |x: &[f64], mu: f64| (norm(x) - mu * n).max(0.0).powi(2);
            let rest = match law {
                Law::Cone { mu, .. } => part(&r[1..], mu),
                Law::Rolling { mu, mu_r } => part(&r[1..3], mu) + part(&r[3..], mu_r),
                _ => 0.0,
            };
            (n - r[0]).powi(2) + rest
        };
        (0..=40_000).map(|k| distance(f64::from(k) * 2e-4)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn projections_are_nearest_points() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 * 4.0 - 4.0
        };
        let laws = [
            Law::Cone { rows: 2, mu: 0.3 },
            Law::Cone { rows: 3, mu: 1.4 },
            Law::Cone { rows: 4, mu: 0.0 },
            Law::Rolling { mu: 0.5, mu_r: 0.1 },
            Law::Rolling { mu: 0.2, mu_r: 2.0 },
        ];
        for law in laws {
            for _ in 0..200 {
                let r: Vec<f64> = (0..law.rows()).map(|_| random() + 2.0).collect();
                let mut p = r.clone();
                law.project(&mut p);
                let ours: f64 = r.iter().zip(&p).map(|(a, b)| (a - b).powi(2)).sum();
                assert!(ours <= least_distance_on_grid(&r, law) + 1e-9, "{law:?} {r:?} -> {p:?}");
                let mut again = p.clone();
                law.project(&mut again);
                assert!(p.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-14), "{law:?} not idempotent at {r:?}");
            }
        }
    }
}
