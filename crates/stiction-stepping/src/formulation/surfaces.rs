//! Auxiliary masses in the problem with second-order cones, and the rigid cores of compliant layers.   [SOFT-3] [SOFT-5] [SUP-4] [JSPACE-2]
//!
//! An auxiliary mass is a block column besides those of the bodies. It carries the known load of a support point, the surface of a compliant
//! layer, or the compliance of a joint-space row.
//!
//! A surface is the outer surface of a compliant layer, with an auxiliary mass. It is an additional body in the rows of its contact. A core is
//! an additional contact of the same two bodies, with a gap larger by the thickness of the layer. Cores follow the support points, in the order
//! of their contacts.

use nalgebra::Vector3;
use stiction_complementarity::{Law, Operator};
use stiction_multibody::{Body, Model};

use super::{
    columns,
    columns::{FrictionRows, add_free_rates, law},
};
use crate::{
    Contact, Start, SupportPointContact, Workspace, joint_space::JointSpaceRow, layers::Surface, rows::gap_now,
};

/// Surfaces whose rigid core is within reach of the step.
pub(super) fn cores(surfaces: &[Surface]) -> impl Iterator<Item = &Surface> {
    surfaces.iter().filter(|surface| surface.core.is_some())
}

/// Adds the slip velocity at the start of the step to the constant terms of tangent rows.   [SOFT-6]
///
/// It is nonzero in steps by mean velocities, in which bodies move by (v + v⁺)/2. There friction opposes the mean of the slip velocities at
/// both ends of the step.
///
/// The last laws written are those of the contacts.
pub(super) fn write_constant_terms(model: &Model, ws: &Workspace, laws: &[Law], q: &mut [f64]) {
    if ws.surfaces.iter().all(|surface| surface.slip == Vector3::zeros()) {
        return;
    }
    let mut row = columns::joint_rows(model, ws);
    let mut surfaces = ws.surfaces.iter().peekable();
    for (index, (contact, law)) in
        ws.contacts.iter().zip(laws.iter().skip(columns::joint_blocks(model, ws))).enumerate()
    {
        if let Some(surface) = surfaces.next_if(|surface| surface.contact == index) {
            debug_assert!(row + law.rows() <= q.len(), "every row of a contact has a constant term");
            let rows = q.get_mut(row + 1..row + law.rows()).unwrap_or_default();
            rows.iter_mut().zip(&contact.tangents).for_each(|(q, t)| *q += t.dot(&surface.slip));
        }
        row += law.rows();
    }
    debug_assert_eq!(row, q.len(), "the last rows written are those of the contacts");
    debug_assert!(surfaces.peek().is_none(), "surfaces are in the order of their contacts");
}

/// Appends the laws of the cores and the constant terms of their rows.   [SOFT-5]
pub(super) fn write_core_laws(model: &Model, ws: &Workspace, laws: &mut Vec<Law>, q: &mut Vec<f64>) {
    for surface in cores(&ws.surfaces) {
        let (Some(contact), Some(bias)) = (ws.contacts.get(surface.contact), surface.core) else {
            debug_assert!(false, "the surface of a layer belongs to a contact");
            continue;
        };
        let law = law(model.dimension(), contact);
        let first = q.len();
        q.push(bias);
        FrictionRows::new(contact, law.rows()).push_prescribed(contact, law.rows(), q);
        debug_assert_eq!(q.len() - first, law.rows(), "every row of a core has a constant term");
        add_free_rates(model, ws, contact, q.get_mut(first..).unwrap_or_default());
        laws.push(law);
    }
}

/// Appends the impulses of the cores in the last step to a warm start.
pub(super) fn warm_start_cores(start: &Start, contacts: &[Contact], surfaces: &[Surface], r: &mut Vec<f64>) {
    for contact in cores(surfaces).filter_map(|surface| contacts.get(surface.contact)) {
        let law = law(start.model.dimension(), contact);
        let first = r.len();
        let memories = &start.state.contacts;
        let place = memories.binary_search_by_key(&contact.id, |memory| memory.id).ok();
        if let Some(memory) = place.and_then(|place| memories.get(place)).and_then(|memory| memory.layer) {
            let friction = Vector3::from(memory.core_friction);
            r.push(memory.core_impulse);
            let rows = FrictionRows::new(contact, law.rows());
            rows.push_impulses((contact, law.rows()), (&friction, memory.core_spin, &Vector3::zeros()), r);
        }
        r.resize(first + law.rows(), 0.0);
    }
}

/// Joint-space rows with compliance: each adds an auxiliary mass.   [JSPACE-2]
pub(super) fn compliant_rows(rows: &[JointSpaceRow]) -> impl Iterator<Item = &JointSpaceRow> {
    rows.iter().filter(|row| row.compliance > 0.0)
}

/// Auxiliary mass of a support point: the mass of its body, for good scaling.   [SUP-4]
pub(super) fn mass_of(model: &Model, support_point: &SupportPointContact, weight: Option<f64>) -> f64 {
    model.body(support_point.body).and_then(Body::mass).unwrap_or(1.0) * weight.unwrap_or(1.0)
}

/// Writes the part of the constant terms of contacts with auxiliary masses that is neither geometry nor prescribed motion nor the rate at
/// v_free.
pub(crate) fn auxiliary_mass_constant_terms(start: &Start, ws: &Workspace, out: &mut [f64]) {
    let Operator::MatrixFree(bodies) = ws.cone.operator() else { return };
    debug_assert!(
        ws.reduced.is_none(),
        "end-of-step geometry is in maximal coordinates: columns of bodies, blocks of all joints"
    );
    let (jacobian, dof, first) = (bodies.jacobian(), start.model.dof(), start.model.joints().len());
    for (index, contact) in ws.contacts.iter().enumerate() {
        let block = first + index;
        if !jacobian.row(block).any(|(column, _)| jacobian.col_range(column).start >= dof) {
            continue;
        }
        let rows = ws.cone.range(block);
        debug_assert!(rows.end <= out.len(), "there is a constant term for each row of the problem");
        let Some(out) = out.get_mut(rows.clone()) else { continue };
        out.copy_from_slice(ws.cone.q().get(rows).unwrap_or_default());
        let mut free = [0.0; 6];
        jacobian.row_mul_add(block, &ws.free_velocity, &mut free[..out.len()]);
        let along = contact.tangents.map(|t| t.dot(&contact.surface_velocity));
        // The bias of a contact with a layer contains its deflection; the bias of others contains the gap alone.
        let gap =
            gap_now(start.model, contact, &ws.linearisation_velocity, start.h) + contact.gap_end - contact.gap_start;
        let known = [
            if contact.layer.is_some() { gap / start.h } else { contact.bias },
            along[0],
            along[1],
            contact.torsion * contact.surface_spin,
        ];
        out.iter_mut().zip(free.iter().zip(known)).for_each(|(out, (free, known))| *out -= free + known);
    }
}
