//! A robot as a tree in reduced coordinates, and its dynamics at one state.
//!
//! Every joint carries a link of the tree whose frame is at the anchor of the joint. Joints in series on one link of
//! the robot have massless frames between them; the last one carries the mass. Coordinates and velocities are those
//! of the file, in its order. Coordinates of hinges and slides are relative to their references.

use nalgebra::{DMatrix, Isometry3, Matrix3, Point3, Rotation3, Translation3, Vector3};
use stiction_multibody::{
    Energy, LinkId as TreeLinkId, ModelError, Pose, Twist,
    articulated::{
        ArticulatedFactors, BranchMatrix, Kinematics, LinkSpec, Scratch, SingularInertia, Tree, TreeBuilder, TreeJoint,
        energy, forward_dynamics, inverse_dynamics, mass_matrix,
    },
};

use super::{
    description::{Joint, JointId, JointKind, LinkId, Robot},
    orientation, rigid,
};

/// Default gravity, m/s².
pub(super) const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// A robot as a tree.
#[derive(Clone, Debug)]
pub struct RobotTree {
    tree: Tree,
    /// Tree link that carries each link of the robot, and the pose of the latter in it; none for the world.
    links: Vec<Option<(TreeLinkId, Pose)>>,
    /// Tree link that each joint carries.
    joints: Vec<(JointId, TreeLinkId)>,
    /// Zero of each coordinate in the file.
    references: Vec<f64>,
    /// Coordinates with every link at its origin.
    initial: Vec<f64>,
}

/// Dynamics of a tree at one state.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// Mass matrix, armatures included.
    pub mass: DMatrix<f64>,
    /// Bias forces: gravity, centrifugal and Coriolis forces.
    pub bias: Vec<f64>,
    /// Acceleration M⁻¹ (τ − bias), without springs, damping, friction, limits and contacts.
    pub acceleration: Vec<f64>,
    /// Poses of the links of the robot in the world.
    pub poses: Vec<Pose>,
    /// Kinetic and potential energy.
    pub energy: Energy,
}

/// Error in the dynamics at a state.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DynamicsError {
    /// A list has the wrong length.
    #[error("`{what}` has {given} numbers, but the robot has {needed}")]
    Count {
        /// Name of the list.
        what: &'static str,
        /// Its length.
        given: usize,
        /// Length it needs.
        needed: usize,
    },
    /// A number is not finite, or a quaternion is zero.
    #[error("`{what}` number {index} {reason}")]
    Number {
        /// Name of the list.
        what: &'static str,
        /// Index of the number, from 0.
        index: usize,
        /// Description of the error.
        reason: &'static str,
    },
    /// The mass matrix is singular here.
    #[error("the mass matrix is singular at these coordinates: joint \"{joint}\" can move without moving any mass")]
    Singular {
        /// Name of the joint at fault.
        joint: String,
    },
}

impl Robot {
    /// Returns the robot as a tree, or an error if the numbers of a link are out of range.
    pub fn tree(&self) -> Result<RobotTree, ModelError> {
        let mut made = TreeParts {
            builder: TreeBuilder::new(self.gravity.unwrap_or(GRAVITY))?,
            links: vec![None],
            joints: Vec::new(),
            references: Vec::new(),
            initial: Vec::new(),
        };
        let carriers = rigid::carriers(self);
        let bodies = rigid::parts(self, &carriers);
        for (index, link) in self.links.iter().enumerate().skip(1) {
            // The parent frame of the next joint, and the pose of the link in it before that joint.
            let carried = link.parent.and_then(|LinkId(parent)| made.links.get(parent).copied().flatten());
            let (mut parent, mut origin_before) = match carried {
                Some((parent, pose)) => (Some(parent), pose * pose_of(&link.origin)),
                None => (None, pose_of(&link.origin)),
            };
            for (number, joint) in link.joints.iter().enumerate() {
                let last = number + 1 == link.joints.len();
                let frame = frame_of(joint);
                let mut spec = LinkSpec::new(&link.name, joint.kind.in_tree(joint)).with_armature(joint.armature);
                spec.parent = parent;
                // A free joint replaces the pose of the link by its own.
                spec.placement = match joint.kind {
                    JointKind::Free => carried.map_or_else(Pose::identity, |(_, pose)| pose),
                    _ => origin_before * frame,
                };
                let whole = bodies.get(index).filter(|_| last).and_then(|parts| rigid::inertial(self, parts));
                if let Some(own) = whole {
                    let inertia = turned(&frame.rotation, &own.inertia);
                    spec = spec.with_mass(own.mass, frame.inverse_transform_point(&own.centre).coords, inertia);
                }
                let id = made.builder.link(spec)?;
                made.joints.push((JointId { link: LinkId(index), joint: number }, id));
                made.coordinates(joint, &link.origin);
                (parent, origin_before) = (Some(id), frame.inverse());
            }
            if link.joints.is_empty() {
                let mut spec = LinkSpec::new(&link.name, TreeJoint::Fixed);
                (spec.parent, spec.placement) = (parent, origin_before);
                // The mass of a link on a moving one is part of that; one on the world has potential energy only.
                if let (Some(own), Some(0)) = (&link.inertial, carriers.get(index)) {
                    spec = spec.with_mass(own.mass, own.centre.coords, Matrix3::zeros());
                }
                (parent, origin_before) = (Some(made.builder.link(spec)?), Pose::identity());
            }
            made.links.push(parent.map(|parent| (parent, origin_before)));
        }
        let TreeParts { builder, links, joints, references, initial } = made;
        Ok(RobotTree { tree: builder.build(), links, joints, references, initial })
    }
}

