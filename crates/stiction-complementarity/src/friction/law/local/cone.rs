//! Local problem of a contact with Coulomb friction and T tangential directions: open, stick or slip.   [GS-2] [GS-3]

use super::small::{SMALLEST_PIVOT, SmallLu, dot, largest, times};
use super::{LocalMode, MultiplierWarmStart, root};

/// Least compactified multiplier y of the search if C is singular: λ is then about this fraction of the mean diagonal of C. It is halfway
/// between the rounding of C and 1, on a logarithmic scale.
const LEAST_MULTIPLIER: f64 = 1e-8;

/// Refinements of the sticking impulse if C is singular. Along an eigenvector of C each reduces the error by the factor λ/(λ + eigenvalue), with the
/// least λ.
const REFINEMENTS: usize = 2;

/// Inverse of C. Two tangential directions, the common case, use Cramer's rule, which with an exact determinant leaves velocities as small as
/// elimination does. Other sizes use elimination.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inverse<const T: usize> {
    Cramer,
    Elimination(SmallLu<T>),
}

/// Local problem, as far as it depends on A only. The normal row of u = A r + g with u_N = 0 gives r_N; the rest is u_T = C r_T + d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConeBlock<const T: usize> {
    mu: f64,
    a_nn: f64,
    a_nt: [f64; T],
    /// 1/A_NN and A_TN/A_NN.
    inverse_nn: f64,
    tn_by_nn: [f64; T],
    /// C = A_TT − A_TN A_NT / A_NN.
    c: [[f64; T]; T],
    /// Inverse of C; none if it is singular.
    inverse: Option<Inverse<T>>,
    /// Determinant of C if T = 2, to the last bits.
    determinant: f64,
    /// Mean diagonal tr C / T, the unit of the slip multiplier; the size of A where tr C is rounding. Positive if A_NN is.
    mean: f64,
}

impl<const T: usize> ConeBlock<T> {
    /// Prepares the problem with matrix A, row by row, of (T + 1)² entries.
    pub(crate) fn new(mu: f64, a: &[f64]) -> Self {
        debug_assert_eq!(a.len(), (T + 1) * (T + 1), "A is square with T + 1 rows");
        let at = |i: usize, j: usize| a.get(i * (T + 1) + j).copied().unwrap_or(0.0);
        let (a_nn, a_nt, a_tn) =
            (at(0, 0), std::array::from_fn(|j| at(0, j + 1)), std::array::from_fn(|i| at(i + 1, 0)));
        let a_tt = std::array::from_fn(|i| std::array::from_fn(|j| at(i + 1, j + 1)));
        Self::from_parts(mu, a_nn, a_nt, a_tn, a_tt, largest(&a_tt))
    }

    /// Prepares the problem from the blocks of A; `size` is the magnitude of the entries from which A_TT was computed.
    pub(super) fn from_parts(
        mu: f64,
        a_nn: f64,
        a_nt: [f64; T],
        a_tn: [f64; T],
        a_tt: [[f64; T]; T],
        size: f64,
    ) -> Self {
        let mut c = a_tt;
        let (inverse_nn, tn_by_nn) = if a_nn > 0.0 { (1.0 / a_nn, a_tn.map(|a| a / a_nn)) } else { (0.0, [0.0; T]) };
        for (row, ratio) in c.iter_mut().zip(&tn_by_nn) {
            row.iter_mut().zip(&a_nt).for_each(|(c, a_nt)| *c -= ratio * a_nt);
        }
        let trace = (0..T).map(|k| c[k][k]).sum::<f64>();
        // The multiplier needs a unit even if friction impulses do not change the velocity.
        let mean = if trace > SMALLEST_PIVOT * size { trace / T as f64 } else { size.max(a_nn) };
        let (determinant, inverse) = if T == 2 {
            let determinant = determinant(&c);
            let pivot = determinant / largest(&c);
            (determinant, (pivot > SMALLEST_PIVOT * size).then_some(Inverse::Cramer))
        } else {
            (0.0, SmallLu::new(c, size).map(Inverse::Elimination))
        };
        Self { mu, a_nn, a_nt, inverse_nn, tn_by_nn, c, inverse, determinant, mean }
    }

