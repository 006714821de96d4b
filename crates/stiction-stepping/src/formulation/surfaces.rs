//! Surfaces of compliant layers and their rigid cores in the problem with quadratic cones.   [SOFT-3] [SOFT-5]
//!
//! A surface is an additional body in the rows of its contact. A core is an additional contact of the same two bodies, with a gap larger
//! by the thickness of the layer. Cores follow the support points, in the order of their contacts.

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::Model;

use super::{
    columns,
    cone::{add_free_rates, law},
};
use crate::{Contact, Start, Workspace, layers::Surface};

/// Surfaces whose rigid core is within reach of the step.
pub(super) fn cores(surfaces: &[Surface]) -> impl Iterator<Item = &Surface> {
    surfaces.iter().filter(|surface| surface.core.is_some())
}

/// Adds the slip at the start of the step to the constants of tangent rows, for mean slips.   [SOFT-6]
///
/// The last laws written are those of the contacts.
pub(super) fn write_constants(model: &Model, ws: &Workspace, laws: &[Law], q: &mut [f64]) {
    if ws.surfaces.iter().all(|surface| surface.slip == Vector3::zeros()) {
        return;
    }
    let mut row = columns::joint_rows(model, ws);
    let mut surfaces = ws.surfaces.iter().peekable();
    for (index, (contact, law)) in
        ws.contacts.iter().zip(laws.iter().skip(columns::joint_blocks(model, ws))).enumerate()
    {
        if let Some(surface) = surfaces.next_if(|surface| surface.contact == index) {
            let rows = q.get_mut(row + 1..row + law.rows()).unwrap_or_default();
            rows.iter_mut().zip(&contact.tangents).for_each(|(q, t)| *q += t.dot(&surface.slip));
        }
        row += law.rows();
    }
}

/// Appends the laws of the cores and the constants of their rows.   [SOFT-5]
pub(super) fn write_core_laws(model: &Model, ws: &Workspace, laws: &mut Vec<Law>, q: &mut Vec<f64>) {
    for surface in cores(&ws.surfaces) {
        let (Some(contact), Some(bias)) = (ws.contacts.get(surface.contact), surface.core) else { continue };
        let law = law(model.dimension(), contact);
        let first = q.len();
        q.push(bias);
        q.extend(contact.tangents.iter().take(law.rows() - 1).map(|t| t.dot(&contact.surface_velocity)));
        if law.rows() == 4 {
            q.push(contact.torsion * contact.surface_spin);
        }
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
            r.extend(contact.tangents.iter().take(law.rows() - 1).map(|t| t.dot(&friction) / t.norm_squared()));
            if law.rows() == 4 {
                r.push(memory.core_spin / contact.torsion);
            }
        }
        r.resize(first + law.rows(), 0.0);
    }
}
