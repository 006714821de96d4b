//! Removal of the velocity with which open joints close.
//!
//! Bodies move by v⁺, in which open joints close at the closing speed. The state gets the velocity without the part along W_b of all joints.
//! Couplings and limits with an impulse are among them, and keep their rates if they do not close:
//!
//! ```text
//! v_state = v⁺ + M⁻¹ W_b μ,     W_bᵀ v_state + ∂Φ/∂t = 0                                       [STAB-10]
//! ```
//!
//! So closing adds no energy to any motion of the mechanism. A body at rest has v_state = 0.
//!
//! The bodies have moved by h (v⁺ − v_state) more than by the velocity of the state, which changes the angular momentum although the impulses μ have none.
//! A rigid motion of each isolated linkage restores it, the change of velocity of least kinetic energy.   [STAB-11]

use stiction_multibody::{Configuration, Joint, Model, State, Wrench, apply_inverse_mass, mass_block};

use super::{Corrector, Level, linkages::Linkages};
use crate::{
    Coordinates, Dynamics, JointRow, Method, Start, StepCause, Workspace, joint_space, loop_energy,
    rates::{JointSpaceRow, rate, side_rate},
    reduced::singular_inertia,
};

/// True if the step closes a joint at the closing speed, or a coupling or limit, and all bodies have masses. Without the mass of a frame, v_state is
/// not determined by the rows of the bodies; what closes then keeps its velocity, which is the closing speed at most.
pub(super) fn is_closing(start: &Start, ws: &Workspace) -> bool {
    start.scheme.method == Method::TimeStepping
        && start.scheme.dynamics == Dynamics::Inertial
        && start.model.massless_body().is_none()
        && (ws.constraints.joint_rows.iter().any(|row| row.deferred != 0.0) || joint_space::is_closing(ws))
}

/// Removes the closing velocity from the next state; returns the largest rate that remains. None if the rates cannot be removed: joints then contradict
/// prescribed motions, and the velocity stays that of the step.   [STAB-10]
pub(super) fn remove(corrector: &mut Corrector) -> Result<Option<f64>, StepCause> {
    let residual = match corrector.project(Level::ClosingVelocities) {
        Ok(residual) => residual,
        Err(StepCause::NotProjected { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let (start, ws, moved) = (corrector.start, &mut *corrector.ws, &corrector.after.moved);
    let model = start.model;
    let (linkages, mut change) = (Linkages::of(model), Configuration::default());
    let momenta = linkages.momenta(model, &ws.result.end);
    change.update(model, &start.state.q, moved, start.state.time);
    if let Some(reduced) = &mut ws.reduced {
        reduced
            .advance_without_closing(start, &change, &mut ws.result.next)
            .map_err(|singular| singular_inertia(model, singular))?;
    } else {
        add_momentum(model, &change, &ws.result.end, &mut ws.result.next);
    }
    ws.result.end.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
    let rigid = linkages.rigid_motion(model, &ws.result.end, &momenta);
    let next = &mut ws.result.next;
    if let Some(reduced) = &mut ws.reduced {
        change.update(model, &next.q, &rigid, next.time);
        reduced.add_at_end(model, &change, next);
    } else {
        next.v.iter_mut().zip(&rigid).for_each(|(v, change)| *v += change);
    }
    ws.result.end.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
    loop_energy::take_back_without_closing(start, ws);
    Ok(Some(residual))
}

/// Adds to the state the change of momentum that belongs to a change of the velocities at the start poses.
fn add_momentum(model: &Model, change: &Configuration, end: &Configuration, next: &mut State) {
    for (index, (id, _)) in model.iter_bodies().enumerate() {
        let (Some((mobility, range)), Some((_, mass, inertia)), Some((_, _, inertia_at_end))) =
            (model.unknowns(id), mass_block(model, change, index), mass_block(model, end, index))
        else {
            continue;
        };
        let twist = change.twist(id);
        let momentum = Wrench { linear: twist.linear * mass, angular: inertia * twist.angular };
        let answer = mobility.project(&apply_inverse_mass(mobility, mass, &inertia_at_end, &momentum));
        next.v.get_mut(range).into_iter().flatten().zip(answer).for_each(|(v, change)| *v += change);
    }
}

/// Writes the rows of all joints at the start poses, with the rates that are left to remove as constants; returns the largest.   [STAB-10]
pub(super) fn write_rows(corrector: &mut Corrector) -> f64 {
    let (start, ws, after) = (corrector.start, &*corrector.ws, &mut *corrector.after);
    let (model, at) = (start.model, &ws.kinematics.start);
    let workspace = &mut after.workspace;
    workspace.kinematics.start.copy_from(at);
    workspace.constraints.contacts.clear();
    workspace.constraints.support_points.clear();
    workspace.constraints.joint_rows.clear();
    let velocity: Vec<f64> = after.base.iter().zip(&after.moved).map(|(v, d)| v + d).collect();
    let maximal = start.scheme.coordinates == Coordinates::Maximal;
    let loops = model.forest().loops();
    let in_problem = |joint: &Joint| {
        maximal || loops.iter().any(|id| model.joint(*id).is_some_and(|other| std::ptr::eq(other, joint)))
    };
    let mut worst = 0.0_f64;
    for joint in model.joints() {
        let of_step = ws.constraints.joint_rows.iter().skip(joint.first_row()).take(joint.rows());
        let of_step = in_problem(joint).then_some(of_step).into_iter().flatten().copied().map(Some);
        for (own, of_step) in joint.evaluate(at).zip(of_step.chain(std::iter::repeat(None))) {
            let row = of_step.unwrap_or(JointRow { a: own.a, b: own.b, ..JointRow::default() });
            let rate = |v: &[f64]| side_rate(model, v, joint.a.0, &row.a) + side_rate(model, v, joint.b.0, &row.b);
            let bias = if of_step.is_some() { rate(&velocity) + row.prescribed } else { rate(&after.moved) };
            workspace.constraints.joint_rows.push(JointRow { a: row.a, b: row.b, bias, ..JointRow::default() });
            worst = worst.max(bias.abs());
        }
    }
    workspace.constraints.joint_space_rows.clear();
    for row in joint_space::rows_to_close(start, ws) {
        let rate = |v: &[f64]| rate(model, &row.sides, v, None);
        let bias = row.closing.map_or_else(|| rate(&after.moved), |prescribed| rate(&velocity) + prescribed);
        workspace.constraints.joint_space_rows.push(JointSpaceRow { bias, ..row });
        worst = worst.max(bias.abs());
    }
    after.multipliers.resize(model.joint_rows() + workspace.constraints.joint_space_rows.len(), 0.0);
    worst
}
