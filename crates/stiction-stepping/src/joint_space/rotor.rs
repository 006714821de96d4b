//! Rates of rotors that are part of rows: the axes of their joints move with the bodies.
//!
//! A rotor has the rate of its joint, φ̇ = w(q, t) · v + ∂φ/∂t, and a problem has one w. The change of w over the step, h ẇ · v, therefore belongs to the
//! rate at the start:
//!
//! ```text
//! p = −A (φ̇⁺ − φ̇ − lead)
//! first order:     φ̇ + lead = w(q ⊖ h v) · v + [φ(t) − φ(t − h)]/h, with which the problem of the last step ended
//! second order:    φ̇⁺ − lead of the first kick and φ̇ + lead of the second are the mean rate over the step          [JSPACE-10]
//! ```

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Configuration, Joint, JointKind, Mobility, Model, mass_block, mean_angular_velocity};

use super::{prescribed_rate, sides};
use crate::{
    Kick, PositionUpdate, Start, VelocityTerms, Workspace,
    joint_space_dof::{JointSpaceDof, RotorRates},
    rates::rate,
    workspace::StepKinematics,
};

/// True if the inertia and force of a DOF are part of the forest, false if they have a row.
pub(super) fn is_in_forest(model: &Model, ws: &Workspace, joint: &Joint, actuated: &JointSpaceDof) -> bool {
    let of_ball = || model.forest().first_velocity(actuated.id.0).is_some();
    actuated.velocity.is_some() || (joint.kind == JointKind::Spherical && ws.reduced.is_some() && of_ball())
}

/// DOFs with rotors that have rows.
fn with_rows<'a>(model: &'a Model, ws: &'a Workspace) -> impl Iterator<Item = (&'a Joint, &'a JointSpaceDof)> {
    let with_rotor = ws.constraints.joint_space_dofs.iter().filter(|actuated| actuated.implicit_force.rotor > 0.0);
    let with_joint = with_rotor.filter_map(|actuated| Some((model.joint(actuated.id.0)?, actuated)));
    with_joint.filter(|(joint, actuated)| !is_in_forest(model, ws, joint, actuated))
}

/// Kinetic energies of the rotors with rows in the states at both ends of the last step, J.   [JSPACE-7]
pub(crate) fn energies_of_rotors(model: &Model, ws: &Workspace) -> [f64; 2] {
    [&ws.kinematics.start, &ws.result.end].map(|at| {
        let energy = |(joint, actuated): (&Joint, &JointSpaceDof)| {
            0.5 * actuated.implicit_force.rotor * present_rate((joint, actuated.id.1), at).norm_squared()
        };
        with_rows(model, ws).map(energy).sum()
    })
}

/// Finds the lead of all rotors that have rows; the velocity terms of the step are known.   [JSPACE-10]
pub(crate) fn find_leads(start: &Start, ws: &mut Workspace) {
    if with_rows(start.model, ws).next().is_none() {
        return;
    }
    configure(start, ws);
    let mut all = std::mem::take(&mut ws.constraints.joint_space_dofs);
    for actuated in &mut all {
        let (id, number) = actuated.id;
        let Some(joint) = start.model.joint(id) else { continue };
        let at = &ws.kinematics.start;
        let mean = |pair: &[Configuration; 2]| mean_rate(start, (joint, number), pair, at);
        let [here, moved] = &ws.kinematics.rotors_at;
        actuated.rotor.lead = match start.kick {
            Kick::Whole => mean(moved) - present_rate((joint, number), at),
            Kick::First => mean(here) - mean(moved),
            Kick::Second => actuated.rotor.mean - present_rate((joint, number), at),
        };
    }
    ws.constraints.joint_space_dofs = all;
}

/// Rates of a rotor in the second kick: the first one left it the mean over the step.   [JSPACE-10]
///
/// The constraints are still linearised as in the first kick, whose solution is known.
pub(super) fn after_first_kick(start: &Start, ws: &Workspace, joint: &Joint, first: &JointSpaceDof) -> RotorRates {
    let (model, linear, v) = (start.model, &ws.kinematics.linear_start, &ws.solution.velocity);
    let of_problem = if joint.kind == JointKind::Spherical {
        let angular = |body: BodyId| match model.unknowns(body) {
            Some((mobility, range)) => mobility.twist(v.get(range).unwrap_or_default()).angular,
            None => linear.twist(body).angular,
        };
        angular(joint.b.0) - angular(joint.a.0)
    } else {
        let own = sides(ws, joint, first, 1.0).map_or(0.0, |sides| rate(model, &sides, v, None));
        Vector3::x() * (own + prescribed_rate(start, ws, joint, first.id.1))
    };
    let mean = carried(joint, linear, &ws.kinematics.start, of_problem - first.rotor.lead);
    RotorRates { mean, lead: Vector3::zeros() }
}

