//! Joints, eliminated before the contacts are solved for: they are linear whatever the contacts do.   [SET-7]

use super::contacts::{Column, MAX_ROWS};
use super::embedding::Embedding;

/// The most rows of joints: four hinges in space less a few rows, or six in the plane.
pub(super) const MAX_JOINT_ROWS: usize = 12;

/// A row of a joint of which this share of its diagonal, or less, is left beside the rows before it says nothing new.
const REDUNDANT: f64 = 1e-11;

/// A direction in which this share of a contact's diagonal, or less, is left is held by joints: what is left is rounding.
const HELD: f64 = 1e-13;

/// Corrections of the impulses of joints; the second takes away what rounding left of the first.
const CORRECTIONS: u32 = 2;

/// W_ee = L Lᵀ of the rows of all joints, and what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Joints {
    size: usize,
    /// L, with the inverses of its diagonal in place of the diagonal.
    factor: [[f64; MAX_JOINT_ROWS]; MAX_JOINT_ROWS],
    /// L⁻¹ W_ec, an entry for each row of contacts.
    coupling: [Column; MAX_JOINT_ROWS],
    /// L⁻¹ q_e.
    free: [f64; MAX_JOINT_ROWS],
}

impl Default for Joints {
    fn default() -> Self {
        Self {
            size: 0,
            factor: [[0.0; MAX_JOINT_ROWS]; MAX_JOINT_ROWS],
            coupling: [[0.0; MAX_ROWS]; MAX_JOINT_ROWS],
            free: [0.0; MAX_JOINT_ROWS],
        }
    }
}

impl Joints {
    /// Factors W_ee out of W, row by row with `n` to a row. False where rows are redundant. Every row is held against its own diagonal, so
    /// neither units nor masses matter; and W_ee is symmetric and positive definite, so no exchange of rows is needed.
    pub(super) fn factor(&mut self, rows: &[usize], w: &[f64], n: usize) -> bool {
        self.size = rows.len();
        for (i, row) in rows.iter().enumerate() {
            let Some(values) = w.get(row * n..(row + 1) * n) else { return false };
            let (above, own) = self.factor.split_at_mut(i);
            let Some(own) = own.first_mut() else { return false };
            let mut left = values[*row];
            for (j, (l, col)) in above.iter().zip(rows).enumerate() {
                let sum: f64 = l[..j].iter().zip(&own[..j]).map(|(a, b)| a * b).sum();
                own[j] = (values[*col] - sum) * l[j];
                left -= own[j] * own[j];
            }
            if !(left > REDUNDANT * values[*row] && left.is_finite()) {
                return false;
            }
            own[i] = 1.0 / left.sqrt();
        }
        true
    }

    /// L⁻¹ of the rows of joints of W_ec.
    pub(super) fn prepare(&mut self, embedding: &Embedding, w: &[f64], n: usize) {
        for (i, row) in embedding.joint_rows().iter().enumerate() {
            let values = w.get(row * n..(row + 1) * n).unwrap_or_default();
            let l = &self.factor[i];
            let (above, own) = self.coupling.split_at_mut(i);
            for (c, (k, y)) in embedding.contact_rows().iter().zip(&mut own[0]).enumerate() {
                let left = l.iter().zip(&*above).fold(values[*k], |left, (l, above)| left - l * above[c]);
                *y = left * l[i];
            }
        }
    }

    /// L⁻¹ of the rows of joints of q.
    pub(super) fn free(&mut self, rows: &[usize], q: &[f64]) {
        for (i, (row, l)) in rows.iter().zip(&self.factor).enumerate() {
            let known: f64 = l.iter().zip(&self.free[..i]).map(|(l, y)| l * y).sum();
            self.free[i] = (q[*row] - known) * l[i];
        }
    }

    /// W_cc − W_ce W_ee⁻¹ W_ec in place of W_cc.   [SET-7]
    pub(super) fn reduce(&self, w: &mut [Column]) {
        let rows = w.len();
        let whole: Column = std::array::from_fn(|k| w.get(k).map_or(0.0, |column| column[k]));
        for y in self.coupling.iter().take(self.size) {
            for (column, own) in w.iter_mut().zip(y).filter(|(_, own)| **own != 0.0) {
                column[..rows].iter_mut().zip(y).for_each(|(w, y)| *w -= y * own);
            }
        }
        for k in 0..rows {
            if w[k][k] <= HELD * whole[k] {
                w[k].fill(0.0);
                for column in w.iter_mut() {
                    column[k] = 0.0;
                }
            }
        }
    }

    /// q_c − W_ce W_ee⁻¹ q_e in place of q_c.   [SET-7]
    pub(super) fn reduce_free(&self, q: &mut [f64]) {
        for (y, free) in self.coupling.iter().zip(&self.free).take(self.size) {
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= y * free);
        }
    }

    /// r_e = −W_ee⁻¹ (q_e + W_ec r_c) for the impulses of contacts in `r`, whatever those of joints are there.   [SET-7]
    pub(super) fn recover(&self, rows: &[usize], w: &[f64], q: &[f64], r: &mut [f64]) {
        let corrections = if rows.is_empty() { 0 } else { CORRECTIONS };
        for _ in 0..corrections {
            let mut u = [0.0; MAX_JOINT_ROWS];
            for (u, row) in u.iter_mut().zip(rows) {
                let values = w.get(row * q.len()..(row + 1) * q.len()).unwrap_or_default();
                *u = q[*row] + values.iter().zip(&*r).map(|(w, r)| w * r).sum::<f64>();
            }
            self.solve(&mut u);
            rows.iter().zip(u).for_each(|(row, u)| r[*row] -= u);
        }
    }

    /// b ← W_ee⁻¹ b.
    fn solve(&self, b: &mut [f64; MAX_JOINT_ROWS]) {
        for i in 0..self.size {
            let known: f64 = self.factor[i][..i].iter().zip(&*b).map(|(l, y)| l * y).sum();
            b[i] = (b[i] - known) * self.factor[i][i];
        }
        for i in (0..self.size).rev() {
            b[i] *= self.factor[i][i];
            let x = b[i];
            b.iter_mut().zip(&self.factor[i][..i]).for_each(|(b, l)| *b -= l * x);
        }
    }
}
