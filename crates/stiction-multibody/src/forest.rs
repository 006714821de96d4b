//! The forest of a model: its bodies as links of trees, joined by as many of its joints as close no loop.
//!
//! Bodies and joints stay what they are; the forest says how a state of all bodies follows from reduced coordinates, and back.
//! The frame of a link is its joint frame on the body, so that the coordinates of a tree joint are those of the model's joint.   [FOREST-1]

mod plant;

use nalgebra::Vector3;
use stiction_geometry::Pose;

use crate::{
    BodyId, Configuration, Joint, JointId, LinkId, Mobility, Model, Twist, Wrench,
    articulated::{Kinematics, Tree},
    rotation::from_matrix,
};

/// A body as a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) link: LinkId,
    /// The body frame in the frame of the link: its origin is the link's centre of mass.
    pub(crate) in_link: Pose,
}

/// The tree joint of a joint of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) link: LinkId,
    /// Of each freedom, the velocity of the tree; none where the freedom is no coordinate of its own.
    pub(crate) velocities: [Option<usize>; 3],
}

/// The bodies of a model in reduced coordinates.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    pub(crate) tree: Tree,
    /// One for each body; none for bodies without unknowns.
    pub(crate) leaves: Vec<Option<Leaf>>,
    /// One for each joint; none for those that close loops.
    pub(crate) branches: Vec<Option<Branch>>,
    pub(crate) loops: Vec<JointId>,
    /// One for each link.
    pub(crate) bodies: Vec<BodyId>,
    /// [`Self::floats`] of each body, and [`Self::coordinate_of`] each velocity: every step asks for them.
    pub(crate) floating: Vec<bool>,
    pub(crate) coordinates: Vec<Option<usize>>,
}

impl Forest {
    /// The trees, without gravity: it is among the external wrenches.
    #[inline]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The link of a body; none for bodies without unknowns.
    #[inline]
    pub fn link(&self, body: BodyId) -> Option<LinkId> {
        Some(self.leaves.get(body.index())?.as_ref()?.link)
    }

    /// Whether a body moves in all directions whatever its joints do: nothing joins the root of its tree to the world.
    #[inline]
    pub fn floats(&self, body: BodyId) -> bool {
        self.floating.get(body.index()).copied().unwrap_or(false)
    }

    /// Joints that are no branches of the forest and stay constraints: those that close loops, and those to prescribed bodies.
    #[inline]
    pub fn loops(&self) -> &[JointId] {
        &self.loops
    }

