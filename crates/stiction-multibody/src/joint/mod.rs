//! Joints: bilateral constraints Φ(q, t) = 0 between two bodies, or a body and the world.
//!
//! Every joint is a list of elementary [`Constraint`]s (see [`constraint`]), each with its value and its Jacobian as a pair of
//! wrenches; `kinds.rs` is the table of these lists. The twist of a prescribed body gives ∂Φ/∂t. A joint to a kinematic body is a rheonomic joint.

pub mod constraint;
mod joint_dof;
mod kinds;

use nalgebra::Vector3;
use stiction_geometry::Pose;

pub use constraint::{Constraint, Row};
pub use joint_dof::JointDof;
pub(crate) use joint_dof::Measure;
pub(crate) use kinds::MAX_JOINT_DOFS;
pub use kinds::{JointKind, Placement};

use crate::{BodyId, Configuration, JointId, Twist, Wrench};

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
        let length = self.kind.length();
        self.constraints.iter().map(move |constraint| constraint.evaluate(&frames, length))
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
