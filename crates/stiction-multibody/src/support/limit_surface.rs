//! Limit surfaces: the friction of a patch as that of few feet with levers.
//!
//! What a patch dissipates decides its limit surface: P(v, ω) = μ N ∫ p |v + ω × x| dx is its support function.   [SUP-2] An ellipsoid, one foot with
//! a lever at the centre of pressure, is a rough copy: made right for pure sliding and pure turning, it is 6 % too strong for a disc that turns
//! about its rim, and sums of ellipsoids at one place are stronger still. Feet around the centre bring it down:
//!
//! ```text
//! P(v, ω) ≈ μ N [ (1 − b) √(|v|² + e₀² ω²) + b/8 Σ_k √(|v + ω × ρ S e_k|² + e₁² ω²) ],      S Sᵀ = 2 ∫ p x xᵀ dx                [SUP-2]
//! ```
//!
//! with e_k a regular octagon. The share b makes pure turning exact, pure sliding is; e₀, ρ and e₁ are those with the smallest worst error
//! over a grid. Every term is a foot, so a step meets nothing new.

use nalgebra::{Matrix2, SymmetricEigen, Vector2};

use super::pressure::{Pressure, PressureError};

/// Feet around the centre. The error of n feet against a ring is about 2/(4 n² − 1).
const AROUND: usize = 8;

/// Levers tried, in units of the mean distance ∫ p |x| of the pressure from its centre.
const LEVERS: [f64; 10] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2];

/// Distances ρ tried.
const DISTANCES: [f64; 9] = [0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2];

/// Motions fitted: from pure sliding to pure turning, each in so many directions.
const FITTED: (usize, usize) = (33, 24);

/// Motions the error is measured at.
const MEASURED: (usize, usize) = (101, 36);

/// Rings and points on each that stand for a uniform disc.
const DISC: (usize, usize) = (24, 48);

/// A patch's friction as feet with shares of the load and levers.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSurface {
    /// Centre of pressure in the body frame, m.
    pub centre: [f64; 2],
    /// The feet whose friction it is the sum of.
    pub feet: Vec<LimitFoot>,
    /// The worst relative error of P(v, ω) against the distribution it was fitted to; zero for a surface that was given.
    pub error: f64,
}

/// One foot of a limit surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitFoot {
    /// Its place in the body frame, m.
    pub point: [f64; 2],
    /// Its share of the load.
    pub share: f64,
    /// Its lever, m: alone it is the ellipsoid |f|² + (τ/lever)² ≤ (μ share N)².
    pub lever: f64,
}

impl LimitSurface {
    /// The ellipsoid with this lever, at the origin of the body.
    pub fn ellipsoid(lever: f64) -> Result<Self, PressureError> {
        if !(lever.is_finite() && lever >= 0.0) {
            return Err(PressureError::Lever(lever));
        }
        let foot = LimitFoot { point: [0.0; 2], share: 1.0, lever };
        Ok(Self { centre: [0.0; 2], feet: vec![foot], error: 0.0 })
    }

    /// That of a uniformly loaded disc around the origin of the body.
    pub fn uniform_disc(radius: f64) -> Result<Self, PressureError> {
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(PressureError::Lever(radius));
        }
        let (rings, spokes) = DISC;
        let place = |k: usize| {
            // Rings of equal area, each with its points at its mean radius.
            let edge = |ring: usize| (ring as f64 / rings as f64).sqrt();
            let (inner, outer) = (edge(k / spokes), edge(k / spokes + 1));
            let mean = radius * 2.0 / 3.0 * rings as f64 * (outer * outer * outer - inner * inner * inner);
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * (k % spokes) as f64 / spokes as f64);
            [mean * cos, mean * sin]
        };
        let points: Vec<_> = (0..rings * spokes).map(place).collect();
        Self::of_pressure(&points, &vec![1.0; points.len()])
    }

    /// The fit to a pressure distribution; [`Self::error`] tells how good it is.
    pub fn of_pressure(points: &[[f64; 2]], loads: &[f64]) -> Result<Self, PressureError> {
        let pressure = Pressure::new(points, loads)?;
        let mean: f64 = pressure.parts.iter().map(|(x, share)| share * x.norm()).sum();
        let feet = if mean > 0.0 { Fit::new(&pressure, mean).best() } else { vec![Foot::default()] };
        let worst =
            |motion: (Vector2<f64>, f64)| (power(&feet, motion) / pressure.power(motion.0, motion.1) - 1.0).abs();
        let error = if mean > 0.0 { motions(MEASURED, mean).map(worst).fold(0.0, f64::max) } else { 0.0 };
        let place = |foot: &Foot| LimitFoot {
            point: (pressure.centre + foot.arm).into(),
            share: foot.share,
            lever: foot.lever,
        };
        Ok(Self { centre: pressure.centre.into(), feet: feet.iter().map(place).collect(), error })
    }

    /// P(v, ω) per unit of μ and load, v being the velocity of the centre.   [SUP-2]
    pub fn power(&self, v: [f64; 2], omega: f64) -> f64 {
        let arm = |foot: &LimitFoot| Vector2::from(foot.point) - Vector2::from(self.centre);
        let feet = self.feet.iter().map(|foot| Foot { arm: arm(foot), share: foot.share, lever: foot.lever });
        feet.map(|foot| foot.power((v.into(), omega))).sum()
    }
}

