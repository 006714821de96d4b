//! Forces and constraints along joint DOFs.
//!
//! Rotors, dampers, springs and motors are inertia and force. Limits, dry friction, clamped motors and couplings are rows of the problem.
//!
//! All terms linear in φ⁺ = φ + h φ̇⁺ and φ̇⁺ are implicit, so stiffness does not limit the step size:
//!
//! ```text
//! p = h f₀ − c (φ̇⁺ − φ̇),   c = A + h d + h² k,   f₀ = −k (φ + h φ̇ − φ₀) − d φ̇ + motors                         [JSPACE-2]
//! ```
//!
//! In reduced coordinates c is added to the inertia of a velocity and f₀ to its force. In maximal coordinates the same law is a compliant
//! row, φ̇⁺ + p/c = φ̇ + h f₀/c.

mod closing;
mod implicit_force;
mod rotor;
mod work;
mod write;

use stiction_multibody::{BodyId, Joint, JointDofId, JointKind, Model, Wrench, joint::Row};

use crate::{
    Kick, Start, StepCause, Workspace,
    joint_space_dof::{ImplicitForce, JointSpaceDof, RotorRates},
    rates::{Side, rate},
};

pub(crate) use closing::{first_limit_impulses, is_closing, rows_to_close};
pub(crate) use rotor::{energies_of_rotors, find_leads};
pub(crate) use work::{Rotors, bias_work, work, work_of_forest, work_of_rows, work_of_rows_on};
pub(crate) use write::{write, write_velocity_level};

impl JointSpaceDof {
    /// Rate of the DOF when the bodies move by `v` and the forest by `forest`, without prescribed motion.
    #[inline]
    fn rate_with(
        &self,
        model: &Model,
        (ws, joint): (&Workspace, &Joint),
        v: &[f64],
        forest: Option<&[f64]>,
    ) -> Option<f64> {
        match self.velocity {
            Some(k) => Some(forest.and_then(|v| v.get(k)).copied().unwrap_or(0.0)),
            None => self.rate_of_bodies(model, (ws, joint), v),
        }
    }

    fn rate_of_bodies(&self, model: &Model, (ws, joint): (&Workspace, &Joint), v: &[f64]) -> Option<f64> {
        Some(rate(model, &sides(ws, joint, self, 1.0)?, v, None))
    }
}

/// Finds the actuated DOFs at the start of a step, and applies forces that need no row.
///
/// A control that is not finite is an error that names its motor.
pub(crate) fn prepare(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, .. } = start;
    let (time, h) = time_of_forces(start);
    let mut all = std::mem::take(&mut ws.constraints.joint_space_dofs);
    ws.constraints.all_limits = false;
    for (place, &id) in model.joint_space_dofs().iter().enumerate() {
        let Some(joint) = model.joint(id.0) else {
            debug_assert!(false, "actuated DOFs belong to joints of the model");
            continue;
        };
        let mut actuated = find(start, ws, (place, id), joint);
        if !start.moves() {
            let first_kick = all.get(place).filter(|first| first.place == place);
            actuated.limit_impulses = first_kick.map_or([0.0; 2], |first| limit_impulses(ws, first));
            let has_rotor = |first: &&JointSpaceDof| first.implicit_force.rotor > 0.0;
            let rates = first_kick.filter(has_rotor).map(|first| rotor::after_first_kick(start, ws, joint, first));
            actuated.rotor = rates.unwrap_or_default();
        }
        actuated.implicit_force = if start.moves() {
            implicit_force::implicit_force(model, joint, &actuated, (time, h))
        } else {
            let middle = middle(start, ws, joint, &actuated);
            implicit_force::explicit_force(model, joint, (&actuated, middle), time)
        };
        apply(start, ws, joint, &actuated);
        match all.get_mut(place) {
            Some(last) => *last = actuated,
            None => all.push(actuated),
        }
    }
    all.truncate(model.joint_space_dofs().len());
    ws.constraints.joint_space_dofs = all;
    let stray = model.motors().iter().find(|motor| !motor.control.value(time).is_finite());
    stray.map_or(Ok(()), |motor| {
        Err(StepCause::NonFinite { what: "control", culprit: format!("motor \"{}\"", motor.name) })
    })
}

