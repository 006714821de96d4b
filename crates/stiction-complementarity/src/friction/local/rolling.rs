//! Local problem of a contact with Coulomb and rolling friction.   [GS-4]
//!
//! The outer unknown is the multiplier of rolling; the inner problem is the exact solution of the sliding problem. If the sliding problem
//! has several solutions, the outer function may be discontinuous. Then the normal impulse is the outer unknown, and the inner problem
//! is convex with a unique and continuous solution.

use super::cone::ConeBlock;
use super::small::{SmallLu, dot, largest};
use super::{LocalMode, MultiplierWarmStart, root};
use crate::friction::law::{Law, norm};

/// Least compactified multiplier y of the outer search if the moment block is singular.
const LEAST_MULTIPLIER: f64 = 1e-12;

/// Largest relative violation [CONE-5] of a successful search, relative to the numbers it is computed from; a discontinuity leaves far more.
const MAX_RELATIVE_VIOLATION: f64 = 1e-12;

/// Largest change of an impulse by the final linear solve, relative to the normal impulse.
const MAX_CORRECTION: f64 = 1e-4;

/// Largest number of doublings of the normal impulse in the search for an upper bound: a factor 1e30.
const MAX_DOUBLINGS: usize = 100;

/// Proximal weight ε relative to the largest entry of A: far above the rounding of A, far below its significant eigenvalues.
const PROXIMAL: f64 = 1e-5;

/// Largest number of proximal steps; each reduces the error by a factor of about ε over the least nonzero eigenvalue of A.
const MAX_PROXIMAL_STEPS: usize = 20;

/// Local problem with matrix A, in components (N, T, M).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollingBlock {
    mu: f64,
    mu_r: f64,
    a: [[f64; 5]; 5],
    /// Mean diagonal of the moment block, the unit of the multiplier of rolling; positive.
    mean: f64,
}

/// Candidate solution: impulses, and the friction cones on whose boundary they lie.
#[derive(Clone, Copy)]
struct Candidate {
    r: [f64; 5],
    slides: bool,
    rolls: bool,
    /// Excess ‖r_M‖ − μ_r r_N over the rolling friction limit.
    excess: f64,
}

/// Impulses with their relative violation of the law.
#[derive(Clone, Copy)]
struct Solved {
    relative_violation: f64,
    r: [f64; 5],
    found: Candidate,
}

/// Returns the one of smaller relative violation.
fn better(a: Option<Solved>, b: Option<Solved>) -> Option<Solved> {
    [a, b].into_iter().flatten().min_by(|a, b| a.relative_violation.total_cmp(&b.relative_violation))
}

impl RollingBlock {
    /// Prepares the problem with matrix A, row by row, of 25 entries.
    pub(super) fn new(mu: f64, mu_r: f64, a: &[f64]) -> Self {
        debug_assert_eq!(a.len(), 25, "A is square with five rows");
        let at = |i: usize, j: usize| a.get(i * 5 + j).copied().unwrap_or(0.0);
        Self::from_matrix(mu, mu_r, std::array::from_fn(|i| std::array::from_fn(|j| at(i, j))))
    }

    fn from_matrix(mu: f64, mu_r: f64, a: [[f64; 5]; 5]) -> Self {
        let trace = a[3][3] + a[4][4];
        Self { mu, mu_r, a, mean: if trace > f64::MIN_POSITIVE { 0.5 * trace } else { a[0][0] } }
    }

    /// Solves the problem for g into r, both with five entries.
    pub(super) fn solve(&self, g: &[f64], r: &mut [f64], warm_start: &mut MultiplierWarmStart) -> LocalMode {
        debug_assert!(g.len() == 5 && r.len() == 5, "g and r have five rows");
        let (Some(g), true) = (g.first_chunk::<5>(), r.len() == 5) else { return LocalMode::Unsolved };
        r.fill(0.0);
        if g[0] >= 0.0 {
            return LocalMode::Open;
        }
        if self.a[0][0] <= 0.0 || self.a[0][0].is_nan() {
            return LocalMode::Unsolved;
        }
        let mut best = self.search(g, &mut warm_start.multiplier);
        if best.is_none_or(|best| best.relative_violation > MAX_RELATIVE_VIOLATION) {
            best = better(best, self.by_proximal_steps(g));
        }
        let Some(solved) = best else { return LocalMode::Unsolved };
        r.copy_from_slice(&solved.r);
        if solved.found.slides || solved.found.rolls { LocalMode::Slip } else { LocalMode::Stick }
    }