/// Writes where a step of first order came from, and where one of second order is in its middle, with the bodies here as well; prescribed bodies are
/// at both ends of the time over which their motion counts.
fn configure(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h, .. } = start;
    let (sign, time, times) = match start.kick {
        Kick::Whole => (-1.0, -h, [state.time - h, state.time]),
        Kick::First => (1.0, 0.5 * h, [state.time, state.time_after(h).0]),
        Kick::Second => return,
    };
    let Workspace {
        reduced,
        kinematics: StepKinematics { start: at, predicted, rotors_at, rotor_velocity: v, .. },
        ..
    } = ws;
    for (pair, time) in rotors_at.iter_mut().zip([0.0, time]) {
        v.clone_from(&state.v);
        if let Some(reduced) = reduced {
            reduced.write_ahead(start, (time, sign), (predicted, v));
        } else {
            if scheme.velocity_terms == VelocityTerms::Conserving && scheme.position_update == PositionUpdate::End {
                turn_steadily(model, at, sign * h, v);
            }
            model.integrate(&state.q, v, time, scheme.orientation, predicted);
        }
        for (configuration, time) in pair.iter_mut().zip(times) {
            configuration.update(model, predicted, v, time);
        }
    }
}

/// Replaces the angular velocities of free bodies by their means over a step without torque; those of fast bodies stay.   [ROT-2] [ROT-5]
fn turn_steadily(model: &Model, at: &Configuration, h: f64, v: &mut [f64]) {
    for (index, ((id, _), slot)) in model.iter_bodies().zip(model.layout()).enumerate() {
        let Some((Mobility::Free, _, inertia)) = mass_block(model, at, index) else { continue };
        let omega = at.twist(id).angular;
        if crate::velocity_terms::is_fast(h, &omega) {
            continue;
        }
        if let Some([_, _, _, x, y, z]) = v.get_mut(slot.v.clone()) {
            let mean = mean_angular_velocity(&inertia, &omega, h);
            (*x, *y, *z) = (mean.x, mean.y, mean.z);
        }
    }
}

/// Rate of a DOF, that of a spherical joint about the axes of the world.
fn present_rate((joint, number): (&Joint, usize), at: &Configuration) -> Vector3<f64> {
    if joint.kind == JointKind::Spherical {
        return at.twist(joint.b.0).angular - at.twist(joint.a.0).angular;
    }
    Vector3::x() * joint.measured(number, at, None).map_or(0.0, |(_, rate)| rate)
}

/// Rate of a DOF in a pair of configurations that differ by the motion of prescribed bodies over h, with the mean rate of these; that of a spherical
/// joint is carried along with the first body to the configuration `to`.
fn mean_rate(
    start: &Start,
    (joint, number): (&Joint, usize),
    [at, later]: &[Configuration; 2],
    to: &Configuration,
) -> Vector3<f64> {
    if joint.kind == JointKind::Spherical {
        return carried(joint, at, to, present_rate((joint, number), at));
    }
    let Some(row) = joint.coordinate(number, at) else { return Vector3::zeros() };
    let is_dynamic = |body: &BodyId| start.model.unknowns(*body).is_some();
    let sides = [(joint.a.0, row.a), (joint.b.0, row.b)].into_iter().filter(|(body, _)| is_dynamic(body));
    let own: f64 = sides.map(|(body, wrench)| wrench.power(&at.twist(body))).sum();
    let after = joint.measured(number, later, Some(row.value)).map_or(row.value, |(coordinate, _)| coordinate);
    Vector3::x() * (own + (after - row.value) / start.h)
}

/// Rate of a spherical joint about the axes of the world, turned with its first body; other rates are numbers.
fn carried(joint: &Joint, from: &Configuration, to: &Configuration, rate: Vector3<f64>) -> Vector3<f64> {
    if joint.kind != JointKind::Spherical {
        return rate;
    }
    let a = joint.a.0;
    to.pose(a).rotation * (from.pose(a).rotation.inverse() * rate)
}
