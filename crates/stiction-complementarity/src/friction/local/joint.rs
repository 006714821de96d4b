//! A block of equations: u = 0, impulses free.   [GS-2]

use super::Regime;
use crate::linalg::{DenseLu, dot};

/// Added to the diagonal of a singular block, relative to its largest entry: redundant rows then take the smallest change
/// that stops them, and each visit leaves at most this fraction of what can be stopped.
const REDUNDANT: f64 = 1e-10;

/// A joint made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointBlock {
    a: Vec<f64>,
    lu: DenseLu,
    velocity: Vec<f64>,
    change: Vec<f64>,
    solvable: bool,
}

impl JointBlock {
    pub(super) fn new(rows: usize, a: &[f64]) -> Self {
        let mut joint = Self::default();
        joint.refill(rows, a);
        joint
    }

    pub(super) fn refill(&mut self, rows: usize, a: &[f64]) {
        self.a.clear();
        self.a.extend_from_slice(a);
        self.velocity.resize(rows, 0.0);
        self.change.resize(rows, 0.0);
        self.solvable = self.lu.factor(rows, |lu| lu.copy_from_slice(a)).is_ok();
        if !self.solvable {
            let shift = REDUNDANT * a.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
            let shifted = |lu: &mut [f64]| {
                lu.copy_from_slice(a);
                lu.iter_mut().step_by(rows + 1).for_each(|diagonal| *diagonal += shift);
            };
            self.solvable = self.lu.factor(rows, shifted).is_ok();
        }
    }

    /// r ← r − A⁻¹ (A r + g): for a regular A the solution, for a singular one the nearest to it that stops what it can.
    pub(super) fn solve(&mut self, g: &[f64], r: &mut [f64]) -> Regime {
        if !self.solvable || g.len() != self.velocity.len() || r.len() != g.len() {
            return Regime::Stuck;
        }
        for ((u, g), row) in self.velocity.iter_mut().zip(g).zip(self.a.chunks_exact(r.len().max(1))) {
            *u = g + dot(row, r);
        }
        self.lu.solve(&self.velocity, &mut self.change);
        r.iter_mut().zip(&self.change).for_each(|(r, change)| *r -= change);
        Regime::Stick
    }
}
