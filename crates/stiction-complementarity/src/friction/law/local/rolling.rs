//! Local problem of a contact with Coulomb and rolling friction.   [GS-4]
//!
//! The outer unknown is the multiplier of rolling; the inner problem is the exact solution of the sliding problem. If the sliding problem
//! has several solutions, the outer function may be discontinuous. Then the normal impulse is the outer unknown, and the inner problem
//! is convex with a unique and continuous solution.

use super::cone::ConeBlock;
use super::small::{SmallLu, dot, largest};
use super::{LocalMode, MultiplierWarmStart, root};
use crate::friction::law::{Law, Parts, norm};

/// Least compactified multiplier y of rolling in the outer search if the moment block A_MM is singular.
const LEAST_MULTIPLIER: f64 = 1e-12;

/// Largest relative violation [CONE-5] of a successful search, relative to the numbers it is computed from; a discontinuity leaves far more.
const MAX_RELATIVE_VIOLATION: f64 = 1e-12;

/// Largest change of an impulse by the final linear solve, relative to the normal impulse.
const MAX_CORRECTION: f64 = 1e-4;

/// Largest number of doublings of the normal impulse in the search for an upper bound: a factor 1e30.
const MAX_DOUBLINGS: usize = 100;

/// Proximal term ε of a singular A, relative to its largest entry: far above the rounding of A, far below its eigenvalues that are not zero.   [GS-5]
const PROXIMAL: f64 = 1e-5;

/// Largest number of proximal steps; each reduces the error by a factor of about ε over the least nonzero eigenvalue of A.
const MAX_PROXIMAL_STEPS: usize = 20;

/// Local problem in one of the sizes of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RollingBlock {
    /// One component of sliding, one of rolling.
    Plane(Block<3, 1, 1>),
    /// Two components of sliding, one of torsion.
    TorsionAlone(Block<4, 2, 1>),
    /// Two components of sliding, two of rolling.
    Space(Block<5, 2, 2>),
    /// Two components of sliding and one of torsion, two of rolling.
    SpaceWithTorsion(Block<6, 3, 2>),
}

impl RollingBlock {
    /// Prepares the problem of a law with `rows` rows and matrix A, row by row.
    pub(crate) fn new(rows: usize, mu: f64, mu_r: f64, a: &[f64]) -> Self {
        match rows {
            3 => Self::Plane(Block::new(mu, mu_r, a)),
            4 => Self::TorsionAlone(Block::new(mu, mu_r, a)),
            5 => Self::Space(Block::new(mu, mu_r, a)),
            _ => Self::SpaceWithTorsion(Block::new(mu, mu_r, a)),
        }
    }

    /// Prepares the problem of a law with these two parts in the same memory.
    pub(super) fn refill(&mut self, parts: &Parts, a: &[f64]) {
        let rows = 1 + parts.iter().map(|part| part.rows).sum::<usize>();
        *self = Self::new(rows, parts.mu(), parts.last().map_or(0.0, |part| part.mu), a);
    }

    /// Solves the problem for g into r, both with the rows of the law.
    pub(super) fn solve(&self, g: &[f64], r: &mut [f64], warm_start: &mut MultiplierWarmStart) -> LocalMode {
        match self {
            Self::Plane(block) => block.solve(g, r, warm_start),
            Self::TorsionAlone(block) => block.solve(g, r, warm_start),
            Self::Space(block) => block.solve(g, r, warm_start),
            Self::SpaceWithTorsion(block) => block.solve(g, r, warm_start),
        }
    }
}

/// Local problem with matrix A, in components (N, T, M): N = 1 + T + M rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block<const N: usize, const T: usize, const M: usize> {
    mu: f64,
    mu_r: f64,
    a: [[f64; N]; N],
    /// Mean diagonal of the moment block A_MM, the unit of the multiplier of rolling; A_NN if that is zero. Positive if A_NN is.
    mean: f64,
}

/// Candidate solution: impulses, and the friction cones on whose boundary they lie.
#[derive(Clone, Copy)]
struct Candidate<const N: usize> {
    r: [f64; N],
    slides: bool,
    rolls: bool,
    /// Excess ‖r_M‖ − μ_r r_N over the rolling friction limit.
    excess: f64,
}

