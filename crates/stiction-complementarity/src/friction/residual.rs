//! The residual of frictional problems: norm of the natural map over all blocks.   [CONE-5]

use super::operator::Delassus;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution};
use crate::problem::{Problem, Residual};
use std::cell::RefCell;

/// Scratch memory of the residual, and a cache of the last evaluation. Evaluations allocate nothing once it has grown.
struct Scratch {
    /// Velocities: scratch memory.
    u: Vec<f64>,
    /// State of the operator: scratch memory.
    state: Vec<f64>,
    last: CachedResidual,
}

/// Residual of the impulses that were evaluated last, with the version of their problem.
struct CachedResidual {
    entry: Option<(Version, Residual)>,
    r: Vec<f64>,
}

impl CachedResidual {
    /// Cached residual, if it belongs to this problem and these impulses.
    fn get(&self, version: Version, r: &[f64]) -> Option<Residual> {
        self.entry.filter(|(cached, _)| *cached == version && self.r == r).map(|(_, residual)| residual)
    }

    fn store(&mut self, version: Version, r: &[f64], residual: Residual) {
        self.entry = Some((version, residual));
        self.r.clear();
        self.r.extend_from_slice(r);
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch { u: Vec::new(), state: Vec::new(), last: CachedResidual { entry: None, r: Vec::new() } })
    };
}

impl<W: Delassus> Problem for FrictionProblem<W> {
    type Solution = FrictionSolution;

    /// Natural-map residual ‖r − P_K(r − û)‖₂ / ‖q‖₂; its row is the first one of the worst block.   [CONE-5]
    ///
    /// Impulses and velocities are subtracted with the factor ρ = 1 kg; steps choose a unit of mass in which both are of equal size.
    fn residual(&self, solution: &FrictionSolution) -> Residual {
        let r = &solution.r;
        if r.len() != self.rows() {
            return Residual::undefined(0);
        }
        SCRATCH.with_borrow_mut(|Scratch { u, state, last }| {
            last.get(self.version, r).unwrap_or_else(|| {
                let residual = self.evaluate_residual(r, u, state);
                last.store(self.version, r, residual);
                residual
            })
        })
    }
}

impl<W: Delassus> FrictionProblem<W> {
    /// Residual [CONE-5] of the impulses r; their velocities are left in `u`. `state` is scratch memory.
    pub(crate) fn residual_with_velocities(&self, r: &[f64], u: &mut Vec<f64>, state: &mut Vec<f64>) -> Residual {
        let residual = self.evaluate_residual(r, u, state);
        SCRATCH.with_borrow_mut(|scratch| scratch.last.store(self.version, r, residual));
        residual
    }

    /// Computes the residual and leaves the velocities in `u`. `state` is scratch memory.
    fn evaluate_residual(&self, r: &[f64], u: &mut Vec<f64>, state: &mut Vec<f64>) -> Residual {
        self.velocities(r, u, state);
        let scale = self.scale();
        let (mut r, mut u, mut factor) = (r, &u[..], 1.0);
        if !(scale > 1e-140 && scale < 1e140) {
            // Squares would overflow or underflow: impulses and velocities are scaled by 1/‖q‖.
            factor = 1.0 / scale;
            state.clear();
            state.extend(r.iter().chain(u).map(|x| x * factor));
            (r, u) = state.split_at(r.len());
        }
        let is_finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let all_finite = is_finite(r) && is_finite(u);
        let (mut sum, mut worst) = (0.0, (0.0, 0));
        for (block, law) in self.laws.iter().enumerate() {
            let range = self.range(block);
            let (r, u) = (&r[range.clone()], &u[range.clone()]);
            let squared = law.scaled(factor).violation_squared(r, u);
            if squared.is_nan() || !(all_finite || (is_finite(r) && is_finite(u))) {
                return Residual::undefined(range.start);
            }
            sum += squared;
            if squared > worst.0 {
                worst = (squared, range.start);
            }
        }
        Residual { value: sum.sqrt() / (scale * factor), row: worst.1 }
    }
}
