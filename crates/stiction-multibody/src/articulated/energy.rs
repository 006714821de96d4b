//! Energy of a tree.

use super::{kinematics::Kinematics, tree::Tree};
use crate::Energy;

/// Kinetic energy of links and rotors, potential energy of gravity from the origin of the world.   [ART-13]
///
/// `v` may be empty; the kinetic energy of rotors is then left out.
pub fn energy(tree: &Tree, at: &Kinematics, v: &[f64]) -> Energy {
    at.debug_assert_of(tree);
    debug_assert!(v.is_empty() || v.len() == tree.velocities(), "one number per velocity, or none");
    let mut total = Energy::default();
    for ((pose, twist), inertia) in at.poses.iter().zip(&at.twists).zip(&at.inertias) {
        total.kinetic += 0.5 * inertia.momentum(twist).power(twist);
        total.potential -= tree.gravity().dot(&(pose.translation.vector * inertia.mass + inertia.moment));
    }
    for (armature, v) in tree.armature().iter().zip(v) {
        total.kinetic += 0.5 * armature * v * v;
    }
    total
}