/// Impulses with their relative violation of the law.
#[derive(Clone, Copy)]
struct Solved<const N: usize> {
    relative_violation: f64,
    r: [f64; N],
    found: Candidate<N>,
}

/// Returns the one of smaller relative violation.
fn better<const N: usize>(a: Option<Solved<N>>, b: Option<Solved<N>>) -> Option<Solved<N>> {
    [a, b].into_iter().flatten().min_by(|a, b| a.relative_violation.total_cmp(&b.relative_violation))
}

impl<const N: usize, const T: usize, const M: usize> Block<N, T, M> {
    /// Prepares the problem with matrix A, row by row, of N² entries.
    pub(super) fn new(mu: f64, mu_r: f64, a: &[f64]) -> Self {
        debug_assert!(a.len() == N * N && N == 1 + T + M, "A is square with N rows");
        let at = |i: usize, j: usize| a.get(i * N + j).copied().unwrap_or(0.0);
        Self::from_matrix(mu, mu_r, std::array::from_fn(|i| std::array::from_fn(|j| at(i, j))))
    }

    fn from_matrix(mu: f64, mu_r: f64, a: [[f64; N]; N]) -> Self {
        let trace = (1 + T..N).map(|k| a[k][k]).sum::<f64>();
        Self { mu, mu_r, a, mean: if trace > f64::MIN_POSITIVE { trace / M as f64 } else { a[0][0] } }
    }

