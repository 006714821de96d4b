//! Joints: bilateral constraints Φ(q, t) = 0 between two bodies, or a body and the world.
//!
//! Every joint is a list of elementary [`Constraint`]s (see [`constraint`]), each with its value and its Jacobian as a pair of
//! wrenches. The twist of a prescribed body gives ∂Φ/∂t. A joint to a kinematic body is a rheonomic joint.

pub mod constraint;
mod joint_dof;

use nalgebra::Vector3;
use stiction_geometry::{Dimension, Pose};

pub use constraint::{Constraint, Row};
pub use joint_dof::JointDof;
pub(crate) use joint_dof::Measure;

use crate::{BodyId, Configuration, JointId, Twist, Wrench};

/// Kind of a joint, described by the relative motion that it allows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind {
    /// Rotation about z (plane) or about the joint axis (space).
    Revolute,
    /// Translation along the joint axis.
    Prismatic,
    /// No relative motion.
    Weld,
    /// Motion with two points at a fixed distance, in metres.
    Distance(f64),
    /// Rotation about every axis; in space.
    Spherical,
    /// Rotation about two perpendicular axes: the joint axis of the first body and the second axis of the other; in space.
    Universal,
    /// Rotation about the joint axis and translation along it; in space.
    Cylindrical,
    /// Translation in the plane perpendicular to the joint axis and rotation about it; in space.
    Planar,
}

impl JointKind {
    /// The name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Weld => "weld",
            Self::Distance(_) => "distance",
            Self::Spherical => "spherical",
            Self::Universal => "universal",
            Self::Cylindrical => "cylindrical",
            Self::Planar => "planar",
        }
    }

    /// Number of degrees of freedom between the two bodies; `None` if the kind does not exist in that dimension.
    pub fn joint_dof(self, dimension: Dimension) -> Option<usize> {
        let all = if dimension == Dimension::Planar { 3 } else { 6 };
        Some(all - self.constraints(dimension)?.len())
    }

    /// Elementary constraints of the joint; `None` if it does not exist in that dimension.
    ///
    /// The joint frame has its x axis along the joint axis; the plane uses x and y of the frame.
    pub fn constraints(self, dimension: Dimension) -> Option<&'static [Constraint]> {
        use Constraint::{Coincide, Distance, Offset, Perpendicular};
        use Dimension::{Planar as Plane, Spatial as Space};
        Some(match (self, dimension) {
            (Self::Revolute, Plane) => &[Coincide(0), Coincide(1)],
            (Self::Prismatic, Plane) => &[Offset(1), Perpendicular(0, 1)],
            (Self::Weld, Plane) => &[Coincide(0), Coincide(1), Perpendicular(0, 1)],
            (Self::Distance(_), _) => &[Distance],
            (Self::Spherical, Space) => &[Coincide(0), Coincide(1), Coincide(2)],
            (Self::Revolute, Space) => {
                &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(1, 0), Perpendicular(2, 0)]
            }
            (Self::Universal, Space) => &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(0, 1)],
            (Self::Prismatic, Space) => {
                &[Offset(1), Offset(2), Perpendicular(1, 0), Perpendicular(2, 0), Perpendicular(1, 2)]
            }
            (Self::Cylindrical, Space) => &[Offset(1), Offset(2), Perpendicular(1, 0), Perpendicular(2, 0)],
            (Self::Planar, Space) => &[Offset(0), Perpendicular(1, 0), Perpendicular(2, 0)],
            (Self::Weld, Space) => {
                &[Coincide(0), Coincide(1), Coincide(2), Perpendicular(1, 0), Perpendicular(2, 0), Perpendicular(1, 2)]
            }
            (Self::Spherical | Self::Universal | Self::Cylindrical | Self::Planar, Plane) => return None,
        })
    }
}

/// A joint of a [`crate::Model`].
#[derive(Clone, Debug)]
pub struct Joint {
    /// Unique name.
    pub name: String,
    /// Kind of the joint.
    pub kind: JointKind,
    /// First body and the joint frame on it.
    pub a: (BodyId, Pose),
    /// Second body and the joint frame on it.
    pub b: (BodyId, Pose),
    /// Weight γ_b of the position error for this joint; `None` follows the scheme.
    pub gamma: Option<f64>,
    pub(crate) constraints: &'static [Constraint],
    pub(crate) first_row: usize,
    pub(crate) measures: &'static [Measure],
    pub(crate) dofs: Vec<JointDof>,
}

impl Joint {
    /// Number of constraint rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.constraints.len()
    }

    /// Position of its first row among the rows of all joints.
    #[inline]
    pub fn first_row(&self) -> usize {
        self.first_row
    }

    /// Evaluates the constraints at a configuration, one row each.
    pub fn evaluate<'a>(&'a self, at: &'a Configuration) -> impl Iterator<Item = Row> + 'a {
        let frames = constraint::Frames::new(self, at);
        self.constraints.iter().map(move |constraint| constraint.evaluate(&frames, self.kind))
    }

    /// First-order change of the wrenches Σ pₖ Wₖ of row impulses on the two bodies, under small displacements and rotations of
    /// the bodies.   [JOINT-7]
    pub fn wrench_change(&self, at: &Configuration, impulses: &[f64], moved: (&Twist, &Twist)) -> (Wrench, Wrench) {
        debug_assert_eq!(impulses.len(), self.constraints.len(), "one impulse per row of joint \"{}\"", self.name);
        let frames = constraint::Frames::new(self, at);
        let mut total = (Wrench::default(), Wrench::default());
        for (constraint, p) in self.constraints.iter().zip(impulses) {
            let (a, b) = constraint.change(&frames, moved);
            total.0.add(&a.scaled(*p));
            total.1.add(&b.scaled(*p));
        }
        total
    }

    /// World position of the joint frame on the second body.
    pub fn anchor(&self, at: &Configuration) -> Vector3<f64> {
        (at.pose(self.b.0) * self.b.1).translation.vector
    }

    /// Wrench Σ pₖ Wₖ / h of row impulses on the second body about its centre of mass; force in N, torque in N m.   [JOINT-6]
    pub fn wrench(&self, at: &Configuration, impulses: &[f64], h: f64) -> Wrench {
        debug_assert!(
            impulses.is_empty() || impulses.len() >= self.first_row + self.constraints.len(),
            "the impulses of all joints hold the rows of joint \"{}\", or are empty before the first step",
            self.name
        );
        let mut total = Wrench::default();
        for (row, p) in self.evaluate(at).zip(impulses.iter().skip(self.first_row)) {
            total.add(&row.b.scaled(p / h));
        }
        total
    }
}

/// Joint with a given id, by position.
#[inline]
pub(crate) fn by_id(joints: &[Joint], id: JointId) -> Option<&Joint> {
    joints.get(id.index())
}
