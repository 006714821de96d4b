//! Sites: named frames on bodies.

use stiction_geometry::Pose;

use crate::{BodyId, Twist};

/// A named frame on a body. It has no mass and no shape, and changes no motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Unique name.
    pub name: String,
    /// Body that carries it; the world for a fixed frame.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Pose,
}

impl Site {
    /// Velocity of its origin and angular velocity, world axes, from the pose and the twist of its body.
    pub fn twist(&self, body: &Pose, twist: &Twist) -> Twist {
        let arm = body.rotation * self.pose.translation.vector;
        Twist { linear: twist.linear + twist.angular.cross(&arm), angular: twist.angular }
    }
}
