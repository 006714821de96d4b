//! Work space of the algorithms on trees; no value in it is needed after a call.

use super::{inertia::RigidInertia, tree::Tree};
use crate::{Twist, Wrench};

/// Work space of all algorithms on one tree; may be dropped between calls without changing any result.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) accelerations: Vec<Twist>,
    pub(super) wrenches: Vec<Wrench>,
    pub(super) composite: Vec<RigidInertia>,
    pub(super) residual: Vec<f64>,
}

impl Scratch {
    /// Allocates the work space of a tree.
    pub fn new(tree: &Tree) -> Self {
        let links = tree.links().len();
        Self {
            accelerations: vec![Twist::default(); links],
            wrenches: vec![Wrench::default(); links],
            composite: vec![RigidInertia::default(); links],
            residual: vec![0.0; tree.velocities()],
        }
    }

    /// Joint wrenches of the last [`super::inverse_dynamics`]: on each link through its joint, in world axes about the link's
    /// origin.   [ART-5]
    pub fn joint_wrenches(&self) -> &[Wrench] {
        &self.wrenches
    }

    /// Checks in debug builds that the work space has the sizes of a tree.
    pub(super) fn debug_assert_of(&self, tree: &Tree) {
        debug_assert_eq!(self.wrenches.len(), tree.links().len(), "the work space is that of another tree");
        debug_assert_eq!(self.residual.len(), tree.velocities(), "the work space is that of another tree");
    }
}
