//! Half-spaces.

use nalgebra::{Unit, Vector3};

use super::{ConvexSolid, Figure, Shape};
use crate::ShapeError;
use crate::implicit::{Build, Convex};
use crate::moments::Moments;

pub(super) struct HalfSpace {
    pub(super) normal: Unit<Vector3<f64>>,
}

impl Shape {
    /// Creates the half-space below the plane through the origin with the given outward normal.
    pub fn half_space(normal: Vector3<f64>) -> Result<Self, ShapeError> {
        // Scaling by the largest component keeps the norm of very long and very short vectors representable.
        let scale = normal.amax();
        if !(scale.is_normal() && normal.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::BadDirection { what: "the normal of a half-space" });
        }
        Ok(Self::HalfSpace { normal: Unit::new_normalize(normal / scale) })
    }
}

impl ConvexSolid for HalfSpace {
    fn name(&self) -> &'static str {
        "half-space"
    }

    fn functions(&self, build: Build) -> Convex {
        build.half_space(self.normal.into_inner())
    }

    fn support(&self, _direction: &Vector3<f64>) -> Option<f64> {
        None
    }

    fn radius_bound(&self) -> Option<f64> {
        None
    }

    fn moments(&self) -> Option<Moments> {
        None
    }

    fn figure(&self) -> Option<Figure> {
        Some(Figure::HalfSpace { normal: self.normal.into_inner() })
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        vec![Shape::half_space(Vector3::new(0.1, -0.4, 0.8)).unwrap()]
    }
}
