//! Laws along joint DOFs: limits, dry friction, damping, springs, rotor inertia.
//!
//! A joint DOF has a coordinate φ (m or rad) whose rate is, like that of a constraint, the power of a pair of wrenches:
//! φ̇ = w_a · ν_a + w_b · ν_b.   [JSPACE-1]

use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use super::{Joint, Row, constraint::Frames};
use crate::{
    Configuration, ModelError, Wrench,
    check::{Check, limits},
    rotation::{to_rotation_vector, unwrap_angle},
};

/// Laws along one joint DOF. Forces are in N for a translation, in N m for a rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointDof {
    /// Least and greatest coordinate, m or rad.
    pub limits: Option<[f64; 2]>,
    /// Dry friction: largest friction force.
    pub friction: f64,
    /// Viscous damping: force per speed.
    pub damping: f64,
    /// Stiffness of a spring: force per coordinate.
    pub stiffness: f64,
    /// Coordinate at which the spring is at rest.
    pub rest: f64,
    /// Inertia of a rotor, reflected to the joint DOF, kg or kg m².
    pub armature: f64,
    /// Coordinate at which the two joint frames coincide: in a scene, that of the initial configuration. It names the coordinate and moves nothing;
    /// [`crate::ModelBuilder::joint_start`] moves.
    pub initial: f64,
}

impl JointDof {
    /// True if there is no law along it.
    pub fn is_plain(&self) -> bool {
        Self { initial: 0.0, rest: 0.0, ..*self } == Self::default()
    }

    pub(crate) fn checked(mut self, check: &Check) -> Result<Self, ModelError> {
        if let Some([least, most]) = self.limits {
            check.bounded("limits", least, limits::LENGTH)?;
            check.bounded("limits", most, limits::LENGTH)?;
            if least > most {
                return Err(check.error("limits", "must be the least coordinate and then the greatest"));
            }
        }
        self.friction = check.non_negative("friction", self.friction, limits::LOAD)?;
        self.damping = check.non_negative("damping", self.damping, limits::LOAD)?;
        self.stiffness = check.non_negative("stiffness", self.stiffness, limits::LOAD)?;
        self.armature = check.non_negative("armature", self.armature, limits::INERTIA.1)?;
        check.bounded("rest", self.rest, limits::LENGTH)?;
        check.bounded("initial", self.initial, limits::LENGTH)?;
        Ok(self)
    }
}

/// Coordinate of a joint DOF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Displacement of b along an axis of a.
    Slide(usize),
    /// Angle of b against a about their common axis.
    Turn(usize),
    /// Angle of the first rotation of a universal joint, about x of a.
    FirstTurn,
    /// Angle of its second rotation, about y of b.
    SecondTurn,
    /// Angle of the whole rotation between the frames, from 0 to π.
    Bend,
}

impl Joint {
    /// Laws along its joint DOFs.
    ///
    /// A revolute or prismatic joint has one, a cylindrical joint has a translation and a rotation, a universal joint has two
    /// rotations, a planar joint has two translations and a rotation, a spherical joint has one for its whole rotation, others have none.
    #[inline]
    pub fn joint_dofs(&self) -> &[JointDof] {
        &self.dofs
    }

    /// Coordinate of a joint DOF and its Jacobian as wrenches on the two bodies; angles are in [−π, π] plus the initial coordinate.
    ///   [JSPACE-1]
    pub fn coordinate(&self, joint_dof: usize, at: &Configuration) -> Option<Row> {
        debug_assert_eq!(self.measures.len(), self.dofs.len(), "every joint DOF has a coordinate");
        let measure = *self.measures.get(joint_dof)?;
        let initial = self.dofs.get(joint_dof)?.initial;
        let row = measure.evaluate(&Frames::new(self, at));
        Some(Row { value: row.value + initial, ..row })
    }

    /// Coordinate of a joint DOF and its rate at a configuration; the full turns of an angle are those nearest to `before`.   [JSPACE-1]
    pub fn measured(&self, joint_dof: usize, at: &Configuration, before: Option<f64>) -> Option<(f64, f64)> {
        let row = self.coordinate(joint_dof, at)?;
        let coordinate = match before {
            Some(before) if self.turns(joint_dof) => unwrap_angle(row.value, before),
            _ => row.value,
        };
        Some((coordinate, row.a.power(&at.twist(self.a.0)) + row.b.power(&at.twist(self.b.0))))
    }

    /// True if the coordinate of a joint DOF is an angle, whose full turns poses do not hold.
    #[inline]
    pub fn turns(&self, joint_dof: usize) -> bool {
        !matches!(self.measures.get(joint_dof), None | Some(Measure::Slide(_) | Measure::Bend))
    }
}

impl Measure {
    fn evaluate(self, at: &Frames) -> Row {
        let axis = |axes: &nalgebra::Matrix3<f64>, i: usize| -> Vector3<f64> { axes.column(i).into() };
        let turn =
            |value: f64, axis: Vector3<f64>| Row { value, a: Wrench::of_torque(-axis), b: Wrench::of_torque(axis) };
        match self {
            Self::Slide(i) => super::constraint::offset(i, at),
            Self::Turn(i) => {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let b = axis(&at.axes_b, j);
                let angle = libm::atan2(b.dot(&axis(&at.axes_a, k)), b.dot(&axis(&at.axes_a, j)));
                turn(angle, axis(&at.axes_a, i))
            }
            Self::FirstTurn => {
                // y of b is perpendicular to x of a: the coordinate is its angle about x.
                let y = axis(&at.axes_b, 1);
                turn(libm::atan2(y.dot(&axis(&at.axes_a, 2)), y.dot(&axis(&at.axes_a, 1))), axis(&at.axes_a, 0))
            }
            Self::SecondTurn => {
                // x of a is perpendicular to y of b, and rotates backwards relative to b.
                let x = axis(&at.axes_a, 0);
                turn(libm::atan2(x.dot(&axis(&at.axes_b, 2)), x.dot(&axis(&at.axes_b, 0))), axis(&at.axes_b, 1))
            }
            Self::Bend => {
                let between = Rotation3::from_matrix_unchecked(at.axes_a.transpose() * at.axes_b);
                let turned = to_rotation_vector(&UnitQuaternion::from_rotation_matrix(&between));
                let angle = turned.norm();
                // Without a rotation there is no axis; x is chosen.
                let axis = if angle > 0.0 { at.axes_a * turned / angle } else { axis(&at.axes_a, 0) };
                turn(angle, axis)
            }
        }
    }
}
