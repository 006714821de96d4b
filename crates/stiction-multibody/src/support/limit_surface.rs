//! Limit surfaces: the friction of a patch as that of a few support points with levers.
//!
//! The dissipation of a patch, P(v, ω) = μ N ∫ p |v + ω × x| dx, is the support function of its limit surface. Force and torque are the
//! derivatives of P.   [SUP-2] An ellipsoid, one support point with a lever at the centre of pressure, is a rough approximation. If it is
//! exact for pure sliding and pure rotation, it is 6 % too strong for a disc that rotates about its rim. Sums of ellipsoids at one
//! position are even stronger. Support points around the centre reduce the error:
//!
//! ```text
//! P(v, ω) ≈ μ N [ (1 − b)/4 Σ_j √(|v + ω × ρ₀ S d_j|² + e₀² ω²) + b/12 Σ_k √(|v + ω × ρ₁ S e_k|² + e₁² ω²) ],     S Sᵀ = 2 ∫ p x xᵀ dx        [SUP-2]
//! ```
//!
//! with d_j a square and e_k a regular dodecagon. Pure sliding is exact, and the fraction b makes pure rotation exact. The distances ρ and
//! levers e minimise the worst error over a grid. Every term is a support point, so that steps need no other law.

use nalgebra::{Matrix2, SymmetricEigen, Vector2};

use super::pressure::{Pressure, PressureError};

/// Number of support points of the outer polygon. The error of n points against a ring is about 2/(4 n² − 1).
const OUTER: usize = 12;

/// Number of support points of the inner polygon, which is rotated by half the angle between two of them.
const INNER: usize = 4;

/// Levers of the grid, in units of the mean distance ∫ p |x| of the pressure from its centre.
const LEVERS: [f64; 10] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6];

/// Distances ρ₁ of the outer polygon in the grid.
const OUTER_DISTANCES: [f64; 21] = [
    0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0, 1.025, 1.05, 1.075, 1.1, 1.125, 1.15, 1.175, 1.2, 1.225, 1.25, 1.275, 1.3,
    1.35, 1.4,
];

/// Distances ρ₀ of the inner polygon in the grid.
const INNER_DISTANCES: [f64; 9] = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Numbers of the motions of the fit: ratios from pure sliding to pure rotation, and directions, a number that no polygon has.
const FITTED: (usize, usize) = (33, 23);

/// Weight of the error of the force, averaged over all directions, against the worst error of P.
const FORCE_WEIGHT: f64 = 0.1;

/// Weight of the error of the torque. The torque decides how far a part rotates that slides fast and spins slowly.
const TORQUE_WEIGHT: f64 = 0.25;

/// Least fraction of P to which errors of force and torque are relative.
const SMALL: f64 = 1e-3;

/// Distance of the fraction b from [0, 1] up to which it is clamped: a ring is fitted by one polygon.
const ROUNDING: f64 = 1e-9;

/// Numbers of ratios and directions of the motions at which the error is measured.
const MEASURED: (usize, usize) = (65, 37);

/// Number of rings, and of points on each, that discretise a uniform disc.
const DISC: (usize, usize) = (16, 36);

/// Friction of a patch as support points with fractions of the load and levers.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSurface {
    /// Centre of pressure in the body frame, m.
    pub centre: [f64; 2],
    /// Support points whose friction adds up to it.
    pub points: Vec<LimitPoint>,
    /// Largest relative error of P(v, ω) against the distribution it was fitted to; zero for a surface that was given.
    pub error: f64,
}

/// One support point of a limit surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitPoint {
    /// Its position in the body frame, m.
    pub point: [f64; 2],
    /// Its fraction of the load.
    pub fraction: f64,
    /// Its lever, m: alone it is the ellipsoid |f|² + (τ/lever)² ≤ (μ fraction N)².
    pub lever: f64,
}

impl LimitSurface {
    /// The ellipsoid with this lever, at the origin of the body.
    pub fn ellipsoid(lever: f64) -> Result<Self, PressureError> {
        if !(lever.is_finite() && lever >= 0.0) {
            return Err(PressureError::Lever(lever));
        }
        let support_point = LimitPoint { point: [0.0; 2], fraction: 1.0, lever };
        Ok(Self { centre: [0.0; 2], points: vec![support_point], error: 0.0 })
    }

    /// Limit surface of a uniformly loaded disc around the origin of the body.
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

