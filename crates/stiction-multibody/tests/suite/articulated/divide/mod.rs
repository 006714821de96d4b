//! Divide and conquer against the articulated-body algorithm, the composite bodies, and itself.

mod agreement;
mod handles;
mod plan;
mod speed;

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    LinkId, Pose, Wrench,
    articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint, divide::Divide},
};
use stiction_testkit::Random;

use super::{JOINED, all_joints, random_link};
use crate::support::{direction, pose, vector};

/// Assembly of a tree.
fn assembled(tree: &Tree, at: &Kinematics) -> Divide {
    let mut divide = Divide::new(tree);
    divide.update(tree, at, &[]).unwrap();
    divide
}

/// A tree of `count` links of any kind, in which link i hangs on link `parent(i)`.
fn tree_of(random: &mut Random, count: usize, mut parent: impl FnMut(&mut Random, usize) -> usize) -> Tree {
    let mut builder = TreeBuilder::new(vector(random, 9.81)).unwrap();
    let mut ids: Vec<LinkId> = Vec::new();
    for index in 0..count {
        let joint = if index == 0 { TreeJoint::Free } else { all_joints(random)[random.below(JOINED)] };
        let mut spec = random_link(random, joint).with_armature(if random.below(4) == 0 { 0.2 } else { 0.0 });
        if index > 0 {
            spec = spec.on(ids[parent(random, index)], pose(random));
        }
        ids.push(builder.link(spec).unwrap());
    }
    builder.build()
}

/// A chain of rods on hinges about random axes, the first link free.
fn free_chain(random: &mut Random, count: usize) -> Tree {
    let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let mut last: Option<LinkId> = None;
    for _ in 0..count {
        let joint = if last.is_none() { TreeJoint::Free } else { TreeJoint::Revolute { axis: direction(random) } };
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 0.02));
        let mut spec = LinkSpec::new("rod", joint).with_mass(1.0, Vector3::new(0.0, 0.0, -0.5), inertia);
        if let Some(parent) = last {
            spec = spec.on(parent, Pose::translation(0.0, 0.0, -1.0));
        }
        last = Some(builder.link(spec).unwrap());
    }
    builder.build()
}

/// Rows of random wrenches about random points, on random links.
fn random_rows(random: &mut Random, tree: &Tree, count: usize) -> Vec<(LinkId, Wrench, Vector3<f64>)> {
    let ids: Vec<LinkId> = tree.link_ids().collect();
    let wrench = |random: &mut Random| Wrench { linear: vector(random, 1.0), angular: vector(random, 1.0) };
    (0..count).map(|_| (ids[random.below(ids.len())], wrench(random), vector(random, 2.0))).collect()
}
