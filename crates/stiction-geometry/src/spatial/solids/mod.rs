//! Solids in space: the shapes, and one file for each kind of them.
//!
//! A kind implements [`ConvexSolid`]. All that is asked of a [`Shape`] without regard to its kind is a call of this trait.

mod capsule;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod figure;
mod half_space;
mod implicit;
mod point;
mod polyhedron;
mod sphere;
mod superquadric;
#[cfg(test)]
mod tests;

use nalgebra::{Point3, Unit, Vector3};

use super::hull::MAX_LENGTH;
use super::polyhedron::ConvexPolyhedron;
use crate::broad_phase::Aabb;
use crate::implicit::{Buffer, Build, Convex, Implicit};
use crate::moments::Moments;
use crate::{Dimension, Pose, ShapeError};
use capsule::Capsule;
use cuboid::Cuboid;
use cylinder::Cylinder;
use ellipsoid::Ellipsoid;
pub use figure::Figure;
use half_space::HalfSpace;
use point::Point;
use sphere::Sphere;
use superquadric::Superquadric;

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

/// All that is asked of a kind of solid, in the coordinates of the solid.
trait ConvexSolid {
    /// Returns the name used in messages and files.
    fn name(&self) -> &'static str;

    /// Returns the solid as an intersection of convex functions.   [IMP-1]
    fn functions(&self, build: Build) -> Convex;

    /// Returns the largest coordinate along a unit vector, the support function; `None` for an unbounded solid, or if there
    /// is no formula.
    fn support(&self, direction: &Vector3<f64>) -> Option<f64>;

    /// Returns the smallest axis-aligned box around the solid at `pose`, from the support function along the world
    /// axes; `None` for an unbounded solid.   [GEOM-8]
    fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let axes = pose.rotation.matrix().transpose();
        let (mut min, mut max) = (pose.translation.vector, pose.translation.vector);
        for (i, axis) in axes.column_iter().enumerate() {
            min[i] -= self.support(&-axis)?;
            max[i] += self.support(&axis.into())?;
        }
        Some(Aabb { min: Point3::from(min), max: Point3::from(max) })
    }

    /// Returns the largest distance of a point of the solid from the origin; `None` for an unbounded solid.
    fn radius_bound(&self) -> Option<f64>;

    /// Returns volume, centre and second moment; `None` for a solid without a finite volume, or if there is no formula.
    fn moments(&self) -> Option<Moments>;

    /// Returns the figure for pictures, by default a grid on the surface; `None` for an unbounded solid without one.
    fn figure(&self) -> Option<Figure> {
        Figure::grid(&self.functions(Build::new(Dimension::Spatial, Buffer::default())))
    }

    /// Returns solids of this kind, with which the tests of all kinds are made.
    #[cfg(test)]
    fn examples() -> Vec<Shape>
    where
        Self: Sized;
}

/// Lists the kinds: the variant of a shape, the type that implements [`ConvexSolid`] and its value.
macro_rules! solids {
    ($($variant:pat => $kind:ident, $solid:expr;)+) => {
        impl Shape {
            /// Calls a function of the solid.
            fn ask<T>(&self, question: impl FnOnce(&dyn ConvexSolid) -> T) -> T {
                match self {
                    $($variant => question($solid),)+
                }
            }

            /// Returns examples of all kinds.
            #[cfg(test)]
            fn examples() -> Vec<Self> {
                [$(<$kind as ConvexSolid>::examples()),+].concat()
            }
        }
    };
}

solids! {
    Self::Point => Point, &Point;
    Self::Sphere { radius } => Sphere, &Sphere { radius: *radius };
    Self::Capsule { half_length, radius } => Capsule, &Capsule { half_length: *half_length, radius: *radius };
    Self::Box { half_extents } => Cuboid, &Cuboid { half_extents: *half_extents };
    Self::Polyhedron(polyhedron) => ConvexPolyhedron, polyhedron;
    Self::HalfSpace { normal } => HalfSpace, &HalfSpace { normal: *normal };
    Self::Ellipsoid { semi_axes } => Ellipsoid, &Ellipsoid { semi_axes: *semi_axes };
    Self::Cylinder { half_length, radius } => Cylinder, &Cylinder { half_length: *half_length, radius: *radius };
    Self::Superquadric { semi_axes, exponents } => Superquadric, &Superquadric { semi_axes: *semi_axes, exponents: *exponents };
    Self::Implicit(implicit) => Implicit, implicit;
}

impl Shape {
    /// Returns the name used in messages and files.
    pub fn name(&self) -> &'static str {
        self.ask(|solid| solid.name())
    }

    /// Returns the smallest axis-aligned box around the shape at `pose`; `None` for an unbounded shape.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        self.ask(|solid| solid.aabb(pose))
    }

    /// True if the shape is bounded.
    pub(super) fn is_bounded(&self) -> bool {
        self.radius_bound().is_some()
    }

    /// Returns the largest distance of a point of the shape from the body's origin; `None` for an unbounded shape.
    pub fn radius_bound(&self) -> Option<f64> {
        self.ask(|solid| solid.radius_bound())
    }

    /// Returns the figure of the shape for pictures; `None` for an unbounded implicit solid.
    pub fn figure(&self) -> Option<Figure> {
        self.ask(|solid| solid.figure())
    }

    /// Returns volume, centre and second moment; `None` if they do not exist or are not known.
    pub(crate) fn moments(&self) -> Option<Moments> {
        self.ask(|solid| solid.moments())
    }

    /// Returns the functions of the shape, in the given vectors.
    pub(super) fn convex(&self, buffer: Buffer) -> Convex {
        self.ask(|solid| solid.functions(Build::new(Dimension::Spatial, buffer)))
    }
}

/// Accepts a normal positive number up to [`MAX_LENGTH`].
fn size(what: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > MAX_LENGTH && value.is_finite() {
        return Err(ShapeError::BadCoordinate { what, value, limit: MAX_LENGTH });
    }
    if value.is_normal() && value > 0.0 { Ok(value) } else { Err(ShapeError::BadSize { what, value }) }
}