    /// Fits a pressure distribution; [`Self::error`] is the error of the fit.
    pub fn of_pressure(points: &[[f64; 2]], loads: &[f64]) -> Result<Self, PressureError> {
        let pressure = Pressure::new(points, loads)?;
        let mean: f64 = pressure.parts.iter().map(|(x, fraction)| fraction * x.norm()).sum();
        if mean == 0.0 {
            let centre = pressure.centre.into();
            return Ok(Self {
                centre,
                points: vec![LimitPoint { point: centre, fraction: 1.0, lever: 0.0 }],
                error: 0.0,
            });
        }
        let support_points = Fit::new(&pressure, mean).best();
        let worst = |(v, omega)| (power(&support_points, v, omega).0 / pressure.power(v, omega) - 1.0).abs();
        let error = motions(MEASURED, mean).map(worst).fold(0.0, f64::max);
        let place = |support_point: &SupportPoint| LimitPoint {
            point: (pressure.centre + support_point.arm).into(),
            fraction: support_point.fraction,
            lever: support_point.lever,
        };
        Ok(Self { centre: pressure.centre.into(), points: support_points.iter().map(place).collect(), error })
    }

    /// P(v, ω) per unit of μ and load, v being the velocity of the centre.   [SUP-2]
    pub fn power(&self, v: [f64; 2], omega: f64) -> f64 {
        let arm = |support_point: &LimitPoint| Vector2::from(support_point.point) - Vector2::from(self.centre);
        let support_points = self.points.iter().map(|support_point| SupportPoint {
            arm: arm(support_point),
            fraction: support_point.fraction,
            lever: support_point.lever,
        });
        support_points.map(|support_point| support_point.power(v.into(), omega)).sum()
    }
}

/// A support point, with its arm from the centre of pressure.
#[derive(Clone, Copy)]
struct SupportPoint {
    arm: Vector2<f64>,
    fraction: f64,
    lever: f64,
}

impl SupportPoint {
    fn slip(&self, v: Vector2<f64>, omega: f64) -> Vector2<f64> {
        v + omega * Vector2::new(-self.arm.y, self.arm.x)
    }

    fn power(&self, v: Vector2<f64>, omega: f64) -> f64 {
        let turning = self.lever * omega;
        self.fraction * (self.slip(v, omega).norm_squared() + turning * turning).sqrt()
    }

    /// Power v · ∂P/∂v of its force at the centre.
    fn power_of_force(&self, v: Vector2<f64>, omega: f64) -> f64 {
        let (slip, power) = (self.slip(v, omega), self.power(v, omega));
        if power > 0.0 { self.fraction * self.fraction * slip.dot(&v) / power } else { 0.0 }
    }
}

/// P of support points, and the part of it due to their force; the rest is due to their torque.
fn power(support_points: &[SupportPoint], v: Vector2<f64>, omega: f64) -> (f64, f64) {
    support_points.iter().fold((0.0, 0.0), |(whole, force), support_point| {
        (whole + support_point.power(v, omega), force + support_point.power_of_force(v, omega))
    })
}

/// Motions of size one from pure sliding to pure rotation: |v| = cos s, ω ∫ p |x| = sin s, v in all directions.
fn motions((ratios, directions): (usize, usize), mean: f64) -> impl Iterator<Item = (Vector2<f64>, f64)> {
    (0..ratios).flat_map(move |k| {
        let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_2 * k as f64 / (ratios - 1) as f64);
        (0..directions).map(move |j| {
            let (y, x) = libm::sincos(std::f64::consts::TAU * j as f64 / directions as f64);
            (Vector2::new(x, y) * cos, sin / mean)
        })
    })
}

/// Support points on a polygon with equal fractions of one, and their dissipation at all motions: P and the part of the force.
struct Polygon {
    support_points: Vec<SupportPoint>,
    turning: f64,
    powers: Vec<(f64, f64)>,
}

/// Problem of the fit.
struct Fit {
    mean: f64,
    /// S, with S Sᵀ = 2 ∫ p x xᵀ: maps a ring of radius one onto one with the second moments of the pressure.
    stretch: Matrix2<f64>,
    motions: Vec<(Vector2<f64>, f64)>,
    /// P of the pressure and the part of its force, at all motions.
    powers: Vec<(f64, f64)>,
}

impl Fit {
    fn new(pressure: &Pressure, mean: f64) -> Self {
        // At the ends, pure sliding and pure rotation, P is exact and one of the derivatives is zero.
        let (ratios, directions) = FITTED;
        let motions: Vec<_> = motions(FITTED, mean).skip(directions).take((ratios - 2) * directions).collect();
        debug_assert_eq!(motions.len(), (ratios - 2) * directions, "the fit leaves out the two ends only");
        let parts: Vec<_> =
            pressure.parts.iter().map(|&(arm, fraction)| SupportPoint { arm, fraction, lever: 0.0 }).collect();
        let powers = motions.iter().map(|&(v, omega)| power(&parts, v, omega)).collect();
        Self { mean, stretch: root(&(pressure.covariance() * 2.0)), motions, powers }
    }

