//! Sites: named frames on bodies.

use stiction_geometry::Pose;

use crate::{BodyId, Configuration, Twist};

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
    /// Pose in the world.
    pub fn world_pose(&self, at: &Configuration) -> Pose {
        at.pose(self.body) * self.pose
    }

    /// Velocity of its origin and angular velocity, world axes.
    pub fn twist(&self, at: &Configuration) -> Twist {
        let Twist { linear, angular } = at.twist(self.body);
        let arm = at.pose(self.body).rotation * self.pose.translation.vector;
        Twist { linear: linear + angular.cross(&arm), angular }
    }
}
