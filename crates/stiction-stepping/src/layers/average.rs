//! Layers in steps by mean velocities: the impulse is the discrete gradient of the energy that a layer stores.   [SOFT-6]
//!
//! Along the normal the layer stores V(δ) = ½ K max(δ, 0)², δ being how deep the bodies are in each other. An impulse h [V(δ⁺) − V(δ)]/(δ⁺ − δ)
//! on bodies that move by the mean of their velocities does exactly the work V(δ) − V(δ⁺). It is linear in δ⁺ as long as bodies touch all through
//! the step; where they meet or part it is linearised, and solved for again.   [SOFT-7]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::Layer;

use super::{Surface, at_end, lightness, part, solve, unit_tangents};
use crate::{Contact, PositionUpdate, Start, Workspace, advance::end_gap, rows::power};

/// A slope of the law below this share of m/h, which the bodies themselves have, changes their motion no more.
const LEAST_SLOPE: f64 = 1e-3;

/// The impulse of a layer along the normal, as a function of the depth x = −ψ⁺ at the end of the step.   [SOFT-6]
#[derive(Clone, Copy, Debug)]
pub(super) struct Press {
    /// h K, N s/m.
    elastic: f64,
    /// C, N s/m.
    damping: f64,
    /// The depth x₀ = −ψ at the start of the step, m.
    start: f64,
    /// How far the surface is in without anything on it at the end of the step, m.
    relaxed: f64,
    /// Whether the surface and the other body touch at the start.
    closed: bool,
}

/// A line that the law is replaced by: p = impulse + slope (x − depth).   [SOFT-7]
#[derive(Clone, Copy, Debug)]
struct Line {
    depth: f64,
    impulse: f64,
    slope: f64,
}

impl Press {
    /// The law over a step that starts at the depth `start`, with a surface that was `remembered` in.
    pub(super) fn new(h: f64, layer: &Layer, start: f64, remembered: f64) -> Self {
        let (elastic, damping) = (h * layer.stiffness.m11, layer.damping.m11);
        // A surface without mass follows its own law while nothing touches it: h K δ⁺ + C (δ⁺ − δ) = 0.   [SOFT-4]
        let kept = damping / (elastic + damping);
        let closed = start >= kept * remembered;
        let relaxed = kept * if closed { start } else { remembered };
        Self { elastic, damping, start, relaxed, closed }
    }

    /// How far the surface is in at the end of the step.
    pub(super) fn compression(&self, x: f64) -> f64 {
        x.max(self.relaxed)
    }

    /// Whether the law is the same line at both depths.
    fn is_linear(&self, x: f64) -> bool {
        self.closed && x >= self.relaxed
    }

    /// h K (x + x₀)/2 + C (x − x₀) is a line of this slope.
    fn steepest(&self) -> f64 {
        0.5 * self.elastic + self.damping
    }

    /// The tangent of the law at a depth, or a line that is no less steep than `least`.   [SOFT-7]
    fn tangent(&self, x: f64, least: f64) -> Line {
        let Self { elastic, damping, start, relaxed, closed } = *self;
        let (impulse, slope) = match (closed, x >= relaxed) {
            (true, true) => (0.5 * elastic * (x + start) + damping * (x - start), self.steepest()),
            (true, false) => {
                // The surface lets go: what is left of its energy pushes the bodies apart.
                let given = 0.5 * elastic * (start - relaxed) * (start - relaxed) / (start - x);
                (given, given / (start - x))
            }
            // Nothing touches; a line from where it would, above the law.
            (false, false) => return Line { depth: relaxed, impulse: 0.0, slope: self.steepest() },
            (false, true) => {
                let (into, force) = (x - relaxed, 0.5 * elastic * (x + relaxed) + damping * (x - relaxed));
                let way = x - start;
                let impulse = into * force / way;
                (impulse, (force + into * self.steepest() - impulse) / way)
            }
        };
        Line { depth: x, impulse, slope: slope.max(least.min(self.steepest())) }
    }
}

