//! Spatial vectors with the angular part first, as in the divide-and-conquer literature, and their conversion from and to
//! twists and wrenches, which are linear first.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::super::inertia::RigidInertia;
use crate::{Twist, Wrench, rotation::cross_matrix};

/// A motion as (ω, v).   [DCA-1]
#[inline]
pub fn motion(twist: &Twist) -> Vector6<f64> {
    stacked(&twist.angular, &twist.linear)
}

/// A force as (τ, f).   [DCA-1]
#[inline]
pub fn force(wrench: &Wrench) -> Vector6<f64> {
    stacked(&wrench.angular, &wrench.linear)
}

/// The twist of (ω, v).   [DCA-1]
#[inline]
pub fn twist(motion: &Vector6<f64>) -> Twist {
    let (angular, linear) = halves(motion);
    Twist { linear, angular }
}

/// The wrench of (τ, f).   [DCA-1]
#[inline]
pub fn wrench(force: &Vector6<f64>) -> Wrench {
    let (angular, linear) = halves(force);
    Wrench { linear, angular }
}

/// Map of motions to the origin at `arm` from the present one, `[1, 0; −[r]ₓ, 1]`; its transpose maps forces back.
///                                                                                                        [DCA-1]
#[inline]
pub(super) fn shift(arm: &Vector3<f64>) -> Matrix6<f64> {
    let mut shift = Matrix6::identity();
    shift.fixed_view_mut::<3, 3>(3, 0).copy_from(&-cross_matrix(arm));
    shift
}

/// Inertia of a link about its origin: `[I, [m c]ₓ; −[m c]ₓ, m]`.
#[inline]
pub(super) fn inertia(rigid: &RigidInertia) -> Matrix6<f64> {
    let turning = |axis| rigid.momentum(&Twist { linear: Vector3::zeros(), angular: axis }).angular;
    let second = Matrix3::from_columns(&[turning(Vector3::x()), turning(Vector3::y()), turning(Vector3::z())]);
    let moment = cross_matrix(&rigid.moment);
    let mut inertia = Matrix6::zeros();
    inertia.fixed_view_mut::<3, 3>(0, 0).copy_from(&second);
    inertia.fixed_view_mut::<3, 3>(0, 3).copy_from(&moment);
    inertia.fixed_view_mut::<3, 3>(3, 0).copy_from(&-moment);
    inertia.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(rigid.mass);
    inertia
}

#[inline]
fn stacked(first: &Vector3<f64>, second: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(first.x, first.y, first.z, second.x, second.y, second.z)
}

#[inline]
fn halves(v: &Vector6<f64>) -> (Vector3<f64>, Vector3<f64>) {
    (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]))
}