/// A foot, from the centre of pressure.
#[derive(Clone, Copy)]
struct Foot {
    arm: Vector2<f64>,
    share: f64,
    lever: f64,
}

impl Default for Foot {
    fn default() -> Self {
        Self { arm: Vector2::zeros(), share: 1.0, lever: 0.0 }
    }
}

impl Foot {
    fn power(&self, (v, omega): (Vector2<f64>, f64)) -> f64 {
        let slip = v + omega * Vector2::new(-self.arm.y, self.arm.x);
        self.share * libm::hypot(slip.norm(), self.lever * omega)
    }
}

fn power(feet: &[Foot], motion: (Vector2<f64>, f64)) -> f64 {
    feet.iter().map(|foot| foot.power(motion)).sum()
}

/// Motions of size one from pure sliding to pure turning: |v| = cos s, ω ∫ p |x| = sin s, v in all directions.
fn motions((shares, directions): (usize, usize), mean: f64) -> impl Iterator<Item = (Vector2<f64>, f64)> {
    (0..shares).flat_map(move |k| {
        let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_2 * k as f64 / (shares - 1) as f64);
        (0..directions).map(move |j| {
            let (y, x) = libm::sincos(std::f64::consts::TAU * j as f64 / directions as f64);
            (Vector2::new(x, y) * cos, sin / mean)
        })
    })
}

/// What is fitted, and the parts a fit is made of.
struct Fit {
    mean: f64,
    /// S, with S Sᵀ = 2 ∫ p x xᵀ: it maps a ring of radius one onto one with the second moments of the pressure.
    stretch: Matrix2<f64>,
    /// For each lever, P of a foot at the centre relative to that of the pressure, at all motions.
    central: Vec<Vec<f64>>,
    motions: Vec<(Vector2<f64>, f64)>,
    /// P of the pressure at all motions.
    powers: Vec<f64>,
}

impl Fit {
    fn new(pressure: &Pressure, mean: f64) -> Self {
        let motions: Vec<_> = motions(FITTED, mean).collect();
        let powers: Vec<_> = motions.iter().map(|&(v, omega)| pressure.power(v, omega)).collect();
        let mut fit =
            Self { mean, stretch: root(&(pressure.covariance() * 2.0)), central: Vec::new(), motions, powers };
        let central = |&lever: &f64| fit.relative(&[Foot { lever: lever * mean, ..Foot::default() }]);
        fit.central = LEVERS.iter().map(central).collect();
        fit
    }

    /// The feet whose worst error is the smallest.
    fn best(&self) -> Vec<Foot> {
        let mut best = (f64::INFINITY, Vec::new());
        for (&distance, &lever) in
            DISTANCES.iter().flat_map(|distance| LEVERS.iter().map(move |lever| (distance, lever)))
        {
            let around = self.octagon(distance, lever);
            let powers = self.relative(&around);
            let turning = power(&around, (Vector2::zeros(), 1.0)) / self.mean;
            for (&inner, central) in LEVERS.iter().zip(&self.central) {
                // (1 − b) e₀ + b P_around(0, 1) = ∫ p |x|.
                let b = (1.0 - inner) / (turning - inner);
                if !(0.0..=1.0).contains(&b) {
                    continue;
                }
                let error = |(centre, around): (&f64, &f64)| ((1.0 - b) * centre + b * around - 1.0).abs();
                let worst = central.iter().zip(&powers).map(error).fold(0.0, f64::max);
                if worst < best.0 {
                    let share = b / AROUND as f64;
                    let around = around.iter().map(|foot| Foot { share, ..*foot });
                    let centre = Foot { share: 1.0 - b, lever: inner * self.mean, ..Foot::default() };
                    best = (worst, std::iter::once(centre).chain(around).collect());
                }
            }
        }
        best.1.retain(|foot| foot.share > 0.0);
        best.1
    }

    /// ρ S e_k with equal shares of one.
    fn octagon(&self, distance: f64, lever: f64) -> Vec<Foot> {
        let place = |k: usize| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / AROUND as f64);
            let arm = self.stretch * Vector2::new(cos, sin) * distance;
            Foot { arm, share: 1.0 / AROUND as f64, lever: lever * self.mean }
        };
        (0..AROUND).map(place).collect()
    }

    /// P of feet over that of the pressure, at all motions.
    fn relative(&self, feet: &[Foot]) -> Vec<f64> {
        self.motions.iter().zip(&self.powers).map(|(&motion, exact)| power(feet, motion) / exact).collect()
    }
}

/// The symmetric root of a matrix without negative eigenvalues.
fn root(matrix: &Matrix2<f64>) -> Matrix2<f64> {
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(*matrix);
    eigenvectors * Matrix2::from_diagonal(&eigenvalues.map(|x| x.max(0.0).sqrt())) * eigenvectors.transpose()
}
