//! User-defined solids.

use nalgebra::{Point3, Vector3};

use super::{ConvexSolid, Shape};
use crate::broad_phase::Aabb;
use crate::implicit::{Build, Convex, ConvexPart, Implicit};
use crate::moments::Moments;
use crate::spatial::ConvexPolyhedron;
use crate::{Dimension, Pose, ShapeError};

impl Shape {
    /// Creates the intersection of convex shapes and functions: a polyhedron if all are flat and enclose a volume,
    /// else an implicit solid.
    pub fn intersection(parts: impl IntoIterator<Item = ConvexPart>) -> Result<Self, ShapeError> {
        let implicit = Implicit::intersection(Dimension::Spatial, parts)?;
        Ok(match implicit.corners() {
            Some(corners) => {
                let corners: Vec<_> = corners.into_iter().map(Point3::from).collect();
                ConvexPolyhedron::from_points(&corners).map_or(Self::Implicit(implicit), Self::Polyhedron)
            }
            None => Self::Implicit(implicit),
        })
    }
}

impl ConvexSolid for Implicit {
    fn name(&self) -> &'static str {
        "implicit shape"
    }

    fn functions(&self, _build: Build) -> Convex {
        self.convex().clone()
    }

    fn support(&self, _direction: &Vector3<f64>) -> Option<f64> {
        None
    }

    fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        self.aabb(pose)
    }

    fn radius_bound(&self) -> Option<f64> {
        self.radius_bound()
    }

    fn moments(&self) -> Option<Moments> {
        None
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        let ball: crate::Shape = Shape::sphere(0.8).unwrap().into();
        let at = |x: f64| ConvexPart::shape(&ball, &Pose::translation(x, 0.0, 0.1)).unwrap();
        vec![Shape::intersection([at(-0.3), at(0.4)]).unwrap()]
    }
}
