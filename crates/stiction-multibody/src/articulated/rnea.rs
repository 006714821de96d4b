//! Recursive Newton-Euler algorithm: inverse dynamics in linear time.

use super::{kinematics::Kinematics, scratch::Scratch, tree::Tree};
use crate::{Twist, Wrench};

/// Generalised forces τ = M v̇ + bias − Jᵀ λ of a given `acceleration`.   [ART-5]
///
/// `external` holds a wrench per link in world axes about the link's origin, or is empty. Gravity is modelled as an upward
/// acceleration of the world.
pub fn inverse_dynamics(
    tree: &Tree,
    at: &Kinematics,
    acceleration: &[f64],
    external: &[Wrench],
    scratch: &mut Scratch,
    tau: &mut [f64],
) {
    at.debug_assert_of(tree);
    scratch.debug_assert_of(tree);
    let velocities = tree.velocities();
    debug_assert_eq!((acceleration.len(), tau.len()), (velocities, velocities), "one number per velocity");
    debug_assert!(external.is_empty() || external.len() == tree.links().len(), "one wrench per link, or none");
    let Scratch { accelerations, wrenches, .. } = scratch;
    let lift = Twist { linear: -tree.gravity(), ..Twist::default() };
    for (i, link) in tree.links().iter().enumerate() {
        let mut a = link.parent().map_or(lift, |parent| accelerations[parent].moved(&at.arms[i]));
        a.add_scaled(&at.products[i], 1.0);
        for k in link.velocities() {
            a.add_scaled(&at.columns[k], acceleration[k]);
        }
        let mut f = at.inertias[i].momentum(&a);
        f.add(&at.twists[i].cross_force(&at.inertias[i].momentum(&at.twists[i])));
        if let Some(applied) = external.get(i) {
            f.add_scaled(applied, -1.0);
        }
        accelerations[i] = a;
        wrenches[i] = f;
    }
    for (i, link) in tree.links().iter().enumerate().rev() {
        for k in link.velocities() {
            tau[k] = wrenches[i].power(&at.columns[k]) + tree.armature()[k] * acceleration[k];
        }
        if let Some(parent) = link.parent() {
            let carried = wrenches[i].moved(&at.arms[i]);
            wrenches[parent].add(&carried);
        }
    }
}
