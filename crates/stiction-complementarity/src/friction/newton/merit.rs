//! What the method measures: the residual, the map with its proximal term, and the parameters ρ that scale both.

use super::alart_curnier;
use super::system::mean_diagonals;
use crate::friction::law::MAX_CONTACT_ROWS;
use crate::friction::{Delassus, FrictionProblem, FrictionSolution, Law};

/// Factor on ρ for normal components, dimensionless. Between 1 and 10 the number of steps hardly changes; 3 was least on
/// stacks, walls, pyramids and towers.
const NORMAL_FIRMNESS: f64 = 3.0;

/// A row takes the scale of its block where its own diagonal of W is below this fraction of the block's mean.
const NEGLIGIBLE_DIAGONAL: f64 = 1e-6;

/// r ← the guess, or zero where there is none that fits.
pub(crate) fn start_from(guess: Option<&FrictionSolution>, rows: usize, r: &mut Vec<f64>) {
    r.clear();
    match guess {
        Some(guess) if guess.r.len() == rows && guess.r.iter().all(|x| x.is_finite()) => r.extend_from_slice(&guess.r),
        _ => r.resize(rows, 0.0),
    }
}

/// The problem's residual at r, with the velocities u known; infinite where it cannot be measured.   [CONE-5]
pub(crate) fn natural_map(problem: &FrictionProblem, r: &[f64], u: &[f64]) -> f64 {
    let sum: f64 = (0..problem.blocks()).map(|block| problem.violation(block, r, u)).sum();
    let finite = sum.is_finite() && r.iter().chain(u).all(|x| x.is_finite());
    if finite { sum.sqrt() / problem.scale() } else { f64::INFINITY }
}

/// f ← the map at (r, u) with the proximal term; the answer is its squared length, weighted by 1/ρ.   [NEWTON-3]
pub(super) fn evaluate(
    problem: &FrictionProblem,
    rho: &[f64],
    (r, u): (&[f64], &[f64]),
    proximal: Option<(f64, &[f64])>,
    f: &mut [f64],
) -> f64 {
    let mut merit = 0.0;
    let mut moved = [0.0; MAX_CONTACT_ROWS];
    for (block, law) in problem.laws().iter().enumerate() {
        let range = problem.range(block);
        let (rho, r, u, f) = (&rho[range.clone()], &r[range.clone()], &u[range.clone()], &mut f[range.clone()]);
        match (proximal, law) {
            (Some((alpha, anchor)), Law::Equality { .. }) => {
                // Equality blocks may be long: ρ (u + α (r − r̄)/ρ) directly.
                let terms = rho.iter().zip(u).zip(r.iter().zip(&anchor[range]));
                f.iter_mut().zip(terms).for_each(|(f, ((rho, u), (r, anchor)))| *f = rho * u + alpha * (r - anchor));
            }
            (Some((alpha, anchor)), _) => {
                let moved = &mut moved[..r.len()];
                proximal_velocities(rho, alpha, (r, &anchor[range], u), moved);
                alart_curnier::map(law, rho, r, moved, f);
            }
            (None, _) => alart_curnier::map(law, rho, r, u, f),
        }
        merit += f.iter().zip(rho).map(|(f, rho)| f * f / rho).sum::<f64>();
    }
    merit
}

/// out ← u + α/ρ (r − r̄): the velocities of the proximal problem.   [NEWTON-3]
pub(super) fn proximal_velocities(rho: &[f64], alpha: f64, (r, anchor, u): (&[f64], &[f64], &[f64]), out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = u[i] + alpha / rho[i] * (r[i] - anchor[i]);
    }
}

/// ρ of each row: one over the mean diagonal entry of W among the normal component, each disc, and each row of a joint.
pub(super) fn scale_rows(problem: &FrictionProblem, scratch: &mut Vec<f64>, means: &mut Vec<f64>, rho: &mut Vec<f64>) {
    mean_diagonals(problem, scratch, means);
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
            let end = alart_curnier::disc_end(law, k);
            let mean = (k..end).map(entry).sum::<f64>() / (end - k) as f64;
            // A row that nothing moves, or one far smaller than its block, takes the scale of the block.
            let scale = if mean > NEGLIGIBLE_DIAGONAL * means[block] && mean.is_finite() { mean } else { means[block] };
            let firmness = if k == 0 { NORMAL_FIRMNESS } else { 1.0 };
            rho.extend((k..end).map(|_| firmness / scale));
            k = end;
        }
    }
}
