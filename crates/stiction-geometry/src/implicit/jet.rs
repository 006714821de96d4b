//! A function with its first two derivatives at a point, and the trait of user-defined functions.

use std::fmt::Debug;

use nalgebra::{Matrix3, Point3, Vector3};

/// f, ∇f and ∇²f at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// f.
    pub value: f64,
    /// ∇f.
    pub gradient: Vector3<f64>,
    /// ∇²f.
    pub hessian: Matrix3<f64>,
}

/// A convex function that is smooth outside its minimum. The solid is f ≤ 0, in the coordinates of the shape.
///
/// It should be a length with |∇f| near one at the surface and grow about linearly with the distance (|x| − r rather
/// than |x|² − r²). Newton's method then converges from far away. A function of the plane must not depend on z.
/// [`Automatic`](super::Automatic) differentiates a formula.
pub trait ConvexFunction: Debug + Send + Sync {
    /// Returns value and derivatives at `x`; finite for every finite `x`.
    fn jet(&self, x: &Point3<f64>) -> Jet;
}

impl Jet {
    /// Zero with zero derivatives.
    pub(super) const ZERO: Self = Self { value: 0.0, gradient: Vector3::new(0.0, 0.0, 0.0), hessian: ZERO3 };

    /// Returns the same function in axes rotated by `rotation`.
    pub(super) fn turned(&self, rotation: &Matrix3<f64>) -> Self {
        Self {
            value: self.value,
            gradient: rotation * self.gradient,
            hessian: rotation * self.hessian * rotation.transpose(),
        }
    }
}

const ZERO3: Matrix3<f64> = Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
