//! Applied forces: loads, springs, dampers and user callbacks.

use std::fmt;

use nalgebra::Vector3;

use crate::{BodyId, Configuration, Expression, Wrench};

/// A force and a torque on one body, as functions of time in world axes.
#[derive(Clone, Debug)]
pub struct Load {
    /// The body it acts on.
    pub body: BodyId,
    /// Point of attack in the body frame.
    pub point: Vector3<f64>,
    /// Force, N.
    pub force: [Expression; 3],
    /// Torque, N m.
    pub torque: [Expression; 3],
}

/// A linear spring between two points, with damping along its line.
///
/// Force on the second point: −(k (L − L₀) + c L̇) u, with u the unit vector from the first to the second. Without rest length it is linear in the
/// vector Δ = L u: −k Δ − c Δ̇.   [FORCE-1]
#[derive(Clone, Debug)]
pub struct Spring {
    /// First body and point in its frame.
    pub a: (BodyId, Vector3<f64>),
    /// Second body and point in its frame.
    pub b: (BodyId, Vector3<f64>),
    /// Stiffness k, N/m.
    pub stiffness: f64,
    /// Rest length L₀, m.
    pub rest_length: f64,
    /// Damping c along the line, or in every direction if L₀ = 0, N s/m.
    pub damping: f64,
}

/// A damper between two points that resists their relative velocity in every direction.
///
/// Force on the second point: −c (v_b − v_a).   [FORCE-2]
#[derive(Clone, Debug)]
pub struct Damper {
    /// First body and point in its frame.
    pub a: (BodyId, Vector3<f64>),
    /// Second body and point in its frame.
    pub b: (BodyId, Vector3<f64>),
    /// Damping c, N s/m.
    pub damping: f64,
}

/// A force law of the user: adds wrenches (about the centres of mass, world axes) at a configuration and time.
///
/// Implementations must be pure: the same configuration and time give the same wrenches.
pub trait ForceCallback: fmt::Debug + Send + Sync {
    /// Adds to `wrenches`, one per body of the model.
    fn apply(&self, time: f64, configuration: &Configuration, wrenches: &mut [Wrench]);
}

/// Relative position and velocity of two attachment points in world axes, with their arms from the body centres.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    /// First point from the centre of its body.
    pub arm_a: Vector3<f64>,
    /// Second point from the centre of its body.
    pub arm_b: Vector3<f64>,
    /// From the first point to the second.
    pub between: Vector3<f64>,
    /// Velocity of the second point less that of the first.
    pub relative_velocity: Vector3<f64>,
}

impl Attachment {
    /// Attachment of a point of body `a` and one of body `b`, each in its body frame.
    pub fn new(at: &Configuration, a: &(BodyId, Vector3<f64>), b: &(BodyId, Vector3<f64>)) -> Self {
        let (pose_a, pose_b) = (at.pose(a.0), at.pose(b.0));
        let (arm_a, arm_b) = (pose_a.rotation * a.1, pose_b.rotation * b.1);
        let between = pose_b.translation.vector + arm_b - pose_a.translation.vector - arm_a;
        let relative_velocity = at.twist(b.0).at(&arm_b) - at.twist(a.0).at(&arm_a);
        Self { arm_a, arm_b, between, relative_velocity }
    }
}

impl Spring {
    /// Force on the second point; zero if a spring with a rest length has no direction because its points coincide.   [FORCE-1]
    pub(crate) fn force(&self, at: &Attachment) -> Vector3<f64> {
        if self.rest_length == 0.0 {
            return at.between * -self.stiffness - at.relative_velocity * self.damping;
        }
        let length = at.between.norm();
        if length == 0.0 {
            return Vector3::zeros();
        }
        let u = at.between / length;
        -u * (self.stiffness * (length - self.rest_length) + self.damping * at.relative_velocity.dot(&u))
    }
}
