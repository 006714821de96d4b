//! The union of planar and spatial shapes.

use nalgebra::Vector3;

use crate::implicit::{Buffer, Convex, ConvexPart};
use crate::{Dimension, Pose, broad_phase::Aabb, planar, spatial};

/// A shape, in the plane or in space.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A shape in the plane.
    Planar(planar::Shape),
    /// A shape in space.
    Spatial(spatial::Shape),
}

impl Shape {
    /// Returns the dimension of the shape.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Planar(_) => Dimension::Planar,
            Self::Spatial(_) => Dimension::Spatial,
        }
    }

    /// Returns the name used in messages and files, such as `capsule`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Planar(shape) => shape.name(),
            Self::Spatial(shape) => shape.name(),
        }
    }

    /// Returns the smallest axis-aligned box around the shape at a pose; `None` for an unbounded shape.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        match self {
            Self::Planar(shape) => shape.aabb(pose),
            Self::Spatial(shape) => shape.aabb(pose),
        }
    }

    /// Returns the smallest axis-aligned box around the shape at a pose, with infinite unbounded sides; `None` if all
    /// sides are infinite.
    pub fn extent(&self, pose: &Pose) -> Option<Aabb> {
        let normal = match self {
            Self::Planar(planar::Shape::HalfPlane { normal }) => Vector3::new(normal.x, normal.y, 0.0),
            Self::Spatial(spatial::Shape::HalfSpace { normal }) => normal.into_inner(),
            _ => return self.aabb(pose),
        };
        Aabb::of_half_space(&pose.translation.vector, &(pose.rotation * normal))
    }

    /// Returns the distance of the farthest point from the shape's own origin; `None` for an unbounded shape.
    pub fn radius_bound(&self) -> Option<f64> {
        match self {
            Self::Planar(shape) => shape.radius_bound(),
            Self::Spatial(shape) => shape.radius_bound(),
        }
    }

    /// Returns the shape as an intersection of convex functions; `None` for a polygon that is not convex.
    pub fn convex(&self) -> Option<Convex> {
        match self {
            Self::Planar(shape) => planar::convex(shape, Buffer::default()),
            Self::Spatial(shape) => Some(spatial::convex(shape, Buffer::default())),
        }
    }
}

impl ConvexPart {
    /// A convex shape at a pose; `None` for a polygon that is not convex.
    pub fn shape(shape: &Shape, pose: &Pose) -> Option<Self> {
        Some(Self::placed(&shape.convex()?, shape.dimension(), pose))
    }
}

impl From<planar::Shape> for Shape {
    fn from(shape: planar::Shape) -> Self {
        Self::Planar(shape)
    }
}

impl From<spatial::Shape> for Shape {
    fn from(shape: spatial::Shape) -> Self {
        Self::Spatial(shape)
    }
}
