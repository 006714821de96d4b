//! Gyroscopic torques of bodies in maximal coordinates, and the velocities at the end of a step that keep their angular momentum.
//!
//! A step moves a body by the velocity w ω⁺ + (1 − w) ω, with w = 1 if bodies move by the velocity at the end. Its gyroscopic torque λ_vp is that which
//! turns a body without torque by the rotation of [ROT-1]. The problem of the step has the inertia I at its start, so that its solution
//! balances I ω⁺ = I ω + h λ_vp + angular impulses. The state gets the angular velocity of the angular momentum without λ_vp, with the inertia
//! I⁺ at the end:
//!
//! ```text
//! h λ_vp = (I ω̄ − I ω)/w,    ω̄ = ξ/h of [ROT-1];    I⁺ ω_state = I ω⁺ − h λ_vp                            [ROT-2]
//! ```
//!
//! Angular momentum changes by the angular impulses alone, to rounding, and bounds the energy of rotation by |π|²/(2 I_min).
//!
//! Rotors in joints have no gyroscopic torque: their rates are those of the velocities ω⁺ of the problems.   [JSPACE-10]

use nalgebra::Vector3;
use stiction_multibody::{Body, Mobility, mass_block, mean_angular_velocity};

use crate::{Dynamics, Start, VelocityTerms, Workspace};

/// Turn of a body in a step from which on the velocity terms act after the impulses, rad.   [ROT-5]
///
/// The linearised gaps of a step err by half the square of the turn, an eighth of the radius of a body here. At a tenth, bodies in slow steps overlap
/// by what the turn differs from that of their contacts; at ten times, impulses on bodies that turn fast add energy.
const FAST_TURN: f64 = 0.5;

/// Adds the gyroscopic torques λ_vp to the applied wrenches, for bodies in maximal coordinates with inertia.   [DYN-5] [ROT-2]
pub(crate) fn add(start: &Start, ws: &mut Workspace) {
    add_weighted(start, ws, start.end_velocity_weight());
}

/// Adds the gyroscopic torques λ_vp of a step that moves the bodies by w v⁺ + (1 − w) v.
pub fn add_weighted(start: &Start, ws: &mut Workspace, weight: f64) {
    ws.kinematics.gyroscopic.clear();
    if ws.reduced.is_some() || start.scheme.dynamics == Dynamics::Quasistatic || !start.moves() {
        return;
    }
    ws.kinematics.gyroscopic.resize(start.model.bodies().len(), Vector3::zeros());
    let conserves = start.scheme.velocity_terms == VelocityTerms::Conserving;
    for (index, (id, _)) in start.model.iter_bodies().enumerate() {
        let Some((Mobility::Free, _, inertia)) = mass_block(start.model, &ws.kinematics.start, index) else { continue };
        let omega = ws.kinematics.start.twist(id).angular;
        if conserves && is_fast(start.h, &omega) {
            continue;
        }
        let torque = match start.scheme.velocity_terms {
            VelocityTerms::Conserving => {
                inertia * (mean_angular_velocity(&inertia, &omega, start.h) - omega) / (weight * start.h)
            }
            VelocityTerms::Explicit => -omega.cross(&(inertia * omega)),
        };
        let places = (ws.kinematics.applied.get_mut(index), ws.kinematics.gyroscopic.get_mut(index));
        if let (Some(applied), Some(gyroscopic)) = places {
            applied.angular += torque;
            *gyroscopic = torque;
        }
    }
}

/// True if a body turns by so much in a step that its velocity terms act after the impulses.   [ROT-5]
pub(crate) fn is_fast(h: f64, omega: &Vector3<f64>) -> bool {
    h.abs() * omega.norm() > FAST_TURN
}

/// Turns fast bodies without torque after the impulses of the step: `moving`, which moves the bodies, gets their mean angular velocities.   [ROT-5]
pub fn turn_fast_bodies(start: &Start, ws: &Workspace, moving: &mut [f64]) {
    let &Start { model, h, scheme, .. } = start;
    if scheme.velocity_terms == VelocityTerms::Explicit {
        return;
    }
    for (index, (((id, body), slot), torque)) in
        model.iter_bodies().zip(model.layout()).zip(&ws.kinematics.gyroscopic).enumerate()
    {
        let Some(Mobility::Free) = body.mobility() else { continue };
        let Some(&[_, _, _, x, y, z]) = ws.solution.velocity.get(slot.v.clone()) else { continue };
        let (before, omega) = (ws.kinematics.start.twist(id).angular, Vector3::new(x, y, z));
        if h * before.norm().max(omega.norm()) <= FAST_TURN {
            continue;
        }
        let Some((_, _, inertia)) = mass_block(model, &ws.kinematics.start, index) else { continue };
        let Some(factor) = inertia.cholesky() else { continue };
        let mean = mean_angular_velocity(&inertia, &(omega - factor.solve(torque) * h), h);
        if let Some([_, _, _, x, y, z]) = moving.get_mut(slot.v.clone()) {
            (*x, *y, *z) = (mean.x, mean.y, mean.z);
        }
    }
}

/// Sets the angular velocities of the next state to those of the angular momentum that the step leaves.   [ROT-2]
///
/// The next state has its coordinates, and v⁺ as its velocities.
pub fn keep_momentum(start: &Start, ws: &mut Workspace) {
    let &Start { model, state, h, scheme, .. } = start;
    if scheme.velocity_terms == VelocityTerms::Explicit {
        return;
    }
    debug_assert_eq!(ws.solution.velocity.len(), model.dof(), "v⁺ has all velocities");
    let next = &mut ws.result.next;
    let mut is_updated = false;
    for (index, (slot, torque)) in model.layout().iter().zip(&ws.kinematics.gyroscopic).enumerate() {
        // Without gyroscopic torque and with the orientation of the start, ω⁺ is the angular velocity of the momentum.
        let Some(Mobility::Free) = model.bodies().get(index).and_then(Body::mobility) else { continue };
        let Some(&[_, _, _, x, y, z]) = ws.solution.velocity.get(slot.v.clone()) else { continue };
        let omega = Vector3::new(x, y, z);
        if *torque == Vector3::zeros() && omega == Vector3::zeros() {
            continue;
        }
        if !is_updated {
            ws.result.end.update(model, &next.q, &next.v, next.time);
            is_updated = true;
        }
        let inertias = [&ws.kinematics.start, &ws.result.end].map(|at| mass_block(model, at, index));
        let [Some((_, _, inertia)), Some((_, _, inertia_at_end))] = inertias else { continue };
        let momentum = inertia * omega - torque * h;
        let Some(omega) = inertia_at_end.cholesky().map(|factor| factor.solve(&momentum)) else { continue };
        if let Some([_, _, _, x, y, z]) = next.v.get_mut(slot.v.clone()) {
            (*x, *y, *z) = (omega.x, omega.y, omega.z);
        }
    }
    debug_assert_eq!(state.v.len(), next.v.len(), "both states have all velocities");
}
