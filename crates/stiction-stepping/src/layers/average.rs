//! Layers in steps by mean velocities: the impulse is the discrete gradient of the stored energy.   [SOFT-6]
//!
//! Along the normal the layer stores V(δ) = ½ K max(δ, 0)², δ being the depth of penetration of the bodies. The impulse h [V(δ⁺) −
//! V(δ)]/(δ⁺ − δ) on bodies that move by their mean velocity does exactly the work V(δ) − V(δ⁺). It is linear in δ⁺ if the bodies touch
//! throughout the step. If they meet or part within the step, it is linearised and solved for iteratively.   [SOFT-7]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::Layer;

use super::{at_end, inverse_effective_mass, solve};
use crate::{
    Contact, PositionUpdate, Start, Workspace,
    rates::end_gap,
    rates::side_rate,
    surface::{LayerSurface, NormalLaw, part, unit_tangents},
};

/// Smallest slope of the linearised law, as a fraction of m/h; a smaller one does not change the motion of the bodies.
const LEAST_SLOPE: f64 = 1e-3;

/// Linearisation of the law: p = impulse + slope (x − depth).   [SOFT-7]
#[derive(Clone, Copy, Debug)]
struct Line {
    depth: f64,
    impulse: f64,
    slope: f64,
}

impl NormalLaw {
    /// Law over a step that starts at the depth `start`, with a surface compressed by `remembered`.
    pub(super) fn new(h: f64, layer: &Layer, start: f64, remembered: f64) -> Self {
        let (elastic, damping) = (h * layer.stiffness.m11, layer.damping.m11);
        // A massless surface relaxes by its own law while nothing touches it: h K δ⁺ + C (δ⁺ − δ) = 0.   [SOFT-4]
        let kept = damping / (elastic + damping);
        let closed = start >= kept * remembered;
        let relaxed = kept * if closed { start } else { remembered };
        Self { elastic, damping, start, relaxed, closed }
    }

    /// Compression of the surface at the end of the step, m.
    pub(super) fn compression(&self, x: f64) -> f64 {
        x.max(self.relaxed)
    }

    /// True if the law is linear between the start of the step and depth x.
    fn is_linear(&self, x: f64) -> bool {
        self.closed && x >= self.relaxed
    }

    /// Slope of the linear law h K (x + x₀)/2 + C (x − x₀).
    fn steepest(&self) -> f64 {
        0.5 * self.elastic + self.damping
    }

    /// Tangent of the law at a depth, or a line with at least the slope `least`.   [SOFT-7]
    fn tangent(&self, x: f64, least: f64) -> Line {
        let Self { elastic, damping, start, relaxed, closed } = *self;
        let (impulse, slope) = match (closed, x >= relaxed) {
            (true, true) => (0.5 * elastic * (x + start) + damping * (x - start), self.steepest()),
            (true, false) => {
                // The surface separates: its remaining energy pushes the bodies apart.
                let given = 0.5 * elastic * (start - relaxed) * (start - relaxed) / (start - x);
                (given, given / (start - x))
            }
            // No contact: the line through the point of first touch, above the law.
            (false, false) => return Line { depth: relaxed, impulse: 0.0, slope: self.steepest() },
            (false, true) => {
                let (into, force) = (x - relaxed, 0.5 * elastic * (x + relaxed) + damping * (x - relaxed));
                let travel = x - start;
                let impulse = into * force / travel;
                (impulse, (force + into * self.steepest() - impulse) / travel)
            }
        };
        Line { depth: x, impulse, slope: slope.max(least.min(self.steepest())) }
    }
}