/// The surface of a layer in a step by mean velocities; its velocity counts twice, as those of the bodies do.   [SOFT-6]
pub(super) fn surface(
    start: &Start,
    ws: &Workspace,
    (contact, size): (&Contact, usize),
    (layer, press): (&Layer, Press),
    mut before: Vector3<f64>,
) -> Surface {
    let h = start.h;
    before.x = press.start;
    let known = ws.depths.binary_search_by_key(&contact.id, |(id, _)| *id).ok().and_then(|place| ws.depths.get(place));
    let x = known.map_or(if press.closed { press.start } else { press.relaxed }, |(_, x)| *x);
    let light = lightness(start.model, ws, contact, contact.row(&contact.normal));
    let line = press.tangent(x, LEAST_SLOPE / (light * h));
    // Along the surface the midpoint rule, p = h K (δ + δ⁺)/2 + C (δ⁺ − δ).
    let shear = part(&(layer.stiffness * (0.5 * h) + layer.damping), size);
    let mut slopes = shear + Matrix3::from_fn(|i, j| if i == j && i >= size { 1.0 } else { 0.0 });
    slopes.m11 = line.slope;
    let mut moved = -solve(&slopes, &(part(&(layer.stiffness * h), size) * before));
    moved.x = line.depth - line.impulse / line.slope - press.start;
    Surface { mass: slopes * (0.5 * h), free: moved / (0.5 * h), press: Some(press), ..at_end(h, layer, size, before) }
}

/// The slip at the start of the step, which a mean slip counts too, and the part of the prescribed slip that goes with it.   [SOFT-6]
pub(super) fn start_slip(start: &Start, ws: &Workspace, contact: &Contact) -> Vector3<f64> {
    if start.scheme.position_update == PositionUpdate::End {
        return Vector3::zeros();
    }
    let along = |d: &Vector3<f64>| {
        let (a, b) = contact.row(d);
        power(start.model, &ws.before, contact.a, &a) + power(start.model, &ws.before, contact.b, &b)
    };
    let [t, o] = unit_tangents(contact);
    t * along(&t) + o * along(&o) + contact.surface_velocity
}

/// Looks at the depths the step ends at, and keeps them; true when the law is known there.   [SOFT-7]
pub(crate) fn settled(start: &Start, ws: &mut Workspace, tolerance: impl Fn() -> f64) -> bool {
    if start.scheme.position_update == PositionUpdate::End || ws.surfaces.is_empty() {
        return true;
    }
    let tolerance = tolerance();
    let mut settled = true;
    let mut depths = std::mem::take(&mut ws.next_depths);
    depths.clear();
    for surface in &ws.surfaces {
        let (Some(press), Some(contact)) = (surface.press, ws.contacts.get(surface.contact)) else { continue };
        let known = ws.depths.binary_search_by_key(&contact.id, |(id, _)| *id).ok();
        let known = known.and_then(|place| ws.depths.get(place)).map(|(_, x)| *x);
        let from = known.unwrap_or(if press.closed { press.start } else { press.relaxed });
        let x = -end_gap(start, contact, ws);
        let same_line = press.is_linear(x) && press.is_linear(from);
        let both_apart = !press.closed && x <= press.relaxed && from <= press.relaxed;
        settled &= same_line || both_apart || (x - from).abs() <= tolerance;
        depths.push((contact.id, x));
    }
    ws.next_depths = std::mem::replace(&mut ws.depths, depths);
    settled
}

impl Surface {
    /// δ⁺ in a step by mean velocities, from the depth x at its end and the impulse.   [SOFT-6]
    pub(super) fn average_after(&self, h: f64, layer: &Layer, x: f64, p: &Vector3<f64>) -> Option<Vector3<f64>> {
        let press = self.press?;
        let (k, c) = (part(&(layer.stiffness * (0.5 * h)), self.size), part(&layer.damping, self.size));
        let rest = Matrix3::from_fn(|i, j| if i == j && i >= self.size { 1.0 } else { 0.0 });
        let mut after = if p.x > 0.0 {
            solve(&(k + c + rest), &(p + (c - k) * self.before))
        } else {
            // Nothing holds the surface any more.
            solve(&(k * 2.0 + c + rest), &(c * self.before))
        };
        after.x = press.compression(x);
        Some(after)
    }
}
