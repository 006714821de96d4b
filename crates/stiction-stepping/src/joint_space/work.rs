//! Work of joint-space forces and constraints, for the energy account of a step.   [JSPACE-9]

use stiction_complementarity::Law;
use stiction_multibody::Model;

use crate::{
    Workspace,
    rates::{JointSpaceRow, rate},
};

/// Work of springs, dampers and motors over the last step, along the forest and of rows; rotors count as kinetic energy.
pub(crate) fn work(model: &Model, ws: &Workspace, h: f64) -> f64 {
    work_of_forest(ws, h) + work_of_rows(model, ws)
}

/// Part of [`work`] along the forest.
pub(crate) fn work_of_forest(ws: &Workspace, h: f64) -> f64 {
    ws.reduced.as_deref().map_or(0.0, |reduced| reduced.work_of_joint_space(h))
}

/// Work of the springs, dampers and rotors of rows on other velocities of bodies and forest.
pub(crate) fn work_of_rows_on(model: &Model, ws: &Workspace, (bodies, forest): (&[f64], &[f64])) -> f64 {
    let forest = ws.reduced.as_ref().map(|_| forest);
    let rows = ws.constraints.joint_space_rows.iter().zip(&ws.solution.joint_space_impulses);
    let of_forces = rows.filter(|(row, _)| row.compliance > 0.0);
    of_forces.map(|(row, p)| p * rate(model, &row.sides, bodies, forest)).sum()
}

/// Part of [`work`] of rows.
pub(crate) fn work_of_rows(model: &Model, ws: &Workspace) -> f64 {
    let at_end = |row: &JointSpaceRow| rate_at_end(model, ws, row);
    let of_row = |(row, p): (&JointSpaceRow, &f64)| match row.law {
        _ if row.compliance == 0.0 => 0.0,
        Law::Equality { .. } => (p + row.rotor.inertia * (at_end(row) - rate_before(model, ws, row))) * at_end(row),
        _ => p * at_end(row),
    };
    debug_assert_eq!(
        ws.constraints.joint_space_rows.len(),
        ws.solution.joint_space_impulses.len(),
        "every joint-space row has an impulse"
    );
    ws.constraints.joint_space_rows.iter().zip(&ws.solution.joint_space_impulses).map(of_row).sum::<f64>()
}

/// Work Σ p β of the biases β of limits and couplings; dry friction has none.   [ENERGY-2]
pub(crate) fn bias_work(ws: &Workspace) -> f64 {
    let rows = ws
        .constraints
        .joint_space_rows
        .iter()
        .zip(&ws.solution.joint_space_impulses)
        .filter(|(row, _)| row.compliance == 0.0);
    rows.map(|(row, p)| p * row.bias).sum()
}

/// Kinetic energy of the rotors that are part of rows, J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rotors {
    pub(crate) start: f64,
    /// After impacts.
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// Of the change.
    pub(crate) lost: f64,
    /// Energy of the states at both ends less that of the problem there: the joint axes turn within the step.   [ENERGY-5]
    pub(crate) turned: f64,
    /// Absolute work of prescribed motion on them.
    pub(crate) prescribed: f64,
}

impl Rotors {
    /// Energies of the last step, which started with these velocities of the bodies.
    pub(crate) fn of(model: &Model, ws: &Workspace, start: &[f64]) -> Self {
        let mut total = Self::default();
        for row in ws.constraints.joint_space_rows.iter().filter(|row| row.rotor.inertia > 0.0) {
            let (before, after) = (rate_before(model, ws, row), rate_at_end(model, ws, row));
            let energy = |rate: f64| 0.5 * row.rotor.inertia * rate * rate;
            total.start += energy(rate(model, &row.sides, start, None) + row.rotor.lead);
            total.before += energy(before);
            total.after += energy(after);
            total.lost += energy(after - before);
            let offset = row.rotor.offset;
            total.turned += energy(before + offset) - energy(after + offset);
            total.prescribed += (row.rotor.inertia * (after - before) * offset).abs();
        }
        total
    }
}

fn rate_at_end(model: &Model, ws: &Workspace, row: &JointSpaceRow) -> f64 {
    rate(model, &row.sides, &ws.solution.velocity, ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]))
}

/// Rate of a row before the step, that of its rotor if it has one.
fn rate_before(model: &Model, ws: &Workspace, row: &JointSpaceRow) -> f64 {
    row.rotor.lead
        + rate(model, &row.sides, &ws.kinematics.before, ws.reduced.as_ref().map(|reduced| &reduced.before[..]))
}
