//! Local problem of an equality: u = 0 with free impulses.   [GS-2]

use super::LocalMode;
use crate::linalg::{DenseLu, dot};

/// Proximal term ε on the diagonal of a singular block, relative to its largest entry. Redundant rows then get the minimum-norm change. Along an
/// eigenvector of the block with eigenvalue λ a solve leaves the fraction ε/(λ + ε) of the velocity.
const PROXIMAL: f64 = 1e-10;

/// Factorised diagonal block of an equality, with scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct EqualityBlock {
    a: Vec<f64>,
    lu: DenseLu,
    velocity: Vec<f64>,
    change: Vec<f64>,
    /// True if the factorisation succeeded.
    solvable: bool,
}

impl EqualityBlock {
    pub(crate) fn new(rows: usize, a: &[f64]) -> Self {
        let mut block = Self::default();
        block.refill(rows, a);
        block
    }

    /// Factorises another block in the same memory.
    pub(super) fn refill(&mut self, rows: usize, a: &[f64]) {
        debug_assert_eq!(a.len(), rows * rows, "the block is square");
        self.a.clear();
        self.a.extend_from_slice(a);
        self.velocity.resize(rows, 0.0);
        self.change.resize(rows, 0.0);
        self.solvable = self.lu.factor(rows, |lu| lu.copy_from_slice(a)).is_ok();
        if !self.solvable {
            let regularisation = PROXIMAL * a.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
            let regularised = |lu: &mut [f64]| {
                lu.copy_from_slice(a);
                lu.iter_mut().step_by(rows + 1).for_each(|diagonal| *diagonal += regularisation);
            };
            self.solvable = self.lu.factor(rows, regularised).is_ok();
        }
    }

    /// Solves r ← r − A⁻¹ (A r + g); for a singular A with the proximal term, which gives the change of least norm.
    pub(super) fn solve(&mut self, g: &[f64], r: &mut [f64]) -> LocalMode {
        if !self.solvable || g.len() != self.velocity.len() || r.len() != g.len() {
            return LocalMode::Unsolved;
        }
        for ((u, g), row) in self.velocity.iter_mut().zip(g).zip(self.a.chunks_exact(r.len().max(1))) {
            *u = g + dot(row, r);
        }
        self.lu.solve(&self.velocity, &mut self.change);
        r.iter_mut().zip(&self.change).for_each(|(r, change)| *r -= change);
        LocalMode::Stick
    }
}