    /// The joints that are branches, each with the link it carries and the body that this is.
    pub fn branches<'m>(&'m self, model: &'m Model) -> impl Iterator<Item = (&'m Joint, LinkId, BodyId)> {
        let with_branch = model.joints().iter().zip(&self.branches);
        with_branch.filter_map(|(joint, branch)| {
            let link = branch.as_ref()?.link;
            Some((joint, link, *self.bodies.get(link.index())?))
        })
    }

    /// The velocity of the tree that is the rate of a freedom; none where there is no such one, as in loops.
    #[inline]
    pub fn velocity_of(&self, joint: JointId, joint_dof: usize) -> Option<usize> {
        *self.branches.get(joint.index())?.as_ref()?.velocities.get(joint_dof)?
    }

    /// The first velocity of the tree joint of a joint; none for loops and joints without velocities.
    #[inline]
    pub fn first_velocity(&self, joint: JointId) -> Option<usize> {
        let link = self.branches.get(joint.index())?.as_ref()?.link;
        let velocities = self.tree.links().get(link.index())?.velocities();
        (!velocities.is_empty()).then_some(velocities.start)
    }

    /// The coordinate of the tree that a velocity of it is the rate of; none for velocities of quaternions.
    #[inline]
    pub fn coordinate_of(&self, velocity: usize) -> Option<usize> {
        self.coordinates.get(velocity).copied().flatten()
    }

    /// Names of all coordinates and of all velocities: `JOINT.q`, `JOINT.v` by the joint, or by the body at a root, numbered where there
    /// are several.
    pub fn names(&self, model: &Model) -> (Vec<String>, Vec<String>) {
        let mut owners: Vec<&str> = self.tree.links().iter().map(|link| link.spec().name.as_str()).collect();
        for (joint, branch) in model.joints().iter().zip(&self.branches) {
            if let Some(owner) = branch.and_then(|branch| owners.get_mut(branch.link.index())) {
                *owner = &joint.name;
            }
        }
        let numbered = |owner: &str, kind: &str, count: usize| -> Vec<String> {
            let name = |k: usize| if count == 1 { format!("{owner}.{kind}") } else { format!("{owner}.{kind}{k}") };
            (0..count).map(name).collect()
        };
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (link, owner) in self.tree.links().iter().zip(owners) {
            q.extend(numbered(owner, "q", link.joint().coordinates()));
            v.extend(numbered(owner, "v", link.joint().velocities()));
        }
        (q, v)
    }

    /// A wrench on a body about its reference point, as one on its link about the origin of that.
    #[inline]
    pub fn on_link(&self, at: &Kinematics, body: BodyId, wrench: &Wrench) -> Option<(LinkId, Wrench)> {
        let (link, [wrench]) = self.all_on_link(at, body, [*wrench])?;
        Some((link, wrench))
    }

    /// [`Self::on_link`] of several wrenches on one body.
    #[inline]
    pub fn all_on_link<const N: usize>(
        &self,
        at: &Kinematics,
        body: BodyId,
        wrenches: [Wrench; N],
    ) -> Option<(LinkId, [Wrench; N])> {
        let leaf = self.leaves.get(body.index())?.as_ref()?;
        let arm = at.center(leaf.link);
        let moved = |wrench: Wrench| Wrench { angular: wrench.angular + arm.cross(&wrench.linear), ..wrench };
        Some((leaf.link, wrenches.map(moved)))
    }

    /// Velocities of all bodies, as in `State::v`, from the twists of all links.
    pub fn write_velocities(&self, model: &Model, at: &Kinematics, twists: &[Twist], v: &mut Vec<f64>) {
        v.clear();
        v.resize(model.dof(), 0.0);
        for ((body, leaf), slot) in model.bodies().iter().zip(&self.leaves).zip(model.layout()) {
            let (Some(mobility), Some(leaf), Some(out)) = (body.mobility(), leaf, v.get_mut(slot.v.clone())) else {
                continue;
            };
            let Some(twist) = twists.get(leaf.link.index()) else { continue };
            let linear = twist.at(at.center(leaf.link));
            mobility.write_velocities(&Twist { linear, angular: twist.angular }, out);
        }
    }

    /// Coordinates of all bodies, as in `State::q`. Full turns of planar bodies and signs of quaternions are those next to `before`.
    pub fn write_coordinates(&self, model: &Model, at: &Kinematics, before: &[f64], q: &mut Vec<f64>) {
        q.clear();
        q.extend_from_slice(before);
        q.resize(model.coordinates(), 0.0);
        for ((body, leaf), slot) in model.bodies().iter().zip(&self.leaves).zip(model.layout()) {
            let (Some(mobility), Some(leaf), Some(out)) = (body.mobility(), leaf, q.get_mut(slot.q.clone())) else {
                continue;
            };
            let pose = at.pose(leaf.link) * leaf.in_link;
            write_pose(mobility, &pose, out);
        }
    }

    /// Coordinates of the forest from the poses of all bodies; what joints forbid is ignored. Angles are those next to `before`, if that
    /// is not empty.
    pub fn read_coordinates(&self, model: &Model, at: &Configuration, before: &[f64], q: &mut Vec<f64>) {
        q.clear();
        q.resize(self.tree.coordinates(), 0.0);
        for (body, leaf) in self.leaves.iter().enumerate() {
            let Some(leaf) = leaf else { continue };
            let Some(link) = self.tree.links().get(leaf.link.index()) else { continue };
            let parent = link
                .parent()
                .and_then(|parent| self.body_of(parent))
                .map_or_else(Pose::identity, |(body, leaf)| at.pose(body) * leaf.in_link.inverse());
            let here = at.pose(BodyId::from_index(body)) * leaf.in_link.inverse();
            let relative = (parent * link.spec().placement).inverse() * here;
            let Some(out) = q.get_mut(link.coordinates()) else { continue };
            link.joint().write_coordinates(&relative, out);
        }
        self.count_turns(model, before, q);
    }

    /// Adds full turns to angles of the forest until they are next to those before.
    fn count_turns(&self, model: &Model, before: &[f64], q: &mut [f64]) {
        for (joint, branch) in model.joints().iter().zip(&self.branches) {
            let Some(branch) = branch else { continue };
            for (joint_dof, velocity) in branch.velocities.iter().enumerate() {
                let place = velocity.and_then(|velocity| self.coordinate_of(velocity));
                let Some((place, true)) = place.map(|place| (place, joint.turns(joint_dof))) else { continue };
                if let (Some(q), Some(before)) = (q.get_mut(place), before.get(place)) {
                    *q = next_to(*q, *before);
                }
            }
        }
    }

    /// Velocities of the forest from those of all bodies, at the poses of `at`; what joints forbid is ignored.
    pub fn read_velocities(&self, at: &Kinematics, bodies: &Configuration, v: &mut Vec<f64>) {
        v.clear();
        v.resize(self.tree.velocities(), 0.0);
        let twist_of = |link: LinkId| {
            let (body, _) = self.body_of(link.index())?;
            let twist = bodies.twist(body);
            Some(Twist { linear: twist.at(&-at.center(link)), angular: twist.angular })
        };
        for (index, link) in self.tree.links().iter().enumerate() {
            let id = LinkId::from_index(index);
            let (Some(own), parent) = (twist_of(id), link.parent().map(LinkId::from_index)) else { continue };
            let parent = parent.and_then(|parent| {
                let arm = at.pose(id).translation.vector - at.pose(parent).translation.vector;
                twist_of(parent).map(|twist| Twist { linear: twist.at(&arm), angular: twist.angular })
            });
            let parent = parent.unwrap_or_default();
            let relative = Wrench { linear: own.linear - parent.linear, angular: own.angular - parent.angular };
            for k in link.velocities() {
                if let Some(v) = v.get_mut(k) {
                    // The columns of all these joints are orthonormal.
                    *v = relative.power(at.column(k));
                }
            }
        }
    }

    /// The body that is a link.
    fn body_of(&self, link: usize) -> Option<(BodyId, &Leaf)> {
        let body = *self.bodies.get(link)?;
        Some((body, self.leaves.get(body.index())?.as_ref()?))
    }
}