struct TreeParts {
    builder: TreeBuilder,
    links: Vec<Option<(TreeLinkId, Pose)>>,
    joints: Vec<(JointId, TreeLinkId)>,
    references: Vec<f64>,
    initial: Vec<f64>,
}

impl TreeParts {
    /// Adds the reference and initial coordinates of a joint.
    fn coordinates(&mut self, joint: &Joint, origin: &Isometry3<f64>) {
        let start = self.initial.len();
        match joint.kind {
            JointKind::Revolute | JointKind::Prismatic => self.initial.push(joint.reference),
            JointKind::Planar => self.initial.extend([0.0; 3]),
            JointKind::Ball => self.initial.extend([1.0, 0.0, 0.0, 0.0]),
            JointKind::Free => {
                let e = origin.rotation;
                self.initial.extend(origin.translation.vector.iter());
                self.initial.extend([e.w, e.i, e.j, e.k]);
            }
        }
        let single = joint.kind.dof() == 1;
        self.references.extend(self.initial.iter().skip(start).map(|q| if single { *q } else { 0.0 }));
    }
}

impl JointKind {
    fn in_tree(self, joint: &Joint) -> TreeJoint {
        match self {
            Self::Revolute => TreeJoint::Revolute { axis: *joint.axis },
            Self::Prismatic => TreeJoint::Prismatic { axis: *joint.axis },
            Self::Ball => TreeJoint::Spherical,
            Self::Planar => TreeJoint::Planar,
            Self::Free => TreeJoint::Free,
        }
    }
}

/// Returns the frame of a joint in its link: at the anchor, with the z axis along the normal of a planar joint.
fn frame_of(joint: &Joint) -> Pose {
    let rotation = match joint.kind {
        JointKind::Planar => orientation::of_z_axis(*joint.axis).unwrap_or_default().to_rotation_matrix(),
        _ => Rotation3::identity(),
    };
    let anchor = if joint.kind == JointKind::Free { Point3::origin() } else { joint.anchor };
    Pose::from_parts(Translation3::from(anchor.coords), rotation)
}

fn turned(rotation: &Rotation3<f64>, inertia: &Matrix3<f64>) -> Matrix3<f64> {
    rotation.matrix().transpose() * inertia * rotation.matrix()
}

pub(super) fn pose_of(isometry: &Isometry3<f64>) -> Pose {
    Pose::from_parts(isometry.translation, isometry.rotation.to_rotation_matrix())
}

impl RobotTree {
    /// Returns the tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the coordinates of the file with every link at its origin.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// Returns the tree at coordinates and velocities of the file.
    pub fn at(&self, q: &[f64], v: &[f64]) -> Result<Kinematics, DynamicsError> {
        self.check(q, v)?;
        let own: Vec<f64> = q.iter().zip(&self.references).map(|(q, reference)| q - reference).collect();
        let mut at = Kinematics::new(&self.tree);
        at.update(&self.tree, &own, v);
        Ok(at)
    }