    /// Support points with the smallest worst error.
    fn best(&self) -> Vec<SupportPoint> {
        let inner: Vec<_> = self.polygons(INNER, 0.5, &INNER_DISTANCES).collect();
        let mut best = (f64::INFINITY, Vec::new());
        for outer in self.polygons(OUTER, 0.0, &OUTER_DISTANCES) {
            for inner in &inner {
                // (1 − b) P_inner(0, 1) + b P_outer(0, 1) = ∫ p |x|.
                let b = (self.mean - inner.turning) / (outer.turning - inner.turning);
                if !(-ROUNDING..=1.0 + ROUNDING).contains(&b) {
                    continue;
                }
                let b = b.clamp(0.0, 1.0);
                let worst = self.error(b, inner, &outer, best.0);
                if worst < best.0 {
                    let scaled = |support_point: &SupportPoint, factor: f64| SupportPoint {
                        fraction: factor * support_point.fraction,
                        ..*support_point
                    };
                    let inner = inner.support_points.iter().map(|support_point| scaled(support_point, 1.0 - b));
                    best = (
                        worst,
                        inner
                            .chain(outer.support_points.iter().map(|support_point| scaled(support_point, b)))
                            .collect(),
                    );
                }
            }
        }
        best.1.retain(|support_point| support_point.fraction > 0.0);
        best.1
    }

    /// Largest error of P, and of force and torque averaged over all directions. Stops once the error is above `limit`.
    fn error(&self, b: f64, inner: &Polygon, outer: &Polygon, limit: f64) -> f64 {
        debug_assert_eq!(inner.powers.len(), self.powers.len(), "the inner polygon has one power per motion");
        debug_assert_eq!(outer.powers.len(), self.powers.len(), "the outer polygon has one power per motion");
        let directions = FITTED.1;
        let mut worst = 0.0_f64;
        let rows = inner.powers.chunks(directions).zip(outer.powers.chunks(directions));
        for ((inner, outer), exact) in rows.zip(self.powers.chunks(directions)) {
            let (mut force_error, mut torque_error) = (0.0, 0.0);
            for ((inner, outer), exact) in inner.iter().zip(outer).zip(exact) {
                let (whole, force) = ((1.0 - b) * inner.0 + b * outer.0, (1.0 - b) * inner.1 + b * outer.1);
                worst = worst.max((whole / exact.0 - 1.0).abs());
                let relative = |ours: f64, exact: f64, least: f64| (ours - exact) / exact.max(least);
                let least = SMALL * exact.0;
                force_error += relative(force, exact.1, least);
                torque_error += relative(whole - force, exact.0 - exact.1, least);
            }
            let mean = |sum: f64| sum.abs() / directions as f64;
            worst = worst.max(FORCE_WEIGHT * mean(force_error)).max(TORQUE_WEIGHT * mean(torque_error));
            if worst > limit {
                break;
            }
        }
        worst
    }

    /// Polygons ρ S e_k with `count` support points, at all distances and with all levers; `turn` is a fraction of the angle
    /// between two points.
    fn polygons(&self, count: usize, turn: f64, distances: &[f64]) -> impl Iterator<Item = Polygon> {
        let all = distances.iter().flat_map(|&distance| LEVERS.map(|lever| (distance, lever * self.mean)));
        all.map(move |(distance, lever)| {
            let place = |k: usize| {
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * (k as f64 + turn) / count as f64);
                let arm = self.stretch * Vector2::new(cos, sin) * distance;
                SupportPoint { arm, fraction: 1.0 / count as f64, lever }
            };
            let support_points: Vec<_> = (0..count).map(place).collect();
            let powers = self.motions.iter().map(|&(v, omega)| power(&support_points, v, omega)).collect();
            Polygon { turning: power(&support_points, Vector2::zeros(), 1.0).0, powers, support_points }
        })
    }
}

/// Symmetric square root of a positive semi-definite matrix.
fn root(matrix: &Matrix2<f64>) -> Matrix2<f64> {
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::new(*matrix);
    eigenvectors * Matrix2::from_diagonal(&eigenvalues.map(|x| x.max(0.0).sqrt())) * eigenvectors.transpose()
}