/// The angle that differs from `angle` by full turns and is next to another.
pub(crate) fn next_to(angle: f64, other: f64) -> f64 {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    angle + TURN * libm::round((other - angle) / TURN)
}

/// Coordinates of a body at a pose; `out` holds those it had before.
fn write_pose(mobility: Mobility, pose: &Pose, out: &mut [f64]) {
    let p: Vector3<f64> = pose.translation.vector;
    let r = pose.rotation.matrix();
    match (mobility, out) {
        (Mobility::PlanarParticle, [x, y]) => (*x, *y) = (p.x, p.y),
        (Mobility::Planar, [x, y, angle]) => (*x, *y, *angle) = (p.x, p.y, next_to(libm::atan2(r.m21, r.m11), *angle)),
        (Mobility::Particle, [x, y, z]) => (*x, *y, *z) = (p.x, p.y, p.z),
        (Mobility::Free, [x, y, z, w, i, j, k]) => {
            (*x, *y, *z) = (p.x, p.y, p.z);
            let now = from_matrix(r);
            let same = now.w * *w + now.i * *i + now.j * *j + now.k * *k;
            let sign = if same < 0.0 { -1.0 } else { 1.0 };
            (*w, *i, *j, *k) = (sign * now.w, sign * now.i, sign * now.j, sign * now.k);
        }
        _ => {}
    }
}
