//! The functions that define shapes.

use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Vector3};

use super::jet::{ConvexFunction, Jet};
use super::norms;
use crate::Pose;

/// One convex function, f ≤ 0 inside, in lengths.   [IMP-1]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Function {
    /// n · x − offset, with a unit normal.
    Flat { normal: Vector3<f64>, offset: f64 },
    /// scale (‖x ∘ inverse‖ − 1): discs, spheres, ellipses, ellipsoids, and tubes if an axis has a zero inverse.
    Quadric { inverse: Vector3<f64>, scale: f64 },
    /// As `Quadric` with the nested norm of a superquadric.
    Superquadric { inverse: Vector3<f64>, exponents: [f64; 2], scale: f64 },
    /// The distance from a segment on the x axis, minus a radius; `flat` if z does not count.
    Segment { half_length: f64, radius: f64, flat: bool },
    /// A user-defined function.
    Custom(Custom),
    /// Another function at a pose.
    Placed { function: Box<Function>, pose: Pose },
}

impl Function {
    /// Returns the ellipsoid with the given semi-axes, infinite ones for unbounded directions.
    pub(crate) fn quadric(semi_axes: [f64; 3]) -> Self {
        let scale = semi_axes.into_iter().fold(f64::INFINITY, f64::min);
        Self::Quadric { inverse: Vector3::from(semi_axes).map(f64::recip), scale }
    }

    /// Returns the superquadric with the given semi-axes and exponents.
    pub(crate) fn superquadric(semi_axes: [f64; 3], exponents: [f64; 2]) -> Self {
        let scale = semi_axes.into_iter().fold(f64::INFINITY, f64::min);
        Self::Superquadric { inverse: Vector3::from(semi_axes).map(f64::recip), exponents, scale }
    }

    /// Returns value and derivatives at `x`.
    pub(super) fn jet(&self, x: &Vector3<f64>) -> Jet {
        match self {
            Self::Flat { normal, offset } => Jet { value: normal.dot(x) - offset, gradient: *normal, ..Jet::ZERO },
            Self::Quadric { inverse, scale } => norms::quadric(x, inverse, *scale),
            Self::Superquadric { inverse, exponents, scale } => norms::superquadric(x, inverse, *exponents, *scale),
            Self::Segment { half_length, radius, flat } => segment(x, *half_length, *radius, *flat),
            Self::Custom(Custom(function)) => function.jet(&Point3::from(*x)),
            Self::Placed { function, pose } => {
                let local = pose.inverse_transform_point(&Point3::from(*x));
                function.jet(&local.coords).turned(pose.rotation.matrix())
            }
        }
    }

    /// True if the function has no curvature anywhere.
    pub(super) fn is_flat(&self) -> bool {
        match self {
            Self::Flat { .. } => true,
            Self::Placed { function, .. } => function.is_flat(),
            _ => false,
        }
    }

    /// Returns the point with f ≤ 0 farthest along `direction`, if it has a formula.   [IMP-12]
    pub(super) fn support(&self, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
        match self {
            Self::Quadric { inverse, .. } => Some(norms::quadric_farthest(direction, inverse)),
            Self::Superquadric { inverse, exponents, .. } => {
                Some(norms::superquadric_farthest(direction, inverse, *exponents))
            }
            Self::Segment { half_length, radius, .. } => {
                Some(Vector3::new(half_length.copysign(direction.x), 0.0, 0.0) + direction.normalize() * *radius)
            }
            Self::Flat { .. } | Self::Custom(_) | Self::Placed { .. } => None,
        }
    }
}

/// A user-defined function; two are equal if they are the same object.
#[derive(Clone, Debug)]
pub(crate) struct Custom(pub(super) Arc<dyn ConvexFunction>);

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Returns the distance from the segment [−h, h] on the x axis, minus r. Below r/2 it is a paraboloid, because the
/// distance has a kink on the axis.   [IMP-3]
fn segment(x: &Vector3<f64>, half_length: f64, radius: f64, flat: bool) -> Jet {
    let nearest = x.x.clamp(-half_length, half_length);
    let across = if flat { 0.0 } else { 1.0 };
    let d = Vector3::new(x.x - nearest, x.y, x.z * across);
    // Beside the segment the nearest point moves along, so the distance does not depend on x.
    let is_beside = nearest == x.x;
    let space = Matrix3::from_diagonal(&Vector3::new(if is_beside { 0.0 } else { 1.0 }, 1.0, across));
    let (distance, core) = (d.norm(), radius / 2.0);
    if distance < core {
        let value = f64::midpoint(distance * distance / core, core) - radius;
        return Jet { value, gradient: d / core, hessian: space / core };
    }
    let gradient = d / distance;
    Jet { value: distance - radius, gradient, hessian: (space - gradient * gradient.transpose()) / distance }
}
