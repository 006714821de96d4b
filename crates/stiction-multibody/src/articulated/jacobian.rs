//! Jacobians of points and wrenches on links, over the velocities that move the link.

use nalgebra::Vector3;

use super::{kinematics::Kinematics, tree::Tree};
use crate::{LinkId, Wrench};

/// Generalised force Jᵀ λ of a wrench on a link, in the order of [`Tree::ancestors`]; all other entries are zero.   [ART-10]
///
/// `wrench` acts in world axes about the world position `point`. The result is also the row of the constraint whose rate is
/// λ · ν at that point. `row` has [`Tree::depth`] of the link entries.
pub fn wrench_row(
    tree: &Tree,
    at: &Kinematics,
    link: LinkId,
    (wrench, point): (&Wrench, &Vector3<f64>),
    row: &mut [f64],
) {
    debug_assert_eq!(row.len(), tree.depth(link), "one entry per velocity that moves the link");
    let mut row = row.iter_mut();
    for i in tree.path_to_root(link) {
        let about_origin = wrench.moved(&(point - at.poses[i].translation.vector));
        for (k, entry) in tree.links()[i].velocities().rev().zip(row.by_ref()) {
            *entry = about_origin.power(&at.columns[k]);
        }
    }
}

/// Columns of the Jacobian of a point fixed on a link: its world velocity per unit of each velocity that moves it, in the order
/// of [`Tree::ancestors`].   [ART-10]
pub fn point_jacobian(tree: &Tree, at: &Kinematics, link: LinkId, point: &Vector3<f64>, columns: &mut [Vector3<f64>]) {
    debug_assert_eq!(columns.len(), tree.depth(link), "one column per velocity that moves the link");
    let mut columns = columns.iter_mut();
    for i in tree.path_to_root(link) {
        let arm = point - at.poses[i].translation.vector;
        for (k, column) in tree.links()[i].velocities().rev().zip(columns.by_ref()) {
            *column = at.columns[k].at(&arm);
        }
    }
}

/// Adds Jᵀ λ of a wrench about a point of the world to generalised forces.   [ART-10]
pub fn add_wrench(tree: &Tree, at: &Kinematics, link: LinkId, wrench: (&Wrench, &Vector3<f64>), tau: &mut [f64]) {
    debug_assert_eq!(tau.len(), tree.velocities(), "one generalised force per velocity");
    let (wrench, point) = wrench;
    for i in tree.path_to_root(link) {
        let about_origin = wrench.moved(&(point - at.poses[i].translation.vector));
        for k in tree.links()[i].velocities() {
            tau[k] += about_origin.power(&at.columns[k]);
        }
    }
}
