//! Shapes in space and their bounds.

use nalgebra::{Matrix3, Point3, Unit, Vector3};

use super::hull::MAX_LENGTH;
use super::polyhedron::ConvexPolyhedron;
use crate::broad_phase::Aabb;
use crate::implicit::{ConvexPart, Implicit, superquadric_reach, superquadric_support};
use crate::{Dimension, Pose, ShapeError, error};

/// A convex shape in space, in the coordinates of its body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// The origin.
    Point,
    /// A ball about the origin.
    Sphere {
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
    /// A box about the origin, aligned with the local axes.
    Box {
        /// Half the edge lengths along x, y and z.
        half_extents: [f64; 3],
    },
    /// The convex hull of finitely many points.
    Polyhedron(ConvexPolyhedron),
    /// All points x with `normal` · x ≤ 0.
    HalfSpace {
        /// Outward normal of the solid.
        normal: Unit<Vector3<f64>>,
    },
    /// An ellipsoid about the origin, aligned with the local axes.
    Ellipsoid {
        /// Semi-axes along x, y and z.
        semi_axes: [f64; 3],
    },
    /// A solid cylinder about the local x axis with flat ends.
    Cylinder {
        /// Half the length.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// All points with (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q ≤ 1.
    Superquadric {
        /// Semi-axes a, b and c along x, y and z.
        semi_axes: [f64; 3],
        /// Exponents p (around the z axis) and q (along it), at least two.
        exponents: [f64; 2],
    },
    /// A convex solid given by functions.
    Implicit(Implicit),
}

impl Shape {
    /// Creates the origin as a shape.
    pub fn point() -> Self {
        Self::Point
    }

    /// Creates a ball about the origin.
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Sphere { radius: size("the radius of a sphere", radius)? })
    }

    /// Creates a capsule along the local x axis.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule {
            half_length: size("the half length of a capsule", half_length)?,
            radius: size("the radius of a capsule", radius)?,
        })
    }

    /// Creates a box about the origin with the given half edge lengths.
    pub fn cuboid(half_extents: [f64; 3]) -> Result<Self, ShapeError> {
        for half_extent in half_extents {
            size("a half extent of a box", half_extent)?;
        }
        Ok(Self::Box { half_extents })
    }

    /// Creates a shape from a convex polyhedron.
    pub fn polyhedron(polyhedron: ConvexPolyhedron) -> Self {
        Self::Polyhedron(polyhedron)
    }

    /// Creates the convex hull of `points`.
    pub fn convex_hull(points: &[Point3<f64>]) -> Result<Self, ShapeError> {
        ConvexPolyhedron::from_points(points).map(Self::Polyhedron)
    }

    /// Creates the half-space below the plane through the origin with the given outward normal.
    pub fn half_space(normal: Vector3<f64>) -> Result<Self, ShapeError> {
        // Scaling by the largest component keeps the norm of very long and very short vectors representable.
        let scale = normal.amax();
        if !(scale.is_normal() && normal.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::BadDirection { what: "the normal of a half-space" });
        }
        Ok(Self::HalfSpace { normal: Unit::new_normalize(normal / scale) })
    }

    /// Creates an ellipsoid about the origin with the given semi-axes.
    pub fn ellipsoid(semi_axes: [f64; 3]) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of an ellipsoid", semi_axis)?;
        }
        Ok(Self::Ellipsoid { semi_axes })
    }

    /// Creates a solid cylinder along the local x axis.
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder {
            half_length: size("the half length of a cylinder", half_length)?,
            radius: size("the radius of a cylinder", radius)?,
        })
    }

    /// Creates a superquadric about the origin with the given semi-axes and exponents from 2 to 64.
    pub fn superquadric(semi_axes: [f64; 3], exponents: [f64; 2]) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of a superquadric", semi_axis)?;
        }
        for value in exponents {
            error::exponent("an exponent of a superquadric", value)?;
        }
        Ok(Self::Superquadric { semi_axes, exponents })
    }

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

    /// Returns the name used in messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Box { .. } => "box",
            Self::Polyhedron(_) => "polyhedron",
            Self::HalfSpace { .. } => "half-space",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Cylinder { .. } => "cylinder",
            Self::Superquadric { .. } => "superquadric",
            Self::Implicit(_) => "implicit shape",
        }
    }

    /// Returns the smallest axis-aligned box around the shape at `pose`; `None` for an unbounded shape.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let centre = Point3::from(pose.translation.vector);
        let axes = pose.rotation.matrix();
        let half = match self {
            Self::Point => Vector3::zeros(),
            Self::Sphere { radius } => Vector3::repeat(*radius),
            Self::Capsule { half_length, radius } => axes.column(0).abs() * *half_length + Vector3::repeat(*radius),
            Self::Box { half_extents } => axes.abs() * Vector3::from(*half_extents),
            Self::Polyhedron(polyhedron) => return Some(bounds(polyhedron, pose)),
            // The support function along the three world axes.   [GEOM-8]
            Self::Ellipsoid { semi_axes } => {
                let scaled = axes * Matrix3::from_diagonal(&Vector3::from(*semi_axes));
                Vector3::from_fn(|i, _| scaled.row(i).norm())
            }
            Self::Cylinder { half_length, radius } => Vector3::from_fn(|i, _| {
                let [along, y, z] = [0, 1, 2].map(|k| axes[(i, k)]);
                along.abs() * half_length + (y * y + z * z).sqrt() * radius
            }),
            Self::Superquadric { semi_axes, exponents } => {
                Vector3::from_fn(|i, _| superquadric_support(&axes.row(i).transpose(), *semi_axes, *exponents))
            }
            Self::Implicit(implicit) => return implicit.aabb(pose),
            Self::HalfSpace { .. } => return None,
        };
        Some(Aabb { min: centre - half, max: centre + half })
    }

    /// True if the shape is bounded.
    pub(super) fn is_bounded(&self) -> bool {
        match self {
            Self::HalfSpace { .. } => false,
            Self::Implicit(implicit) => implicit.radius_bound().is_some(),
            _ => true,
        }
    }

    /// Returns the largest distance of a point of the shape from the body's origin; `None` for an unbounded shape.
    pub fn radius_bound(&self) -> Option<f64> {
        match self {
            Self::Point => Some(0.0),
            Self::Sphere { radius } => Some(*radius),
            Self::Capsule { half_length, radius } => Some(half_length + radius),
            Self::Box { half_extents } => Some(Vector3::from(*half_extents).norm()),
            Self::Polyhedron(polyhedron) => Some(polyhedron.radius_bound()),
            Self::Ellipsoid { semi_axes } => Some(Vector3::from(*semi_axes).amax()),
            Self::Cylinder { half_length, radius } => Some((half_length * half_length + radius * radius).sqrt()),
            Self::Superquadric { semi_axes, exponents } => Some(superquadric_reach(*semi_axes, *exponents)),
            Self::Implicit(implicit) => implicit.radius_bound(),
            Self::HalfSpace { .. } => None,
        }
    }
}

/// Returns the smallest axis-aligned box around the vertices of `polyhedron`.
fn bounds(polyhedron: &ConvexPolyhedron, pose: &Pose) -> Aabb {
    let (min, max) = polyhedron.vertices().iter().map(|v| pose * v).fold(
        (Point3::from(Vector3::repeat(f64::INFINITY)), Point3::from(Vector3::repeat(f64::NEG_INFINITY))),
        |(min, max), v| (min.inf(&v), max.sup(&v)),
    );
    Aabb { min, max }
}

/// Accepts a normal positive number up to [`MAX_LENGTH`].
fn size(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > MAX_LENGTH && value.is_finite() {
        return Err(ShapeError::BadCoordinate { what, value, limit: MAX_LENGTH });
    }
    if value.is_normal() && value > 0.0 { Ok(value) } else { Err(ShapeError::BadSize { what, value }) }
}
