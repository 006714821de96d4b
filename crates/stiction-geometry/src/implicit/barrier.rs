//! A primal-dual interior-point method for convex programs of at most six unknowns, used to start Newton's
//! method.   [IMP-7]
//!
//! Minimises φ(y) subject to `c_k(y)` ≤ 0 from a strictly feasible point. Iterates stay strictly feasible, and the
//! barrier function φ − τ Σ log(−c) decreases in every step, so each barrier problem converges from any start.

use nalgebra::{SMatrix, SVector};

/// Largest number of unknowns.
pub(super) const DIM: usize = 6;
pub(super) type Unknowns = SVector<f64, DIM>;
pub(super) type Square = SMatrix<f64, DIM, DIM>;

/// A function of the unknowns with its derivatives.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    pub(super) value: f64,
    pub(super) gradient: Unknowns,
    pub(super) hessian: Square,
}

/// A convex program.
pub(super) trait Program {
    /// Returns φ.
    fn objective(&self, y: &Unknowns) -> Expansion;
    /// Returns the number of constraints.
    fn constraints(&self) -> usize;
    /// Returns constraint number `k`.
    fn constraint(&self, k: usize, y: &Unknowns) -> Expansion;
}

/// Slacks, multipliers and constraints of the current iterate, reused from call to call.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    /// Negative values of the constraints.
    pub(super) slacks: Vec<f64>,
    pub(super) duals: Vec<f64>,
    constraints: Vec<Expansion>,
    trial: Vec<Expansion>,
}

/// An iterate that can be continued.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    pub(super) y: Unknowns,
    /// Complementarity target of the last step.
    pub(super) barrier: f64,
}

/// Returns the first iterate, at a strictly feasible `y`.
pub(super) fn start(program: &impl Program, y: Unknowns, barrier: f64, buffers: &mut Buffers) -> Iterate {
    buffers.constraints.clear();
    buffers.constraints.extend((0..program.constraints()).map(|k| program.constraint(k, &y)));
    buffers.slacks.clear();
    buffers.slacks.extend(buffers.constraints.iter().map(|c| -c.value));
    buffers.duals.clear();
    buffers.duals.extend(buffers.slacks.iter().map(|slack| barrier / slack));
    Iterate { y, barrier }
}

/// Takes steps until the complementarity is below `goal`; returns false if it cannot be reached.
pub(super) fn advance(program: &impl Program, iterate: &mut Iterate, goal: f64, buffers: &mut Buffers) -> bool {
    const MOST_STEPS: usize = 80;
    for _ in 0..MOST_STEPS {
        let Some(step) = step(program, iterate, buffers) else { return false };
        let mean = buffers.slacks.iter().zip(&buffers.duals).map(|(s, z)| s * z).sum::<f64>()
            / buffers.slacks.len().max(1) as f64;
        if step > 0.9 && mean <= goal {
            return true;
        }
        // Long steps indicate that the central path is followed well.
        let shrink = if step > 0.9 {
            0.05
        } else if step > 0.5 {
            0.3
        } else {
            1.0
        };
        iterate.barrier = (mean * shrink).min(iterate.barrier).max(0.2 * goal);
    }
    false
}

/// Takes one Newton step with backtracking; returns its length, or `None` without progress.
fn step(program: &impl Program, iterate: &mut Iterate, buffers: &mut Buffers) -> Option<f64> {
    debug_assert_eq!(buffers.constraints.len(), program.constraints(), "buffers belong to this program");
    debug_assert_eq!(buffers.slacks.len(), buffers.constraints.len(), "one slack per constraint");
    debug_assert_eq!(buffers.duals.len(), buffers.constraints.len(), "one multiplier per constraint");
    let tau = iterate.barrier;
    let objective = program.objective(&iterate.y);
    let mut hessian = objective.hessian;
    let mut gradient = objective.gradient;
    for ((c, s), z) in buffers.constraints.iter().zip(&buffers.slacks).zip(&buffers.duals) {
        hessian += c.hessian * *z + c.gradient * c.gradient.transpose() * (z / s);
        gradient += c.gradient * (tau / s);
    }
    let direction = -hessian.cholesky()?.solve(&gradient);
    let slope = gradient.dot(&direction);
    let merit = |value: f64, slacks: &mut dyn Iterator<Item = f64>| {
        slacks.fold(value, |sum, slack| sum - tau * libm::log(slack))
    };
    let here = merit(objective.value, &mut buffers.slacks.iter().copied());
    let mut fraction = dual_step(&direction, tau, buffers);
    for _ in 0..40 {
        let y = iterate.y + direction * fraction;
        buffers.trial.clear();
        buffers.trial.extend((0..program.constraints()).map(|k| program.constraint(k, &y)));
        let is_inside = buffers.trial.iter().zip(&buffers.slacks).all(|(c, s)| -c.value > 0.005 * s);
        if is_inside {
            let there = merit(program.objective(&y).value, &mut buffers.trial.iter().map(|c| -c.value));
            if there <= here + 1e-4 * fraction * slope + 1e-14 * here.abs() {
                accept(iterate, &direction, fraction, buffers);
                return Some(fraction);
            }
        }
        fraction *= 0.5;
    }
    None
}

/// Returns the longest step up to one that keeps the multipliers positive.
fn dual_step(direction: &Unknowns, tau: f64, buffers: &Buffers) -> f64 {
    let changes = buffers.constraints.iter().zip(&buffers.slacks).zip(&buffers.duals);
    changes.fold(1.0, |fraction: f64, ((c, s), z)| {
        let change = tau / s - z + z / s * c.gradient.dot(direction);
        if change < 0.0 { fraction.min(-0.995 * z / change) } else { fraction }
    })
}

fn accept(iterate: &mut Iterate, direction: &Unknowns, fraction: f64, buffers: &mut Buffers) {
    let tau = iterate.barrier;
    let Buffers { slacks, duals, constraints, trial } = buffers;
    for ((c, s), z) in constraints.iter().zip(slacks.iter()).zip(duals.iter_mut()) {
        *z += fraction * (tau / s - *z + *z / s * c.gradient.dot(direction));
    }
    std::mem::swap(constraints, trial);
    for (s, c) in slacks.iter_mut().zip(constraints.iter()) {
        *s = -c.value;
    }
    iterate.y += direction * fraction;
}