/// Impulses of the limits of a DOF in the last problem.
fn limit_impulses(ws: &Workspace, actuated: &JointSpaceDof) -> [f64; 2] {
    let of_row = |row: usize| ws.solution.joint_space_impulses.get(row).copied();
    actuated.limit_rows.map(|row| row.and_then(of_row).unwrap_or(0.0))
}

/// Time at which controls and passive forces are taken, and the time for which they are implicit.
///
/// A step of second order has them in its middle: implicit in the first half, and equal to that in the second.   [STEP-18]
fn time_of_forces(&Start { state, h, kick, .. }: &Start) -> (f64, f64) {
    match kick {
        Kick::Whole => (state.time_after(h).0, h),
        Kick::First => (state.time + 0.5 * h, 0.5 * h),
        Kick::Second => (state.time - 0.5 * h, 0.0),
    }
}

/// Coordinate in the middle of a step of second order, and the rate with which its first half moved the DOF.
fn middle(start: &Start, ws: &Workspace, joint: &Joint, actuated: &JointSpaceDof) -> (f64, f64) {
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]);
    let rate = actuated.rate_with(start.model, (ws, joint), &ws.solution.velocity, forest).unwrap_or(actuated.rate);
    (actuated.coordinate - 0.5 * start.h * rate, rate)
}

/// Coordinate and rate of a DOF: from the forest if it is one of its coordinates, otherwise from the bodies.
fn find(start: &Start, ws: &Workspace, (place, id): (usize, JointDofId), joint: &Joint) -> JointSpaceDof {
    let &Start { model, state, .. } = start;
    let forest = model.forest();
    let reduced = ws.reduced.as_deref();
    let velocity = reduced.and_then(|_| forest.velocity_of(id.0, id.1));
    let of_forest = velocity.and_then(|k| Some((k, forest.coordinate_of(k)?))).zip(reduced);
    let (coordinate, rate) = match of_forest {
        Some(((k, q), reduced)) => {
            let initial = joint.joint_dofs().get(id.1).map_or(0.0, |joint_dof| joint_dof.initial);
            (reduced.q.get(q).copied().unwrap_or(0.0) + initial, reduced.before.get(k).copied().unwrap_or(0.0))
        }
        None => joint.measured(id.1, &ws.kinematics.start, state.angles.get(place).copied()).unwrap_or_default(),
    };
    JointSpaceDof {
        id,
        place,
        coordinate,
        rate,
        velocity,
        implicit_force: ImplicitForce::default(),
        held: [true; 2],
        missed: [false; 2],
        limit_rows: [None; 2],
        limit_impulses: [0.0; 2],
        rotor: RotorRates::default(),
    }
}

/// Applies the force along a DOF to the forest, or to the bodies if it is explicit; other forces have rows.   [JSPACE-2]
fn apply(start: &Start, ws: &mut Workspace, joint: &Joint, actuated: &JointSpaceDof) {
    let &Start { model, .. } = start;
    let ImplicitForce { inertia, force, .. } = actuated.implicit_force;
    if let Some((k, reduced)) = actuated.velocity.zip(ws.reduced.as_deref_mut()) {
        reduced.add_implicit_force(k, &actuated.implicit_force);
    } else if let (JointKind::Spherical, Some(reduced)) = (joint.kind, ws.reduced.as_deref_mut())
        && let Some(first) = model.forest().first_velocity(actuated.id.0)
    {
        implicit_force::add_spherical_force(start, joint, first, reduced);
    } else if joint.kind == JointKind::Spherical && inertia == 0.0 && !start.moves() {
        let torque = implicit_force::spherical_torque(start, ws, (joint, actuated.id.1));
        for (body, torque) in [(joint.a.0, -torque), (joint.b.0, torque)] {
            if let Some(total) = ws.kinematics.applied.get_mut(body.index()) {
                total.add(&Wrench::of_torque(torque));
            }
        }
    } else if inertia == 0.0
        && force != 0.0
        && let Some(row) = joint.coordinate(actuated.id.1, &ws.kinematics.start)
    {
        for (body, wrench) in [(joint.a.0, row.a), (joint.b.0, row.b)] {
            if let Some(total) = ws.kinematics.applied.get_mut(body.index()) {
                total.add(&wrench.scaled(force));
            }
        }
    }
}

