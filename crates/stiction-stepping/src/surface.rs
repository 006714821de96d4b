//! Outer surfaces of compliant layers.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::ContactId;

use crate::{Contact, ContactImpulse};

/// Outer surface of a compliant layer, with an auxiliary mass. Vectors are in the contact frame (n, t, o) with unit tangents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerSurface {
    /// Index of its contact in `ws.constraints.contacts`.
    pub(crate) contact: usize,
    /// Number of compliant directions: n, then t, then o in space.
    pub(crate) compliant_directions: usize,
    /// Mass matrix of the surface, kg.   [SOFT-3]
    pub(crate) mass: Matrix3<f64>,
    /// Velocity without impulse, m/s.   [SOFT-3]
    pub(crate) free_velocity: Vector3<f64>,
    /// Slip added to the prescribed surface velocity in the tangent rows: the slip velocity at the start of the step, in steps by mean velocities.
    pub(crate) slip: Vector3<f64>,
    /// Bias of the normal row of the rigid core, if the core is within reach of the step.   [SOFT-5]
    pub(crate) core_bias: Option<f64>,
    /// Velocity w over the step, m/s.
    pub(crate) velocity: Vector3<f64>,
    /// Impulse at the core.
    pub(crate) core_impulse: ContactImpulse,
    /// Deflection δ at the start of the step, m.
    pub(crate) before: Vector3<f64>,
    /// Law along the normal, in a step by mean velocities.   [SOFT-6]
    pub(crate) normal_law: Option<NormalLaw>,
}

impl LayerSurface {
    /// Writes the block of its velocity in the rows of its contact, row by row.
    pub(crate) fn write_block(&self, contact: &Contact, rows: usize, out: &mut Vec<f64>) {
        let [t, o] = &contact.tangents;
        let lengths = [1.0, t.norm(), o.norm(), 0.0, 0.0, 0.0];
        out.clear();
        for (row, length) in lengths.into_iter().enumerate().take(rows) {
            out.extend((0..self.compliant_directions).map(|col| if row == col { length } else { 0.0 }));
        }
    }

    /// True in a step by mean velocities.
    pub(crate) fn is_average(&self) -> bool {
        self.normal_law.is_some()
    }

    /// Power pᵀ w of the impulse of the layer on its surface.
    pub(crate) fn power(&self, contact: &Contact, p: &ContactImpulse) -> f64 {
        let [t, o] = unit_tangents(contact);
        self.velocity.dot(&Vector3::new(p.normal, t.dot(&p.friction), o.dot(&p.friction)))
    }

    /// Inverse mass matrix; zero in rigid directions.
    pub(crate) fn inverse_mass(&self) -> Matrix3<f64> {
        let size = self.compliant_directions;
        let whole = part(&self.mass, size) + Matrix3::from_fn(|i, j| if i == j && i >= size { 1.0 } else { 0.0 });
        whole.try_inverse().map_or_else(Matrix3::zeros, |inverse| part(&inverse, size))
    }

    /// Appends the mass matrix in a unit of mass, row by row.
    pub(crate) fn push_mass(&self, unit: f64, out: &mut Vec<f64>) {
        for i in 0..self.compliant_directions {
            out.extend((0..self.compliant_directions).map(|j| self.mass[(i, j)] / unit));
        }
    }
}

/// Impulse of a layer along the normal, as a function of the depth x = −ψ⁺ at the end of the step.   [SOFT-6]
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalLaw {
    /// Elastic slope h K, N s/m.
    pub(crate) elastic: f64,
    /// Damping C, N s/m.
    pub(crate) damping: f64,
    /// Depth x₀ = −ψ at the start of the step, m.
    pub(crate) start: f64,
    /// Compression of the unloaded surface at the end of the step, m.
    pub(crate) relaxed: f64,
    /// True if the surface and the other body touch at the start.
    pub(crate) closed: bool,
}

/// Surface of a contact in the workspace.
pub(crate) fn find(surfaces: &[LayerSurface], contact: usize) -> Option<&LayerSurface> {
    let place = surfaces.binary_search_by_key(&contact, |surface| surface.contact).ok()?;
    surfaces.get(place)
}

/// Unit tangents of a contact; the second is zero in the plane.
pub(crate) fn unit_tangents(contact: &Contact) -> [Vector3<f64>; 2] {
    contact.tangents.map(|t| t.try_normalize(0.0).unwrap_or_else(Vector3::zeros))
}

/// Leading `size` rows and columns of a matrix, zero elsewhere.
pub(crate) fn part(matrix: &Matrix3<f64>, size: usize) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| if i < size && j < size { matrix[(i, j)] } else { 0.0 })
}

/// Penetrations −ψ at which the normal laws of contacts are linearised, from pass to pass.   [SOFT-7]
pub type Penetrations = Vec<(ContactId, f64)>;
