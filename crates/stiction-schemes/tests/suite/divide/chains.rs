//! Chains with contacts, and the parts of their step.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    LinkId, Pose,
    articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint, divide::Divide},
};
use stiction_schemes::PlaneContact;
use stiction_testkit::Random;

pub(crate) fn vector(random: &mut Random, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.uniform(-size, size))
}

/// Chain of rods along −z, the first one free, on hinges, ball joints and universal joints.
pub(crate) fn chain(random: &mut Random, count: usize) -> Tree {
    let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let mut last: Option<LinkId> = None;
    for _ in 0..count {
        let axis = Vector3::from(random.direction());
        let joint = match (last, random.below(3)) {
            (None, _) => TreeJoint::Free,
            (_, 0) => TreeJoint::Spherical,
            (_, 1) => TreeJoint::Universal { axes: [axis, Vector3::from(random.direction())] },
            _ => TreeJoint::Revolute { axis },
        };
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.1, 0.12, 0.05));
        let mut spec = LinkSpec::new("rod", joint).with_mass(1.0, Vector3::new(0.0, 0.0, -0.5), inertia);
        if let Some(parent) = last {
            spec = spec.on(parent, Pose::translation(0.0, 0.0, -1.0));
        }
        last = Some(builder.link(spec).unwrap());
    }
    builder.build()
}

/// A state of a tree, its kinematics and its assembly.
pub(crate) struct Posed {
    pub(crate) tree: Tree,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) at: Kinematics,
    pub(crate) divide: Divide,
}

pub(crate) fn posed(random: &mut Random, tree: Tree) -> Posed {
    let mut numbers = || (0..tree.velocities()).map(|_| random.uniform(-1.0, 1.0)).collect::<Vec<f64>>();
    let mut q = tree.neutral();
    tree.integrate(&mut q, &numbers(), 1.0);
    let v = numbers();
    let mut at = Kinematics::new(&tree);
    at.update(&tree, &q, &v);
    let mut divide = Divide::new(&tree);
    divide.update(&tree, &at, &[]).unwrap();
    Posed { tree, q, v, at, divide }
}

impl Posed {
    /// Velocities after a step of `h` without contacts.
    pub(crate) fn free(&mut self, h: f64) -> Vec<f64> {
        let mut free = vec![0.0; self.tree.velocities()];
        self.divide.forward_dynamics(&self.tree, &self.at, (&[], &[]), &mut free);
        free.iter().zip(&self.v).map(|(a, v)| v + h * a).collect()
    }

    /// A contact of a random point of a link with a plane close to it.
    pub(crate) fn contact(&self, random: &mut Random, link: LinkId, friction: f64) -> PlaneContact {
        let point = vector(random, 0.5);
        let normal = Vector3::from(random.direction());
        let pose = self.at.pose(link);
        let place = pose.translation.vector + pose.rotation * point;
        let offset = normal.dot(&place) - random.uniform(-1e-3, 1e-3);
        PlaneContact { link, point, normal, offset, friction, restitution: 0.0 }
    }
}
