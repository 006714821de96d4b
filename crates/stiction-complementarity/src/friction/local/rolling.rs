//! One contact with Coulomb and rolling friction.   [GS-4]
//!
//! A search for the multiplier of rolling around the exact solution of the sliding problem. Where sliding alone has more
//! than one solution that search can meet a jump; then the normal impulse is searched for instead, around a convex problem
//! whose solution is unique and continuous.

use super::cone::ConeBlock;
use super::small::{SmallLu, dot, largest};
use super::{Memory, Regime, root};
use crate::friction::law::{Law, norm};

/// The smallest y of the outer search when the moment block is singular.
const SMALLEST_SHIFT: f64 = 1e-12;

/// What the search for the multiplier may leave of [CONE-5], relative to the numbers in play; a jump leaves far more.
const JUMP: f64 = 1e-12;

/// How far the last linear correction may go, relative to the normal impulse.
const CORRECTION: f64 = 1e-4;

/// The normal impulse is doubled at most so often in search of an upper bound: a factor 1e30.
const DOUBLINGS: usize = 100;

/// The proximal weight ε relative to the largest entry of A: far above the rounding of A, far below what matters.
const PROXIMAL: f64 = 1e-5;

/// Proximal steps at most; each takes the error to about ε over the smallest eigenvalue of A that is not zero.
const PROXIMAL_STEPS: usize = 20;

/// A by components (N, T, M).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollingBlock {
    mu: f64,
    mu_r: f64,
    a: [[f64; 5]; 5],
    /// Half the trace of the moment block, the unit of the multiplier of rolling; positive.
    mean: f64,
}

/// A candidate: impulses, and which of its two cones it touches.
#[derive(Clone, Copy)]
struct Candidate {
    r: [f64; 5],
    slides: bool,
    rolls: bool,
    /// ‖r_M‖ − μ_r r_N.
    excess: f64,
}

/// Impulses with what they leave of the law.
#[derive(Clone, Copy)]
struct Solved {
    violation: f64,
    r: [f64; 5],
    found: Candidate,
}

/// The one of less violation.
fn better(a: Option<Solved>, b: Option<Solved>) -> Option<Solved> {
    [a, b].into_iter().flatten().min_by(|a, b| a.violation.total_cmp(&b.violation))
}

impl RollingBlock {
    pub(super) fn new(mu: f64, mu_r: f64, a: &[f64]) -> Self {
        let at = |i: usize, j: usize| a.get(i * 5 + j).copied().unwrap_or(0.0);
        Self::from_matrix(mu, mu_r, std::array::from_fn(|i| std::array::from_fn(|j| at(i, j))))
    }

    fn from_matrix(mu: f64, mu_r: f64, a: [[f64; 5]; 5]) -> Self {
        let trace = a[3][3] + a[4][4];
        Self { mu, mu_r, a, mean: if trace > f64::MIN_POSITIVE { 0.5 * trace } else { a[0][0] } }
    }

    pub(super) fn solve(&self, g: &[f64], r: &mut [f64], memory: &mut Memory) -> Regime {
        let (Some(g), true) = (g.first_chunk::<5>(), r.len() == 5) else { return Regime::Stuck };
        r.fill(0.0);
        if g[0] >= 0.0 {
            return Regime::Open;
        }
        if self.a[0][0] <= 0.0 || self.a[0][0].is_nan() {
            return Regime::Stuck;
        }
        let mut best = self.search(g, &mut memory.slide);
        if best.is_none_or(|best| best.violation > JUMP) {
            best = better(best, self.by_proximal_steps(g));
        }
        let Some(solved) = best else { return Regime::Stuck };
        r.copy_from_slice(&solved.r);
        if solved.found.slides || solved.found.rolls { Regime::Slip } else { Regime::Stick }
    }

    /// The better of both searches; the second is made only where the first fails.
    fn search(&self, g: &[f64; 5], slide: &mut f64) -> Option<Solved> {
        let measured = |found: Candidate| {
            let r = self.polished(g, &found);
            Solved { violation: self.violation(g, &r), r, found }
        };
        let best = self.by_multiplier(g, slide).map(measured);
        if best.is_none_or(|best| best.violation > JUMP) {
            return better(best, self.by_normal(g).map(measured));
        }
        best
    }

