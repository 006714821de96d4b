//! Twists and wrenches, and their transformation between frames.
//!
//! A twist is `[v; ω]`, linear part first; a wrench is `[f; τ]`. Their product is power, the same in every frame.

use nalgebra::{Matrix6, Vector3};
use stiction_geometry::Pose;

use crate::rotation::cross_matrix;

/// Velocity of a body: the linear velocity of its reference point (the centre of mass if it is dynamic) and the angular velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the reference point, m/s.
    pub linear: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular: Vector3<f64>,
}

/// Force and torque about the reference point of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force, N (or impulse, N s).
    pub linear: Vector3<f64>,
    /// Torque about the reference point, N m (or N m s).
    pub angular: Vector3<f64>,
}

impl Twist {
    /// Velocity of the point at `arm` from the reference point: v + ω × r.   [KIN-1]
    #[inline]
    pub fn at(&self, arm: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(arm)
    }
}

impl Wrench {
    /// A force acting at `arm` from the reference point, reduced to it: (f, r × f).   [KIN-2]
    #[inline]
    pub fn of_force(force: Vector3<f64>, arm: &Vector3<f64>) -> Self {
        Self { linear: force, angular: arm.cross(&force) }
    }

    /// A pure torque.
    #[inline]
    pub fn of_torque(torque: Vector3<f64>) -> Self {
        Self { linear: Vector3::zeros(), angular: torque }
    }

    /// Power f·v + τ·ω delivered to a body moving with `twist`.
    #[inline]
    pub fn power(&self, twist: &Twist) -> f64 {
        self.linear.dot(&twist.linear) + self.angular.dot(&twist.angular)
    }

    /// The wrench times a number.
    #[inline]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { linear: self.linear * factor, angular: self.angular * factor }
    }

    /// Adds another wrench about the same point.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}

/// Adjoint of a pose: maps a twist expressed in (and about the origin of) frame B to frame A.   [KIN-3]
///
/// `Ad = [R, [p]ₓ R; 0, R]` for `pose = (R, p)` of B in A.
pub fn adjoint(pose: &Pose) -> Matrix6<f64> {
    let r = pose.rotation.matrix();
    let mut ad = Matrix6::zeros();
    ad.fixed_view_mut::<3, 3>(0, 0).copy_from(r);
    ad.fixed_view_mut::<3, 3>(0, 3).copy_from(&(cross_matrix(&pose.translation.vector) * r));
    ad.fixed_view_mut::<3, 3>(3, 3).copy_from(r);
    ad
}

/// Dual map on wrenches: λ_B = Adᵀ λ_A, which leaves the power unchanged.   [KIN-4]
pub fn adjoint_dual(pose: &Pose) -> Matrix6<f64> {
    adjoint(pose).transpose()
}
