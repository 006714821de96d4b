//! Supports: planar bodies on a surface parallel to the plane, with friction and known normal loads.
//!
//! A support is a list of support points, each with a fraction of the weight. There are three kinds: three points whose loads
//! follow from statics, points with given loads, and a few points with levers whose total friction is a limit surface.

mod limit_surface;
mod pressure;
mod tripod;

use nalgebra::Vector3;

use crate::BodyId;

pub use limit_surface::{LimitPoint, LimitSurface};
pub use pressure::{PressureError, dissipation};
pub use tripod::Tripod;
pub(crate) use tripod::load_fractions;

/// Support of a planar body.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Body whose surface it lies on: the world, an obstacle, a moving table, or another planar body.
    pub on: BodyId,
    /// Its support points.
    pub points: Vec<SupportPoint>,
}

/// A point at which a body presses on its support with a known load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportPoint {
    /// Position in the body frame; its third component is zero.
    pub point: Vector3<f64>,
    /// Normal load, N.
    pub load: f64,
    /// Coulomb's coefficient μ.
    pub friction: f64,
    /// Lever e_r of torsional friction, m; zero for a point without torsional friction.
    pub torsion: f64,
}

/// A support to be added with [`crate::ModelBuilder::support`]; by default on the world and without friction.
#[derive(Clone, Debug)]
pub struct SupportBuilder {
    pub(crate) on: BodyId,
    pub(crate) friction: Vec<f64>,
    pub(crate) distribution: LoadDistribution,
}

/// Distribution of the weight over the support points.
#[derive(Clone, Debug)]
pub(crate) enum LoadDistribution {
    /// Three points with loads by statics.
    Tripod([[f64; 2]; 3]),
    /// Points with given loads, up to a common factor.
    Given { points: Vec<[f64; 2]>, loads: Vec<f64> },
    /// Points of a limit surface.
    LimitSurface(LimitSurface),
}

impl SupportBuilder {
    fn new(distribution: LoadDistribution) -> Self {
        Self { on: BodyId::WORLD, friction: vec![0.0], distribution }
    }

    /// Three support points in the body frame; statics gives their loads.   [SUP-1]
    pub fn tripod(support_points: [[f64; 2]; 3]) -> Self {
        Self::new(LoadDistribution::Tripod(support_points))
    }

    /// Any number of support points in the body frame with their loads, in any unit: only the ratios of loads matter.
    pub fn points(points: impl Into<Vec<[f64; 2]>>, loads: impl Into<Vec<f64>>) -> Self {
        Self::new(LoadDistribution::Given { points: points.into(), loads: loads.into() })
    }

    /// One support point at the centre, the only support of a particle.
    pub fn point() -> Self {
        Self::points([[0.0; 2]], [1.0])
    }

    /// Support points with levers whose total friction is that of a limit surface.   [SUP-2]
    pub fn limit_surface(surface: LimitSurface) -> Self {
        Self::new(LoadDistribution::LimitSurface(surface))
    }

    /// Friction coefficient μ of all support points.
    #[must_use]
    pub fn friction(self, mu: f64) -> Self {
        self.frictions([mu])
    }

    /// Friction coefficients of the support points, in their order.
    #[must_use]
    pub fn frictions(mut self, mu: impl Into<Vec<f64>>) -> Self {
        self.friction = mu.into();
        self
    }

    /// Body whose surface it lies on.
    #[must_use]
    pub fn on(mut self, body: BodyId) -> Self {
        self.on = body;
        self
    }
}
