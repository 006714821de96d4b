//! Pressure distributions as points with loads.

use nalgebra::{Matrix2, Vector2};

/// Error of an illegal pressure distribution or limit surface.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PressureError {
    /// Points and loads do not match.
    #[error("there are {points} points and {loads} loads: each point needs one, and there must be one at least")]
    Count {
        /// Number of points.
        points: usize,
        /// Number of loads.
        loads: usize,
    },
    /// A position or load that is not finite, or a negative load.
    #[error("point {0} is not finite, or its load is negative or not finite")]
    Point(usize),
    /// All loads are zero.
    #[error("the loads add up to zero")]
    Weightless,
    /// A limit surface needs a force and a torque.
    #[error(
        "a limit surface needs a positive force and a torque that is not negative, but has {force} N and {torque} N m"
    )]
    Limits {
        /// The largest force, N.
        force: f64,
        /// The largest torque, N m.
        torque: f64,
    },
    /// A lever or radius that is negative or not finite.
    #[error("a lever or radius must be finite and not negative, but is {0}")]
    Lever(f64),
}

/// A distribution whose loads add up to one.
pub(super) struct Pressure {
    /// Centre of pressure.
    pub(super) centre: Vector2<f64>,
    /// Positions relative to the centre, and fractions of the load.
    pub(super) parts: Vec<(Vector2<f64>, f64)>,
}

impl Pressure {
    pub(super) fn new(points: &[[f64; 2]], loads: &[f64]) -> Result<Self, PressureError> {
        if points.is_empty() || points.len() != loads.len() {
            return Err(PressureError::Count { points: points.len(), loads: loads.len() });
        }
        let legal =
            |(point, load): (&[f64; 2], &f64)| point.iter().all(|x| x.is_finite()) && (0.0..1e300).contains(load);
        if let Some(index) = points.iter().zip(loads).position(|part| !legal(part)) {
            return Err(PressureError::Point(index));
        }
        let total: f64 = loads.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(PressureError::Weightless);
        }
        let parts = || points.iter().map(|&point| Vector2::from(point)).zip(loads.iter().map(|load| load / total));
        let centre = parts().fold(Vector2::zeros(), |sum, (point, fraction)| sum + point * fraction);
        Ok(Self { centre, parts: parts().map(|(point, fraction)| (point - centre, fraction)).collect() })
    }

    /// Σ p x xᵀ about the centre.
    pub(super) fn covariance(&self) -> Matrix2<f64> {
        self.parts.iter().fold(Matrix2::zeros(), |sum, (x, fraction)| sum + x * x.transpose() * *fraction)
    }

    /// P(v, ω) = Σ p |v + ω × x|, v being the velocity of the centre.   [SUP-2]
    pub(super) fn power(&self, v: Vector2<f64>, omega: f64) -> f64 {
        self.parts.iter().map(|(x, fraction)| fraction * (v + omega * Vector2::new(-x.y, x.x)).norm()).sum()
    }
}

/// P(v, ω) = Σ p |v + ω × x| of a pressure distribution, per unit of μ and load, v being the velocity of its centre.   [SUP-2]
pub fn dissipation(points: &[[f64; 2]], loads: &[f64], v: [f64; 2], omega: f64) -> Result<f64, PressureError> {
    Ok(Pressure::new(points, loads)?.power(v.into(), omega))
}
