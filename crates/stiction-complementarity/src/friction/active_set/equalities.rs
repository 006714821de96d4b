//! Elimination of the equalities (joints and couplings) before the contacts are solved for: their equations are linear in every contact
//! mode.   [SET-7]

use super::embedding::Embedding;
use super::sizes::{Column, MAX_EQUALITY_ROWS, MAX_ROWS};

/// Largest pivot of a redundant equality row, as a fraction of its diagonal entry.
const REDUNDANT_PIVOT: f64 = 1e-11;

/// Largest reduced diagonal entry, as a fraction of the original one, of a contact direction that equalities constrain completely; the
/// remainder is rounding.
const CONSTRAINED_DIAGONAL: f64 = 1e-13;

/// Number of solves; the second is iterative refinement.
const RECOVERY_SOLVES: u32 = 2;

/// Cholesky factorisation W_ee = L Lᵀ of the equality rows, and the reduced coupling to the contacts.
#[derive(Clone, Debug)]
pub(super) struct Equalities {
    size: usize,
    /// L, with the inverses of its diagonal in place of the diagonal.
    factor: [[f64; MAX_EQUALITY_ROWS]; MAX_EQUALITY_ROWS],
    /// L⁻¹ W_ec, one entry for each row of the contacts.
    coupling: [Column; MAX_EQUALITY_ROWS],
    /// L⁻¹ q_e.
    velocities: [f64; MAX_EQUALITY_ROWS],
}

impl Default for Equalities {
    fn default() -> Self {
        Self {
            size: 0,
            factor: [[0.0; MAX_EQUALITY_ROWS]; MAX_EQUALITY_ROWS],
            coupling: [[0.0; MAX_ROWS]; MAX_EQUALITY_ROWS],
            velocities: [0.0; MAX_EQUALITY_ROWS],
        }
    }
}

impl Equalities {
    /// Factors W_ee of W, row by row with `n` entries per row. Returns false if rows are redundant.
    ///
    /// Every pivot is compared with its own diagonal entry, so the test does not depend on units or masses. W_ee is symmetric positive
    /// definite, so no pivoting is needed.
    pub(super) fn factor(&mut self, rows: &[usize], w: &[f64], n: usize) -> bool {
        debug_assert!(rows.len() <= MAX_EQUALITY_ROWS && w.len() == n * n, "the equality rows fit and W is square");
        self.size = rows.len();
        for (i, row) in rows.iter().enumerate() {
            let Some(values) = w.get(row * n..(row + 1) * n) else {
                debug_assert!(false, "equality row {row} is a row of W");
                return false;
            };
            let (above, own) = self.factor.split_at_mut(i);
            let Some(own) = own.first_mut() else { return false };
            let mut pivot = values[*row];
            for (j, (l, col)) in above.iter().zip(rows).enumerate() {
                let sum: f64 = l[..j].iter().zip(&own[..j]).map(|(a, b)| a * b).sum();
                own[j] = (values[*col] - sum) * l[j];
                pivot -= own[j] * own[j];
            }
            if !(pivot > REDUNDANT_PIVOT * values[*row] && pivot.is_finite()) {
                return false;
            }
            own[i] = 1.0 / pivot.sqrt();
        }
        true
    }

    /// Computes the coupling L⁻¹ W_ec.
    pub(super) fn couple(&mut self, embedding: &Embedding, w: &[f64], n: usize) {
        for (i, row) in embedding.equality_rows().iter().enumerate() {
            debug_assert!((row + 1) * n <= w.len(), "equality row {row} is a row of W");
            let values = w.get(row * n..(row + 1) * n).unwrap_or_default();
            let l = &self.factor[i];
            let (above, own) = self.coupling.split_at_mut(i);
            for (c, (k, y)) in embedding.contact_rows().iter().zip(&mut own[0]).enumerate() {
                let sum = l.iter().zip(&*above).fold(values[*k], |sum, (l, above)| sum - l * above[c]);
                *y = sum * l[i];
            }
        }
    }

    /// Computes L⁻¹ q_e.
    pub(super) fn load_velocities(&mut self, rows: &[usize], q: &[f64]) {
        for (i, (row, l)) in rows.iter().zip(&self.factor).enumerate() {
            let known: f64 = l.iter().zip(&self.velocities[..i]).map(|(l, y)| l * y).sum();
            self.velocities[i] = (q[*row] - known) * l[i];
        }
    }

    /// W_cc ← W_cc − W_ce W_ee⁻¹ W_ec, the Schur complement.   [SET-7]
    pub(super) fn reduce(&self, w: &mut [Column]) {
        let rows = w.len();
        let diagonal: Column = std::array::from_fn(|k| w.get(k).map_or(0.0, |column| column[k]));
        for y in self.coupling.iter().take(self.size) {
            for (column, own) in w.iter_mut().zip(y).filter(|(_, own)| **own != 0.0) {
                column[..rows].iter_mut().zip(y).for_each(|(w, y)| *w -= y * own);
            }
        }
        for k in 0..rows {
            if w[k][k] <= CONSTRAINED_DIAGONAL * diagonal[k] {
                w[k].fill(0.0);
                for column in w.iter_mut() {
                    column[k] = 0.0;
                }
            }
        }
    }

    /// q_c ← q_c − W_ce W_ee⁻¹ q_e.   [SET-7]
    pub(super) fn reduce_velocities(&self, q: &mut [f64]) {
        for (y, velocity) in self.coupling.iter().zip(&self.velocities).take(self.size) {
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= y * velocity);
        }
    }

    /// Writes the impulses r_e = −W_ee⁻¹ (q_e + W_ec r_c) of the equalities for the contact impulses in `r`; their former values do not
    /// matter.   [SET-7]
    pub(super) fn recover_impulses(&self, rows: &[usize], w: &[f64], q: &[f64], r: &mut [f64]) {
        let solves = if rows.is_empty() { 0 } else { RECOVERY_SOLVES };
        for _ in 0..solves {
            let mut u = [0.0; MAX_EQUALITY_ROWS];
            for (u, row) in u.iter_mut().zip(rows) {
                debug_assert!((row + 1) * q.len() <= w.len(), "equality row {row} is a row of W");
                let values = w.get(row * q.len()..(row + 1) * q.len()).unwrap_or_default();
                *u = q[*row] + values.iter().zip(&*r).map(|(w, r)| w * r).sum::<f64>();
            }
            self.solve(&mut u);
            rows.iter().zip(u).for_each(|(row, u)| r[*row] -= u);
        }
    }

    /// b ← W_ee⁻¹ b.
    fn solve(&self, b: &mut [f64; MAX_EQUALITY_ROWS]) {
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
