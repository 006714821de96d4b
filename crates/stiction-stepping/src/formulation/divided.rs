//! Linear problems by divide and conquer: in impulses alone, with W from rows that were carried up the plan of the forest.   [DCA-17]
//!
//! Only the impulses of loops and of equations along freedoms are free, and nothing is factorised to write the problem. With exact cones
//! [`super::impulses`] does the same.

use std::ops::Range;

use stiction_complementarity::SparseMatrix;

use super::polygon_joint_space::boxes;
use crate::{Layout, Start, StepCause, Workspace, reduced};

/// Makes room for the rows of a problem, where divide and conquer writes it.
pub(super) fn begin(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    let begun = ws.reduced.as_mut().map_or(Ok(()), |reduced| reduced.begin_divided(model.forest()));
    begun.map_err(|singular| reduced::singular_inertia(model, singular))
}

/// Puts W into `ws.mixed`, beside the laws that are there already; the rows are those of the free and of the complementary unknowns.
pub(super) fn write_mixed(ws: &mut Workspace) {
    give_middles(ws);
    let unit = ws.mass_unit;
    let Workspace { reduced, mixed, layout, joint_jacobian, .. } = ws;
    let Some(divided) = reduced.as_ref().and_then(|reduced| reduced.divided.as_ref()) else { return };
    let (free, complementary) = (0..layout.joints, layout.joints..divided.rows());
    let fill = |laws: Option<&SparseMatrix>, rows: &Range<usize>, columns: &Range<usize>, out: &mut SparseMatrix| {
        out.clear(rows.len(), columns.len());
        for (place, row) in rows.clone().enumerate() {
            let mut laws = laws.into_iter().flat_map(|laws| laws.row(place)).peekable();
            for (k, column) in columns.clone().enumerate() {
                let law = laws.next_if(|(at, _)| *at == k).map(|(_, value)| value);
                let coupling = divided.are_coupled(row, column).then(|| divided.coupling(row, column) * unit);
                if law.is_some() || coupling.is_some() {
                    out.push(k, law.unwrap_or(0.0) + coupling.unwrap_or(0.0));
                }
            }
            out.finish_row();
        }
    };
    // The Jacobian of joints has no columns here: its memory holds the laws while W joins them.
    std::mem::swap(joint_jacobian, &mut mixed.equality.on_free);
    fill(Some(joint_jacobian), &free, &free, &mut mixed.equality.on_free);
    fill(None, &free, &complementary, &mut mixed.equality.on_complementary);
    fill(None, &complementary, &free, &mut mixed.complementarity.on_free);
    std::mem::swap(joint_jacobian, &mut mixed.complementarity.on_complementary);
    fill(Some(joint_jacobian), &complementary, &complementary, &mut mixed.complementarity.on_complementary);
}

/// The middle of the bounds of drives acts in any case.   [DRIVE-5]
fn give_middles(ws: &mut Workspace) {
    let rows = std::mem::take(&mut ws.joint_space_rows);
    let Layout { joints, contacts, friction, .. } = ws.layout;
    let first = joints + contacts + friction - 2 * boxes(&rows).count();
    for (place, (_, middle, _)) in boxes(&rows).enumerate() {
        add_known(ws, first + 2 * place, middle / ws.mass_unit);
    }
    ws.joint_space_rows = rows;
}

/// Known normal impulses: what they do to all rows.   [IMPACT-2]
pub(super) fn give_back(ws: &mut Workspace) {
    for index in 0..ws.contacts.len().min(ws.impacts.len()) {
        let given = ws.impacts.get(index).map_or(0.0, |impact| impact.decompression / ws.mass_unit);
        add_known(ws, ws.layout.joints + index, given);
    }
}

/// An impulse of a row that is no unknown: W times it in the constants.
fn add_known(ws: &mut Workspace, row: usize, impulse: f64) {
    let unit = ws.mass_unit;
    let Some(divided) = ws.reduced.as_mut().and_then(|reduced| reduced.divided.as_mut()) else { return };
    divided.add_known(row, impulse);
    let constants = ws.mixed.equality.constant.iter_mut().chain(&mut ws.mixed.complementarity.constant);
    for (place, constant) in constants.enumerate() {
        *constant += divided.coupling(place, row) * unit * impulse;
    }
}
