//! Room for the sweeps of the algorithms; nothing in it outlives a call.

use super::{inertia::RigidInertia, tree::Tree};
use crate::{Twist, Wrench};

/// Scratch of all algorithms on one tree; may be dropped between calls without changing any result.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) accelerations: Vec<Twist>,
    pub(super) wrenches: Vec<Wrench>,
    pub(super) composite: Vec<RigidInertia>,
    pub(super) residual: Vec<f64>,
}

impl Scratch {
    /// Room for a tree.
    pub fn new(tree: &Tree) -> Self {
        let links = tree.links().len();
        Self {
            accelerations: vec![Twist::default(); links],
            wrenches: vec![Wrench::default(); links],
            composite: vec![RigidInertia::default(); links],
            residual: vec![0.0; tree.velocities()],
        }
    }

    /// After [`super::inverse_dynamics`]: what each link gets through its joint, in world axes about the link's origin.   [ART-5]
    pub fn joint_wrenches(&self) -> &[Wrench] {
        &self.wrenches
    }
}
