//! Poses and twists of all bodies at one state and time.

use stiction_geometry::Pose;

use crate::{BodyId, Twist};

/// Scratch that holds the pose and the twist of every body; a pure function of (model, q, v, t).
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub(crate) poses: Vec<Pose>,
    pub(crate) twists: Vec<Twist>,
}

impl Configuration {
    /// Overwrites this configuration with another, reusing memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.poses.resize(other.poses.len(), Pose::identity());
        self.poses.copy_from_slice(&other.poses);
        self.twists.clone_from(&other.twists);
    }

    /// Pose of a body; the identity for a body of another model.
    #[inline]
    pub fn pose(&self, id: BodyId) -> Pose {
        self.poses.get(id.index()).copied().unwrap_or_else(Pose::identity)
    }

    /// Twist of a body; zero for a body of another model.
    #[inline]
    pub fn twist(&self, id: BodyId) -> Twist {
        self.twists.get(id.index()).copied().unwrap_or_default()
    }

    /// All poses in the order of the model.
    #[inline]
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }
}
