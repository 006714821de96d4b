//! Ellipsoids.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::{ConvexSolid, Shape, size};
use crate::ShapeError;
use crate::implicit::{Build, Convex, Function};
use crate::moments::Moments;

pub(super) struct Ellipsoid {
    pub(super) semi_axes: [f64; 3],
}

impl Shape {
    /// Creates an ellipsoid about the origin with the given semi-axes.
    pub fn ellipsoid(semi_axes: [f64; 3]) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of an ellipsoid", semi_axis)?;
        }
        Ok(Self::Ellipsoid { semi_axes })
    }
}

impl ConvexSolid for Ellipsoid {
    fn name(&self) -> &'static str {
        "ellipsoid"
    }

    fn functions(&self, build: Build) -> Convex {
        build.central([Function::quadric(self.semi_axes)], self.radius_bound())
    }

    /// |A d| with A the semi-axes.   [GEOM-8]
    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        Some(direction.component_mul(&Vector3::from(self.semi_axes)).norm())
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(Vector3::from(self.semi_axes).amax())
    }

    fn moments(&self) -> Option<Moments> {
        let a = self.semi_axes;
        Some(Moments::symmetric(4.0 / 3.0 * PI * a[0] * a[1] * a[2], a.map(|a| a * a / 5.0)))
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        [[0.3, 0.5, 0.9], [0.7, 0.7, 0.7]].map(|semi_axes| Shape::ellipsoid(semi_axes).unwrap()).to_vec()
    }
}