    /// Solves the problem for g into r, both with N entries.
    pub(super) fn solve(&self, g: &[f64], r: &mut [f64], warm_start: &mut MultiplierWarmStart) -> LocalMode {
        debug_assert!(g.len() == N && r.len() == N, "g and r have N rows");
        let (Some(g), true) = (g.first_chunk::<N>(), r.len() == N) else { return LocalMode::Unsolved };
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
    fn search(&self, g: &[f64; N], multiplier: &mut f64) -> Option<Solved<N>> {
        let checked = |found: Candidate<N>| {
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
    fn by_proximal_steps(&self, g: &[f64; N]) -> Option<Solved<N>> {
        let weight = PROXIMAL * largest(&self.a);
        let mut regularised = self.a;
        (0..N).for_each(|k| regularised[k][k] += weight);
        let regularised = Self::from_matrix(self.mu, self.mu_r, regularised);
        let (mut best, mut last): (Option<Solved<N>>, _) = (None, [0.0; N]);
        for _ in 0..MAX_PROXIMAL_STEPS {
            let proximal_g: [f64; N] = std::array::from_fn(|k| g[k] - weight * last[k]);
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

    /// Violation ‖r − P_K(r − û)‖ relative to the numbers it is computed from: the plain formula of [CONE-5], accurate to rounding of r.
    fn relative_violation(&self, g: &[f64; N], r: &[f64; N]) -> f64 {
        let law = Law::Rolling { rows: N, mu: self.mu, mu_r: self.mu_r };
        let u: [f64; N] = std::array::from_fn(|k| g[k] + dot(&self.a[k], r));
        let mut argument: [f64; N] = std::array::from_fn(|k| r[k] - u[k]);
        argument[0] -= law.de_saxce_correction(&u);
        law.project(&mut argument);
        let difference: [f64; N] = std::array::from_fn(|k| r[k] - argument[k]);
        norm(&difference) / (norm(g) + norm(r) * (1.0 + largest(&self.a)))
    }

    /// Searches for the root of ‖r_M‖ − μ_r r_N over the multiplier of rolling, unless rolling sticks.
    fn by_multiplier(&self, g: &[f64; N], multiplier: &mut f64) -> Option<Candidate<N>> {
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

    /// Eliminates r_M = −(A_MM + λ I)⁻¹ (g_M + A_MF r_F) at λ = mean · y/(1 − y) and solves for the force impulse r_F = (r_N, r_T). `multiplier` is the
    /// warm start of the slip multiplier of that sliding problem.
    fn solve_reduced(&self, y: f64, g: &[f64; N], multiplier: &mut f64) -> Option<Candidate<N>> {
        let (x, a) = (1.0 - y, &self.a);
        // Row or column of component k of the moment.
        let m = |k: usize| 1 + T + k;
        let moments: [[f64; M]; M] = std::array::from_fn(|i| std::array::from_fn(|j| a[m(i)][m(j)]));
        let mut s = moments.map(|row| row.map(|a| x * a));
        (0..M).for_each(|k| s[k][k] += self.mean * y);
        let factors = SmallLu::new(s, x * largest(&moments))?;
        // (A_MM + λ)⁻¹ times the columns of A_MF, and times g_M.
        let response = |j: usize| factors.solve(&std::array::from_fn(|k| x * a[m(k)][j]));
        let (on_normal, on_slip): (_, [_; T]) = (response(0), std::array::from_fn(|j| response(1 + j)));
        let free = factors.solve(&std::array::from_fn(|k| x * g[m(k)]));
        let schur_term = |i: usize, b: &[f64; M]| (0..M).map(|k| a[i][m(k)] * b[k]).sum::<f64>();
        let at_normal = |i: usize| a[i][0] - schur_term(i, &on_normal);
        let at_slip = |i: usize| std::array::from_fn(|j| a[i][1 + j] - schur_term(i, &on_slip[j]));
        let force = |i: usize| g[i] - schur_term(i, &free);
        let tangential: [[f64; T]; T] = std::array::from_fn(|i| at_slip(1 + i));
        let sliding: [[f64; T]; T] = std::array::from_fn(|i| std::array::from_fn(|j| a[1 + i][1 + j]));
        let a_tn = std::array::from_fn(|i| at_normal(1 + i));
        let cone = ConeBlock::from_parts(self.mu, at_normal(0), at_slip(0), a_tn, tangential, largest(&sliding));
        let (mode, n, t) = cone.solve(force(0), &std::array::from_fn(|k| force(1 + k)), multiplier);
        let moment: [f64; M] = std::array::from_fn(|k| {
            t.iter().zip(&on_slip).fold(-free[k] - on_normal[k] * n, |sum, (t, response)| sum - response[k] * t)
        });
        let excess = dot(&moment, &moment).sqrt() - self.mu_r * n;
        let r = std::array::from_fn(|k| match k {
            0 => n,
            k if k <= T => t[k - 1],
            k => moment[k - 1 - T],
        });
        Some(Candidate { r, slides: mode == LocalMode::Slip, rolls: false, excess })
    }

    /// Searches for the root of u_N over r_N.
    ///
    /// For a given r_N = n the vectors r_T and r_M lie in discs of radii μ n and μ_r n, and they are the solution of a convex problem. It is solved as
    /// that of a contact with r_N = 1 and coefficients μ n and μ_r n: the normal row becomes r_N − 1 = 0, and g gets n times the normal column of A.
    fn by_normal(&self, g: &[f64; N]) -> Option<Candidate<N>> {
        let mut decoupled = self.a;
        for row in &mut decoupled {
            row[0] = 0.0;
        }
        decoupled[0] = std::array::from_fn(|k| if k == 0 { 1.0 } else { 0.0 });
        let at = |n: f64| {
            let discs = Self::from_matrix(self.mu * n, self.mu_r * n, decoupled);
            let mut g: [f64; N] = std::array::from_fn(|k| g[k] + self.a[k][0] * n);
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
    /// Its equations are u = 0 in the normal row and in sticking rows, and impulses on the boundary of their cones in the others.
    fn refine(&self, g: &[f64; N], found: &Candidate<N>) -> [f64; N] {
        let (mut s, mut b) = (self.a, g.map(|g| -g));
        for (slips, mu, rows) in [(found.slides, self.mu, 1..1 + T), (found.rolls, self.mu_r, 1 + T..N)] {
            let length = norm(&found.r[rows.clone()]);
            for i in rows.filter(|_| slips) {
                s[i] = [0.0; N];
                s[i][i] = 1.0;
                s[i][0] = if length > 0.0 { -mu * found.r[i] / length } else { 0.0 };
                b[i] = 0.0;
            }
        }
        // Only a small correction is accepted: if the block is singular, the system may be singular too.
        let near =
            |r: &[f64; N]| r.iter().zip(&found.r).all(|(r, known)| (r - known).abs() <= MAX_CORRECTION * found.r[0]);
        SmallLu::new(s, largest(&s)).map(|factors| factors.solve(&b)).filter(near).unwrap_or(found.r)
    }
}