/// Computes the coordinates φ + h φ̇ of all actuated DOFs at the end of the step, full turns counted.   [JSPACE-1]
pub(crate) fn angles_at_end(start: &Start, ws: &Workspace, angles: &mut Vec<f64>) {
    let &Start { model, h, .. } = start;
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.moving[..]);
    angles.clear();
    if !start.moves() {
        angles.extend(ws.constraints.joint_space_dofs.iter().map(|actuated| actuated.coordinate));
        return;
    }
    for actuated in &ws.constraints.joint_space_dofs {
        let displacement = model.joint(actuated.id.0).and_then(|joint| {
            let rate = actuated.rate_with(model, (ws, joint), &ws.solution.moving, forest)?;
            Some(h * (rate + prescribed_rate(start, ws, joint, actuated.id.1)))
        });
        angles.push(actuated.coordinate + displacement.unwrap_or(0.0));
    }
}

/// Checks for limits that the last solution violated without a row; true if the problem must be solved with them.   [JSPACE-6]
pub(crate) fn missed_limits(start: &Start, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, h, .. } = start;
    if ws.constraints.all_limits || scheme.gamma == 0.0 {
        return false;
    }
    let mut all = std::mem::take(&mut ws.constraints.joint_space_dofs);
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]);
    let broken = |actuated: &JointSpaceDof| {
        let joint = model.joint(actuated.id.0)?;
        let [least, most] = write::limits_of(joint, actuated.id.1)?;
        let rate = actuated.rate_with(model, (ws, joint), &ws.solution.velocity, forest)?;
        let end = actuated.coordinate + h * (rate + prescribed_rate(start, ws, joint, actuated.id.1));
        let [below, above] = [least - end, end - most].map(|depth| depth > scheme.touch_threshold);
        let [held_below, held_above] = actuated.held;
        Some([below && !held_below, above && !held_above])
    };
    let mut any = false;
    for actuated in &mut all {
        if let Some([below @ true, above] | [below, above @ true]) = broken(actuated) {
            actuated.missed = [actuated.missed[0] | below, actuated.missed[1] | above];
            any = true;
        }
    }
    ws.constraints.joint_space_dofs = all;
    any
}

/// Prescribed part of the rate of a joint DOF over the step: [φ(q, t⁺) − φ(q, t)]/h.   [JSPACE-1]
fn prescribed_rate(start: &Start, ws: &Workspace, joint: &Joint, number: usize) -> f64 {
    let is_prescribed = |body| start.model.kinematic_bodies().contains(&body);
    if !is_prescribed(joint.a.0) && !is_prescribed(joint.b.0) {
        return 0.0;
    }
    let before = joint.coordinate(number, &ws.kinematics.linear_start).map(|row| row.value);
    let after = joint.measured(number, &ws.kinematics.linear_end, before).map(|(coordinate, _)| coordinate);
    after.zip(before).map_or(0.0, |(after, before)| (after - before) / start.h)
}

/// Sides of the rate of a DOF, times a factor.
fn sides(ws: &Workspace, joint: &Joint, actuated: &JointSpaceDof, factor: f64) -> Option<[Option<Side>; 2]> {
    if let Some(k) = actuated.velocity {
        return Some([Some(Side::Velocity(k, factor)), None]);
    }
    let row: Row = joint.coordinate(actuated.id.1, &ws.kinematics.linear_start)?;
    let side = |body: BodyId, wrench: &Wrench| Some(Side::Wrench(body, wrench.scaled(factor)));
    Some([side(joint.a.0, &row.a), side(joint.b.0, &row.b)])
}
