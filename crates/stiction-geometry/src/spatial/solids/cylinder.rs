//! Cylinders with flat ends.

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3};

use super::figure::on_circle;
use super::{ConvexSolid, Figure, Shape, size};
use crate::ShapeError;
use crate::implicit::{Build, Convex};
use crate::moments::Moments;

pub(super) struct Cylinder {
    pub(super) half_length: f64,
    pub(super) radius: f64,
}

impl Shape {
    /// Creates a solid cylinder along the local x axis.
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder {
            half_length: size("the half length of a cylinder", half_length)?,
            radius: size("the radius of a cylinder", radius)?,
        })
    }
}

impl ConvexSolid for Cylinder {
    fn name(&self) -> &'static str {
        "cylinder"
    }

    fn functions(&self, build: Build) -> Convex {
        build.cylinder(self.half_length, self.radius, self.radius_bound())
    }

    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        let [along, y, z] = (*direction).into();
        Some(along.abs() * self.half_length + (y * y + z * z).sqrt() * self.radius)
    }

    fn radius_bound(&self) -> Option<f64> {
        Some((self.half_length * self.half_length + self.radius * self.radius).sqrt())
    }

    fn moments(&self) -> Option<Moments> {
        let (h, r) = (self.half_length, self.radius);
        Some(Moments::symmetric(2.0 * PI * r * r * h, [h * h / 3.0, r * r / 4.0, r * r / 4.0]))
    }

    /// Two rims and lines between them.
    fn figure(&self) -> Option<Figure> {
        const CORNERS: u32 = 24;
        let corner = |end: f64, k: u32| {
            let [cosine, sine] = on_circle(k, CORNERS);
            Point3::new(end, self.radius * cosine, self.radius * sine)
        };
        let rim = |end: f64| (0..CORNERS).map(move |k| corner(end, k));
        let edges = (0..CORNERS).flat_map(|k| {
            let next = (k + 1) % CORNERS;
            let line = (k % 4 == 0).then_some([k, k + CORNERS]);
            [[k, next], [k + CORNERS, next + CORNERS]].into_iter().chain(line)
        });
        let vertices = rim(-self.half_length).chain(rim(self.half_length)).collect();
        Some(Figure::Wireframe { vertices, edges: edges.collect() })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::cylinder(0.6, 0.4).unwrap()]
    }
}
