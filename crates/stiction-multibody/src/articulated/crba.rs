//! Composite-rigid-body algorithm: the entries of the mass matrix that are not structurally zero.

use super::{branch::BranchMatrix, kinematics::Kinematics, scratch::Scratch, tree::Tree};

/// M(q), with armature on its diagonal.   [ART-6]
///
/// The result does not depend on the velocities of `at`.
pub fn mass_matrix(tree: &Tree, at: &Kinematics, scratch: &mut Scratch, mass: &mut BranchMatrix) {
    at.debug_assert_of(tree);
    debug_assert_eq!(mass.size(), tree.velocities(), "the matrix has one row per velocity");
    let composite = &mut scratch.composite;
    composite.copy_from_slice(&at.inertias);
    for (i, link) in tree.links().iter().enumerate().rev() {
        if let Some(parent) = link.parent() {
            let carried = composite[i].moved(&at.arms[i]);
            composite[parent].add(&carried);
        }
        for k in link.velocities() {
            let mut force = composite[i].momentum(&at.columns[k]);
            let mut row = mass.row_mut(k).iter_mut();
            // Of the own joint only the velocities up to k; row k' > k holds the others.
            let own = (link.velocities().start..=k).rev();
            for (j, entry) in own.zip(row.by_ref()) {
                *entry = force.power(&at.columns[j]);
            }
            let (mut child, mut next) = (i, link.parent());
            while let Some(ancestor) = next {
                force = force.moved(&at.arms[child]);
                let ancestor_link = &tree.links()[ancestor];
                for (j, entry) in ancestor_link.velocities().rev().zip(row.by_ref()) {
                    *entry = force.power(&at.columns[j]);
                }
                (child, next) = (ancestor, ancestor_link.parent());
            }
            debug_assert_eq!(row.len(), 0, "row {k} has one entry per ancestor");
            mass.row_mut(k)[0] += tree.armature()[k];
        }
    }
}
