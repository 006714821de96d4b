//! The forest of a model: its bodies as links of trees, connected by a spanning forest of its joints.
//!
//! The forest maps reduced coordinates to the state of all bodies, and back. The frame of a link is its joint frame on the
//! body, so that the coordinates of a tree joint are those of the model's joint.   [FOREST-1]

use stiction_geometry::Pose;

use crate::{
    BodyId, Configuration, JointId, LinkId, Twist, Wrench,
    articulated::{Kinematics, Tree},
    joint::MAX_JOINT_DOFS,
};

/// Link of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkedBody {
    pub(crate) link: LinkId,
    /// Body frame in the frame of the link: its origin is the link's centre of mass.
    pub(crate) in_link: Pose,
}

/// Tree joint of a joint of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) link: LinkId,
    /// Velocity of the tree for each joint DOF; none for a DOF that is not a single coordinate.
    pub(crate) velocities: [Option<usize>; MAX_JOINT_DOFS],
}

/// The bodies of a model in reduced coordinates.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    pub(crate) tree: Tree,
    /// One entry per body; none for bodies without unknowns.
    pub(crate) linked_bodies: Vec<Option<LinkedBody>>,
    /// One entry per joint; none for joints that close loops.
    pub(crate) branches: Vec<Option<Branch>>,
    pub(crate) loops: Vec<JointId>,
    /// Body of each link.
    pub(crate) bodies: Vec<BodyId>,
    /// [`Self::floats`] of each body, and [`Self::coordinate_of`] each velocity, stored because every step reads them.
    pub(crate) floating: Vec<bool>,
    pub(crate) coordinates: Vec<Option<usize>>,
}

impl Forest {
    /// Trees of the forest, without gravity, which is among the external wrenches.
    #[inline]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The link of a body; none for bodies without unknowns.
    #[inline]
    pub fn link(&self, body: BodyId) -> Option<LinkId> {
        Some(self.linked_bodies.get(body.index())?.as_ref()?.link)
    }

    /// True if the root of the body's tree is a free joint.
    #[inline]
    pub fn floats(&self, body: BodyId) -> bool {
        self.floating.get(body.index()).copied().unwrap_or(false)
    }

    /// Joints that are not in the forest and remain constraints: those that close loops, and those to prescribed bodies.
    #[inline]
    pub fn loops(&self) -> &[JointId] {
        &self.loops
    }

    /// Velocity of the tree that is the rate of a joint DOF; none for joints outside of the forest and for spherical joints.
    #[inline]
    pub fn velocity_of(&self, joint: JointId, joint_dof: usize) -> Option<usize> {
        *self.branches.get(joint.index())?.as_ref()?.velocities.get(joint_dof)?
    }

    /// First velocity of the tree joint of a joint; none for joints outside of the forest and joints without velocities.
    #[inline]
    pub fn first_velocity(&self, joint: JointId) -> Option<usize> {
        let link = self.branches.get(joint.index())?.as_ref()?.link;
        let velocities = self.tree.links().get(link.index())?.velocities();
        (!velocities.is_empty()).then_some(velocities.start)
    }

    /// Coordinate of the tree whose rate is a velocity; none for the velocities of joints with a quaternion.
    #[inline]
    pub fn coordinate_of(&self, velocity: usize) -> Option<usize> {
        debug_assert!(velocity < self.coordinates.len(), "the forest has no velocity {velocity}");
        self.coordinates.get(velocity).copied().flatten()
    }

    /// Moves a wrench on a body from its reference point to the origin of its link; none for bodies without unknowns.
    #[inline]
    pub fn on_link(&self, at: &Kinematics, body: BodyId, wrench: &Wrench) -> Option<(LinkId, Wrench)> {
        let (link, [wrench]) = self.all_on_link(at, body, [*wrench])?;
        Some((link, wrench))
    }

    /// [`Self::on_link`] for several wrenches on one body.
    #[inline]
    pub fn all_on_link<const N: usize>(
        &self,
        at: &Kinematics,
        body: BodyId,
        wrenches: [Wrench; N],
    ) -> Option<(LinkId, [Wrench; N])> {
        let linked = self.linked_bodies.get(body.index())?.as_ref()?;
        let arm = at.center(linked.link);
        let moved = |wrench: Wrench| Wrench { angular: wrench.angular + arm.cross(&wrench.linear), ..wrench };
        Some((linked.link, wrenches.map(moved)))
    }

    /// Velocities of the forest from those of all bodies, at the poses of `at`; motions that a joint does not allow are ignored.
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
            let (Some(own), parent) = (twist_of(id), link.parent().map(LinkId::from_index)) else {
                debug_assert!(false, "link {index} has no body");
                continue;
            };
            let parent = parent.and_then(|parent| {
                let arm = at.pose(id).translation.vector - at.pose(parent).translation.vector;
                twist_of(parent).map(|twist| Twist { linear: twist.at(&arm), angular: twist.angular })
            });
            // The parent of a root is the world, which is at rest.
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

    /// Body of a link.
    pub(crate) fn body_of(&self, link: usize) -> Option<(BodyId, &LinkedBody)> {
        let body = *self.bodies.get(link)?;
        Some((body, self.linked_bodies.get(body.index())?.as_ref()?))
    }
}
