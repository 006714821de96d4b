//! Prescribed motion of kinematic bodies, with exact velocities.

use std::fmt;

use nalgebra::{UnitQuaternion, Vector3};
use stiction_geometry::Pose;

use crate::{Expression, Twist, rotation};

/// Pose and velocity of a kinematic body at one time.
#[derive(Clone, Copy, Debug)]
pub struct MotionSample {
    /// Position of the body frame.
    pub position: Vector3<f64>,
    /// Orientation of the body frame.
    pub orientation: UnitQuaternion<f64>,
    /// Angle in the plane, counting full turns; zero in space.
    pub angle: f64,
    /// Velocity of the frame origin and angular velocity, world axes: the exact derivative of the pose.
    pub twist: Twist,
}

impl MotionSample {
    /// The pose as a matrix.
    pub fn pose(&self) -> Pose {
        Pose::from_parts(self.position.into(), self.orientation.to_rotation_matrix())
    }
}

/// The motion of a kinematic body: a pure function of time.
///
/// Implementations must return the same sample for the same time, and the twist must be the derivative of the pose.
pub trait Motion: fmt::Debug + Send + Sync {
    /// Pose and velocity of the body at time `t`.
    fn at(&self, t: f64) -> MotionSample;
}

/// A motion written as expressions of t: coordinates, and an angle about a fixed axis.
#[derive(Clone, Debug)]
pub struct ExpressionMotion {
    /// Coordinates of the frame origin.
    pub position: [Expression; 3],
    /// World axis of rotation, of unit length.
    pub axis: Vector3<f64>,
    /// Angle about the axis, rad.
    pub angle: Expression,
    /// Orientation at angle zero.
    pub base: UnitQuaternion<f64>,
}

impl ExpressionMotion {
    /// A motion of the plane: x, y and the angle.
    pub fn planar(x: Expression, y: Expression, angle: Expression) -> Self {
        let position = [x, y, Expression::constant(0.0)];
        Self { position, axis: Vector3::z(), angle, base: UnitQuaternion::identity() }
    }
}

impl Motion for ExpressionMotion {
    fn at(&self, t: f64) -> MotionSample {
        let [x, y, z] = [0, 1, 2].map(|k| self.position[k].jet(t));
        let angle = self.angle.jet(t);
        MotionSample {
            position: Vector3::new(x.value, y.value, z.value),
            orientation: rotation::from_rotation_vector(&(self.axis * angle.value)) * self.base,
            angle: angle.value,
            twist: Twist { linear: Vector3::new(x.rate, y.rate, z.rate), angular: self.axis * angle.rate },
        }
    }
}