/// Surface of a layer in a step by mean velocities; its velocity counts twice, as those of the bodies do.   [SOFT-6]
pub(super) fn surface(
    start: &Start,
    ws: &Workspace,
    (contact, size): (&Contact, usize),
    (layer, normal_law): (&Layer, NormalLaw),
    mut before: Vector3<f64>,
) -> LayerSurface {
    let h = start.h;
    before.x = normal_law.start;
    let known = ws
        .constraints
        .penetrations
        .binary_search_by_key(&contact.id, |(id, _)| *id)
        .ok()
        .and_then(|place| ws.constraints.penetrations.get(place));
    let x = known.map_or(if normal_law.closed { normal_law.start } else { normal_law.relaxed }, |(_, x)| *x);
    let inverse_mass = inverse_effective_mass(start.model, ws, contact, contact.row(&contact.normal));
    let line = normal_law.tangent(x, LEAST_SLOPE / (inverse_mass * h));
    // Along the surface the midpoint rule holds, p = h K (δ + δ⁺)/2 + C (δ⁺ − δ).
    let shear = part(&(layer.stiffness * (0.5 * h) + layer.damping), size);
    let mut slopes = shear + Matrix3::from_fn(|i, j| if i == j && i >= size { 1.0 } else { 0.0 });
    slopes.m11 = line.slope;
    let mut moved = -solve(&slopes, &(part(&(layer.stiffness * h), size) * before));
    moved.x = line.depth - line.impulse / line.slope - normal_law.start;
    LayerSurface {
        mass: slopes * (0.5 * h),
        free_velocity: moved / (0.5 * h),
        normal_law: Some(normal_law),
        ..at_end(h, layer, size, before)
    }
}

/// Slip at the start of the step, which the mean slip velocity contains, with its part of the prescribed slip.   [SOFT-6]
pub(super) fn start_slip(start: &Start, ws: &Workspace, contact: &Contact) -> Vector3<f64> {
    if start.scheme.position_update == PositionUpdate::End {
        return Vector3::zeros();
    }
    let along = |d: &Vector3<f64>| {
        let (a, b) = contact.row(d);
        side_rate(start.model, &ws.kinematics.before, contact.a, &a)
            + side_rate(start.model, &ws.kinematics.before, contact.b, &b)
    };
    let [t, o] = unit_tangents(contact);
    t * along(&t) + o * along(&o) + contact.surface_velocity
}

/// Stores the depths at the end of the step; true if the laws are linearised there, that is if the iteration has converged.   [SOFT-7]
pub(crate) fn linearisation_converged(start: &Start, ws: &mut Workspace, tolerance: impl Fn() -> f64) -> bool {
    if start.scheme.position_update == PositionUpdate::End || ws.constraints.layer_surfaces.is_empty() {
        return true;
    }
    let tolerance = tolerance();
    let mut linearisation_converged = true;
    let mut depths = std::mem::take(&mut ws.constraints.next_penetrations);
    depths.clear();
    for surface in &ws.constraints.layer_surfaces {
        let (Some(normal_law), Some(contact)) = (surface.normal_law, ws.constraints.contacts.get(surface.contact))
        else {
            debug_assert!(false, "surfaces have a normal law in steps by mean velocities, and belong to contacts");
            continue;
        };
        let known = ws.constraints.penetrations.binary_search_by_key(&contact.id, |(id, _)| *id).ok();
        let known = known.and_then(|place| ws.constraints.penetrations.get(place)).map(|(_, x)| *x);
        let from = known.unwrap_or(if normal_law.closed { normal_law.start } else { normal_law.relaxed });
        let x = -end_gap(start.model, contact, &ws.kinematics.linearisation_velocity, &ws.solution.moving, start.h);
        let same_line = normal_law.is_linear(x) && normal_law.is_linear(from);
        let both_apart = !normal_law.closed && x <= normal_law.relaxed && from <= normal_law.relaxed;
        linearisation_converged &= same_line || both_apart || (x - from).abs() <= tolerance;
        depths.push((contact.id, x));
    }
    ws.constraints.next_penetrations = std::mem::replace(&mut ws.constraints.penetrations, depths);
    linearisation_converged
}

impl LayerSurface {
    /// Deflection δ⁺ in a step by mean velocities, from the depth x at its end and the impulse.   [SOFT-6]
    pub(super) fn average_after(&self, h: f64, layer: &Layer, x: f64, p: &Vector3<f64>) -> Option<Vector3<f64>> {
        let normal_law = self.normal_law?;
        let (k, c) = (
            part(&(layer.stiffness * (0.5 * h)), self.compliant_directions),
            part(&layer.damping, self.compliant_directions),
        );
        let rest = Matrix3::from_fn(|i, j| if i == j && i >= self.compliant_directions { 1.0 } else { 0.0 });
        let mut after = if p.x > 0.0 {
            solve(&(k + c + rest), &(p + (c - k) * self.before))
        } else {
            // The surface is unloaded.
            solve(&(k * 2.0 + c + rest), &(c * self.before))
        };
        after.x = normal_law.compression(x);
        Some(after)
    }
}

#[cfg(test)]
mod tests;
