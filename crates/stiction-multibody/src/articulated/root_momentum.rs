//! Momentum and kinetic energy of the trees of a forest, and velocities that give a tree a wanted momentum or energy.
//!
//! The rows of the mass matrix that belong to the velocities of a free root are the momentum of its tree along them. So the change of the
//! root's velocities that restores a momentum is also that of least kinetic energy, and the motion of the tree with locked joints is
//! orthogonal to motions without momentum.   [ROT-4]

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{TreeJoint, inertia::RigidInertia, kinematics::Kinematics, tree::Tree};
use crate::{LinkId, Twist, Wrench};

/// Trees of a forest.
#[derive(Clone, Debug, Default)]
pub struct Trees {
    roots: Vec<Root>,
    /// Tree of each link, by its place among `roots`.
    tree_of: Vec<usize>,
    /// Scratch: inertia of each tree with locked joints, about the origin of its root.
    locked: Vec<RigidInertia>,
}

/// Root of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// Link of the root.
    pub link: LinkId,
    /// Number of links of the tree.
    pub links: usize,
    /// True if the root moves freely: in space, in a plane, or without rotation.
    pub is_free: bool,
}

impl Trees {
    /// Finds the trees of a forest.
    pub fn new(tree: &Tree) -> Self {
        use TreeJoint::{Free, Planar, PlanarTranslational, Translational};
        let mut found = Self::default();
        for (id, link) in tree.link_ids().zip(tree.links()) {
            let place = link.parent().map_or(found.roots.len(), |parent| found.tree_of[parent]);
            if place == found.roots.len() {
                let is_free = matches!(link.joint(), Free | Planar | Translational | PlanarTranslational);
                found.roots.push(Root { link: id, links: 0, is_free });
            }
            found.roots[place].links += 1;
            found.tree_of.push(place);
        }
        found
    }

    /// Roots of the trees.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Tree of a link, by its place among the roots.
    pub fn tree_of(&self, link: LinkId) -> usize {
        self.tree_of[link.index()]
    }

    /// Sums a quantity of the links over each tree, into `out`.
    fn sum<T: Clone>(&self, zero: &T, out: &mut Vec<T>, mut add: impl FnMut(usize, &mut T)) {
        out.clear();
        out.resize(self.roots.len(), zero.clone());
        for (link, &place) in self.tree_of.iter().enumerate() {
            add(link, &mut out[place]);
        }
    }

    /// Momentum of each tree about the origin of the world, for twists of its links about their origins.   [ART-14]
    pub fn momenta(&self, at: &Kinematics, twists: &[Twist], out: &mut Vec<Wrench>) {
        self.sum(&Wrench::default(), out, |link, total| {
            total.add(&at.inertias[link].momentum(&twists[link]).moved(&at.poses[link].translation.vector));
        });
    }

    /// Kinetic energy of each tree at velocities `v`, which its links have the `twists` of, with inertias along velocities added.
    pub fn energies(
        &self,
        tree: &Tree,
        at: &Kinematics,
        (v, twists): (&[f64], &[Twist]),
        added: &[f64],
        out: &mut Vec<f64>,
    ) {
        self.sum(&0.0, out, |link, total| {
            *total += 0.5 * at.inertias[link].momentum(&twists[link]).power(&twists[link]);
            for k in tree.links()[link].velocities() {
                *total += 0.5 * (tree.armature()[k] + added[k]) * v[k] * v[k];
            }
        });
    }

    /// Total of wrenches on the links, which are about the origins of the links, about the origin of the world.
    pub fn wrenches(&self, at: &Kinematics, wrenches: &[Wrench], out: &mut Vec<Wrench>) {
        self.sum(&Wrench::default(), out, |link, total| {
            total.add(&wrenches[link].moved(&at.poses[link].translation.vector));
        });
    }

    /// Mass and centre of mass of each tree.
    pub fn centers(&self, at: &Kinematics, out: &mut Vec<(f64, Vector3<f64>)>) {
        self.sum(&(0.0, Vector3::zeros()), out, |link, (mass, moment)| {
            let inertia = &at.inertias[link];
            *mass += inertia.mass;
            *moment += at.poses[link].translation.vector * inertia.mass + inertia.moment;
        });
        for (mass, center) in out {
            if *mass > 0.0 {
                *center /= *mass;
            }
        }
    }

    /// Adds to the velocities of each free root the change that gives its tree the momentum `missing` along them.   [ROT-4]
    ///
    /// `missing` is about the origin of the world.
    pub fn add_momentum(&mut self, tree: &Tree, at: &Kinematics, missing: &[Wrench], v: &mut [f64]) {
        debug_assert_eq!(missing.len(), self.roots.len(), "one momentum for each tree");
        let mut locked = std::mem::take(&mut self.locked);
        self.sum(&RigidInertia::default(), &mut locked, |link, total| {
            let root = self.roots[self.tree_of[link]].link;
            let arm = at.poses[link].translation.vector - at.pose(root).translation.vector;
            total.add(&at.inertias[link].moved(&arm));
        });
        for ((root, missing), locked) in self.roots.iter().zip(missing).zip(&locked) {
            if !root.is_free {
                continue;
            }
            let missing = missing.moved(&-at.pose(root.link).translation.vector);
            let range = tree.links()[root.link.index()].velocities();
            let (mut mass, mut right) = (Matrix6::identity(), Vector6::zeros());
            for (i, a) in range.clone().enumerate() {
                let momentum = locked.momentum(&at.columns[a]);
                for (j, b) in range.clone().enumerate() {
                    mass[(i, j)] = momentum.power(&at.columns[b]);
                }
                right[i] = missing.power(&at.columns[a]);
            }
            let Some(change) = mass.cholesky().map(|factor| factor.solve(&right)) else { continue };
            range.zip(change.iter()).for_each(|(k, change)| v[k] += change);
        }
        self.locked = locked;
    }

    /// Moves the coordinates of each free tree by `shifts`, in the world, along the translations of its root.
    pub fn translate(&self, tree: &Tree, shifts: &[Vector3<f64>], q: &mut [f64]) {
        debug_assert_eq!(shifts.len(), self.roots.len(), "one shift for each tree");
        for (root, shift) in self.roots.iter().zip(shifts) {
            if !root.is_free {
                continue;
            }
            let link = &tree.links()[root.link.index()];
            let along = link.spec().placement.rotation.inverse_transform_vector(shift);
            let count = match link.joint() {
                TreeJoint::Planar | TreeJoint::PlanarTranslational => 2,
                _ => 3,
            };
            let q = &mut q[link.coordinates()];
            q.iter_mut().zip(along.iter()).take(count).for_each(|(q, shift)| *q += shift);
        }
    }
}
