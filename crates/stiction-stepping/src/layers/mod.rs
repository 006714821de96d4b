//! Compliant layers in the step: each is a surface with its own velocity, besides the bodies.   [SOFT-3]
//!
//! By Kelvin and Voigt's law p = h K δ⁺ + C (δ⁺ − δ), the impulse p moves the surface as it would move a mass. With w = (δ⁺ − δ)/h and A
//! = h K + C it is h A (w − w_free), w_free = −A⁻¹ K δ. So a layer is a body with the mass matrix h A in the contact frame, and solvers
//! need no special case for it.

mod average;
mod report;

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    BodyId, ContactId, ContactMemory, Dimension, Layer, LayerMemory, Model, Wrench, apply_inverse_mass, mass_block,
};

use crate::{
    Contact, ContactImpulse, PositionUpdate, Start, Workspace,
    contact::OverlapLeft,
    rates::{linearised_start_gap, side_rate},
    surface::{LayerSurface, NormalLaw, find, part, unit_tangents},
};

pub(crate) use average::linearisation_converged;
pub(crate) use report::surface_at_end;

/// Fraction of a step for which the end velocity moves the bodies: one, or one half for mean velocities.   [SOFT-6]
pub(crate) fn end_fraction(start: &Start) -> f64 {
    match start.scheme.position_update {
        PositionUpdate::End => 1.0,
        PositionUpdate::Average => 0.5,
    }
}

/// Fills `ws.constraints.surfaces` for the contacts with layers, and rewrites the biases of their normal rows.   [SOFT-3]
pub(crate) fn place(start: &Start, ws: &mut Workspace) {
    ws.constraints.layer_surfaces.clear();
    if ws.constraints.contacts.iter().all(|contact| contact.layer.is_none()) {
        return;
    }
    let &Start { model, state, h, .. } = start;
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let mut memories = state.contacts.iter().peekable();
    for (index, contact) in contacts.iter_mut().enumerate() {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let memory = memories.next_if(|memory| memory.id == contact.id).and_then(|memory| memory.layer);
        let Some(layer) = contact.layer else { continue };
        let gap = linearised_start_gap(model, contact, &ws.kinematics.linearisation_velocity, h);
        let prescribed = contact.gap_end - contact.gap_start;
        let reach = |id: BodyId| ws.detection.reach.get(id.index()).copied().unwrap_or(0.0);
        let within_reach = |depth: &f64| gap.min(gap + prescribed) + depth <= reach(contact.a) + reach(contact.b);
        let core = layer.depth.filter(within_reach).map(|depth| (gap + depth + prescribed) / h);
        let size = directions(model.dimension(), &layer);
        let before = deflection(contact, memory.as_ref(), gap);
        let surface = match start.scheme.position_update {
            PositionUpdate::End => at_end(h, &layer, size, before),
            PositionUpdate::Average => {
                let normal_law = NormalLaw::new(h, &layer, -gap, memory.map_or(0.0, |memory| memory.compression));
                average::surface(start, ws, (contact, size), (&layer, normal_law), before)
            }
        };
        let fraction = end_fraction(start);
        let (a, b) = contact.row(&contact.normal);
        let approach = side_rate(model, &ws.kinematics.before, contact.a, &a)
            + side_rate(model, &ws.kinematics.before, contact.b, &b);
        contact.overlap = OverlapLeft::default();
        contact.bias = (1.0 / fraction - 1.0) * approach + (gap + prescribed + surface.before.x) / (fraction * h);
        let slip = if size > 1 { average::start_slip(start, ws, contact) } else { Vector3::zeros() };
        ws.constraints.layer_surfaces.push(LayerSurface { contact: index, slip, core_bias: core, ..surface });
    }
    ws.constraints.contacts = contacts;
}

/// Number of compliant directions of a layer.
fn directions(dimension: Dimension, layer: &Layer) -> usize {
    match (layer.shears, dimension) {
        (false, _) => 1,
        (true, Dimension::Planar) => 2,
        (true, Dimension::Spatial) => 3,
    }
}