    /// Searches over the multiplier; on failure also over r_N. Returns the better result.
    fn search(&self, g: &[f64; 5], multiplier: &mut f64) -> Option<Solved> {
        let checked = |found: Candidate| {
            let r = self.refine(g, &found);
            Solved { relative_violation: self.relative_violation(g, &r), r, found }
        };
        let best = self.by_multiplier(g, multiplier).map(checked);
        if best.is_none_or(|best| best.relative_violation > MAX_RELATIVE_VIOLATION) {
            return better(best, self.by_normal(g).map(checked));
        }
        best
    }

    /// Makes proximal steps for a singular A, for which both searches divide by rounding errors.   [GS-5]
    ///
    /// Each step solves with A + ε for g − ε r with the last r. At convergence both terms cancel, and impulses in the kernel of A do not
    /// change the velocity.
    fn by_proximal_steps(&self, g: &[f64; 5]) -> Option<Solved> {
        let weight = PROXIMAL * largest(&self.a);
        let mut regularised = self.a;
        (0..5).for_each(|k| regularised[k][k] += weight);
        let regularised = Self::from_matrix(self.mu, self.mu_r, regularised);
        let (mut best, mut last): (Option<Solved>, _) = (None, [0.0; 5]);
        for _ in 0..MAX_PROXIMAL_STEPS {
            let proximal_g: [f64; 5] = std::array::from_fn(|k| g[k] - weight * last[k]);
            let Solved { r, found, .. } = regularised.search(&proximal_g, &mut 0.0)?;
            let solved = Solved { relative_violation: self.relative_violation(g, &r), r, found };
            last = r;
            best = better(best, Some(solved));
            if solved.relative_violation <= MAX_RELATIVE_VIOLATION {
                break;
            }
        }
        best
    }

    /// Violation ‖r − P_K(r − û)‖ relative to the numbers it is computed from.   [CONE-5]
    fn relative_violation(&self, g: &[f64; 5], r: &[f64; 5]) -> f64 {
        let law = Law::Rolling { mu: self.mu, mu_r: self.mu_r };
        let u: [f64; 5] = std::array::from_fn(|k| g[k] + dot(&self.a[k], r));
        let mut moved: [f64; 5] = std::array::from_fn(|k| r[k] - u[k]);
        moved[0] -= law.de_saxce_correction(&u);
        law.project(&mut moved);
        let difference: [f64; 5] = std::array::from_fn(|k| r[k] - moved[k]);
        norm(&difference) / (norm(g) + norm(r) * (1.0 + largest(&self.a)))
    }

    /// Searches for the root of ‖r_M‖ − μ_r r_N over the multiplier of rolling, unless rolling sticks.
    fn by_multiplier(&self, g: &[f64; 5], multiplier: &mut f64) -> Option<Candidate> {
        let at_zero = self.solve_reduced(0.0, g, multiplier);
        let least = if at_zero.is_some() { 0.0 } else { LEAST_MULTIPLIER };
        let sticking = at_zero.or_else(|| self.solve_reduced(least, g, multiplier))?;
        if sticking.excess <= 0.0 {
            return Some(sticking);
        }
        let end = self.solve_reduced(1.0, g, multiplier)?;
        let y = root::bracket((least, sticking.excess), (1.0, end.excess), |y| {
            self.solve_reduced(y, g, multiplier).map_or(f64::NAN, |candidate| candidate.excess)
        });
        self.solve_reduced(y, g, multiplier).map(|candidate| Candidate { rolls: true, ..candidate })
    }