    fn check(&self, q: &[f64], v: &[f64]) -> Result<(), DynamicsError> {
        for (what, list, needed) in [("q", q, self.tree.coordinates()), ("v", v, self.tree.velocities())] {
            finite(what, list, needed)?;
        }
        for link in self.tree.links() {
            let quaternion = match link.joint() {
                TreeJoint::Spherical => link.coordinates(),
                TreeJoint::Free => link.coordinates().start + 3..link.coordinates().end,
                _ => continue,
            };
            let index = quaternion.start;
            let norm = q.get(quaternion).unwrap_or_default().iter().map(|x| x * x).sum::<f64>();
            if !norm.is_normal() {
                return Err(DynamicsError::Number {
                    what: "q",
                    index,
                    reason: "begins a quaternion without direction",
                });
            }
        }
        Ok(())
    }

    /// Returns the tree link that a joint carries, with its frame at the anchor of the joint.
    pub fn carried_by(&self, joint: JointId) -> Option<TreeLinkId> {
        let found = self.joints.binary_search_by_key(&joint, |(own, _)| *own).ok()?;
        self.joints.get(found).map(|(_, link)| *link)
    }

    /// Returns the pose of a link of the robot in the world.
    pub fn pose(&self, at: &Kinematics, link: LinkId) -> Pose {
        let carried = self.links.get(link.0).copied().flatten();
        carried.map_or_else(Pose::identity, |(carrier, pose)| at.pose(carrier) * pose)
    }

    /// Returns the velocity of a point fixed to a link of the robot, and the angular velocity of the link.
    pub fn twist(&self, at: &Kinematics, link: LinkId, point: &Point3<f64>) -> Twist {
        let Some((carrier, _)) = self.links.get(link.0).copied().flatten() else { return Twist::default() };
        let Twist { linear, angular } = *at.twist(carrier);
        let arm = point.coords - at.pose(carrier).translation.vector;
        Twist { linear: linear + angular.cross(&arm), angular }
    }

    /// Returns mass matrix, bias, accelerations, poses and energies at coordinates, velocities and joint forces of
    /// the file.
    pub fn dynamics(&self, robot: &Robot, q: &[f64], v: &[f64], tau: &[f64]) -> Result<Dynamics, DynamicsError> {
        let at = self.at(q, v)?;
        finite("tau", tau, self.tree.velocities())?;
        let n = self.tree.velocities();
        let (mut scratch, mut branches) = (Scratch::new(&self.tree), BranchMatrix::zeros(&self.tree));
        mass_matrix(&self.tree, &at, &mut scratch, &mut branches);
        let mut bias = vec![0.0; n];
        inverse_dynamics(&self.tree, &at, &vec![0.0; n], &[], &mut scratch, &mut bias);
        let mut factors = ArticulatedFactors::new(&self.tree);
        factors.update(&self.tree, &at).map_err(|singular| self.singular_error(robot, singular))?;
        let mass = DMatrix::from_fn(n, n, |i, j| branches.get(i, j));
        let mut acceleration = vec![0.0; n];
        forward_dynamics(&self.tree, &at, &factors, (tau, &[]), &mut scratch, &mut acceleration);
        Ok(Dynamics {
            mass,
            bias,
            acceleration,
            poses: (0..robot.links.len()).map(|link| self.pose(&at, LinkId(link))).collect(),
            energy: energy(&self.tree, &at, v),
        })
    }

    fn singular_error(&self, robot: &Robot, singular: SingularInertia) -> DynamicsError {
        let link = self.tree.link_of(singular.velocity);
        let id = self.joints.iter().find(|(_, carried)| Some(*carried) == link).map(|(joint, _)| *joint);
        let joint = id.and_then(|id| robot.links.get(id.link.0)?.joints.get(id.joint));
        DynamicsError::Singular { joint: joint.map_or_else(String::new, |joint| joint.name.clone()) }
    }
}

fn finite(what: &'static str, list: &[f64], needed: usize) -> Result<(), DynamicsError> {
    if list.len() != needed {
        return Err(DynamicsError::Count { what, given: list.len(), needed });
    }
    match list.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(DynamicsError::Number { what, index, reason: "is not finite" }),
        None => Ok(()),
    }
}
