//! The two problems of several systems in contact: with velocities among the unknowns, and without.

use stiction_complementarity::{Lcp, MixedLcp, ProblemError};

use super::SystemContacts;

impl SystemContacts {
    /// The mixed problem in q̇, f_n, f_d and λ: m + p (2 + d) unknowns.   [GEN-3]
    pub fn mixed(&self, out: &mut MixedLcp) {
        let (h, p, pd) = (self.step, self.contacts(), self.contacts() * self.directions);
        out.clear(self.velocities(), 2 * p + pd);
        for own in &self.systems {
            for (i, row) in own.range().enumerate() {
                for (j, column) in own.range().enumerate() {
                    out.equality.on_free.push(column, own.mass.get(i, j));
                }
                out.equality.on_free.finish_row();
                let columns = self.normals.row(row).iter().chain(self.frictions.row(row)).enumerate();
                columns.for_each(|(j, value)| out.equality.on_complementary.push(j, -h * value));
                out.equality.on_complementary.finish_row();
                out.equality.constant[row] = -self.momentum[row];
            }
        }
        let rows = &mut out.complementarity;
        for j in 0..p + pd {
            for k in 0..self.velocities() {
                rows.on_free.push(k, self.force(k, j));
            }
            rows.on_free.finish_row();
        }
        rows.on_free.finish();
        for j in 0..2 * p + pd {
            self.laws(j, 1.0).for_each(|(column, value)| rows.on_complementary.push(column, value));
            rows.on_complementary.finish_row();
        }
    }

    /// The problem without velocities, in f_n, f_d and λ: p (2 + d) unknowns. `scale` multiplies E and μ. It leaves the forces unchanged
    /// and divides λ.   [GEN-4] [GEN-5]
    pub fn reduced(&self, scale: f64, out: &mut Lcp) -> Result<(), ProblemError> {
        let pushes = self.contacts() * (1 + self.directions);
        out.refill(pushes + self.contacts(), |a, q| {
            for (i, q) in q.iter_mut().enumerate() {
                let row = a.row_mut(i);
                if i < pushes {
                    for (entry, response) in row.iter_mut().zip((0..pushes).map(|j| self.responses.row(j))) {
                        *entry = self.step * self.along(i, response);
                    }
                    *q = self.along(i, &self.free);
                }
                self.laws(i, scale).for_each(|(column, value)| row[column] += value);
            }
        })
    }

    /// q̇ at the end of the step, of forces f_n, f_d: M⁻¹ (τ* + h N f_n + h B f_d).   [GEN-1]
    pub fn velocity(&self, forces: &[f64], out: &mut Vec<f64>) {
        out.clone_from(&self.free);
        for (j, force) in forces.iter().enumerate().take(self.contacts() * (1 + self.directions)) {
            out.iter_mut().zip(self.responses.row(j)).for_each(|(v, response)| *v += self.step * force * response);
        }
    }

    /// Entry k of column j of [N B].
    fn force(&self, k: usize, j: usize) -> f64 {
        let p = self.contacts();
        if j < p { self.normals.row(k)[j] } else { self.frictions.row(k)[j - p] }
    }

    /// Column j of [N B] times a velocity.
    fn along(&self, j: usize, v: &[f64]) -> f64 {
        v.iter().enumerate().map(|(k, v)| self.force(k, j) * v).sum()
    }

    /// Coupling of forces and λ: E λ in the rows of friction, μ f_n − Eᵀ f_d in the last rows.   [GEN-3]
    fn laws(&self, row: usize, scale: f64) -> impl Iterator<Item = (usize, f64)> {
        let (p, d) = (self.contacts(), self.directions);
        let last = p + p * d;
        let cone = row.checked_sub(last);
        let friction = row.checked_sub(p).filter(|_| row < last).map(|place| (last + place / d, scale));
        let normal = cone.map(|j| (j, self.mu[j] * scale));
        let corners = cone.into_iter().flat_map(move |j| (0..d).map(move |i| (p + j * d + i, -scale)));
        friction.into_iter().chain(normal).chain(corners)
    }
}
