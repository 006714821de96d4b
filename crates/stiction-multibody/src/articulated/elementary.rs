//! Elementary motions: rotations about an axis with their angles, twists of translations and rotations.

use nalgebra::{Matrix3, Rotation3, Vector3};

use crate::{Twist, rotation::cross_matrix};

/// Rotation about an axis by Rodrigues' formula: c 1 + s [a]ₓ + (1 − c) a aᵀ.
#[inline]
pub(super) fn rotation_about(axis: &Vector3<f64>, angle: f64) -> Rotation3<f64> {
    let (s, c) = libm::sincos(angle);
    let r = Matrix3::from_diagonal_element(c) + cross_matrix(&(axis * s)) + axis * (axis * (1.0 - c)).transpose();
    Rotation3::from_matrix_unchecked(r)
}

/// Angle of a rotation about an axis: the skew part gives its sine, the trace its cosine.
pub(super) fn angle_about(axis: &Vector3<f64>, r: &Matrix3<f64>) -> f64 {
    let sine = Vector3::new(r.m32 - r.m23, r.m13 - r.m31, r.m21 - r.m12).dot(axis);
    libm::atan2(sine, r.trace() - 1.0)
}

/// Angle about an axis from one direction to another.
pub(super) fn turn_about(axis: &Vector3<f64>, from: &Vector3<f64>, to: &Vector3<f64>) -> f64 {
    let from = from - axis * axis.dot(from);
    libm::atan2(axis.dot(&from.cross(to)), from.dot(to))
}

/// Twist of a translation with this velocity.
#[inline]
pub(super) fn linear(linear: Vector3<f64>) -> Twist {
    Twist { linear, angular: Vector3::zeros() }
}

/// Twist of a rotation with this angular velocity.
#[inline]
pub(super) fn angular(angular: Vector3<f64>) -> Twist {
    Twist { linear: Vector3::zeros(), angular }
}
