//! Small displacements of coordinates, and differences of five points along them.
//!
//! A displacement has a number for each velocity: q ⊕ δ moves the bodies by the twist δ for a unit of time, orientations on the group.

use nalgebra::{DMatrix, Quaternion, UnitQuaternion};
use stiction_multibody::{Mobility, Model, OrientationUpdate, rotation};

/// Points of central differences in units of their spacing, and their weights. Exact for polynomials of degree four.   [GRAD-3]
pub(crate) const STENCIL: [(f64, f64); 4] =
    [(-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0)];

/// Spacing of rotations, rad, and of displacements as a fraction of the size of their body. Truncation of the five points grows with its
/// fourth power, rounding with its inverse.
pub(crate) const SPACING: f64 = 1e-4;

/// Displacement δ with q = from ⊕ δ.
pub fn displacement(model: &Model, from: &[f64], q: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; model.dof()];
    for (body, slot) in model.bodies().iter().zip(model.layout()) {
        let (Some(mobility), Some(out)) = (body.mobility(), out.get_mut(slot.v.clone())) else { continue };
        let (a, b) = (from.get(slot.q.clone()).unwrap_or_default(), q.get(slot.q.clone()).unwrap_or_default());
        out.iter_mut().zip(b.iter().zip(a)).for_each(|(out, (b, a))| *out = b - a);
        if let (Mobility::Free, [_, _, _, w, x, y, z], [_, _, _, aw, ax, ay, az]) = (mobility, b, a) {
            let unit =
                |w: &f64, x: &f64, y: &f64, z: &f64| UnitQuaternion::new_unchecked(Quaternion::new(*w, *x, *y, *z));
            let turn = unit(w, x, y, z) * unit(aw, ax, ay, az).conjugate();
            out.iter_mut().skip(3).zip(rotation::to_rotation_vector(&turn).iter()).for_each(|(out, x)| *out = *x);
        }
    }
    out
}

/// Derivatives of q⁺ = q ⊕ h v with respect to q and v: block-diagonal, a block for each body.   [GRAD-5]
pub(crate) struct Advance {
    pub(crate) by_q: DMatrix<f64>,
    pub(crate) by_v: DMatrix<f64>,
}

impl Advance {
    pub(crate) fn new(model: &Model, q: &[f64], v: &[f64], h: f64, update: OrientationUpdate) -> Self {
        let n = model.dof();
        let mut end = Vec::new();
        model.integrate(q, v, h, update, &mut end);
        let (mut by_q, mut by_v) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        let (mut moved, mut other) = (Vec::new(), Vec::new());
        // Bodies do not interact here, so that the k-th velocities of all of them are moved at once.
        for joint_dof in 0..6 {
            for (place, weight) in STENCIL {
                let shift = |base: &[f64]| -> Vec<f64> {
                    let mut shifted = base.to_vec();
                    for slot in model.layout() {
                        let range = slot.v.clone();
                        let at = shifted.get_mut(range).and_then(|range| range.get_mut(joint_dof));
                        if let Some(x) = at {
                            *x += place * SPACING;
                        }
                    }
                    shifted
                };
                model.integrate(q, &shift(&vec![0.0; n]), 1.0, OrientationUpdate::Exponential, &mut moved);
                model.integrate(&moved, v, h, update, &mut other);
                add_blocks(model, joint_dof, weight / SPACING, &displacement(model, &end, &other), &mut by_q);
                model.integrate(q, &shift(v), h, update, &mut other);
                add_blocks(model, joint_dof, weight / SPACING, &displacement(model, &end, &other), &mut by_v);
            }
        }
        Self { by_q, by_v }
    }
}

fn add_blocks(model: &Model, joint_dof: usize, weight: f64, change: &[f64], out: &mut DMatrix<f64>) {
    debug_assert_eq!((change.len(), out.nrows()), (model.dof(), model.dof()), "a displacement has all velocities");
    for slot in model.layout().iter().filter(|slot| joint_dof < slot.v.len()) {
        for row in slot.v.clone() {
            if let (Some(place), Some(change)) = (out.get_mut((row, slot.v.start + joint_dof)), change.get(row)) {
                *place += weight * change;
            }
        }
    }
}

/// Spacing of each velocity: lengths are a fraction of the size of the body, angles are absolute.
pub(crate) fn spacings(model: &Model) -> Vec<f64> {
    let mut out = vec![SPACING; model.dof()];
    for (body, slot) in model.bodies().iter().zip(model.layout()) {
        let lengths = if body.mobility() == Some(Mobility::Planar) { 2 } else { 3 };
        let size = body.radius();
        if size > 0.0 && size.is_finite() {
            let range = out.get_mut(slot.v.clone()).unwrap_or_default();
            range.iter_mut().take(lengths).for_each(|x| *x *= size);
        }
    }
    out
}
