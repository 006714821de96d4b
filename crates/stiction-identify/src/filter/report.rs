//! Report of a filter over time.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use stiction::{Model, gradient::displacement, multibody::OrientationUpdate};

use super::{Setting, particle::Particle, temper::effective};
use crate::Target;

/// Estimate of a parameter at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParameterMoment {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Interval that holds 95 % of the weight.
    pub interval: [f64; 2],
}

/// Estimates at one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Moment {
    /// The row.
    pub row: usize,
    /// Its time, s.
    pub time: f64,
    /// The parameters, in the order of the target.
    pub parameters: Vec<ParameterMoment>,
    /// Mean coordinates of the bodies.
    pub q: Vec<f64>,
    /// Mean velocities.
    pub v: Vec<f64>,
    /// Effective number of particles: 1/Σw².
    pub effective: f64,
    /// Number of failed particles that are not replaced yet.
    pub failed: usize,
    /// Contact modes with their fractions of the weight; the greatest first.
    pub modes: Vec<(String, f64)>,
    /// Number of stages of the row: particles are resampled between them.   [FILT-6]
    pub stages: usize,
}

/// Report of a filter over time.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FilterReport {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Estimates: at the first row the prior, then at every row the posterior.
    pub moments: Vec<Moment>,
    /// Mean of each parameter, averaged over the second half of the rows: the first half is for convergence.
    pub averages: Vec<f64>,
    /// Mean over all rows after the first with the weights 1/deviation²: rows with little information count little.
    pub weighted_averages: Vec<f64>,
    /// Particles that failed.
    pub failures: usize,
    /// Reason of the first failure.
    pub first_failure: Option<String>,
    #[serde(skip)]
    model: Arc<Model>,
}

/// Weight on either side of an interval.
const TAIL: f64 = 0.025;

impl FilterReport {
    pub(super) fn new(target: &Target, model: &Arc<Model>) -> Self {
        Self {
            names: target.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            moments: Vec::new(),
            averages: Vec::new(),
            weighted_averages: Vec::new(),
            failures: 0,
            first_failure: None,
            model: Arc::clone(model),
        }
    }

    /// Adds the estimates at a row, with its number of stages.
    pub(super) fn add(
        &mut self,
        setting: &Setting<'_>,
        (cloud, weights): (&[Particle], &[f64]),
        (row, time, stages): (usize, f64, usize),
    ) {
        let values: Vec<Vec<f64>> = cloud.iter().map(|particle| particle.values(setting).collect()).collect();
        let of_parameter = |k: usize| {
            let own = values.iter().map(|values| values.get(k).copied().unwrap_or(f64::NAN));
            moment_of(own.zip(weights.iter().copied()).collect())
        };
        let mut modes: BTreeMap<&str, f64> = BTreeMap::new();
        for (particle, weight) in cloud.iter().zip(weights).filter(|(particle, _)| !particle.modes.is_empty()) {
            *modes.entry(&particle.modes).or_default() += weight;
        }
        let mut modes: Vec<(String, f64)> = modes
            .into_iter()
            .filter(|(_, fraction)| *fraction > 0.0)
            .map(|(mode, fraction)| (mode.to_owned(), fraction))
            .collect();
        modes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let failed = cloud.iter().filter(|particle| particle.failure.is_some()).count();
        let effective = effective(weights);
        let (q, v) = mean_state(&self.model, cloud, weights);
        let parameters = (0..self.names.len()).map(of_parameter).collect();
        self.moments.push(Moment { row, time, parameters, q, v, effective, failed, modes, stages });
    }

    /// Counts the particles that failed in an interval, of those that began it.
    pub(super) fn count_failures(&mut self, began: &[Particle], ended: &[Particle]) {
        let new = began.iter().zip(ended).filter(|(began, _)| began.failure.is_none());
        for reason in new.filter_map(|(_, ended)| ended.failure.as_ref()) {
            self.failures += 1;
            self.first_failure.get_or_insert_with(|| reason.clone());
        }
    }

    pub(super) fn finish(&mut self) {
        let all = self.moments.get(1..).unwrap_or_default();
        let late = all.get(all.len() / 2..).unwrap_or_default();
        let average = |of: &[Moment], k: usize, weight: fn(&ParameterMoment) -> f64| {
            let own = of.iter().filter_map(|moment| moment.parameters.get(k));
            let (sum, all) = own.fold((0.0, 0.0), |(sum, all), own| (sum + weight(own) * own.mean, all + weight(own)));
            sum / all
        };
        // Without any deviation the value is exact.
        let precision = |own: &ParameterMoment| 1.0 / (own.deviation * own.deviation).max(f64::MIN_POSITIVE);
        self.averages = (0..self.names.len()).map(|k| average(late, k, |_| 1.0)).collect();
        self.weighted_averages = (0..self.names.len()).map(|k| average(all, k, precision)).collect();
    }
}

/// Mean, deviation and interval of values with weights.
fn moment_of(mut own: Vec<(f64, f64)>) -> ParameterMoment {
    let mean: f64 = own.iter().map(|(x, weight)| x * weight).sum();
    let variance: f64 = own.iter().map(|(x, weight)| (x - mean) * (x - mean) * weight).sum();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |fraction: f64| {
        let mut reached = 0.0;
        let at = own.iter().find(|(_, weight)| {
            reached += weight;
            reached >= fraction
        });
        at.or(own.last()).map_or(f64::NAN, |(x, _)| *x)
    };
    ParameterMoment { mean, deviation: variance.sqrt(), interval: [quantile(TAIL), quantile(1.0 - TAIL)] }
}

/// Mean state. Orientations are averaged about that of the heaviest particle, where rotations are small enough to be added.
fn mean_state(model: &Model, cloud: &[Particle], weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut heaviest = None;
    for (particle, weight) in cloud.iter().zip(weights) {
        if heaviest.is_none_or(|(_, most)| *weight > most) {
            heaviest = Some((particle, *weight));
        }
    }
    let Some((middle, _)) = heaviest else { return Default::default() };
    let middle = &middle.start.state;
    let (mut shift, mut v) = (vec![0.0; model.dof()], vec![0.0; model.dof()]);
    for (particle, weight) in cloud.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
        let state = &particle.start.state;
        let moved = displacement(model, &middle.q, &state.q);
        shift.iter_mut().zip(moved).for_each(|(sum, x)| *sum += weight * x);
        v.iter_mut().zip(&state.v).for_each(|(sum, x)| *sum += weight * x);
    }
    let mut q = Vec::new();
    model.integrate(&middle.q, &shift, 1.0, OrientationUpdate::Exponential, &mut q);
    (q, v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_weighted_values() {
        let moment = moment_of(vec![(3.0, 0.25), (1.0, 0.5), (5.0, 0.25)]);
        assert!((moment.mean - 2.5).abs() < 1e-15 && (moment.deviation.powi(2) - 2.75).abs() < 1e-14);
        assert_eq!(moment.interval, [1.0, 5.0]);
    }
}
