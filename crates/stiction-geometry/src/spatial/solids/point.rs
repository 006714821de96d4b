//! Points.

use nalgebra::Vector3;

use super::{ConvexSolid, Figure, Shape};
use crate::implicit::{Build, Convex};
use crate::moments::Moments;

pub(super) struct Point;

impl Shape {
    /// Creates the origin as a shape.
    pub fn point() -> Self {
        Self::Point
    }
}

impl ConvexSolid for Point {
    fn name(&self) -> &'static str {
        "point"
    }

    fn functions(&self, build: Build) -> Convex {
        build.cuboid(&[0.0; 3])
    }

    fn support(&self, _direction: &Vector3<f64>) -> Option<f64> {
        Some(0.0)
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn moments(&self) -> Option<Moments> {
        None
    }

    fn figure(&self) -> Option<Figure> {
        Some(Figure::Point)
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::point()]
    }
}
