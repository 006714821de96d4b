//! Shapes in the plane and their bounds.

use nalgebra::{Point2, Point3, Unit, Vector2, Vector3};

use super::corners::MAX_LENGTH;
use super::polygon::ConvexPolygon;
use super::simple_polygon::SimplePolygon;
use crate::broad_phase::Aabb;
use crate::implicit::{ConvexPart, Implicit, superellipse_reach, superellipse_support};
use crate::{Dimension, Pose, ShapeError, error};

/// A shape in the plane, in the coordinates of its body; all but one are convex.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// The origin.
    Point,
    /// A disc about the origin.
    Disc {
        /// Radius.
        radius: f64,
    },
    /// All points within `radius` of the segment from −`half_length` to +`half_length` on the local x axis.
    Capsule {
        /// Half the length of the segment.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// A rectangle about the origin, aligned with the local axes.
    Box {
        /// Half the edge lengths along x and y.
        half_extents: [f64; 2],
    },
    /// A convex polygon.
    Polygon(ConvexPolygon),
    /// A polygon that is not convex.
    SimplePolygon(SimplePolygon),
    /// All points x with `normal` · x ≤ 0.
    HalfPlane {
        /// Outward normal of the solid.
        normal: Unit<Vector2<f64>>,
    },
    /// An ellipse about the origin, aligned with the local axes.
    Ellipse {
        /// Semi-axes along x and y.
        semi_axes: [f64; 2],
    },
    /// All points with |x/a|^p + |y/b|^p ≤ 1.
    Superellipse {
        /// Semi-axes a and b along x and y.
        semi_axes: [f64; 2],
        /// Exponent p, at least two.
        exponent: f64,
    },
    /// A convex solid given by functions.
    Implicit(Implicit),
}

impl Shape {
    /// Creates the origin as a shape.
    pub fn point() -> Self {
        Self::Point
    }

