//! Joint-space rows that close errors with which the mechanism started.   [STAB-10]

use stiction_complementarity::Law;
use stiction_multibody::{BodyId, Configuration, Model, Wrench};

use crate::{
    Start, Workspace,
    joint_space_dof::JointSpaceDof,
    rates::{JointSpaceRow, Side},
};

/// True if the step closes the error of a limit or coupling.
pub(crate) fn is_closing(ws: &Workspace) -> bool {
    rows_in_force(ws).any(|row| row.closing.is_some())
}

/// Rows of couplings, and of limits with an impulse, as equations for the velocities of the bodies.
pub(crate) fn rows_to_close<'a>(start: &'a Start, ws: &'a Workspace) -> impl Iterator<Item = JointSpaceRow> + 'a {
    rows_in_force(ws).map(|row| {
        let [a, b, c, d] = row.sides;
        let ([a, b], [c, d]) = (of_bodies(start, ws, [a, b]), of_bodies(start, ws, [c, d]));
        JointSpaceRow { sides: [a, b, c, d], law: Law::Equality { rows: 1 }, ..*row }
    })
}

/// Impulses of limits in the first kick of a step, as wrenches on bodies at its end.   [STEP-18]
pub(crate) fn first_limit_impulses<'a>(
    model: &'a Model,
    dofs: &'a [JointSpaceDof],
    at: &'a Configuration,
) -> impl Iterator<Item = (BodyId, Wrench)> + 'a {
    let with_impulse = dofs.iter().filter(|actuated| actuated.limit_impulses != [0.0; 2]);
    let wrenches = with_impulse.filter_map(move |actuated| {
        let [below, above] = actuated.limit_impulses;
        let joint = model.joint(actuated.id.0)?;
        let row = joint.coordinate(actuated.id.1, at)?;
        Some([(joint.a.0, row.a.scaled(below - above)), (joint.b.0, row.b.scaled(below - above))])
    });
    wrenches.flatten()
}

/// Rigid rows along DOFs of joints that have an impulse, without dry friction.
fn rows_in_force(ws: &Workspace) -> impl Iterator<Item = &JointSpaceRow> {
    let rows = ws.constraints.joint_space_rows.iter().zip(&ws.solution.joint_space_impulses);
    let in_force = rows.filter(|(row, p)| match row.law {
        Law::Equality { .. } => row.compliance == 0.0,
        Law::Bounded { upper, .. } => upper == f64::INFINITY && **p > 0.0,
        _ => false,
    });
    in_force.map(|(row, _)| row)
}

/// The two sides of a joint that is a velocity of the forest.
fn of_bodies(start: &Start, ws: &Workspace, sides: [Option<Side>; 2]) -> [Option<Side>; 2] {
    let [Some(Side::Velocity(velocity, factor)), None] = sides else { return sides };
    let found = ws.constraints.joint_space_dofs.iter().find(|actuated| actuated.velocity == Some(velocity));
    let wrenches = found.and_then(|actuated| {
        let joint = start.model.joint(actuated.id.0)?;
        let row = joint.coordinate(actuated.id.1, &ws.kinematics.start)?;
        Some([(joint.a.0, row.a), (joint.b.0, row.b)])
    });
    debug_assert!(wrenches.is_some(), "rows along velocities of the forest belong to actuated DOFs");
    let of_body = |(body, wrench): (BodyId, Wrench)| Some(Side::Wrench(body, wrench.scaled(factor)));
    wrenches.map_or([None; 2], |wrenches| wrenches.map(of_body))
}
