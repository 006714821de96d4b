//! Constant terms of contacts with compliant layers: slip and deflection at the start of the step.   [SOFT-3] [SOFT-6]
//!
//! A surface is the outer surface of a compliant layer. It has an auxiliary mass, a block column besides those of the bodies, and is an additional
//! body in the rows of its contact. It moves in the directions in which the layer is compliant: the first `compliant_directions` of n, t and o. A
//! core contact, of the rigid cores below the layers, is a block of its own without these terms.

use nalgebra::Vector3;
use stiction_complementarity::Operator;

use crate::{
    Start, Workspace,
    constraints::{AuxiliaryKind, AuxiliaryMass, Block, Source},
    rates::linearised_start_gap,
};

/// Adds the slip velocity at the start of the step to the constant terms of the tangent rows of a compliant contact.   [SOFT-6]
///
/// It is nonzero in steps by mean velocities (midpoint update of positions), in which bodies move by h (v + v⁺)/2. There friction opposes the mean
/// of the slip velocities at both ends of the step.
pub(super) fn add_slip(ws: &Workspace, block: &Block, q: &mut [f64]) {
    let (Source::Contact(contact), Some(AuxiliaryMass { kind: AuxiliaryKind::Layer(surface), .. })) =
        (block.source, block.auxiliary)
    else {
        return;
    };
    let (Some(contact), Some(surface)) =
        (ws.constraints.contacts.get(contact), ws.constraints.layer_surfaces.get(surface))
    else {
        debug_assert!(false, "a compliant contact has a surface");
        return;
    };
    if surface.slip != Vector3::zeros() {
        q.iter_mut().skip(1).zip(&contact.tangents).for_each(|(q, t)| *q += t.dot(&surface.slip));
    }
}

/// Writes the terms that layers add to the constant terms of their contacts, due to deflection and slip at the start of the step.
///
/// They are q less Hᵀ v_free, gap and prescribed velocity. Rows of contacts without a layer are not written.
pub(crate) fn layer_constant_terms(start: &Start, ws: &Workspace, out: &mut [f64]) {
    let Operator::MatrixFree(bodies) = ws.friction.problem.operator() else { return };
    debug_assert!(
        ws.reduced.is_none(),
        "end-of-step geometry is in maximal coordinates: columns of bodies, blocks of all joints"
    );
    let (jacobian, dof, first) = (bodies.jacobian(), start.model.dof(), start.model.joints().len());
    for (index, contact) in ws.constraints.contacts.iter().enumerate() {
        let block = first + index;
        if !jacobian.row(block).any(|(column, _)| jacobian.col_range(column).start >= dof) {
            continue;
        }
        let rows = ws.friction.problem.range(block);
        debug_assert!(rows.end <= out.len(), "there is a constant term for each row of the problem");
        let Some(out) = out.get_mut(rows.clone()) else { continue };
        out.copy_from_slice(ws.friction.problem.q().get(rows).unwrap_or_default());
        let mut free = [0.0; 6];
        jacobian.row_mul_add(block, &ws.friction.free_velocity, &mut free[..out.len()]);
        let along = contact.tangents.map(|t| t.dot(&contact.surface_velocity));
        // The bias of a contact with a layer contains its deflection; the bias of others contains the gap alone.
        let gap = linearised_start_gap(start.model, contact, &ws.kinematics.linearisation_velocity, start.h)
            + contact.gap_end
            - contact.gap_start;
        let known = [
            if contact.layer.is_some() { gap / start.h } else { contact.bias },
            along[0],
            along[1],
            contact.torsion * contact.surface_spin,
        ];
        out.iter_mut().zip(free.iter().zip(known)).for_each(|(out, (free, known))| *out -= free + known);
    }
}