    /// Solves the problem for g into r, both with T + 1 entries.
    pub(super) fn solve_slices(&self, g: &[f64], r: &mut [f64], warm_start: &mut MultiplierWarmStart) -> LocalMode {
        debug_assert!(g.len() == T + 1 && r.len() == T + 1, "g and r have T + 1 rows");
        let ([g_n, g_t @ ..], [r_n, r_t @ ..]) = (g, r) else { return LocalMode::Unsolved };
        let (Some(g_t), true) = (g_t.first_chunk::<T>(), r_t.len() == T) else { return LocalMode::Unsolved };
        let (mode, normal, tangential) = self.solve(*g_n, g_t, &mut warm_start.multiplier);
        *r_n = normal;
        r_t.copy_from_slice(&tangential);
        mode
    }

    /// Solves the problem; returns (mode, r_N, r_T). `y` is the initial guess of the compactified slip multiplier, and then its value.
    pub(crate) fn solve(&self, g_n: f64, g_t: &[f64; T], y: &mut f64) -> (LocalMode, f64, [f64; T]) {
        if g_n >= 0.0 {
            return (LocalMode::Open, 0.0, [0.0; T]);
        }
        if self.a_nn <= 0.0 || self.a_nn.is_nan() {
            return (LocalMode::Unsolved, 0.0, [0.0; T]);
        }
        if self.mu == 0.0 {
            return (LocalMode::Slip, -g_n * self.inverse_nn, [0.0; T]);
        }
        let d: [f64; T] = std::array::from_fn(|k| g_t[k] - self.tn_by_nn[k] * g_n);
        let (p, least) = match self.inverse {
            Some(Inverse::Cramer) => (cramer(&self.c, self.determinant, &d), 0.0),
            Some(Inverse::Elimination(factors)) => (factors.solve(&d), 0.0),
            None => (self.solve_singular(&d), LEAST_MULTIPLIER),
        };
        let (length, normal) = (dot(&p, &p).sqrt(), self.normal(g_n, &p));
        // φ = ‖r_T‖ − μ r_N is positive outside of the cone.
        let excess = length - self.mu * normal;
        if excess <= 0.0 {
            return (LocalMode::Stick, normal, p.map(|p| -p));
        }
        let (normal, tangential) = self.slip(g_n, &d, (least, excess), y);
        (LocalMode::Slip, normal, tangential)
    }

    /// Solves the consistent singular system C p = d by proximal steps p ← p + (C + λ)⁻¹ (d − C p) from p = 0 with the least λ.
    fn solve_singular(&self, d: &[f64; T]) -> [f64; T] {
        let (mut p, _) = self.tangential(LEAST_MULTIPLIER, d);
        for _ in 0..REFINEMENTS {
            let c_p = times(&self.c, &p);
            let (step, _) = self.tangential(LEAST_MULTIPLIER, &std::array::from_fn(|k| d[k] - c_p[k]));
            p.iter_mut().zip(step).for_each(|(p, step)| *p += step);
        }
        p
    }

    /// Normal impulse with u_N = 0 for r_T = −p.
    fn normal(&self, g_n: f64, p: &[f64; T]) -> f64 {
        (dot(&self.a_nt, p) - g_n) * self.inverse_nn
    }

    /// p = −r_T = (C + λ I)⁻¹ d and dp/dy at the multiplier λ = mean · y/(1 − y).   [GS-3]
    ///
    /// It solves ((1−y) C + mean y I) p = (1−y) d, which is regular at both ends of [0, 1].
    fn tangential(&self, y: f64, d: &[f64; T]) -> ([f64; T], [f64; T]) {
        let x = 1.0 - y;
        let mut s = self.c.map(|row| row.map(|c| x * c));
        (0..T).for_each(|k| s[k][k] += self.mean * y);
        let right = d.map(|d| x * d);
        let slope_right = |p: &[f64; T]| {
            let c_p = times(&self.c, p);
            std::array::from_fn(|k| c_p[k] - d[k] - self.mean * p[k])
        };
        if T == 2 {
            // All terms are positive: det S = x² det C + mean y (x tr C + mean y).
            let regularisation = self.mean * y;
            let determinant =
                x * x * self.determinant + regularisation * (x * (self.c[0][0] + self.c[1][1]) + regularisation);
            let p = cramer(&s, determinant, &right);
            return (p, cramer(&s, determinant, &slope_right(&p)));
        }
        let Some(factors) = SmallLu::new(s, self.mean * y) else { return ([0.0; T], [0.0; T]) };
        let p = factors.solve(&right);
        (p, factors.solve(&slope_right(&p)))
    }