    /// Eliminates r_M = −(A_MM + λ I)⁻¹ (g_M + A_MF r_F) at λ = mean · y/(1 − y) and solves for the force impulse r_F = (r_N, r_T).
    fn solve_reduced(&self, y: f64, g: &[f64; 5], multiplier: &mut f64) -> Option<Candidate> {
        let (x, a) = (1.0 - y, &self.a);
        let mut s = [3, 4].map(|i: usize| [x * a[i][3], x * a[i][4]]);
        (0..2).for_each(|k| s[k][k] += self.mean * y);
        let factors = SmallLu::new(s, x * largest(&[[a[3][3], a[3][4]], [a[4][3], a[4][4]]]))?;
        // (A_MM + λ)⁻¹ times the columns of A_MF, and times g_M.
        let response = [0, 1, 2].map(|j: usize| factors.solve(&[x * a[3][j], x * a[4][j]]));
        let free = factors.solve(&[x * g[3], x * g[4]]);
        let less = |i: usize, b: &[f64; 2]| dot(&[a[i][3], a[i][4]], b);
        let at = |i: usize, j: usize| a[i][j] - less(i, &response[j]);
        let force = [0, 1, 2].map(|i| g[i] - less(i, &free));
        let tangential = [[at(1, 1), at(1, 2)], [at(2, 1), at(2, 2)]];
        let size = largest(&[[a[1][1], a[1][2]], [a[2][1], a[2][2]]]);
        let cone =
            ConeBlock::from_parts(self.mu, at(0, 0), [at(0, 1), at(0, 2)], [at(1, 0), at(2, 0)], tangential, size);
        let (mode, n, [t1, t2]) = cone.solve(force[0], &[force[1], force[2]], multiplier);
        let m = [0, 1].map(|k| -free[k] - response[0][k] * n - response[1][k] * t1 - response[2][k] * t2);
        let excess = dot(&m, &m).sqrt() - self.mu_r * n;
        Some(Candidate { r: [n, t1, t2, m[0], m[1]], slides: mode == LocalMode::Slip, rolls: false, excess })
    }

    /// Searches for the root of u_N over r_N.
    ///
    /// At a given r_N the rest is a convex problem with r_T and r_M in two discs: this block with its normal row replaced by 1 · r_N = 1.
    fn by_normal(&self, g: &[f64; 5]) -> Option<Candidate> {
        let mut decoupled = self.a;
        for row in &mut decoupled {
            row[0] = 0.0;
        }
        decoupled[0] = [1.0, 0.0, 0.0, 0.0, 0.0];
        let at = |n: f64| {
            let discs = Self::from_matrix(self.mu * n, self.mu_r * n, decoupled);
            let mut g: [f64; 5] = std::array::from_fn(|k| g[k] + self.a[k][0] * n);
            g[0] = -1.0;
            let mut candidate = discs.by_multiplier(&g, &mut 0.0)?;
            candidate.r[0] = n;
            Some(candidate)
        };
        let normal_velocity = |n: f64| at(n).map_or(f64::NAN, |found| g[0] + dot(&self.a[0], &found.r));
        let mut high = -g[0] / self.a[0][0];
        let mut at_high = normal_velocity(high);
        for _ in 0..MAX_DOUBLINGS {
            if at_high >= 0.0 {
                break;
            }
            high *= 2.0;
            at_high = normal_velocity(high);
        }
        at(root::bracket((0.0, -g[0]), (high, -at_high), |n| -normal_velocity(n)))
    }

    /// Solves the linear system that remains if the slip directions are known, which satisfies the law to rounding.
    ///
    /// Its equations are u = 0 in sticking rows and impulses on the boundary of their cones in the others.
    fn refine(&self, g: &[f64; 5], found: &Candidate) -> [f64; 5] {
        let (mut s, mut b) = (self.a, g.map(|g| -g));
        for (slips, mu, k) in [(found.slides, self.mu, 1), (found.rolls, self.mu_r, 3)] {
            let part = [found.r[k], found.r[k + 1]];
            let length = dot(&part, &part).sqrt();
            for (i, r) in [(k, part[0]), (k + 1, part[1])] {
                if slips {
                    s[i] = [0.0; 5];
                    s[i][i] = 1.0;
                    s[i][0] = if length > 0.0 { -mu * r / length } else { 0.0 };
                    b[i] = 0.0;
                }
            }
        }
        // Only a small correction is accepted: if the block is singular, the system may be singular too.
        let near =
            |r: &[f64; 5]| r.iter().zip(&found.r).all(|(r, known)| (r - known).abs() <= MAX_CORRECTION * found.r[0]);
        SmallLu::new(s, largest(&s)).map(|factors| factors.solve(&b)).filter(near).unwrap_or(found.r)
    }
}
