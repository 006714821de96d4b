//! Residual, merit function with proximal term, and the projection parameters ρ.

use super::system::mean_compliant_diagonals;
use crate::friction::law::MAX_CONTACT_ROWS;
use crate::friction::{Delassus, FrictionProblem, FrictionSolution};

/// Factor on ρ in the first row of each block, dimensionless: the normal of a contact, a bounded row, the first row of a joint. Between 1
/// and 10 the number of steps hardly changes; 3 gave the fewest on stacks, walls, pyramids and towers.
const NORMAL_FACTOR: f64 = 3.0;

/// Fraction of the mean diagonal of W + diag c over the block below which the mean diagonal over a part or row is replaced by it.
const NEGLIGIBLE_DIAGONAL: f64 = 1e-6;

/// r ← warm start, or zero if there is none of the right size with finite entries.
pub(crate) fn copy_warm_start(guess: Option<&FrictionSolution>, rows: usize, r: &mut Vec<f64>) {
    r.clear();
    match guess {
        Some(guess) if guess.r.len() == rows && guess.r.iter().all(|x| x.is_finite()) => r.extend_from_slice(&guess.r),
        _ => r.resize(rows, 0.0),
    }
}

/// Residual of the problem at r with known velocities u; infinite if it is not finite.   [CONE-5]
pub(crate) fn natural_residual(problem: &FrictionProblem, r: &[f64], u: &[f64]) -> f64 {
    let sum: f64 = (0..problem.blocks()).map(|block| problem.violation_squared(block, r, u)).sum();
    let finite = sum.is_finite() && r.iter().chain(u).all(|x| x.is_finite());
    if finite { sum.sqrt() / problem.scale() } else { f64::INFINITY }
}

/// f ← Alart-Curnier function at (r, u) with the proximal term; returns the merit, its squared norm weighted by 1/ρ.   [NEWTON-3]
pub(super) fn evaluate(
    problem: &FrictionProblem,
    rho: &[f64],
    (r, u): (&[f64], &[f64]),
    proximal: Option<(f64, &[f64])>,
    f: &mut [f64],
) -> f64 {
    let mut merit = 0.0;
    let mut proximal_u = [0.0; MAX_CONTACT_ROWS];
    for (block, law) in problem.laws().iter().enumerate() {
        let range = problem.range(block);
        let (rho, r, u, f) = (&rho[range.clone()], &r[range.clone()], &u[range.clone()], &mut f[range.clone()]);
        match proximal {
            Some((alpha, centre)) if law.is_equality() => {
                // Equality blocks may exceed the scratch array: ρ (u + α (r − r̄)/ρ) is computed directly.
                let terms = rho.iter().zip(u).zip(r.iter().zip(&centre[range]));
                f.iter_mut().zip(terms).for_each(|(f, ((rho, u), (r, centre)))| *f = rho * u + alpha * (r - centre));
            }
            Some((alpha, centre)) => {
                let proximal_u = &mut proximal_u[..r.len()];
                proximal_velocities(rho, alpha, (r, &centre[range], u), proximal_u);
                law.alart_curnier_function(rho, r, proximal_u, f);
            }
            None => law.alart_curnier_function(rho, r, u, f),
        }
        merit += f.iter().zip(rho).map(|(f, rho)| f * f / rho).sum::<f64>();
    }
    merit
}

/// out ← u + α/ρ (r − r̄), the velocities of the proximal problem.   [NEWTON-3]
pub(super) fn proximal_velocities(rho: &[f64], alpha: f64, (r, centre, u): (&[f64], &[f64], &[f64]), out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = u[i] + alpha / rho[i] * (r[i] - centre[i]);
    }
}

/// Computes ρ of each row: one over the mean diagonal entry of W + diag c, times [`NORMAL_FACTOR`] in the first row of each block.
///
/// The mean is over the rows of a part of the friction. A normal component, a bounded row or a row of an equality has its own entry.
pub(super) fn compute_rho(problem: &FrictionProblem, scratch: &mut Vec<f64>, means: &mut Vec<f64>, rho: &mut Vec<f64>) {
    mean_compliant_diagonals(problem, scratch, means);
    rho.clear();
    for (block, law) in problem.laws().iter().enumerate() {
        let n = law.rows();
        scratch.clear();
        scratch.resize(n * n, 0.0);
        problem.operator().diagonal(block, scratch);
        let compliance = problem.compliance().get(problem.range(block)).unwrap_or(&[]);
        let entry = |k: usize| scratch[k * (n + 1)] + compliance.get(k).copied().unwrap_or(0.0);
        let mut k = 0;
        while k < n {
            let end = law.part_end(k);
            let mean = (k..end).map(entry).sum::<f64>() / (end - k) as f64;
            // A diagonal that is zero or far smaller than that of its block is replaced by the mean of the block.
            let scale = if mean > NEGLIGIBLE_DIAGONAL * means[block] && mean.is_finite() { mean } else { means[block] };
            let factor = if k == 0 { NORMAL_FACTOR } else { 1.0 };
            rho.extend((k..end).map(|_| factor / scale));
            k = end;
        }
    }
    debug_assert_eq!(rho.len(), problem.rows(), "one parameter per row");
}
