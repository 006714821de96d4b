//! What joints and contacts ask of v⁺: their rows and constants, the same for every formulation.

use stiction_multibody::{BodyId, Mobility, Model, Wrench};

use crate::{Contact, Impact, Stabilisation, Start, Workspace, baumgarte, joint_space, layers, reduced};

/// A joint row W_bᵀ v⁺ + bias = 0 as wrenches on its two bodies.   [STEP-2]
#[derive(Clone, Copy, Debug, Default)]
pub struct JointRow {
    /// The wrench of a unit impulse on the first body.
    pub a: Wrench,
    /// The wrench of a unit impulse on the second body.
    pub b: Wrench,
    /// What prescribed motion and the error to be removed add.
    pub bias: f64,
}

/// Fills `ws.joint_rows` and the biases of `ws.contacts`.
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
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
}

/// The same rows for velocities alone: nothing approaches, joints move as they are prescribed to.
pub(crate) fn write_velocity_level(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    begin_joint_rows(model, ws);
    for joint in reduced::joints_in_problem(model, ws.reduced.as_deref()) {
        for (place, (end, begin)) in
            (joint.first_row()..).zip(joint.evaluate(&ws.linear_end).zip(joint.evaluate(&ws.linear_start)))
        {
            let row = JointRow { a: end.a, b: end.b, bias: (end.value - begin.value) / h };
            ws.joint_rows.get_mut(place).into_iter().for_each(|place| *place = row);
        }
    }
    for contact in &mut ws.contacts {
        contact.bias = (contact.gap_end - contact.gap_start) / h;
    }
    joint_space::write_velocity_level(start, ws);
}

/// Room for the rows of all joints up to the last that is in the problem; those that the forest holds by itself stay empty.
fn begin_joint_rows(model: &Model, ws: &mut Workspace) {
    let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
    let end = joints.map(|joint| joint.first_row() + joint.rows()).max();
    ws.joint_rows.clear();
    ws.joint_rows.resize(end.unwrap_or(0), JointRow::default());
}

/// γ_b Φ/h + [Φ(q,t⁺) − Φ(q,t)]/h, with Φ(q) ≈ Φ(q̂) − h Wᵀ v̂ traced back from where it was linearised.   [STEP-2] [STEP-10]
fn joints(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, h, .. } = start;
    begin_joint_rows(model, ws);
    for joint in reduced::joints_in_problem(model, ws.reduced.as_deref()) {
        let gamma = joint.gamma.unwrap_or(scheme.joint_gamma);
        let rows = joint.evaluate(&ws.linear_end).zip(joint.evaluate(&ws.linear_start));
        for (place, (end, begin)) in (joint.first_row()..).zip(rows) {
            let traced = power(model, &ws.linearisation_velocity, joint.a.0, &end.a)
                + power(model, &ws.linearisation_velocity, joint.b.0, &end.b);
            let error = begin.value - h * traced;
            let bias = (gamma * error + (end.value - begin.value)) / h;
            let row = JointRow { a: end.a, b: end.b, bias };
            ws.joint_rows.get_mut(place).into_iter().for_each(|place| *place = row);
        }
    }
}

/// γ ψ/h + [ψ(q,t⁺) − ψ(q,t)]/h, with ψ(q) ≈ ψ(q̂) − h nᵀ v̂.   [STEP-3] [STEP-10]
fn contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    for contact in &mut ws.contacts {
        let gap = gap_now(model, contact, &ws.linearisation_velocity, h);
        contact.bias = (contact.gamma * gap + (contact.gap_end - contact.gap_start)) / h;
    }
}

/// ψ(q, t) ≈ ψ(q̂, t) − h nᵀ v̂ of a contact linearised with the look-ahead v̂.   [STEP-10]
pub(crate) fn gap_now(model: &Model, contact: &Contact, linearisation_velocity: &[f64], h: f64) -> f64 {
    if linearisation_velocity.is_empty() {
        return contact.gap_start;
    }
    let (a, b) = contact.row(&contact.normal);
    contact.gap_start
        - h * (power(model, linearisation_velocity, contact.a, &a)
            + power(model, linearisation_velocity, contact.b, &b))
}

/// A contact that was hit in the last step must leave with ε times the speed it was hit with, whatever the gap asks.   [IMPACT-1]
fn rebounds(start: &Start, ws: &mut Workspace) {
    let &Start { state, h, .. } = start;
    let mut memories = state.contacts.iter().peekable();
    for contact in &mut ws.contacts {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let Some(memory) = memories.next_if(|memory| memory.id == contact.id) else { continue };
        if memory.pending_restitution < 0.0 && contact.restitution > 0.0 {
            let prescribed = (contact.gap_end - contact.gap_start) / h;
            contact.bias = contact.bias.min(prescribed + contact.restitution * memory.pending_restitution);
        }
    }
}

/// n · v with the dynamic bodies moving by `v`, prescribed motion over the step included; negative when the surfaces approach.
pub(crate) fn approach(model: &Model, contact: &Contact, v: &[f64], h: f64) -> f64 {
    let (a, b) = contact.row(&contact.normal);
    let prescribed = (contact.gap_end - contact.gap_start) / h;
    power(model, v, contact.a, &a) + power(model, v, contact.b, &b) + prescribed
}

/// The power of a wrench on the velocity `v` of a dynamic body; nothing for others, and nothing where `v` is empty.
pub(crate) fn power(model: &Model, v: &[f64], id: BodyId, wrench: &Wrench) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    let Some((mobility, range)) = model.unknowns(id) else { return 0.0 };
    let (f, t) = (&wrench.linear, &wrench.angular);
    match (mobility, v.get(range).unwrap_or_default()) {
        (Mobility::Free, &[x, y, z, wx, wy, wz]) => x * f.x + y * f.y + z * f.z + wx * t.x + wy * t.y + wz * t.z,
        (_, v) => v.iter().zip(mobility.project(wrench)).map(|(v, w)| v * w).sum(),
    }
}
