//! Balls.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::{ConvexSolid, Figure, Shape, size};
use crate::ShapeError;
use crate::implicit::{Build, Convex};
use crate::moments::Moments;

pub(super) struct Sphere {
    pub(super) radius: f64,
}

impl Shape {
    /// Creates a ball about the origin.
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Sphere { radius: size("the radius of a sphere", radius)? })
    }
}

impl ConvexSolid for Sphere {
    fn name(&self) -> &'static str {
        "sphere"
    }

    fn functions(&self, build: Build) -> Convex {
        build.ball(self.radius)
    }

    fn support(&self, _direction: &Vector3<f64>) -> Option<f64> {
        Some(self.radius)
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(self.radius)
    }

    fn moments(&self) -> Option<Moments> {
        let r = self.radius;
        Some(Moments::symmetric(4.0 / 3.0 * PI * r * r * r, [r * r / 5.0; 3]))
    }

    fn figure(&self) -> Option<Figure> {
        Some(Figure::Ball { radius: self.radius })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::sphere(0.7).unwrap()]
    }
}
