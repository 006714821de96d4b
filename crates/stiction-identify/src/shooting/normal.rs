//! Normal equations with an arrow structure: shared parameters, and the starts of each run.

use nalgebra::{DMatrix, DVector};

use super::vector;
use crate::Residuals;

/// ρ(r): r²/2, beyond `huber` linear.   [FIT-3]
pub(crate) fn loss(r: f64, huber: f64) -> f64 {
    let size = r.abs();
    if size <= huber { 0.5 * r * r } else { huber * (size - 0.5 * huber) }
}

/// ρ′(r).
pub(super) fn loss_slope(r: f64, huber: f64) -> f64 {
    r.max(-huber).min(huber)
}

/// Part of a run: AᵀA, AᵀB, BᵀB, Aᵀr, Bᵀr with the weights of its residuals.
#[derive(Clone, Debug)]
pub(super) struct Part {
    by_parameters: DMatrix<f64>,
    mixed: DMatrix<f64>,
    by_start: DMatrix<f64>,
    pull: DVector<f64>,
    pull_on_start: DVector<f64>,
}

impl Part {
    pub(super) fn of(residuals: &Residuals, huber: f64) -> Self {
        let weights = residuals.values.iter().map(|r| if r.abs() <= huber { 1.0 } else { huber / r.abs() });
        let weights = DVector::from_iterator(residuals.values.len(), weights);
        let r = vector(&residuals.values).component_mul(&weights);
        let (a, b) = (&residuals.by_parameters, &residuals.by_start);
        let weighted = |m: &DMatrix<f64>| {
            let mut m = m.clone();
            m.row_iter_mut().zip(weights.iter()).for_each(|(mut row, weight)| row *= *weight);
            m
        };
        let (wa, wb) = (weighted(a), weighted(b));
        Self {
            by_parameters: a.tr_mul(&wa),
            mixed: a.tr_mul(&wb),
            by_start: b.tr_mul(&wb),
            pull: a.tr_mul(&r),
            pull_on_start: b.tr_mul(&r),
        }
    }

    /// BᵀB with damping, factorised; empty for runs with fixed starts. Components without a residual are held.
    fn start(&self, damping: f64) -> Option<nalgebra::Cholesky<f64, nalgebra::Dyn>> {
        let mut damped = self.by_start.clone();
        let most = damped.diagonal().amax();
        for k in 0..damped.nrows() {
            damped[(k, k)] += damping * damped[(k, k)] + 1e-14 * most + f64::MIN_POSITIVE;
        }
        damped.cholesky()
    }
}

/// The normal equations of all runs.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    parts: Vec<Part>,
    parameters: usize,
}

impl Normal {
    pub(super) fn of(parts: Vec<Part>, parameters: usize) -> Self {
        Self { parts, parameters }
    }

    /// The equations of the parameters after the starts are eliminated: S = Σ AᵀA − AᵀB (BᵀB)⁻¹ BᵀA and its right-hand side.   [FIT-4]
    pub(super) fn reduced(&self, damping: f64) -> Option<(DMatrix<f64>, DVector<f64>)> {
        let mut matrix = DMatrix::zeros(self.parameters, self.parameters);
        let mut pull = DVector::zeros(self.parameters);
        for part in &self.parts {
            matrix += &part.by_parameters;
            pull += &part.pull;
            if part.by_start.is_empty() {
                continue;
            }
            let start = part.start(damping)?;
            matrix -= &part.mixed * start.solve(&part.mixed.transpose());
            pull -= &part.mixed * start.solve(&part.pull_on_start);
        }
        Some((matrix, pull))
    }

    /// The diagonals of AᵀA over all runs, and of BᵀB of each.
    pub(super) fn diagonals(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut of_parameters = vec![0.0; self.parameters];
        for part in &self.parts {
            of_parameters.iter_mut().zip(part.by_parameters.diagonal().iter()).for_each(|(sum, x)| *sum += x);
        }
        (of_parameters, self.parts.iter().map(|part| part.by_start.diagonal().iter().copied().collect()).collect())
    }

    /// Standard deviations of the parameters; none if something is not observable.
    pub(super) fn deviations(&self) -> Option<Vec<f64>> {
        let covariance = self.reduced(0.0)?.0.try_inverse()?;
        Some(covariance.diagonal().iter().map(|variance| variance.max(0.0).sqrt()).collect())
    }

    /// Values and steps of the starts after one damped step within the bounds; none if the equations have no solution.
    pub(super) fn step(
        &self,
        values: &[f64],
        (bounds, scales): (&[[f64; 2]], &[f64]),
        damping: f64,
    ) -> Option<(Vec<f64>, Vec<DVector<f64>>)> {
        let (mut matrix, pull) = self.reduced(damping)?;
        for (k, scale) in scales.iter().enumerate() {
            let diagonal: f64 = self.parts.iter().map(|part| part.by_parameters[(k, k)]).sum();
            // An unknown without influence stays unchanged.
            matrix[(k, k)] += damping * diagonal + 1e-12 / (scale * scale);
        }
        let change = within_bounds(&matrix, &pull, values, bounds)?;
        let moved = values.iter().zip(change.iter()).zip(bounds);
        let values: Vec<f64> =
            moved.map(|((value, change), [low, high])| (value + change).clamp(*low, *high)).collect();
        let steps = self.parts.iter().map(|part| {
            if part.by_start.is_empty() {
                return Some(DVector::zeros(0));
            }
            let pulled = &part.pull_on_start + part.mixed.tr_mul(&change);
            Some(-part.start(damping)?.solve(&pulled))
        });
        Some((values, steps.collect::<Option<Vec<_>>>()?))
    }
}

/// S δ = −g with the components held that a bound stops.
fn within_bounds(
    matrix: &DMatrix<f64>,
    pull: &DVector<f64>,
    values: &[f64],
    bounds: &[[f64; 2]],
) -> Option<DVector<f64>> {
    let mut held: Vec<Option<f64>> = vec![None; values.len()];
    for _ in 0..=values.len() {
        let (mut m, mut g) = (matrix.clone(), -pull.clone());
        for (k, fixed) in held.iter().enumerate() {
            let Some(fixed) = fixed else { continue };
            g -= matrix.column(k) * *fixed;
            m.row_mut(k).fill(0.0);
            m.column_mut(k).fill(0.0);
            m[(k, k)] = 1.0;
        }
        held.iter().enumerate().filter_map(|(k, fixed)| Some((k, (*fixed)?))).for_each(|(k, fixed)| g[k] = fixed);
        let change = m.cholesky()?.solve(&g);
        let stopped = (0..values.len()).find(|k| {
            let (Some([low, high]), Some(value)) = (bounds.get(*k), values.get(*k)) else { return false };
            let to = value + change[*k];
            held[*k].is_none() && (to < *low || to > *high)
        });
        let Some(k) = stopped else { return Some(change) };
        let ([low, high], value) = (*bounds.get(k)?, *values.get(k)?);
        held[k] = Some((value + change[k]).clamp(low, high) - value);
    }
    None
}
