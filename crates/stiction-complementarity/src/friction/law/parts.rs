//! Parts of the friction of a contact: groups of rows that have one friction limit in common, such as those of sliding and those of rolling.

use std::ops::{Deref, Range};

/// Largest number of parts of a law.
pub(crate) const MAX_PARTS: usize = 2;

/// Rows of a contact with the common limit ‖r_k‖ ≤ μ_k r_N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    /// First row in the block; row 0 is the normal.
    pub(crate) first: usize,
    /// Number of rows: 1, 2 or 3.
    pub(crate) rows: usize,
    /// Friction coefficient μ_k ≥ 0.
    pub(crate) mu: f64,
}

impl Part {
    /// Rows in the block.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.first..self.first + self.rows
    }
}

/// Parts of a law, in the order of their rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    list: [Part; MAX_PARTS],
    count: usize,
}

impl Parts {
    /// One part of `rows` rows.
    #[inline]
    pub(super) fn one(rows: usize, mu: f64) -> Self {
        Self { list: [Part { first: 1, rows, mu }, Part::default()], count: 1 }
    }

    /// Two parts one after the other.
    #[inline]
    pub(super) fn two((rows, mu): (usize, f64), (more, mu_r): (usize, f64)) -> Self {
        Self { list: [Part { first: 1, rows, mu }, Part { first: 1 + rows, rows: more, mu: mu_r }], count: 2 }
    }

    /// Friction coefficient of the first part.
    #[inline]
    pub(crate) fn mu(&self) -> f64 {
        self.list[0].mu
    }
}

impl Deref for Parts {
    type Target = [Part];

    #[inline]
    fn deref(&self) -> &[Part] {
        &self.list[..self.count.min(MAX_PARTS)]
    }
}

/// Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Scales a vector of known length down to at most `limit`.
pub(super) fn shrink(x: &mut [f64], length: f64, limit: f64) {
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
pub(super) fn projected_normal<const K: usize>(r_n: f64, mut parts: [(f64, f64); K]) -> f64 {
    // Cones in descending order of their breakpoints ‖r_k‖/μ_k: as n grows, the first one stays violated longest.
    parts.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
    let (mut numerator, mut denominator) = (r_n, 1.0);
    // A part without friction does not change n. Its breakpoint may be 0/0, so it must not end the loop either.
    for (length, mu) in parts.into_iter().filter(|(_, mu)| *mu > 0.0) {
        let n = numerator / denominator;
        if length <= mu * n.max(0.0) {
            break;
        }
        numerator += mu * length;
        denominator += mu * mu;
    }
    (numerator / denominator).max(0.0)
}

/// True for a friction coefficient that a law can have.
pub(super) fn is_coefficient(mu: f64) -> bool {
    mu.is_finite() && mu >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::law::{Kind, Law};

    pub(super) fn numbers(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 * 4.0 - 4.0
        }
    }

    fn parts(law: &Law) -> Parts {
        match law.kind() {
            Kind::Contact(parts) => parts,
            other => panic!("{other:?} has no friction"),
        }
    }

    /// Least squared distance over a fine grid of normal components.
    fn least_distance_on_grid(r: &[f64], law: Law) -> f64 {
        let parts = parts(&law);
        let distance = |n: f64| {
            let excess = |part: &Part| (norm(&r[part.range()]) - part.mu * n).max(0.0).powi(2);
            (n - r[0]).powi(2) + parts.iter().map(excess).sum::<f64>()
        };
        (0..=40_000).map(|k| distance(f64::from(k) * 2e-4)).fold(f64::INFINITY, f64::min)
    }

    fn laws() -> [Law; 10] {
        [
            Law::Cone { rows: 2, mu: 0.3 },
            Law::Cone { rows: 3, mu: 1.4 },
            Law::Cone { rows: 4, mu: 0.0 },
            Law::Rolling { rows: 3, mu: 0.4, mu_r: 1.0 },
            Law::Rolling { rows: 4, mu: 0.4, mu_r: 0.3 },
            Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.1 },
            Law::Rolling { rows: 5, mu: 0.2, mu_r: 2.0 },
            Law::Rolling { rows: 6, mu: 0.6, mu_r: 1.0 },
            Law::Rolling { rows: 3, mu: 0.0, mu_r: 0.5 },
            Law::Rolling { rows: 5, mu: 0.7, mu_r: 0.0 },
        ]
    }

    #[test]
    fn parts_cover_all_rows_but_the_normal() {
        for law in laws() {
            let rows: Vec<usize> = parts(&law).iter().flat_map(Part::range).collect();
            assert_eq!(rows, (1..law.rows()).collect::<Vec<_>>(), "{law:?}");
            assert!(law.is_legal());
        }
        assert!(!Law::Rolling { rows: 2, mu: 0.1, mu_r: 0.1 }.is_legal());
        assert!(!Law::Rolling { rows: 7, mu: 0.1, mu_r: 0.1 }.is_legal());
        assert!(!Law::Rolling { rows: 5, mu: 0.1, mu_r: f64::NAN }.is_legal());
    }

    #[test]
    fn projections_are_nearest_points() {
        let mut random = numbers(1);
        for law in laws() {
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

    /// A part with neither friction nor impulse does not hide that another one is violated.
    #[test]
    fn a_part_of_zeros_leaves_the_projection_to_the_others() {
        let mut r = [1.0, 0.0, 3.0];
        Law::Rolling { rows: 3, mu: 0.0, mu_r: 1.0 }.project(&mut r);
        assert_eq!(r, [2.0, 0.0, 2.0]);
    }

    /// The correction is the largest power that friction at its limits takes from the motion, per unit of the normal impulse.   [CONE-2]
    #[test]
    fn corrections_are_powers_of_friction_at_its_limits() {
        let mut random = numbers(5);
        for law in laws() {
            for _ in 0..100 {
                let u: Vec<f64> = (0..law.rows()).map(|_| random() + 2.0).collect();
                let limits = parts(&law).iter().map(|part| part.mu * norm(&u[part.range()])).sum::<f64>();
                assert!((law.de_saxce_correction(&u) - limits).abs() <= 1e-15 * limits, "{law:?} at {u:?}");
            }
        }
    }

    /// Impulses and velocities that satisfy the law in every combination of stick and slip have a residual of rounding.
    #[test]
    fn the_natural_map_is_zero_where_each_part_sticks_or_slips() {
        let mut random = numbers(9);
        for law in laws() {
            for modes in 0..1_u32 << parts(&law).len() {
                let (mut r, mut u) = (vec![0.0; law.rows()], vec![0.0; law.rows()]);
                r[0] = 1.5;
                for (k, part) in parts(&law).iter().enumerate() {
                    let slips = modes & (1 << k) != 0;
                    let direction: Vec<f64> = part.range().map(|_| random() + 2.0).collect();
                    let size = norm(&direction);
                    for (row, x) in part.range().zip(&direction) {
                        r[row] = if slips { -part.mu * r[0] } else { 0.4 * part.mu * r[0] } * x / size;
                        u[row] = if slips { *x } else { 0.0 };
                    }
                }
                assert!(law.violation_squared(&r, &u) < 1e-30, "{law:?} {r:?} {u:?}");
                u[0] = 0.1;
                assert!(law.violation_squared(&r, &u) > 1e-4, "{law:?} {r:?} {u:?}");
            }
        }
    }
}
