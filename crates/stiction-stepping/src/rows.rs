//! Rows of joints and contacts and their constants, the same for every formulation.

use std::cell::OnceCell;

use stiction_multibody::{Configuration, Model};

use crate::{
    Impact, JointRow, Stabilisation, Start, Workspace, baumgarte,
    closing::{deferred_overlap_rate, deferred_rates},
    contact::OverlapLeft,
    joint_space, layers,
    rates::{in_balance, linearised_start_gap, side_rate},
    reduced, springs,
};

/// Fills `ws.constraints.joint_rows` and the biases of `ws.constraints.contacts`.
pub fn write(start: &Start, ws: &mut Workspace) {
    match start.scheme.stabilisation {
        Stabilisation::Baumgarte { damping, stiffness } => baumgarte::joints(start, (damping, stiffness), ws),
        _ => joints(start, ws),
    }
    contacts(start, ws);
    if start.scheme.impact == Impact::Newton {
        rebounds(start, ws);
    }
    layers::place(start, ws);
    joint_space::write(start, ws);
    springs::write(start, ws);
}

/// Fills the same rows at velocity level: gaps do not close, joints move as prescribed.
pub(crate) fn write_velocity_level(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    begin_joint_rows(model, ws);
    for joint in reduced::joints_in_problem(model, ws.reduced.as_deref()) {
        for (place, (end, begin)) in (joint.first_row()..)
            .zip(joint.evaluate(&ws.kinematics.linear_end).zip(joint.evaluate(&ws.kinematics.linear_start)))
        {
            let prescribed = (end.value - begin.value) / h;
            let row = JointRow { a: end.a, b: end.b, bias: prescribed, prescribed, deferred: 0.0 };
            debug_assert!(
                place < ws.constraints.joint_rows.len(),
                "there is room for the rows of all joints of the problem"
            );
            ws.constraints.joint_rows.get_mut(place).into_iter().for_each(|place| *place = row);
        }
    }
    clear_immovable(model, ws);
    for contact in &mut ws.constraints.contacts {
        contact.bias = (contact.gap_end - contact.gap_start) / h;
        contact.overlap = OverlapLeft::default();
    }
    joint_space::write_velocity_level(start, ws);
}

/// Resizes `ws.constraints.joint_rows` up to the last joint of the problem; rows of the forest's own joints stay zero.
fn begin_joint_rows(model: &Model, ws: &mut Workspace) {
    let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
    let end = joints.map(|joint| joint.first_row() + joint.rows()).max();
    ws.constraints.contradictions.clear();
    ws.constraints.slack = None;
    ws.constraints.joint_rows.clear();
    ws.constraints.joint_rows.resize(end.unwrap_or(0), JointRow::default());
}

/// Fills the joint rows with γ_b Φ/h + [Φ(q,t⁺) − Φ(q,t)]/h, with Φ(q) ≈ Φ(q̂) − h Wᵀ v̂ from the linearisation at
/// q̂, less the part of γ_b Φ/h beyond the closing speed.   [STEP-2] [STEP-10] [STAB-9]
fn joints(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, h, .. } = start;
    begin_joint_rows(model, ws);
    let by_forest: OnceCell<Option<Configuration>> = OnceCell::new();
    for joint in reduced::joints_in_problem(model, ws.reduced.as_deref()) {
        let gamma = if start.moves() { joint.gamma.unwrap_or(scheme.joint_gamma) } else { 0.0 };
        let later = || by_forest.get_or_init(|| ws.reduced.as_ref().map(|reduced| reduced.later(start))).as_ref();
        let time = start.closing_duration;
        let deferred = deferred_rates(joint, &ws.kinematics.start, (gamma, time), scheme.joint_closing_speed, later);
        let rows = joint.evaluate(&ws.kinematics.linear_end).zip(joint.evaluate(&ws.kinematics.linear_start));
        for ((place, (end, begin)), deferred) in (joint.first_row()..).zip(rows).zip(deferred) {
            let traced = side_rate(model, &ws.kinematics.linearisation_velocity, joint.a.0, &end.a)
                + side_rate(model, &ws.kinematics.linearisation_velocity, joint.b.0, &end.b);
            let error = begin.value - h * traced;
            let moved = end.value - begin.value;
            let (bias, prescribed) = ((gamma * (h / time) * error + moved) / h - deferred, moved / h);
            let (a, b) = if scheme.has_common_points() {
                in_balance(model, &ws.kinematics.linear_end, (joint.a.0, joint.b.0), (end.a, end.b))
            } else {
                (end.a, end.b)
            };
            let row = JointRow { a, b, bias, prescribed, deferred };
            debug_assert!(
                place < ws.constraints.joint_rows.len(),
                "there is room for the rows of all joints of the problem"
            );
            ws.constraints.joint_rows.get_mut(place).into_iter().for_each(|place| *place = row);
        }
    }
    clear_immovable(model, ws);
}

/// Clears the wrenches of loop rows whose rate no velocity of the forest changes, so that rounding does not decide their impulses.   [RED-5]
fn clear_immovable(model: &Model, ws: &mut Workspace) {
    let Some(reduced) = &mut ws.reduced else { return };
    let forest = model.forest();
    for joint in forest.loops().iter().filter_map(|id| model.joint(*id)) {
        for row in ws.constraints.joint_rows.iter_mut().skip(joint.first_row()).take(joint.rows()) {
            if !reduced.moves(forest, [(joint.a.0, &row.a), (joint.b.0, &row.b)]) {
                (row.a, row.b) = Default::default();
            }
        }
    }
}

/// Fills the biases of contacts with γ ψ/h + [ψ(q,t⁺) − ψ(q,t)]/h, with ψ(q) ≈ ψ(q̂) − h nᵀ v̂, less the part of γ ψ/h beyond the closing
/// speed.   [STEP-3] [STEP-10] [STAB-13]
fn contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    for contact in &mut ws.constraints.contacts {
        let gap = linearised_start_gap(model, contact, &ws.kinematics.linearisation_velocity, h);
        let gamma = if start.moves() { contact.gamma } else { 0.0 };
        let prescribed = contact.gap_end - contact.gap_start;
        // Beyond a corner the extended face may be overlapped at the start, or until the prescribed surface has moved on: that is none to be opened.
        let overlap = -gap.max(gap + prescribed);
        let deferred = deferred_overlap_rate(start, contact, gamma * overlap / h, &ws.kinematics.start);
        contact.overlap = OverlapLeft { deferred, is_kept: false };
        contact.bias = (gamma * gap + prescribed) / h + deferred;
    }
}

/// Applies Newton's impact law: a contact hit in the last step separates with ε times its approach speed.   [IMPACT-1]
fn rebounds(start: &Start, ws: &mut Workspace) {
    let &Start { state, h, .. } = start;
    let mut memories = state.contacts.iter().peekable();
    for contact in &mut ws.constraints.contacts {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let Some(memory) = memories.next_if(|memory| memory.id == contact.id) else { continue };
        if memory.pending_restitution < 0.0 && contact.restitution > 0.0 {
            let prescribed = (contact.gap_end - contact.gap_start) / h;
            contact.bias = contact.bias.min(prescribed + contact.restitution * memory.pending_restitution);
        }
    }
}