/// Surface by the law at the end of the step, with mass h A and free velocity −A⁻¹ K δ.   [SOFT-2] [SOFT-3]
fn at_end(h: f64, layer: &Layer, size: usize, before: Vector3<f64>) -> LayerSurface {
    let (k, a) = (part(&layer.stiffness, size), law(h, layer, size));
    LayerSurface {
        contact: 0,
        compliant_directions: size,
        mass: a * h,
        free_velocity: -(solve(&a, &(k * before))),
        slip: Vector3::zeros(),
        core_bias: None,
        velocity: Vector3::zeros(),
        core_impulse: ContactImpulse::default(),
        before,
        normal_law: None,
    }
}

/// Matrix A = h K + C in the compliant directions, identity elsewhere.   [SOFT-2]
fn law(h: f64, layer: &Layer, size: usize) -> Matrix3<f64> {
    let a = part(&(layer.stiffness * h + layer.damping), size);
    a + Matrix3::from_fn(|i, j| if i == j && i >= size { 1.0 } else { 0.0 })
}

/// Solves for A⁻¹ x; the model ensures that A is positive definite.
fn solve(a: &Matrix3<f64>, x: &Vector3<f64>) -> Vector3<f64> {
    a.cholesky().map_or_else(Vector3::zeros, |a| a.solve(x))
}

/// Deflection at the start of the step in the contact frame: the stored one, rotated with the normal, and at least the
/// overlap.   [SOFT-4]
fn deflection(contact: &Contact, memory: Option<&LayerMemory>, gap: f64) -> Vector3<f64> {
    let compression = memory.map_or(0.0, |memory| memory.compression).max(-gap);
    let shear = Vector3::from(memory.map_or([0.0; 3], |memory| memory.shear));
    let length = shear.norm();
    let along = shear - contact.normal * contact.normal.dot(&shear);
    let turned = if along.norm() > 0.0 { along * (length / along.norm()) } else { along };
    let [t, o] = unit_tangents(contact);
    Vector3::new(compression, t.dot(&turned), o.dot(&turned))
}

/// True if the layer of a contact has not relaxed yet.   [SOFT-4]
pub(crate) fn is_relaxing(start: &Start, memory: &ContactMemory) -> bool {
    memory.layer.is_some_and(|layer| {
        layer.compression.abs().max(Vector3::from(layer.shear).norm()) > start.scheme.touch_threshold
    })
}

/// Inverse effective mass of a contact along a row: its rate under a unit impulse, 1/kg.
pub(crate) fn inverse_effective_mass(
    model: &Model,
    ws: &Workspace,
    contact: &Contact,
    (a, b): (Wrench, Wrench),
) -> f64 {
    let of = |id: BodyId, wrench: &Wrench| {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.kinematics.start, id.index()) else { return 0.0 };
        let velocity = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, wrench));
        wrench.power(&mobility.twist(velocity.get(..mobility.dof()).unwrap_or_default()))
    };
    of(contact.a, &a) + of(contact.b, &b)
}

/// True if a contact without layer, or the core of a layer, has an impulse.
pub(crate) fn rigid_contact_is_active(ws: &Workspace) -> bool {
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    let mut rigid = ws
        .constraints
        .contacts
        .iter()
        .zip(&ws.solution.contact_impulses)
        .filter(|(contact, _)| contact.layer.is_none());
    rigid.any(|(_, impulse)| impulse.normal > 0.0)
        || ws.constraints.layer_surfaces.iter().any(|surface| surface.core_impulse.normal > 0.0)
}

/// True if a contact of the problem ended below a core that was not part of it.   [SOFT-5]
pub(crate) fn core_is_missed(
    contacts: &[Contact],
    surfaces: &[LayerSurface],
    id: &ContactId,
    is_below: impl Fn(f64) -> bool,
) -> bool {
    let Ok(place) = contacts.binary_search_by_key(id, |contact| contact.id) else { return false };
    let depth = contacts.get(place).and_then(|contact| contact.layer?.depth);
    depth.is_some_and(is_below) && find(surfaces, place).is_some_and(|surface| surface.core_bias.is_none())
}
