//! Supports: planar bodies that lie on a surface parallel to the plane and rub on it with known normal loads.
//!
//! A support is a list of feet, each with its share of the weight: three feet whose loads follow from statics, feet with given
//! shares, or few feet with levers whose friction together is a limit surface.

mod build;
mod limit_surface;
mod pressure;
mod tripod;

use nalgebra::Vector3;

use crate::{BodyId, Model};

pub use limit_surface::{LimitPoint, LimitSurface};
pub use pressure::{PressureError, dissipation};
pub use tripod::Tripod;

/// What a body lies on.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// The body whose surface it lies on: the world, an obstacle, a moving table, or another planar body.
    pub on: BodyId,
    /// Where it rests on that.
    pub points: Vec<SupportPoint>,
}

/// A point at which a body presses on its support with a known load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// Place in the body frame; its third component is zero.
    pub point: Vector3<f64>,
    /// Normal load, N.
    pub load: f64,
    /// Coulomb's coefficient μ.
    pub friction: f64,
    /// Lever e_r of torsional friction, m; zero for a point foot.
    pub torsion: f64,
}

impl Model {
    /// All supports in the order of their bodies.
    pub fn supports(&self) -> impl Iterator<Item = (BodyId, &Support)> {
        self.iter_bodies().filter_map(|(id, body)| Some((id, body.support.as_ref()?)))
    }

    /// All feet in the order of their bodies: the body, its support, the place in its list, and the foot.
    pub fn support_points(&self) -> impl Iterator<Item = (BodyId, &Support, usize, &SupportPoint)> {
        self.supports().flat_map(|(id, support)| {
            support.points.iter().enumerate().map(move |(k, support_point)| (id, support, k, support_point))
        })
    }

    /// Number of feet of all bodies.
    pub fn support_point_count(&self) -> usize {
        self.supports().map(|(_, support)| support.points.len()).sum()
    }
}

/// A support to be added with [`crate::ModelBuilder::support`]: on the world and without friction unless told otherwise.
#[derive(Clone, Debug)]
pub struct SupportBuilder {
    on: BodyId,
    friction: Vec<f64>,
    rests: Rests,
}

/// How the weight is shared among the feet.
#[derive(Clone, Debug)]
enum Rests {
    /// By statics.
    Tripod([[f64; 2]; 3]),
    /// As given, up to a factor.
    Shared { points: Vec<[f64; 2]>, shares: Vec<f64> },
    /// As a limit surface does.
    Limit(LimitSurface),
}

impl SupportBuilder {
    fn new(rests: Rests) -> Self {
        Self { on: BodyId::WORLD, friction: vec![0.0], rests }
    }

    /// Three feet in the body frame; statics gives their loads.   [SUP-1]
    pub fn tripod(support_points: [[f64; 2]; 3]) -> Self {
        Self::new(Rests::Tripod(support_points))
    }

    /// Any number of feet in the body frame with their shares of the weight, in any unit: only their ratios count.
    pub fn points(points: impl Into<Vec<[f64; 2]>>, shares: impl Into<Vec<f64>>) -> Self {
        Self::new(Rests::Shared { points: points.into(), shares: shares.into() })
    }

    /// One foot at the centre, all that a particle can have.
    pub fn point() -> Self {
        Self::points([[0.0; 2]], [1.0])
    }

    /// Feet with levers whose friction is that of a limit surface.   [SUP-2]
    pub fn limit_surface(surface: LimitSurface) -> Self {
        Self::new(Rests::Limit(surface))
    }

    /// The friction coefficient μ of all feet.
    #[must_use]
    pub fn friction(self, mu: f64) -> Self {
        self.frictions([mu])
    }

    /// The friction coefficients of the feet, in their order.
    #[must_use]
    pub fn frictions(mut self, mu: impl Into<Vec<f64>>) -> Self {
        self.friction = mu.into();
        self
    }

    /// The body whose surface it lies on.
    #[must_use]
    pub fn on(mut self, body: BodyId) -> Self {
        self.on = body;
        self
    }
}
