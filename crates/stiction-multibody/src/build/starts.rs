//! Coordinates of joints at the start: the bodies beyond the joints are moved there.

use nalgebra::{Rotation3, Vector3};
use stiction_geometry::Pose;

use super::ModelBuilder;
use crate::{
    Body, Configuration, Forest, Joint, JointDofId, Mobility, Model, ModelError, State,
    check::limits,
    joint::{Measure, Row},
    rotation,
};

impl ModelBuilder {
    /// Sets the coordinate of a joint DOF at the start. The model is built with the bodies moved there: those on the side of the joint that is farther
    /// from the root of the tree, with their velocities.
    ///
    /// Followers of couplings without a start of their own follow their leaders. Joints that close loops are not kept closed.
    pub fn joint_start(&mut self, id: JointDofId, coordinate: f64) -> Result<&mut Self, ModelError> {
        let check = self.joint_check(id)?;
        check.bounded("initial", coordinate, limits::LENGTH)?;
        self.starts.push((id, coordinate));
        Ok(self)
    }

    /// Moves the initial poses and velocities, and the joint frames, which coincide at the start.
    pub(super) fn move_to_starts(&mut self) -> Result<(), ModelError> {
        let mut starts = std::mem::take(&mut self.starts);
        if starts.is_empty() {
            return Ok(());
        }
        let given_count = starts.len();
        for coupling in &self.model.actuation.couplings {
            let given =
                |id: JointDofId| starts.iter().find(|(known, _)| *known == id).map(|(_, coordinate)| *coordinate);
            let leader = coupling.leader.and_then(given);
            if let (Some(leader), None) = (leader, given(coupling.follower)) {
                starts.push((coupling.follower, coupling.at(leader).0));
            }
        }
        let mut state = self.model.initial_state();
        for &(id, coordinate) in &starts {
            self.model.move_joint(&mut state, id, coordinate)?;
        }
        let mut at = Configuration::default();
        at.update(&self.model, &state.q, &state.v, 0.0);
        for (place, ((id, number), coordinate)) in starts.into_iter().enumerate() {
            let Some(joint) = self.model.joints.get_mut(id.index()) else { continue };
            // Frames of followers stay where they are, unless their angle is beyond half a turn, which poses do not hold.
            let holds = |row: Row| (row.value - coordinate).abs() < 1.0;
            if place < given_count || !joint.coordinate(number, &at).is_some_and(holds) {
                rebase(joint, number, &at, coordinate);
            }
        }
        write_initial_state(&mut self.model, &state, &at);
        // Placements of links are those of the joint frames.
        self.model.forest = Forest::of_model(&self.model)?;
        Ok(())
    }
}

/// Moves the frames of a joint so that they coincide along a DOF in this configuration, where its coordinate is then `coordinate`.
fn rebase(joint: &mut Joint, number: usize, at: &Configuration, coordinate: f64) {
    let (Some(row), Some(measure)) = (joint.coordinate(number, at), joint.measures.get(number).copied()) else {
        return;
    };
    let Some(dof) = joint.dofs.get_mut(number) else { return };
    let apart = row.value - dof.initial;
    dof.initial = coordinate;
    let turn = |axis: usize, angle: f64| Rotation3::new(Vector3::ith(axis, angle));
    let (frame_a, frame_b) = (&mut joint.a.1, &mut joint.b.1);
    match measure {
        Measure::Slide(axis) => {
            *frame_a *= Pose::from_parts(Vector3::ith(axis, apart).into(), Rotation3::identity());
        }
        Measure::Turn(axis) => frame_b.rotation *= turn(axis, -apart),
        Measure::FirstTurn => frame_a.rotation *= turn(0, apart),
        Measure::SecondTurn => frame_b.rotation *= turn(1, -apart),
        Measure::Bend => {}
    }
}

/// Writes a state into the bodies of the model, of which it is then the initial state.
fn write_initial_state(model: &mut Model, state: &State, at: &Configuration) {
    let placed: Vec<_> = model.iter_bodies().map(|(id, _)| (at.pose(id), at.twist(id))).collect();
    for ((body, slot), (pose, twist)) in model.bodies.iter_mut().zip(&model.layout).zip(placed) {
        let (Some(mobility), Some(q)) = (body.mobility(), state.q.get(slot.q.clone())) else { continue };
        let Body { position, orientation, angle, linear_velocity, angular_velocity, .. } = body;
        (*position, *linear_velocity, *angular_velocity) = (pose.translation.vector, twist.linear, twist.angular);
        match (mobility, q) {
            (Mobility::Planar, [_, _, turned]) => {
                *angle = *turned;
                *orientation = rotation::from_rotation_vector(&(Vector3::z() * *turned));
            }
            (Mobility::Free, q) => *orientation = rotation::quaternion_of(q),
            _ => {}
        }
    }
}
