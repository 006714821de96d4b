//! Deflection of a layer at the end of a step.

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Layer, LayerMemory, Model};

use super::{law, solve};
use crate::{
    Contact, ContactImpulse, Start, Workspace,
    surface::{LayerSurface, part, unit_tangents},
};

/// Surface at the end of a step.
pub(crate) struct SurfaceEnd {
    /// Memory for the next step.
    pub(crate) memory: LayerMemory,
    /// Gap between the surface and the other body, m.
    pub(crate) gap: f64,
    /// Mean velocity of the surface along itself over the step, in the direction of the force on the second body, m/s.
    pub(crate) shear_rate: Vector3<f64>,
}

/// Surface of a contact at the end of a step with the gap ψ⁺, from the impulse of the layer alone.   [SOFT-2]
pub(crate) fn surface_at_end(
    start: &Start,
    ws: &Workspace,
    (surface, contact, layer): (&LayerSurface, &Contact, &Layer),
    impulse: &ContactImpulse,
    gap: f64,
) -> SurfaceEnd {
    let h = start.h;
    let [t, o] = unit_tangents(contact);
    let p = Vector3::new(impulse.normal, t.dot(&impulse.friction), o.dot(&impulse.friction));
    let after = surface.average_after(h, layer, -gap, &p).unwrap_or_else(|| after(h, layer, surface, &p));
    let shear = t * after.y + o * after.z;
    let rate = (after - surface.before) / h;
    let core = &surface.core_impulse;
    let memory = LayerMemory {
        compression: after.x,
        shear: turned(start.model, ws, contact, &shear, h).into(),
        energy: 0.5 * after.dot(&(part(&layer.stiffness, surface.compliant_directions) * after)),
        core_impulse: core.normal,
        core_friction: core.friction.into(),
        core_spin: core.spin,
    };
    SurfaceEnd { memory, gap: gap + after.x, shear_rate: t * rate.y + o * rate.z }
}

/// Deflection δ⁺ = A⁻¹ (p + C δ) in the compliant directions.   [SOFT-2]
fn after(h: f64, layer: &Layer, surface: &LayerSurface, p: &Vector3<f64>) -> Vector3<f64> {
    let size = surface.compliant_directions;
    let p = Vector3::from_fn(|i, _| if i < size { p[i] } else { 0.0 });
    solve(&law(h, layer, size), &(p + part(&layer.damping, size) * surface.before))
}

/// Shear rotated about the normal by the mean spin of the two bodies: a common rotation keeps the deflection.   [SOFT-4]
fn turned(model: &Model, ws: &Workspace, contact: &Contact, shear: &Vector3<f64>, h: f64) -> Vector3<f64> {
    let spin = |id: BodyId| match model.unknowns(id) {
        Some((mobility, range)) => {
            debug_assert!(range.end <= ws.solution.moving.len(), "there is a velocity for each degree of freedom");
            mobility.twist(ws.solution.moving.get(range).unwrap_or_default()).angular
        }
        None => ws.kinematics.linear_end.twist(id).angular,
    };
    let angle = 0.5 * h * contact.normal.dot(&(spin(contact.a) + spin(contact.b)));
    if angle == 0.0 {
        return *shear;
    }
    let (sin, cos) = libm::sincos(angle);
    shear * cos + contact.normal.cross(shear) * sin
}
