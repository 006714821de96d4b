//! Result of a fit, with its accuracy.

use nalgebra::{DMatrix, SymmetricEigen};
use serde::Serialize;

use super::{Fit, Guess, normal::Normal};
use crate::Parameter;

/// The estimate of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard deviation, from the noise that the recordings state; none if it is not observable or at a bound.
    pub deviation: Option<f64>,
    /// Its standard deviation from the actual misfit.
    pub deviation_by_misfit: Option<f64>,
    /// True if it is at one of its bounds.
    pub at_bound: bool,
}

/// Observability of a combination of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observability {
    /// The combination: parameters and their weights, in units of their scales.
    pub combination: Vec<(String, f64)>,
    /// Standard deviation of the combination, in units of its scale; none if the motion does not depend on it.
    pub deviation: Option<f64>,
}

/// Result of a fit.
#[derive(Clone, Debug, Serialize)]
pub struct FitReport {
    /// The parameters.
    pub estimates: Vec<Estimate>,
    /// Σ ρ(r) after every iteration, that of the initial guess first.
    pub history: Vec<f64>,
    /// True if it converged.
    pub converged: bool,
    /// Number of compared measurements.
    pub compared: usize,
    /// Number of free numbers: parameters and starts of runs.
    pub free: usize,
    /// Root mean square of the residuals, in standard deviations: 1 if model and noise are right.
    pub misfit: f64,
    /// Combinations of parameters, the best known last.
    pub observability: Vec<Observability>,
    /// Covariance of the parameters from the stated noise, row by row; empty if something is not observable.
    pub covariance: Vec<Vec<f64>>,
    /// Runs that could not be made or differentiated at the initial guess, with the reason; they are left out.
    pub left_out: Vec<String>,
    /// State at the start of each run: coordinates and velocities.
    #[serde(skip)]
    pub starts: Vec<crate::Start>,
    /// The runs that count, in the order of their starts.
    #[serde(skip)]
    pub segments: Vec<crate::Segment>,
}

impl FitReport {
    /// The values of the parameters.
    pub fn values(&self) -> Vec<f64> {
        self.estimates.iter().map(|estimate| estimate.value).collect()
    }
}

/// Smallest information of an observable combination, as a fraction of the largest.
const UNSEEN: f64 = 1e-12;

impl Fit<'_> {
    pub(super) fn report(&self, guess: &Guess, normal: &Normal, history: Vec<f64>, converged: bool) -> FitReport {
        let parameters = &self.target.parameters;
        let compared: usize = self
            .segments
            .iter()
            .filter_map(|s| Some(self.recordings.get(s.recording)?.numbers(s.first..s.last + 1)))
            .sum();
        let free = parameters.len() + guess.starts.iter().map(|start| 2 * start.free.len()).sum::<usize>();
        let objective = history.last().copied().unwrap_or(f64::NAN);
        let misfit = (2.0 * objective / compared.saturating_sub(free).max(1) as f64).sqrt();
        let information = normal.reduced(0.0).map(|(matrix, _)| matrix);
        let (estimates, observability, covariance) = summary(parameters, &guess.values, information, misfit);
        FitReport {
            estimates,
            history,
            converged,
            compared,
            free,
            misfit,
            observability,
            covariance,
            left_out: Vec::new(),
            starts: guess.starts.clone(),
            segments: self.segments.clone(),
        }
    }
}

/// Estimates, combinations of parameters, and their covariance, from the information on the parameters.
pub(crate) fn summary(
    parameters: &[Parameter],
    values: &[f64],
    information: Option<DMatrix<f64>>,
    misfit: f64,
) -> (Vec<Estimate>, Vec<Observability>, Vec<Vec<f64>>) {
    let scaled = information.map(|matrix| {
        DMatrix::from_fn(parameters.len(), parameters.len(), |i, j| {
            matrix[(i, j)] * parameters[i].scale * parameters[j].scale
        })
    });
    let observability = scaled.as_ref().map_or_else(Vec::new, |matrix| combinations(parameters, matrix));
    let all_seen = observability.iter().all(|combination| combination.deviation.is_some());
    let covariance = scaled.filter(|_| all_seen).and_then(DMatrix::try_inverse);
    let deviation = |k: usize| {
        let variance = covariance.as_ref()?.get((k, k)).copied()?;
        (variance > 0.0).then(|| variance.sqrt() * parameters[k].scale)
    };
    let estimates = parameters.iter().zip(values).enumerate().map(|(k, (parameter, value))| {
        let at_bound = parameter.bounds.contains(value);
        let deviation = deviation(k).filter(|_| !at_bound);
        Estimate {
            name: parameter.name.clone(),
            value: *value,
            deviation,
            deviation_by_misfit: deviation.map(|deviation| deviation * misfit),
            at_bound,
        }
    });
    let rows = covariance.as_ref().map_or_else(Vec::new, |matrix| {
        let entry = |i: usize, j: usize| matrix[(i, j)] * parameters[i].scale * parameters[j].scale;
        (0..parameters.len()).map(|i| (0..parameters.len()).map(|j| entry(i, j)).collect()).collect()
    });
    (estimates.collect(), observability, rows)
}

/// The principal combinations of the information matrix, in units of the scales.
fn combinations(parameters: &[Parameter], information: &DMatrix<f64>) -> Vec<Observability> {
    // A fit of starts alone has no parameters.
    if information.is_empty() {
        return Vec::new();
    }
    let eigen = SymmetricEigen::new(information.clone());
    let most = eigen.eigenvalues.amax();
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let combination = |k: usize| {
        let value = eigen.eigenvalues[k];
        let weights = eigen.eigenvectors.column(k);
        let parts = parameters.iter().zip(weights.iter());
        Observability {
            combination: parts.map(|(parameter, weight)| (parameter.name.clone(), *weight)).collect(),
            deviation: (value > UNSEEN * most && value > 0.0).then(|| 1.0 / value.sqrt()),
        }
    };
    order.into_iter().map(combination).collect()
}
