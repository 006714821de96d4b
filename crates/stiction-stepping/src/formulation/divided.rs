//! Divide and conquer: the mixed linear problem of a step in impulses alone.   [DCA-17]
//!
//! Rows are propagated from the leaves to the root of the assembly tree, which gives the Delassus matrix W. The free unknowns are the impulses
//! of loop joints and of joint-space equations. No matrix is factorised to assemble the problem. [`super::impulses`] does the same for
//! second-order cones. `reduced.divided` is the state of divide and conquer: assembly tree and rows.

use std::ops::Range;

use stiction_complementarity::SparseMatrix;

use super::polygon_joint_space::doubly_bounded;
use crate::{Layout, Start, StepCause, Workspace, assembly::MixedAssembly, reduced};

/// Starts the rows of a problem that divide and conquer assembles.
pub(super) fn begin(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    let begun = ws.reduced.as_mut().map_or(Ok(()), |reduced| reduced.begin_divided(model.forest()));
    begun.map_err(|singular| reduced::singular_inertia(model, singular))
}

/// Adds the Delassus matrix W to `ws.mixed.problem`, which already contains the entries of E and U and the compliance.
///
/// Rows are those of the free, then of the complementary unknowns.
pub(super) fn write_mixed(ws: &mut Workspace) {
    add_midpoint_impulses(ws);
    let unit = ws.mass_unit;
    let MixedAssembly { problem: mixed, layout, joint_jacobian, .. } = &mut ws.mixed;
    let Some(divided) = ws.reduced.as_ref().and_then(|reduced| reduced.divided.as_ref()) else { return };
    debug_assert_eq!(
        divided.rows(),
        layout.joints + layout.complementary(),
        "rows are propagated to the root of the assembly tree for all free and complementary unknowns"
    );
    let (free, complementary) = (0..layout.joints, layout.joints..divided.rows());
    let fill = |given: Option<&SparseMatrix>, rows: &Range<usize>, columns: &Range<usize>, out: &mut SparseMatrix| {
        out.clear(rows.len(), columns.len());
        for (place, row) in rows.clone().enumerate() {
            let mut given = given.into_iter().flat_map(|given| given.row(place)).peekable();
            for (k, column) in columns.clone().enumerate() {
                let entry = given.next_if(|(at, _)| *at == k).map(|(_, value)| value);
                let coupling = divided.are_coupled(row, column).then(|| divided.coupling(row, column) * unit);
                if entry.is_some() || coupling.is_some() {
                    out.push(k, entry.unwrap_or(0.0) + coupling.unwrap_or(0.0));
                }
            }
            debug_assert!(given.peek().is_none(), "the entries of a row are in the order of their columns");
            out.finish_row();
        }
    };
    // The joint Jacobian has no columns here: its memory holds the entries of E, U and the compliance while W is added.
    std::mem::swap(joint_jacobian, &mut mixed.equality.on_free);
    fill(Some(joint_jacobian), &free, &free, &mut mixed.equality.on_free);
    fill(None, &free, &complementary, &mut mixed.equality.on_complementary);
    fill(None, &complementary, &free, &mut mixed.complementarity.on_free);
    std::mem::swap(joint_jacobian, &mut mixed.complementarity.on_complementary);
    fill(Some(joint_jacobian), &complementary, &complementary, &mut mixed.complementarity.on_complementary);
}

/// Adds the midpoint of the bounds of joint-space rows, a known impulse.   [JSPACE-5]
fn add_midpoint_impulses(ws: &mut Workspace) {
    let rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    let Layout { joints, contacts, friction, .. } = ws.mixed.layout;
    let first = joints + contacts + friction - 2 * doubly_bounded(&rows).count();
    for (place, (_, middle, _)) in doubly_bounded(&rows).enumerate() {
        add_known(ws, first + 2 * place, middle / ws.mass_unit);
    }
    ws.constraints.joint_space_rows = rows;
}

/// Adds the response of all rows to the known normal impulses of restitution.   [IMPACT-2]
pub(super) fn add_restitution_impulses(ws: &mut Workspace) {
    for index in 0..ws.constraints.contacts.len().min(ws.result.impacts.len()) {
        let restitution = ws.result.impacts.get(index).map_or(0.0, |impact| impact.decompression / ws.mass_unit);
        add_known(ws, ws.mixed.layout.joints + index, restitution);
    }
}

/// Adds W times a known impulse of a row to the constant terms.
fn add_known(ws: &mut Workspace, row: usize, impulse: f64) {
    let unit = ws.mass_unit;
    let Some(divided) = ws.reduced.as_mut().and_then(|reduced| reduced.divided.as_mut()) else { return };
    divided.add_known(row, impulse);
    debug_assert_eq!(
        ws.mixed.problem.equality.constant.len() + ws.mixed.problem.complementarity.constant.len(),
        divided.rows(),
        "every row has a constant term"
    );
    let constants = ws.mixed.problem.equality.constant.iter_mut().chain(&mut ws.mixed.problem.complementarity.constant);
    for (place, constant) in constants.enumerate() {
        *constant += divided.coupling(place, row) * unit * impulse;
    }
}
