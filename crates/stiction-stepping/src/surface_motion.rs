//! Prescribed motion of surfaces at contacts with friction: kinematic bodies and conveyor belts.   [STEP-8]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyId, Model, rotation::cross_matrix};

use crate::{Contact, Kick, PrescribedSlip, Start, Workspace};

/// Writes the prescribed motion of the two surfaces into a contact, which is at `middle` in the middle of the step if that is known.   [STEP-8]
pub(crate) fn write_surface_motion(
    start: &Start,
    (contact, middle): (&mut Contact, Option<Vector3<f64>>),
    ws: &Workspace,
) {
    contact.surface_velocity = surface_velocity(start, (contact, middle), ws);
    contact.surface_rotation = surface_rotation(start.model, contact, ws);
    contact.surface_spin = contact.normal.dot(&contact.surface_rotation);
}

/// Prescribed relative velocity of the two surfaces at a contact: kinematic motion and conveyor belts.   [STEP-8]
fn surface_velocity(
    start: &Start,
    (contact, middle): (&Contact, Option<Vector3<f64>>),
    ws: &Workspace,
) -> Vector3<f64> {
    let &Start { model, scheme, state, h, kick } = start;
    // The second kick has the velocities at the end of the step, where it begins.   [STEP-18]
    let at_end = kick == Kick::Second;
    let belt_time = if at_end { state.time } else { state.time + 0.5 * h };
    let of = |id: BodyId, arm: &Vector3<f64>| {
        let mut velocity = Vector3::zeros();
        let Some(body) = model.body(id) else { return velocity };
        if let Some(belt) = &body.surface_velocity {
            // The midpoint gives the displacement of a uniformly accelerated belt exactly.
            velocity += Vector3::from_fn(|k, _| belt[k].value(belt_time));
        }
        if is_kinematic(model, id) {
            let end = ws.kinematics.linear_end.pose(id).translation.vector + arm;
            velocity += match scheme.prescribed_slip {
                PrescribedSlip::Displacement if !at_end => {
                    let of_middle = middle.and_then(|middle| displacement_through(id, &middle, ws));
                    of_middle.unwrap_or_else(|| material_displacement(id, &end, ws)) / h
                }
                PrescribedSlip::End if !at_end => ws.kinematics.linear_end.twist(id).at(arm),
                _ => {
                    let arm = end - ws.kinematics.linear_start.pose(id).translation.vector;
                    ws.kinematics.linear_start.twist(id).at(&arm)
                }
            };
        }
        velocity
    };
    of(contact.b, &contact.arm_b) - of(contact.a, &contact.arm_a)
}

/// Prescribed angular velocity of the second surface against the first.   [STEP-8]
pub(crate) fn surface_rotation(model: &Model, contact: &Contact, ws: &Workspace) -> Vector3<f64> {
    let of = |id: BodyId| {
        if is_kinematic(model, id) { ws.kinematics.linear_end.twist(id).angular } else { Vector3::zeros() }
    };
    of(contact.b) - of(contact.a)
}

/// Gradient of the prescribed velocity of a surface with respect to position.   [STEP-8]
pub(crate) fn surface_slope(start: &Start, id: BodyId, ws: &Workspace) -> Matrix3<f64> {
    if !is_kinematic(start.model, id) {
        return Matrix3::zeros();
    }
    match start.scheme.prescribed_slip {
        PrescribedSlip::Displacement => {
            let (from, to) = (ws.kinematics.linear_start.pose(id).rotation, ws.kinematics.linear_end.pose(id).rotation);
            (Matrix3::identity() - from.matrix() * to.matrix().transpose()) / start.h
        }
        PrescribedSlip::End => cross_matrix(&ws.kinematics.linear_end.twist(id).angular),
        PrescribedSlip::Start => cross_matrix(&ws.kinematics.linear_start.twist(id).angular),
    }
}

/// True if the motion of a body is prescribed.
pub(crate) fn is_kinematic(model: &Model, id: BodyId) -> bool {
    model.kinematic_bodies().contains(&id)
}

/// Displacement over the step of the material point of a body that ends at `end`.
pub(crate) fn material_displacement(body: BodyId, end: &Vector3<f64>, ws: &Workspace) -> Vector3<f64> {
    let (from, to) = (ws.kinematics.linear_start.pose(body), ws.kinematics.linear_end.pose(body));
    let local = to.rotation.inverse() * (end - to.translation.vector);
    end - (from.translation.vector + from.rotation * local)
}

/// True if the prescribed velocity at a contact with a body changes as the contact moves on within the first half of a step of second order.
pub(crate) fn turns_in_first_kick(start: &Start, id: BodyId, ws: &Workspace) -> bool {
    let turns = || ws.kinematics.linear_start.pose(id).rotation != ws.kinematics.linear_end.pose(id).rotation;
    start.kick == Kick::First
        && start.scheme.prescribed_slip == PrescribedSlip::Displacement
        && is_kinematic(start.model, id)
        && turns()
}

/// Displacement over the step of the material point whose places at its start and end have their mean at `middle`; none for half a turn.   [STEP-8]
fn displacement_through(body: BodyId, middle: &Vector3<f64>, ws: &Workspace) -> Option<Vector3<f64>> {
    let (from, to) = (ws.kinematics.linear_start.pose(body), ws.kinematics.linear_end.pose(body));
    let (before, after) = (from.rotation.matrix(), to.rotation.matrix());
    let (p, q) = (from.translation.vector, to.translation.vector);
    let local = (before + after).try_inverse()? * (middle * 2.0 - p - q);
    Some((after - before) * local + q - p)
}