    /// Creates a disc about the origin.
    pub fn disc(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Disc { radius: size("the radius of a disc", radius)? })
    }

    /// Creates a capsule along the local x axis.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule {
            half_length: size("the half length of a capsule", half_length)?,
            radius: size("the radius of a capsule", radius)?,
        })
    }

    /// Creates a rectangle about the origin with the given half edge lengths.
    pub fn rectangle(half_extents: [f64; 2]) -> Result<Self, ShapeError> {
        for half_extent in half_extents {
            size("a half extent of a box", half_extent)?;
        }
        Ok(Self::Box { half_extents })
    }

    /// Creates the polygon with the given vertices, counter-clockwise: a [`ConvexPolygon`] if it is convex, else a
    /// [`SimplePolygon`].
    pub fn polygon(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        ConvexPolygon::new(vertices)
            .map(Self::Polygon)
            .or_else(|_| SimplePolygon::new(vertices).map(Self::SimplePolygon))
    }

    /// Creates the convex hull of `points`; see [`ConvexPolygon::from_points`].
    pub fn convex_hull(points: &[Point2<f64>]) -> Result<Self, ShapeError> {
        ConvexPolygon::from_points(points).map(Self::Polygon)
    }

    /// Creates the half-plane below the line through the origin with the given outward normal.
    pub fn half_plane(normal: Vector2<f64>) -> Result<Self, ShapeError> {
        // Scaling by the largest component keeps the norm of very long and very short vectors representable.
        let scale = normal.amax();
        if !(scale.is_normal() && normal.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::BadDirection { what: "the normal of a half-plane" });
        }
        Ok(Self::HalfPlane { normal: Unit::new_normalize(normal / scale) })
    }

    /// Creates an ellipse about the origin with the given semi-axes.
    pub fn ellipse(semi_axes: [f64; 2]) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of an ellipse", semi_axis)?;
        }
        Ok(Self::Ellipse { semi_axes })
    }

    /// Creates a superellipse about the origin with the given semi-axes and an exponent from 2 to 64.
    pub fn superellipse(semi_axes: [f64; 2], exponent: f64) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of a superellipse", semi_axis)?;
        }
        Ok(Self::Superellipse { semi_axes, exponent: error::exponent("the exponent of a superellipse", exponent)? })
    }

    /// Creates the intersection of convex shapes and functions: a polygon if all are flat and enclose an area, else
    /// an implicit solid.
    pub fn intersection(parts: impl IntoIterator<Item = ConvexPart>) -> Result<Self, ShapeError> {
        let implicit = Implicit::intersection(Dimension::Planar, parts)?;
        Ok(match implicit.corners() {
            Some(corners) => {
                let corners: Vec<_> = corners.iter().map(|corner| corner.xy().into()).collect();
                ConvexPolygon::from_points(&corners).map_or(Self::Implicit(implicit), Self::Polygon)
            }
            None => Self::Implicit(implicit),
        })
    }

    /// Returns the name used in messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Disc { .. } => "disc",
            Self::Capsule { .. } => "capsule",
            Self::Box { .. } => "box",
            Self::Polygon(_) | Self::SimplePolygon(_) => "polygon",
            Self::HalfPlane { .. } => "half-plane",
            Self::Ellipse { .. } => "ellipse",
            Self::Superellipse { .. } => "superellipse",
            Self::Implicit(_) => "implicit shape",
        }
    }

    /// Returns the smallest axis-aligned box around the shape at `pose`; `None` for an unbounded shape.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let centre = Point3::from(pose.translation.vector);
        let axes = pose.rotation.matrix().fixed_view::<2, 2>(0, 0).into_owned();
        let half = match self {
            Self::Point => Vector2::zeros(),
            Self::Disc { radius } => Vector2::repeat(*radius),
            Self::Capsule { half_length, radius } => axes.column(0).abs() * *half_length + Vector2::repeat(*radius),
            Self::Box { half_extents } => axes.abs() * Vector2::from(*half_extents),
            // The support function of the ellipse along the two world axes.   [GEOM-8]
            Self::Ellipse { semi_axes: [a, b] } => {
                Vector2::from_fn(|i, _| Vector2::new(axes[(i, 0)] * a, axes[(i, 1)] * b).norm())
            }
            // The dual norm of the exponent p / (p − 1).   [IMP-12]
            Self::Superellipse { semi_axes, exponent } => {
                Vector2::from_fn(|i, _| superellipse_support([axes[(i, 0)], axes[(i, 1)]], *semi_axes, *exponent))
            }
            Self::Implicit(implicit) => return implicit.aabb(pose),
            Self::Polygon(polygon) => return Some(bounds(polygon.vertices(), pose)),
            Self::SimplePolygon(polygon) => return Some(bounds(polygon.hull(), pose)),
            Self::HalfPlane { .. } => return None,
        };
        let half = Vector3::new(half.x, half.y, 0.0);
        Some(Aabb { min: centre - half, max: centre + half })
    }

    /// Returns the largest distance of a point of the shape from the body's origin; `None` for an unbounded shape.
    pub fn radius_bound(&self) -> Option<f64> {
        match self {
            Self::Point => Some(0.0),
            Self::Disc { radius } => Some(*radius),
            Self::Capsule { half_length, radius } => Some(half_length + radius),
            Self::Box { half_extents } => Some(Vector2::from(*half_extents).norm()),
            Self::Polygon(polygon) => Some(polygon.radius_bound()),
            Self::SimplePolygon(polygon) => Some(polygon.radius_bound()),
            Self::Ellipse { semi_axes: [a, b] } => Some(a.max(*b)),
            Self::Superellipse { semi_axes, exponent } => Some(superellipse_reach(*semi_axes, *exponent)),
            Self::Implicit(implicit) => implicit.radius_bound(),
            Self::HalfPlane { .. } => None,
        }
    }
}

/// Returns the smallest axis-aligned box around the vertices of a polygon.
fn bounds(vertices: &[Point2<f64>], pose: &Pose) -> Aabb {
    let axes = pose.rotation.matrix().fixed_view::<2, 2>(0, 0).into_owned();
    let nothing = (Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY));
    let turned = vertices.iter().map(|v| axes * v.coords);
    let (min, max) = turned.fold(nothing, |(min, max), v| (min.inf(&v), max.sup(&v)));
    let at = |v: Vector2<f64>| Point3::from(pose.translation.vector) + Vector3::new(v.x, v.y, 0.0);
    Aabb { min: at(min), max: at(max) }
}

/// Accepts a normal positive number up to [`MAX_LENGTH`].
fn size(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > MAX_LENGTH && value.is_finite() {
        return Err(ShapeError::BadCoordinate { what, value, limit: MAX_LENGTH });
    }
    if value.is_normal() && value > 0.0 { Ok(value) } else { Err(ShapeError::BadSize { what, value }) }
}
