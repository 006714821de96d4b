//! Joints, the laws along their DOFs, motors and couplings.

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_geometry::{Dimension, Pose};

use super::ModelBuilder;
use crate::{
    BodyId, Coupling, Element, Joint, JointDof, JointDofId, JointId, JointKind, Model, ModelError, Motor,
    check::{Check, limits},
    joint::{Constraint, MAX_JOINT_DOFS},
};

impl ModelBuilder {
    /// Adds a joint between frames on two bodies. The first body may be the world.
    ///
    /// The joint axis is the x axis of the frames (for the universal joint: x of the first, y of the second).
    pub fn joint(
        &mut self,
        name: impl Into<String>,
        kind: JointKind,
        a: (BodyId, Pose),
        b: (BodyId, Pose),
    ) -> Result<JointId, ModelError> {
        let name = name.into();
        let check = Check::new(Element::Joint(name.clone()));
        if name.is_empty() || self.model.find_joint(&name).is_some() {
            return Err(check.error("name", "must be unique and not empty"));
        }
        self.known_body(&check, a.0)?;
        self.known_body(&check, b.0)?;
        if self.model.unknowns(a.0).is_none() && self.model.unknowns(b.0).is_none() {
            return Err(check.error("between", "needs at least one dynamic body"));
        }
        if a.0 == b.0 {
            return Err(check.error("between", "needs two different bodies"));
        }
        let Some(constraints) = kind.constraints(self.model.dimension) else {
            let other = if self.model.dimension == Dimension::Planar { "space" } else { "the plane" };
            return Err(check.error("kind", format!("{} joints exist only in {other}", kind.name())));
        };
        let perpendicular = constraints.iter().any(|c| matches!(c, Constraint::Perpendicular(..)));
        // An offset is along an axis of the first body.
        let offset = constraints.iter().any(|c| matches!(c, Constraint::Offset(_)));
        for ((id, frame), needs_orientation) in [(&a, perpendicular || offset), (&b, perpendicular)] {
            check.frame(("anchor", "axis"), frame, self.model.dimension)?;
            let particle = self.model.unknowns(*id).is_some_and(|(mobility, _)| !mobility.turns());
            if particle && (needs_orientation || frame.translation.vector != Vector3::zeros()) {
                return Err(
                    check.error("between", "a particle has no orientation: join it at its centre, by a point joint")
                );
            }
        }
        if let JointKind::Distance(length) = kind {
            check.within("length", length, (limits::DIRECTION, limits::LENGTH))?;
        }
        let first_row = self.model.joint_rows;
        self.model.joint_rows += constraints.len();
        let measures = kind.measures(self.model.dimension);
        let dof = kind.joint_dof(self.model.dimension).unwrap_or(0);
        debug_assert!(measures.len() <= dof, "a {} joint measures at most its {dof} DOFs", kind.name());
        debug_assert!(measures.len() <= MAX_JOINT_DOFS, "a {} joint has too many coordinates", kind.name());
        let dofs = vec![JointDof::default(); measures.len()];
        self.model.joints.push(Joint { name, kind, a, b, gamma: None, constraints, first_row, measures, dofs });
        Ok(JointId::from_index(self.model.joints.len() - 1))
    }

    /// Adds a joint by its anchor and axis in world coordinates, at the initial configuration.
    ///
    /// In the plane, kinds whose motion does not depend on the axis ignore it ([`JointKind::has_axis`]). A distance joint has two
    /// anchors and is added by [`Self::joint`].
    pub fn joint_at(
        &mut self,
        name: impl Into<String>,
        kind: JointKind,
        bodies: (BodyId, BodyId),
        anchor: Vector3<f64>,
        axis: Vector3<f64>,
    ) -> Result<JointId, ModelError> {
        let name = name.into();
        let check = Check::new(Element::Joint(name.clone()));
        if let JointKind::Distance(_) = kind {
            return Err(check.error("kind", "distance joints have two anchors: give a frame on each body"));
        }
        check.vector("anchor", anchor, limits::LENGTH)?;
        self.in_plane(&check, "anchor", &anchor)?;
        let mut axis = check.direction("axis", axis)?;
        match self.model.dimension {
            Dimension::Planar if kind.has_axis(Dimension::Planar) => self.in_plane(&check, "axis", &axis)?,
            Dimension::Planar => axis = Vector3::x(),
            Dimension::Spatial => {}
        }
        let frame = Pose::from_parts(anchor.into(), frame_along(&axis, self.model.dimension));
        let local = |id: BodyId| Ok((id, self.initial_pose(&check, id)?.inverse() * frame));
        let (a, b) = (local(bodies.0)?, local(bodies.1)?);
        self.joint(name, kind, a, b)
    }

    /// Sets the weight γ_b ∈ [0, 1] of the position error of one joint.
    pub fn joint_gamma(&mut self, id: JointId, gamma: f64) -> Result<&mut Self, ModelError> {
        let Some(joint) = self.model.joints.get_mut(id.index()) else {
            return Err(ModelError::new(Element::Model, "joint", "belongs to another model"));
        };
        joint.gamma = Some(Check::new(Element::Joint(joint.name.clone())).within("gamma", gamma, (0.0, 1.0))?);
        Ok(self)
    }

