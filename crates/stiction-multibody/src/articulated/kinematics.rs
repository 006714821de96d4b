//! Forward kinematics: poses, twists and motion subspaces of links.

use nalgebra::Vector3;
use stiction_geometry::Pose;

use super::{inertia::RigidInertia, tree::Tree};
use crate::{LinkId, Twist};

/// Quantities of a tree that depend on q and v only. All vectors are in world axes about the origin of their link.
#[derive(Clone, Debug)]
pub struct Kinematics {
    pub(super) poses: Vec<Pose>,
    /// Vectors from the origin of the parent to that of the link; from the origin of the world for a root.
    pub(super) arms: Vec<Vector3<f64>>,
    /// Vectors from the origin of each link to its centre of mass.
    pub(super) centers: Vec<Vector3<f64>>,
    pub(super) twists: Vec<Twist>,
    /// c = S̊ v + ν × S v of each link.
    pub(super) products: Vec<Twist>,
    pub(super) inertias: Vec<RigidInertia>,
    /// S, one column per velocity.
    pub(super) columns: Vec<Twist>,
}

impl Kinematics {
    /// Allocates the kinematics of a tree; [`Kinematics::update`] computes them.
    pub fn new(tree: &Tree) -> Self {
        let links = tree.links().len();
        Self {
            poses: vec![Pose::identity(); links],
            arms: vec![Vector3::zeros(); links],
            centers: vec![Vector3::zeros(); links],
            twists: vec![Twist::default(); links],
            products: vec![Twist::default(); links],
            inertias: vec![RigidInertia::default(); links],
            columns: vec![Twist::default(); tree.velocities()],
        }
    }

    /// Poses, subspaces, twists and velocity products at (q, v), from the roots outwards.   [ART-1] [ART-2] [ART-3]
    ///
    /// `q` and `v` have the lengths of the tree that this was made for.
    pub fn update(&mut self, tree: &Tree, q: &[f64], v: &[f64]) {
        let links = tree.links();
        self.debug_assert_of(tree);
        debug_assert_eq!(q.len(), tree.coordinates(), "q has the length of the tree's coordinates");
        debug_assert_eq!(v.len(), tree.velocities(), "v has the length of the tree's velocities");
        let (poses, arms) = (&mut self.poses[..links.len()], &mut self.arms[..links.len()]);
        let centers = &mut self.centers[..links.len()];
        for ((i, link), inertia) in links.iter().enumerate().zip(&mut self.inertias) {
            let (spec, velocities) = (link.spec(), link.velocities());
            let q = &q[link.coordinates()];
            let relative = spec.joint.transform(q);
            let on_parent = spec.placement * relative;
            let (pose, arm) = match link.parent() {
                None => (on_parent, on_parent.translation.vector),
                Some(parent) => {
                    let parent = &poses[parent];
                    let arm = parent.rotation * on_parent.translation.vector;
                    let origin = parent.translation.vector + arm;
                    (Pose::from_parts(origin.into(), parent.rotation * on_parent.rotation), arm)
                }
            };
            let columns = &mut self.columns[velocities.clone()];
            spec.joint.motion_subspace(q, &relative, columns);
            for column in columns {
                *column = in_world(&pose, column);
            }
            *inertia = link.inertia().turned(&pose.rotation);
            centers[i] = pose.rotation * spec.center;
            poses[i] = pose;
            arms[i] = arm;
        }
        self.update_velocities(tree, v);
    }

    /// Twists and velocity products at other velocities and the same coordinates.   [ART-2] [ART-3]
    pub fn update_velocities(&mut self, tree: &Tree, v: &[f64]) {
        let (links, velocities) = (tree.links(), tree.velocities());
        self.debug_assert_of(tree);
        debug_assert_eq!(v.len(), velocities, "v has the length of the tree's velocities");
        let (arms, twists) = (&self.arms[..links.len()], &mut self.twists[..links.len()]);
        let (products, columns) = (&mut self.products[..links.len()], &self.columns[..velocities]);
        for (i, link) in links.iter().enumerate() {
            let (columns, v) = (&columns[link.velocities()], &v[link.velocities()]);
            let mut joint_twist = Twist::default();
            for (column, &v) in columns.iter().zip(v) {
                joint_twist.add_scaled(column, v);
            }
            let mut twist = link.parent().map_or_else(Twist::default, |parent| twists[parent].moved(&arms[i]));
            twist.add_scaled(&joint_twist, 1.0);
            let mut product = twist.cross(&joint_twist);
            if let Some(rate) = link.spec().joint.subspace_rate(columns, v) {
                product.add_scaled(&rate, 1.0);
            }
            (twists[i], products[i]) = (twist, product);
        }
    }

    /// Twists of all links about their origins, at the same coordinates and for other velocities.
    pub fn twists_of(&self, tree: &Tree, v: &[f64], out: &mut [Twist]) {
        let (links, velocities) = (tree.links(), tree.velocities());
        self.debug_assert_of(tree);
        debug_assert_eq!(
            (v.len(), out.len()),
            (velocities, links.len()),
            "one number per velocity, one twist per link"
        );
        let (arms, out) = (&self.arms[..links.len()], &mut out[..links.len()]);
        let (columns, v) = (&self.columns[..velocities], &v[..velocities]);
        for (i, link) in links.iter().enumerate() {
            let mut twist = link.parent().map_or_else(Twist::default, |parent| out[parent].moved(&arms[i]));
            for k in link.velocities() {
                twist.add_scaled(&columns[k], v[k]);
            }
            out[i] = twist;
        }
    }

    /// Twists of all links at (q, v), about their origins.
    #[inline]
    pub fn twists(&self) -> &[Twist] {
        &self.twists
    }

    /// Poses of all link frames in the world.
    #[inline]
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Pose of a link frame in the world.
    #[inline]
    pub fn pose(&self, link: LinkId) -> &Pose {
        &self.poses[link.index()]
    }

    /// Vector from the origin of a link to its centre of mass, in world axes.
    #[inline]
    pub fn center(&self, link: LinkId) -> &Vector3<f64> {
        &self.centers[link.index()]
    }

    /// Velocity of the origin of a link, and its angular velocity, in world axes.
    #[inline]
    pub fn twist(&self, link: LinkId) -> &Twist {
        &self.twists[link.index()]
    }

    /// Inertia of a link in world axes about its origin.
    #[inline]
    pub fn inertia(&self, link: LinkId) -> &RigidInertia {
        &self.inertias[link.index()]
    }

    /// Twist of a link per unit of one of its joint's velocities, in world axes about the link's origin.
    #[inline]
    pub fn column(&self, velocity: usize) -> &Twist {
        &self.columns[velocity]
    }

    /// Velocity-product part of a link's spatial acceleration relative to its parent.
    #[inline]
    pub fn velocity_product(&self, link: LinkId) -> &Twist {
        &self.products[link.index()]
    }

    /// Checks in debug builds that the kinematics have the sizes of a tree.
    #[inline]
    pub(super) fn debug_assert_of(&self, tree: &Tree) {
        debug_assert_eq!(self.poses.len(), tree.links().len(), "the kinematics are those of another tree");
        debug_assert_eq!(self.columns.len(), tree.velocities(), "the kinematics are those of another tree");
    }
}

#[inline]
fn in_world(pose: &Pose, twist: &Twist) -> Twist {
    Twist { linear: pose.rotation * twist.linear, angular: pose.rotation * twist.angular }
}
