//! Capsules.

use nalgebra::Vector3;

use super::{ConvexSolid, Figure, Shape, size};
use crate::ShapeError;
use crate::implicit::{Build, Convex, Function};
use crate::moments::Moments;

pub(super) struct Capsule {
    pub(super) half_length: f64,
    pub(super) radius: f64,
}

impl Shape {
    /// Creates a capsule along the local x axis.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule {
            half_length: size("the half length of a capsule", half_length)?,
            radius: size("the radius of a capsule", radius)?,
        })
    }
}

impl ConvexSolid for Capsule {
    fn name(&self) -> &'static str {
        "capsule"
    }

    fn functions(&self, build: Build) -> Convex {
        let function = Function::Segment { half_length: self.half_length, radius: self.radius, flat: false };
        build.central([function], self.radius_bound())
    }

    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        Some(direction.x.abs() * self.half_length + self.radius)
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(self.half_length + self.radius)
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::capsule(self.half_length, self.radius))
    }

    fn figure(&self) -> Option<Figure> {
        Some(Figure::Capsule { half_length: self.half_length, radius: self.radius })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::capsule(0.6, 0.3).unwrap()]
    }
}
