//! Momentum of a tree.

use super::kinematics::Kinematics;
use crate::{Momentum, Wrench};

/// Momentum of all links about the origin of the world, without rotors.   [ART-14]
pub fn momentum(at: &Kinematics) -> Momentum {
    let mut total = Wrench::default();
    for ((pose, twist), inertia) in at.poses.iter().zip(&at.twists).zip(&at.inertias) {
        total.add(&inertia.momentum(twist).moved(&pose.translation.vector));
    }
    Momentum { linear: total.linear, angular: total.angular }
}
