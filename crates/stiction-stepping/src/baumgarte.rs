//! Baumgarte stabilisation of joints: the error follows a damped oscillation, in differences.
//!
//! The mean rates of Φ over the last step and over this one are D and D⁺ = (Φ⁺ − Φ)/h. Backward differences turn Φ̈ + a Φ̇ + b Φ = 0 into
//!
//! ```text
//! (D⁺ − D)/h + a D⁺ + b (Φ + h D⁺) = 0      ⇒      D⁺ = (D − h b Φ) / (1 + a h + b h²)                [STAB-2]
//! ```
//!
//! With P the mean rate at the linearisation velocity v̂, D⁺ ≈ P + W_bᵀ (v⁺ − v̂): a row like any other.

use crate::{JointRow, Start, Workspace, rates::side_rate};

/// Fills `ws.constraints.joint_rows`: W_bᵀ (v⁺ − v̂) + P = (D − h b Φ) / (1 + a h + b h²).   [STAB-2]
pub(crate) fn joints(start: &Start, (a, b): (f64, f64), ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    let shrink = 1.0 / (1.0 + a * h + b * h * h);
    update_configurations(start, ws);
    let v = if ws.kinematics.linearisation_velocity.is_empty() {
        &ws.kinematics.before
    } else {
        &ws.kinematics.linearisation_velocity
    };
    ws.constraints.contradictions.clear();
    ws.constraints.slack = None;
    ws.constraints.joint_rows.clear();
    for joint in model.joints() {
        let [behind, now, ahead] = [&ws.kinematics.behind, &ws.kinematics.start, &ws.kinematics.ahead]
            .map(|at| joint.evaluate(at).map(|row| row.value));
        for ((row, now), (behind, ahead)) in joint.evaluate(&ws.kinematics.linear_end).zip(now).zip(behind.zip(ahead)) {
            let target_rate = shrink * ((now - behind) / h - h * b * now);
            let linearised_rate = side_rate(model, v, joint.a.0, &row.a) + side_rate(model, v, joint.b.0, &row.b);
            ws.constraints.joint_rows.push(JointRow {
                a: row.a,
                b: row.b,
                bias: (ahead - now) / h - linearised_rate - target_rate,
                prescribed: (ahead - now) / h - linearised_rate,
                deferred: 0.0,
            });
        }
    }
}

/// Updates the configurations one step earlier, q ⊖ h v at t − h, and at the linearisation, q ⊕ h v̂ at t + h.
///
/// The previous step moved by its own v⁺ = v, so the first is its start if it was as long.
fn update_configurations(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h, .. } = start;
    model.integrate(&state.q, &state.v, -h, scheme.orientation, &mut ws.kinematics.predicted);
    ws.kinematics.behind.update(model, &ws.kinematics.predicted, &state.v, state.time - h);
    if ws.kinematics.linearisation_velocity.is_empty() {
        model.integrate(&state.q, &ws.kinematics.before, h, scheme.orientation, &mut ws.kinematics.predicted);
        ws.kinematics.ahead.update(model, &ws.kinematics.predicted, &ws.kinematics.before, state.time_after(h).0);
    } else {
        ws.kinematics.ahead.copy_from(&ws.kinematics.linear_end);
    }
}
