//! Trees of links in reduced coordinates.

mod divide;
mod dynamics;
mod joints;
mod motions;
mod oracles;
mod refusals;
mod responses;
mod speed;

use nalgebra::{DMatrix, Matrix3, Vector3};
use stiction_multibody::{
    LinkId, Pose, Wrench,
    articulated::{
        ArticulatedFactors, BranchMatrix, ElementaryMotion, Kinematics, LinkSpec, Scratch, Series, Tree, TreeBuilder,
        TreeJoint, forward_dynamics, inverse_dynamics, mass_matrix,
    },
};
use stiction_testkit::Random;

use crate::support::{direction, inertia, pose, vector};

/// Number of joints in [`all_joints`] before the free one.
pub(crate) const JOINED: usize = 12;

/// Every kind of joint, with random axes; the last is free.
pub(crate) fn all_joints(random: &mut Random) -> [TreeJoint; JOINED + 1] {
    use ElementaryMotion::{Slide, Turn};
    let series = |motions: &[ElementaryMotion]| Series::new(motions.iter().copied()).unwrap();
    [
        TreeJoint::Fixed,
        TreeJoint::Revolute { axis: direction(random) },
        TreeJoint::Prismatic { axis: direction(random) },
        TreeJoint::Cylindrical { axis: direction(random) },
        TreeJoint::Universal { axes: [direction(random), direction(random)] },
        TreeJoint::Spherical,
        TreeJoint::Planar,
        TreeJoint::Translational,
        TreeJoint::Series(series(&[Slide(0), Turn(2)])),
        TreeJoint::Series(series(&[Turn(0), Slide(2), Slide(1), Turn(1)])),
        TreeJoint::Series(series(&[Turn(2), Slide(2)]).inverse().unwrap()),
        TreeJoint::Series(series(&[Turn(0), Turn(1)]).inverse().unwrap()),
        TreeJoint::Free,
    ]
}

/// A link with random mass, centre and inertia.
pub(crate) fn random_link(random: &mut Random, joint: TreeJoint) -> LinkSpec {
    LinkSpec::new("link", joint).with_mass(random.uniform(0.5, 3.0), vector(random, 0.5), inertia(random))
}

/// A forest of two trees with branches, every kind of joint twice, some with rotors.
pub(crate) fn random_tree(random: &mut Random) -> Tree {
    let gravity = vector(random, 9.81);
    let mut builder = TreeBuilder::new(gravity).unwrap();
    let mut ids: Vec<LinkId> = Vec::new();
    let joints = [all_joints(random), all_joints(random)].concat();
    for index in 0..joints.len() {
        let joint = joints[(index * 7 + 3) % joints.len()];
        let mut spec = random_link(random, joint).with_armature(if index % 3 == 0 { 0.3 } else { 0.0 });
        spec.placement = pose(random);
        // Two roots; the others on any link before them, so that the tree branches.
        spec.parent = (index > 1).then(|| ids[random.below(ids.len())]);
        ids.push(builder.link(spec).unwrap());
    }
    builder.build()
}

/// A state of a tree: any orientation, any velocity.
pub(crate) fn random_state(random: &mut Random, tree: &Tree) -> (Vec<f64>, Vec<f64>) {
    let mut q = tree.neutral();
    tree.integrate(&mut q, &velocities(random, tree), 1.0);
    (q, velocities(random, tree))
}

/// One number in ±2 per velocity.
pub(crate) fn velocities(random: &mut Random, tree: &Tree) -> Vec<f64> {
    (0..tree.velocities()).map(|_| random.uniform(-2.0, 2.0)).collect()
}

/// A wrench on every link.
pub(crate) fn random_wrenches(random: &mut Random, tree: &Tree) -> Vec<Wrench> {
    tree.links().iter().map(|_| Wrench { linear: vector(random, 5.0), angular: vector(random, 5.0) }).collect()
}

/// The kinematics at (q, v).
pub(crate) fn kinematics(tree: &Tree, q: &[f64], v: &[f64]) -> Kinematics {
    let mut at = Kinematics::new(tree);
    at.update(tree, q, v);
    at
}

/// The factors of the articulated-body algorithm.
pub(crate) fn factors(tree: &Tree, at: &Kinematics) -> ArticulatedFactors {
    let mut factors = ArticulatedFactors::new(tree);
    factors.update(tree, at).unwrap();
    factors
}

/// The acceleration by the articulated-body algorithm.
pub(crate) fn accelerations(tree: &Tree, at: &Kinematics, tau: &[f64], external: &[Wrench]) -> Vec<f64> {
    let mut out = vec![0.0; tree.velocities()];
    forward_dynamics(tree, at, &factors(tree, at), (tau, external), &mut Scratch::new(tree), &mut out);
    out
}

/// The forces by the recursive Newton-Euler algorithm.
pub(crate) fn forces(tree: &Tree, at: &Kinematics, acceleration: &[f64], external: &[Wrench]) -> Vec<f64> {
    let mut out = vec![0.0; tree.velocities()];
    inverse_dynamics(tree, at, acceleration, external, &mut Scratch::new(tree), &mut out);
    out
}

/// The mass matrix by the composite-rigid-body algorithm.
pub(crate) fn mass(tree: &Tree, at: &Kinematics) -> BranchMatrix {
    let mut mass = BranchMatrix::zeros(tree);
    mass_matrix(tree, at, &mut Scratch::new(tree), &mut mass);
    mass
}

/// The same with all its zeros.
pub(crate) fn dense(matrix: &BranchMatrix) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.size(), matrix.size(), |i, j| matrix.get(i, j))
}

/// q ⊕ h v.
pub(crate) fn moved(tree: &Tree, q: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    let mut q = q.to_vec();
    tree.integrate(&mut q, v, h);
    q
}

/// Largest difference, relative to the largest number.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1e-300_f64, |size, x| size.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs())) / size
}

/// A chain of equal rods, 1 m and 1 kg each, hanging from revolute joints whose axes `axis` chooses.
pub(crate) fn rods(count: usize, gravity: Vector3<f64>, axis: impl Fn(usize) -> Vector3<f64>) -> Tree {
    let mut builder = TreeBuilder::new(gravity).unwrap();
    let mut last = None;
    for index in 0..count {
        let mut spec = LinkSpec::new("rod", TreeJoint::Revolute { axis: axis(index) }).with_mass(
            1.0,
            Vector3::new(0.0, 0.0, -0.5),
            Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 0.01)),
        );
        if let Some(parent) = last {
            spec = spec.on(parent, Pose::translation(0.0, 0.0, -1.0));
        }
        last = Some(builder.link(spec).unwrap());
    }
    builder.build()
}