    /// Where A is singular both searches divide by next to nothing. Then A + ε is solved instead, for g − ε r with the last r:
    /// at rest the two terms cancel, and what lies in the kernel of A moves nothing.   [GS-5]
    fn by_proximal_steps(&self, g: &[f64; 5]) -> Option<Solved> {
        let weight = PROXIMAL * largest(&self.a);
        let mut soft = self.a;
        (0..5).for_each(|k| soft[k][k] += weight);
        let soft = Self::from_matrix(self.mu, self.mu_r, soft);
        let (mut best, mut last): (Option<Solved>, _) = (None, [0.0; 5]);
        for _ in 0..PROXIMAL_STEPS {
            let anchored: [f64; 5] = std::array::from_fn(|k| g[k] - weight * last[k]);
            let Solved { r, found, .. } = soft.search(&anchored, &mut 0.0)?;
            let solved = Solved { violation: self.violation(g, &r), r, found };
            last = r;
            best = better(best, Some(solved));
            if solved.violation <= JUMP {
                break;
            }
        }
        best
    }

    /// ‖r − P_K(r − û)‖ relative to the numbers it is computed from.   [CONE-5]
    fn violation(&self, g: &[f64; 5], r: &[f64; 5]) -> f64 {
        let law = Law::Rolling { mu: self.mu, mu_r: self.mu_r };
        let u: [f64; 5] = std::array::from_fn(|k| g[k] + dot(&self.a[k], r));
        let mut moved: [f64; 5] = std::array::from_fn(|k| r[k] - u[k]);
        moved[0] -= law.shift(&u);
        law.project(&mut moved);
        let away: [f64; 5] = std::array::from_fn(|k| r[k] - moved[k]);
        norm(&away) / (norm(g) + norm(r) * (1.0 + largest(&self.a)))
    }

    /// The root of ‖r_M‖ − μ_r r_N over the multiplier of rolling, if rolling cannot stick.
    fn by_multiplier(&self, g: &[f64; 5], slide: &mut f64) -> Option<Candidate> {
        let at_zero = self.reduced(0.0, g, slide);
        let least = if at_zero.is_some() { 0.0 } else { SMALLEST_SHIFT };
        let stuck = at_zero.or_else(|| self.reduced(least, g, slide))?;
        if stuck.excess <= 0.0 {
            return Some(stuck);
        }
        let end = self.reduced(1.0, g, slide)?;
        let y = root::bracket((least, stuck.excess), (1.0, end.excess), |y| {
            self.reduced(y, g, slide).map_or(f64::NAN, |candidate| candidate.excess)
        });
        self.reduced(y, g, slide).map(|candidate| Candidate { rolls: true, ..candidate })
    }

    /// Eliminates r_M = −(A_MM + λ I)⁻¹ (g_M + A_MF r_F) at λ = mean · y/(1 − y), and solves for the force r_F = (r_N, r_T).
    fn reduced(&self, y: f64, g: &[f64; 5], slide: &mut f64) -> Option<Candidate> {
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
        let (regime, n, [t1, t2]) = cone.solve(force[0], &[force[1], force[2]], slide);
        let m = [0, 1].map(|k| -free[k] - response[0][k] * n - response[1][k] * t1 - response[2][k] * t2);
        let excess = dot(&m, &m).sqrt() - self.mu_r * n;
        Some(Candidate { r: [n, t1, t2, m[0], m[1]], slides: regime == Regime::Slip, rolls: false, excess })
    }

    /// The root of u_N over r_N. At a given r_N the rest is a convex problem, r_T and r_M in two discs: this block with its
    /// normal row replaced by 1 · r_N = 1.
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
        for _ in 0..DOUBLINGS {
            if at_high >= 0.0 {
                break;
            }
            high *= 2.0;
            at_high = normal_velocity(high);
        }
        at(root::bracket((0.0, -g[0]), (high, -at_high), |n| -normal_velocity(n)))
    }

    /// With the directions of what slides known, the rest is linear: u = 0 in the rows that stick, impulses on their cones in
    /// the others. This meets the law to rounding, however stiff the block is.
    fn polished(&self, g: &[f64; 5], found: &Candidate) -> [f64; 5] {
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
        // Only a correction is believed: where the block is singular the system may be too.
        let near = |r: &[f64; 5]| r.iter().zip(&found.r).all(|(r, known)| (r - known).abs() <= CORRECTION * found.r[0]);
        SmallLu::new(s, largest(&s)).map(|factors| factors.solve(&b)).filter(near).unwrap_or(found.r)
    }
}
