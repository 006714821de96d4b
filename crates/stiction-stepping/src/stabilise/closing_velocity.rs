//! Removal of the velocity with which open joints close.
//!
//! Bodies move by v⁺, in which open joints close at the closing speed. The state gets the velocity without the part along W_b:
//!
//! ```text
//! v_state = v⁺ + M⁻¹ W_b μ,     W_bᵀ v_state + ∂Φ/∂t = 0                                       [STAB-10]
//! ```
//!
//! So closing adds no energy to any motion of the mechanism. A body at rest has v_state = 0.

use stiction_multibody::{
    Configuration, Joint, Model, State, Wrench, apply_inverse_mass, articulated::Kinematics, mass_block,
};

use super::{Corrector, Level};
use crate::{Coordinates, Dynamics, JointRow, Method, Start, StepCause, Workspace, rates::side_rate};

/// True if the step closes a joint at the closing speed.
pub(super) fn is_closing(start: &Start, ws: &Workspace) -> bool {
    start.scheme.method == Method::TimeStepping
        && start.scheme.dynamics == Dynamics::Inertial
        && ws.constraints.joint_rows.iter().any(|row| row.postponed != 0.0)
}

/// Removes the closing velocity from the next state; returns the largest rate that remains. None if the rates cannot be removed: joints then contradict
/// prescribed motions, and the velocity stays that of the step.   [STAB-10]
pub(super) fn remove(corrector: &mut Corrector) -> Result<Option<f64>, StepCause> {
    let residual = match corrector.project(Level::ClosingVelocities) {
        Ok(residual) => residual,
        Err(StepCause::NotProjected { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let model = corrector.start.model;
    let (ws, change) = (&mut *corrector.ws, &corrector.after.moved);
    let mut by_change = Configuration::default();
    by_change.update(model, &corrector.start.state.q, change, corrector.start.state.time);
    if ws.reduced.is_some() {
        add_to_forest(model, corrector.start.state, &by_change, &mut ws.result.next);
    } else {
        add_momentum(model, &by_change, &ws.result.end, &mut ws.result.next);
    }
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

/// Adds to the state of the forest the joint velocities of a change of the velocities of all bodies.
fn add_to_forest(model: &Model, start: &State, change: &Configuration, next: &mut State) {
    let forest = model.forest();
    let (tree, mut at, mut rates) = (forest.tree(), Kinematics::new(forest.tree()), Vec::new());
    let mut q = Vec::new();
    forest.read_coordinates(model, change, &start.forest_q, &mut q);
    at.update(tree, &q, &vec![0.0; tree.velocities()]);
    forest.read_velocities(&at, change, &mut rates);
    next.forest_v.iter_mut().zip(rates).for_each(|(v, change)| *v += change);
    at.update(tree, &next.forest_q, &next.forest_v);
    forest.write_velocities(model, &at, at.twists(), &mut next.v);
}

/// Writes the rows of all joints at the start poses, with the rates at v⁺ and the correction so far as constants; returns the largest rate.
pub(super) fn write_rows(corrector: &mut Corrector) -> f64 {
    let (model, ws, after) = (corrector.start.model, &*corrector.ws, &mut *corrector.after);
    let workspace = &mut after.workspace;
    workspace.kinematics.start.copy_from(&ws.kinematics.start);
    workspace.constraints.contacts.clear();
    workspace.constraints.support_points.clear();
    workspace.constraints.joint_rows.clear();
    let velocity: Vec<f64> = after.base.iter().zip(&after.moved).map(|(v, d)| v + d).collect();
    let maximal = corrector.start.scheme.coordinates == Coordinates::Maximal;
    let loops = model.forest().loops();
    let in_problem = |joint: &Joint| {
        maximal || loops.iter().any(|id| model.joint(*id).is_some_and(|other| std::ptr::eq(other, joint)))
    };
    let mut worst = 0.0_f64;
    for joint in model.joints() {
        let of_step = ws.constraints.joint_rows.iter().skip(joint.first_row());
        let of_step = in_problem(joint).then_some(of_step).into_iter().flatten().copied().map(Some);
        let rows = joint.evaluate(&ws.kinematics.start).zip(of_step.chain(std::iter::repeat(None)));
        for (row, of_step) in rows {
            let own = JointRow { a: row.a, b: row.b, ..JointRow::default() };
            let JointRow { a, b, prescribed, .. } = of_step.unwrap_or(own);
            let rate = side_rate(model, &velocity, joint.a.0, &a) + side_rate(model, &velocity, joint.b.0, &b);
            let bias = rate + prescribed;
            workspace.constraints.joint_rows.push(JointRow { a, b, bias, ..JointRow::default() });
            worst = worst.max(bias.abs());
        }
    }
    worst
}
