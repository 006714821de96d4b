//! Energy that the impulses of loops seem to make or lose in trees.   [ROT-6]
//!
//! Joints are ideal: between velocities that obey them their impulses do no work. In trees half of the velocity terms acts after the problem [ROT-3], so
//! that loop joints hold for v⁺ and not for the velocities u and v of [ROT-4], and the errors that steps leave are removed. With the rates Φ̇ of v and u
//! along the rows of a loop, the linkage would gain the work of the impulses p on their mean. It is taken back:
//!
//! ```text
//! W = Σ ½ p (Φ̇ + Φ̇⁺),    ½ w_stateᵀ M⁺ w_state ← ½ w_stateᵀ M⁺ w_state − W                                     [ROT-6]
//! ```
//!
//! where w_state is the motion of the linkage relative to its rigid motion of the same momentum, or relative to the ground where joints connect it to that.
//! A factor on w_state changes neither momentum nor the rates of joints from zero.

use stiction_multibody::{Model, Wrench};

use crate::{
    Dynamics, JointRow, Method, PositionUpdate, Start, VelocityTerms, Workspace, linkage_energies::LoopEnergies,
    rates::side_rate,
};

/// Takes the work of the impulses of loops back from the next state.   [ROT-6]
pub(crate) fn take_back_work(start: &Start, ws: &mut Workspace) {
    ws.loop_energies.taken = 0.0;
    ws.loop_energies.linkages.clear();
    let (model, scheme) = (start.model, start.scheme);
    let applies = scheme.method == Method::TimeStepping
        && scheme.dynamics == Dynamics::Inertial
        && scheme.velocity_terms == VelocityTerms::Conserving
        && scheme.position_update == PositionUpdate::End
        && !model.forest().loops().is_empty();
    if ws.reduced.is_none() || !applies {
        return;
    }
    let mut own = std::mem::take(&mut ws.loop_energies);
    own.find_linkages(model);
    find_work(&mut own, start, ws);
    own.find_motion(model, &ws.result.end);
    for linkage in &mut own.linkages {
        linkage.wanted = linkage.kinetic - linkage.work;
    }
    own.taken = own.find_scalings(|linkage| !linkage.closing);
    scale(&mut own, model, ws);
    ws.loop_energies = own;
}

/// Takes the work of the impulses of loops back from a next state without the velocity with which joints close.   [ROT-6] [STAB-10]
pub(crate) fn take_back_without_closing(start: &Start, ws: &mut Workspace) {
    let mut own = std::mem::take(&mut ws.loop_energies);
    if own.linkages.iter().any(|linkage| linkage.closing && linkage.work != 0.0) {
        own.find_motion(start.model, &ws.result.end);
        own.find_scalings(|_| true);
        scale(&mut own, start.model, ws);
    }
    ws.loop_energies = own;
}

/// Adds the work of the impulses of each loop to its linkage.
fn find_work(own: &mut LoopEnergies, start: &Start, ws: &mut Workspace) {
    let model = start.model;
    let (mut turn, mut forest) = (std::mem::take(&mut own.turn), std::mem::take(&mut own.forest));
    turn.clear();
    turn.resize(model.dof(), 0.0);
    if let Some(reduced) = &mut ws.reduced {
        reduced.write_turn(model, start.h, (&mut forest, &mut turn));
    }
    for joint in model.forest().loops().iter().filter_map(|id| model.joint(*id)) {
        let moving = [joint.a.0, joint.b.0].into_iter().find(|id| model.unknowns(*id).is_some());
        let Some(place) = moving.map(|id| own.root(id)) else { continue };
        let Some(linkage) = own.linkages.get_mut(place) else { continue };
        let rows = ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses);
        for (row, p) in rows.skip(joint.first_row()).take(joint.rows()) {
            let rate = |v: &[f64]| side_rate(model, v, joint.a.0, &row.a) + side_rate(model, v, joint.b.0, &row.b);
            let JointRow { prescribed, deferred, .. } = *row;
            linkage.closing |= deferred != 0.0;
            let rates = rate(&ws.kinematics.before) - rate(&turn) + rate(&ws.solution.velocity);
            linkage.work += p * (0.5 * rates + prescribed);
        }
    }
    (own.turn, own.forest) = (turn, forest);
}

/// Scales the relative motion of the linkages in the next state.
fn scale(own: &mut LoopEnergies, model: &Model, ws: &mut Workspace) {
    if own.linkages.iter().all(|linkage| linkage.scaling == 0.0) {
        return;
    }
    own.change.clear();
    own.change.resize(model.dof(), 0.0);
    for (id, _) in model.iter_bodies() {
        let Some((mobility, range)) = model.unknowns(id) else { continue };
        let Some(linkage) = own.linkages.get(own.root(id)) else { continue };
        let mut twist = ws.result.end.twist(id);
        let arm = ws.result.end.pose(id).translation.vector - linkage.center;
        twist.linear -= linkage.velocity + linkage.rotation.cross(&arm);
        twist.angular -= linkage.rotation;
        let relative = mobility.project(&Wrench { linear: twist.linear, angular: twist.angular });
        let places = own.change.get_mut(range).into_iter().flatten();
        places.zip(relative).for_each(|(v, relative)| *v = linkage.scaling * relative);
    }
    let next = &mut ws.result.next;
    own.configuration.update(model, &next.q, &own.change, next.time);
    if let Some(reduced) = &mut ws.reduced {
        reduced.add_at_end(model, &own.configuration, next);
    }
    ws.result.end.update(model, &next.q, &next.v, next.time);
}
