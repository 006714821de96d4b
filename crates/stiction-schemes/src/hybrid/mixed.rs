//! Two mixed problems of the root: with the terminal velocities and dense χ, and with the velocities of the bodies in contact appended.

use nalgebra::Vector6;
use stiction_complementarity::{MixedLcp, SparseMatrix};

use super::{
    HybridError, RootExtent,
    friction::{FrictionPolygon, Push},
    root::{RootContact, RootEquations},
};

/// Expression for the slip velocity, one for each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    /// v_r = χ¹ V₁ + χ³ λ + χ².
    ByTerminal,
    /// v_r = [r× 1] V_k.
    ByBody,
}

impl RootEquations {
    /// The mixed problem in V₁, V_n, λ_N, λ_F, S: 12 + Ξ (2 + η) unknowns.   [DCA-12]
    ///
    /// Needs [`RootExtent::Handles`].
    pub fn terminal(&self, out: &mut MixedLcp) -> Result<(), HybridError> {
        if !matches!(self.extent, Some(RootExtent::Handles | RootExtent::Bodies)) {
            return Err(HybridError::Extent { needed: "Handles" });
        }
        self.write_mixed(&self.polygon, Slip::ByTerminal, out);
        Ok(())
    }

    /// The mixed problem in V₁, V_n, the V_k of the bodies in contact, λ_N, λ_F, S: 12 + 6 B + Ξ (2 + η) unknowns.   [DCA-13]
    ///
    /// Needs [`RootExtent::Bodies`].
    pub fn appended(&self, out: &mut MixedLcp) -> Result<(), HybridError> {
        if self.extent != Some(RootExtent::Bodies) {
            return Err(HybridError::Extent { needed: "Bodies" });
        }
        self.write_mixed(&self.polygon, Slip::ByBody, out);
        Ok(())
    }

    fn write_mixed(&self, polygon: &FrictionPolygon, slip: Slip, out: &mut MixedLcp) {
        let contacts = self.contacts.len();
        let bodies = if slip == Slip::ByBody { self.bodies.len() } else { 0 };
        let (free, pushes) = (12 + 6 * bodies, contacts * (1 + polygon.len()));
        out.clear(free, pushes + contacts);
        self.write_handles(polygon, bodies, out);
        for (row, push) in polygon.pushes(contacts).enumerate() {
            let contact = &self.contacts[push.contact];
            out.complementarity.constant[row] = self.write_slip(slip, &push, polygon, out);
            if row < contacts {
                out.complementarity.constant[row] += contact.normal_constant;
            } else {
                out.complementarity.on_complementary.push(pushes + push.contact, 1.0);
            }
            out.complementarity.on_complementary.finish_row();
        }
        write_cones(&self.contacts, polygon, &mut out.complementarity.on_complementary);
        out.complementarity.on_free.finish();
    }

    /// 0 = −V + V_free + κ λ for all handles and bodies.   [DCA-11]
    fn write_handles(&self, polygon: &FrictionPolygon, bodies: usize, out: &mut MixedLcp) {
        let matrices = [
            (&self.handles, self.handles_free.as_slice()),
            (&self.body_rows, self.bodies_free.get(..bodies).unwrap_or_default()),
        ];
        let rows = matrices.into_iter().flat_map(|(matrix, free)| {
            let entries = free.iter().flat_map(|free: &Vector6<f64>| free.iter().copied());
            entries.enumerate().map(move |(i, free)| (matrix.row(i), free))
        });
        for (row, (kappa, free)) in rows.enumerate() {
            out.equality.on_free.push(row, -1.0);
            out.equality.on_free.finish_row();
            for (column, push) in polygon.pushes(self.contacts.len()).enumerate() {
                out.equality.on_complementary.push(column, push.along(kappa));
            }
            out.equality.on_complementary.finish_row();
            out.equality.constant[row] = free;
        }
    }

    /// Writes the velocity along an impulse direction as coefficients of the unknowns, and returns its constant part.
    fn write_slip(&self, slip: Slip, push: &Push, polygon: &FrictionPolygon, out: &mut MixedLcp) -> f64 {
        let contact = &self.contacts[push.contact];
        let rows = &mut out.complementarity;
        let constant = match slip {
            Slip::ByTerminal => {
                let mut chi = Vector6::zeros();
                let mut constant = 0.0;
                for (i, part) in push.parts.iter().enumerate() {
                    let transfer = &self.transfer[3 * push.contact + i];
                    chi += transfer * *part;
                    constant += part * (contact.free[i] - transfer.dot(&self.handles_free[0]));
                }
                for (k, entry) in chi.iter().enumerate() {
                    rows.on_free.push(k, *entry);
                }
                for (column, other) in polygon.pushes(self.contacts.len()).enumerate() {
                    let entry: f64 =
                        (0..3).map(|i| push.parts[i] * other.along(self.beyond.row(3 * push.contact + i))).sum();
                    rows.on_complementary.push(column, entry);
                }
                constant
            }
            Slip::ByBody => {
                // d · (v + ω × r) = (r × d) · ω + d · v.
                let [n, t, o] = contact.frame;
                let direction = n * push.parts[0] + t * push.parts[1] + o * push.parts[2];
                let moment = contact.arm.cross(&direction);
                let first = 12 + 6 * contact.body;
                for (k, entry) in moment.iter().chain(&direction).enumerate() {
                    rows.on_free.push(first + k, *entry);
                }
                0.0
            }
        };
        rows.on_free.finish_row();
        constant
    }
}

/// ζ = μ λ_N − eᵀ λ_F of every contact.
fn write_cones(contacts: &[RootContact], polygon: &FrictionPolygon, out: &mut SparseMatrix) {
    for (place, contact) in contacts.iter().enumerate() {
        out.push(place, contact.friction);
        for k in 0..polygon.len() {
            out.push(contacts.len() + place * polygon.len() + k, -1.0);
        }
        out.finish_row();
    }
}