    /// Sets the limits, friction, damping, spring and rotor of a joint DOF; see [`Joint::joint_dofs`] for the numbers of DOFs.
    pub fn joint_dof(&mut self, (id, number): JointDofId, joint_dof: JointDof) -> Result<&mut Self, ModelError> {
        let Some(joint) = self.model.joints.get_mut(id.index()) else {
            return Err(ModelError::new(Element::Model, "joint", "belongs to another model"));
        };
        let check = Check::new(Element::Joint(joint.name.clone()));
        let count = joint.dofs.len();
        let Some(place) = joint.dofs.get_mut(number) else {
            let reason = format!("there is no DOF {number}: a {} joint has {count}", joint.kind.name());
            return Err(check.error("dofs", reason));
        };
        if joint.kind == JointKind::Spherical && joint_dof.friction > 0.0 {
            return Err(check.error(
                "friction",
                "of a spherical joint, which has three rotations, is not one number; leave it out",
            ));
        }
        *place = joint_dof.checked(&check)?;
        Ok(self)
    }

    /// Check of a joint DOF of this model, for errors about its joint.
    pub(super) fn joint_check(&self, id: JointDofId) -> Result<Check, ModelError> {
        let name = self.model.joint(id.0).map_or_else(String::new, |joint| joint.name.clone());
        let check = Check::new(Element::Joint(name));
        self.known_joint_dof(&check, "joint", id)?;
        Ok(check)
    }

    /// Adds a motor.
    pub fn motor(&mut self, motor: Motor) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Motor(motor.name.clone()));
        if motor.name.is_empty() || self.model.actuation.motors.iter().any(|other| other.name == motor.name) {
            return Err(check.error("name", "must be unique and not empty"));
        }
        self.known_joint_dof(&check, "joint", motor.joint_dof)?;
        if self.model.joint(motor.joint_dof.0).is_some_and(|joint| joint.kind == JointKind::Spherical) {
            return Err(check.error(
                "joint",
                "is spherical and rotates about all axes, but a motor acts about one; use a universal joint",
            ));
        }
        self.model.actuation.motors.push(motor.checked(&check)?);
        Ok(self)
    }

    /// Adds a coupling of two joint DOFs.
    pub fn coupling(&mut self, coupling: Coupling) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Coupling(coupling.name.clone()));
        if coupling.name.is_empty() || self.model.actuation.couplings.iter().any(|other| other.name == coupling.name) {
            return Err(check.error("name", "must be unique and not empty"));
        }
        self.known_joint_dof(&check, "follower", coupling.follower)?;
        if let Some(leader) = coupling.leader {
            self.known_joint_dof(&check, "leader", leader)?;
        }
        if coupling.leader == Some(coupling.follower) {
            return Err(check.error("leader", "must be another joint DOF than the follower"));
        }
        self.model.actuation.couplings.push(coupling.checked(&check)?);
        Ok(self)
    }

    fn known_joint_dof(&self, check: &Check, field: &'static str, (id, number): JointDofId) -> Result<(), ModelError> {
        let joint = self.model.joint(id).ok_or_else(|| check.error(field, "belongs to another model"))?;
        if number >= joint.dofs.len() {
            let (name, kind) = (&joint.name, joint.kind.name());
            let count = joint.dofs.len();
            let reason = format!("\"{name}\" is a {kind} joint with {count} DOFs, and has no DOF {number}");
            return Err(check.error(field, reason));
        }
        Ok(())
    }
}

/// Joint DOFs with a law, a motor or a coupling, in the order of joints.
pub(super) fn joint_space_dofs(model: &Model) -> Vec<JointDofId> {
    let has_motor_or_coupling = |id: JointDofId| {
        let coupled = |coupling: &Coupling| coupling.follower == id || coupling.leader == Some(id);
        model.actuation.motors.iter().any(|motor| motor.joint_dof == id)
            || model.actuation.couplings.iter().any(coupled)
    };
    let mut actuated = Vec::new();
    for (index, joint) in model.joints.iter().enumerate() {
        for (number, joint_dof) in joint.dofs.iter().enumerate() {
            let id = (JointId::from_index(index), number);
            if !joint_dof.is_plain() || has_motor_or_coupling(id) {
                actuated.push(id);
            }
        }
    }
    actuated
}

/// Positions of the motors of each actuated joint DOF, in the order of the model.
pub(super) fn motors_along(model: &Model) -> Vec<Vec<usize>> {
    let along = |id: &JointDofId| {
        let motors = model.actuation.motors.iter().enumerate().filter(|(_, motor)| motor.joint_dof == *id);
        motors.map(|(number, _)| number).collect()
    };
    model.actuation.joint_space_dofs.iter().map(along).collect()
}

/// A rotation whose x axis is `axis`; in the plane the z axis stays.
fn frame_along(axis: &Vector3<f64>, dimension: Dimension) -> Rotation3<f64> {
    let third = match dimension {
        Dimension::Planar => Vector3::z(),
        // The coordinate axis least aligned with the joint axis gives the best-conditioned frame.
        Dimension::Spatial => axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize(),
    };
    let second = third.cross(axis);
    Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[*axis, second, third]))
}
