//! The prescribed motion of surfaces that friction works against: kinematic bodies and conveyor belts.   [STEP-8]

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Model};

use crate::{
    Contact, PrescribedSlip, Start, Workspace,
    detect::{is_kinematic, material_displacement},
};

/// Prescribed relative velocity of the two surfaces at a contact: kinematic motion and conveyor belts.   [STEP-8]
pub(crate) fn surface_velocity(start: &Start, contact: &Contact, ws: &Workspace) -> Vector3<f64> {
    let &Start { model, scheme, state, h } = start;
    let of = |id: BodyId, arm: &Vector3<f64>| {
        let mut velocity = Vector3::zeros();
        let Some(body) = model.body(id) else { return velocity };
        if let Some(belt) = &body.surface_velocity {
            // The midpoint gives the displacement of a uniformly accelerated belt exactly.
            velocity += Vector3::from_fn(|k, _| belt[k].value(state.time + 0.5 * h));
        }
        if is_kinematic(model, id) {
            let end = ws.linear_end.pose(id).translation.vector + arm;
            velocity += match scheme.prescribed_slip {
                PrescribedSlip::Displacement => material_displacement(id, &end, ws) / h,
                PrescribedSlip::End => ws.linear_end.twist(id).at(arm),
                PrescribedSlip::Start => {
                    let arm = end - ws.linear_start.pose(id).translation.vector;
                    ws.linear_start.twist(id).at(&arm)
                }
            };
        }
        velocity
    };
    of(contact.b, &contact.arm_b) - of(contact.a, &contact.arm_a)
}

/// Prescribed angular velocity of the two surfaces against each other, about the normal.   [STEP-8]
pub(crate) fn surface_spin(model: &Model, contact: &Contact, ws: &Workspace) -> f64 {
    let of = |id: BodyId| {
        if is_kinematic(model, id) { contact.normal.dot(&ws.linear_end.twist(id).angular) } else { 0.0 }
    };
    of(contact.b) - of(contact.a)
}