    /// Solves for slip: root of φ(y) in (least, 1). φ is positive at `least`, because sticking fails, and negative at 1, because g_N < 0.
    fn slip(&self, g_n: f64, d: &[f64; T], (least, excess): (f64, f64), y: &mut f64) -> (f64, [f64; T]) {
        let at_one = self.mu * g_n * self.inverse_nn;
        // φ is linear in y if C is isotropic, in particular with one tangential direction.
        let linear = excess / (excess - at_one);
        let start = if *y > 0.0 { *y } else { linear };
        let p = if T == 2 {
            self.slip_in_space(g_n, d, (least, start), y)
        } else {
            *y = if T == 1 && self.inverse.is_some() {
                linear
            } else {
                root::newton(least, 1.0, start, |y| {
                    let (p, slope) = self.tangential(y, d);
                    let length = dot(&p, &p).sqrt();
                    let change = dot(&p, &slope) / length - self.mu * dot(&self.a_nt, &slope) * self.inverse_nn;
                    (length - self.mu * self.normal(g_n, &p), change)
                })
            };
            self.tangential(*y, d).0
        };
        let length = dot(&p, &p).sqrt();
        let e = if length > 0.0 { p.map(|p| p / length) } else { [0.0; T] };
        // With known direction, u_N = 0 and the cone hold to rounding, however large C⁻¹ is.   [GS-3]
        let normal = -g_n / (self.a_nn - self.mu * dot(&self.a_nt, &e));
        (normal, e.map(|e| -self.mu * normal * e))
    }

    /// Root of φ for T = 2; returns a vector along p there.   [GS-9]
    ///
    /// By Cramer's rule D p = x (x a + y b) with a = adj(C) d and b = mean d. D = det S is positive, so D φ has the same root, without
    /// divisions:
    /// D φ = x √(α x² + 2 β x y + γ y²) + ρ₀ x² + ρ₁ x y + ρ₂ y².
    fn slip_in_space(&self, g_n: f64, d: &[f64; T], (least, start): (f64, f64), y: &mut f64) -> [f64; T] {
        let a = cramer(&self.c, 1.0, d);
        let b = d.map(|d| self.mean * d);
        let (alpha, beta, gamma) = (dot(&a, &a), dot(&a, &b), dot(&b, &b));
        let factor = self.mu * self.inverse_nn;
        let trace = self.c[0][0] + self.c[1][1];
        let rho_0 = factor * (g_n * self.determinant - dot(&self.a_nt, &a));
        let rho_1 = factor * (g_n * self.mean * trace - dot(&self.a_nt, &b));
        let rho_2 = factor * g_n * self.mean * self.mean;
        *y = root::newton(least, 1.0, start, |y| {
            let x = 1.0 - y;
            let length = (x * (alpha * x + 2.0 * beta * y) + gamma * y * y).sqrt();
            let slope = (beta * (x - y) - alpha * x + gamma * y) / length;
            let value = x * length + x * (rho_0 * x + rho_1 * y) + rho_2 * y * y;
            (value, x * slope - length - 2.0 * rho_0 * x + rho_1 * (x - y) + 2.0 * rho_2 * y)
        });
        std::array::from_fn(|k| (1.0 - *y) * a[k] + *y * b[k])
    }
}

/// Determinant with a compensated second product, whose rounding error is added back by a fused multiply-add.
fn determinant<const T: usize>(c: &[[f64; T]; T]) -> f64 {
    let product = c[0][1] * c[1][0];
    let error = c[0][1].mul_add(-c[1][0], product);
    c[0][0].mul_add(c[1][1], -product) + error
}

/// Solves S x = b with two unknowns by Cramer's rule.
fn cramer<const T: usize>(s: &[[f64; T]; T], determinant: f64, b: &[f64; T]) -> [f64; T] {
    let inverse = 1.0 / determinant;
    let x = [(s[1][1] * b[0] - s[0][1] * b[1]) * inverse, (s[0][0] * b[1] - s[1][0] * b[0]) * inverse];
    std::array::from_fn(|k| x[k])
}
