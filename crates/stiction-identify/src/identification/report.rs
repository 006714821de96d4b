//! Report of an identification.

use serde::Serialize;

use super::{ColumnMisfit, Identification, Motion, Prediction, WindowStudy, column::misfits};
use crate::{
    IdentifyError, Method, Parameter, Segment, Start, Target,
    filter::FilterReport,
    shooting::{Fit, FitOptions, FitReport, Observability},
};

/// Standard deviations to either side that hold 95 % of a normal distribution.
const WIDTH: f64 = 1.959_963_984_540_054;

/// Smallest weight that is mentioned, as a fraction of the largest.
const SMALL: f64 = 0.05;

/// Report of an identification.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IdentificationReport {
    /// Reports of the methods.
    pub methods: Vec<MethodReport>,
    /// Estimates from windows.
    pub windows: Vec<WindowStudy>,
    /// Motions that were held out.
    pub predictions: Vec<Prediction>,
    /// Further notes.
    pub notes: Vec<String>,
    /// True if it was stopped before its end.
    pub interrupted: bool,
}

/// A bound that an estimate is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The least value.
    Low,
    /// The greatest value.
    High,
}

/// The estimate of a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct EstimateReport {
    /// Its name.
    pub name: String,
    /// Paths of the values of the scene that it sets.
    pub paths: Vec<String>,
    /// Its unit; empty for that of the scene.
    pub unit: String,
    /// Estimate.
    pub value: f64,
    /// Standard deviation, from the stated noise or from the misfit, whichever is larger.
    pub deviation: Option<f64>,
    /// Interval with 95 % confidence; none if it is not observable or is at a bound.
    pub interval: Option<[f64; 2]>,
    /// Initial guess.
    pub start: f64,
    /// Least and greatest value.
    pub bounds: [f64; 2],
    /// The bound that it is at.
    pub at_bound: Option<Bound>,
}

/// Report of a method.
#[derive(Clone, Debug, Serialize)]
pub struct MethodReport {
    /// The method.
    pub method: Method,
    /// The parameters.
    pub estimates: Vec<EstimateReport>,
    /// True if it converged.
    pub converged: bool,
    /// Its iterations.
    pub iterations: usize,
    /// Number of compared measurements.
    pub compared: usize,
    /// Number of free numbers: parameters and starts.
    pub free: usize,
    /// Root mean square of the residuals in units of the noise: 1 if model and noise are right.
    pub misfit: f64,
    /// Combinations of parameters that are not observable, with the reason.
    pub unseen: Vec<String>,
    /// Misfit of each column.
    pub residuals: Vec<ColumnMisfit>,
    /// Runs that are left out, with the reason.
    pub left_out: Vec<String>,
    /// The recordings, and simulations with the estimates.
    #[serde(skip)]
    pub motions: Vec<Motion>,
    /// Simulations with the initial guesses from measured starts, if they are possible.
    #[serde(skip)]
    pub guesses: Vec<Motion>,
}

impl MethodReport {
    /// The values of the parameters.
    pub fn values(&self) -> Vec<f64> {
        self.estimates.iter().map(|estimate| estimate.value).collect()
    }

    /// The report of a fit by shooting.
    pub(super) fn of_fit(of: &Identification, method: Method, fit: FitReport) -> Result<Self, IdentifyError> {
        let values = fit.values();
        let parameters = &of.target.parameters;
        let estimates = parameters.iter().zip(&fit.estimates).map(|(parameter, estimate)| {
            let deviation = estimate.deviation.map(|deviation| deviation * fit.misfit.max(1.0));
            estimate_of(parameter, estimate.value, deviation)
        });
        let motions = motions(of, (&values, &fit.segments), fit.starts.iter())?;
        let model = of.target.scene(&of.target.starts())?.model;
        let measured: Vec<Start> = fit
            .segments
            .iter()
            .filter_map(|s| Some(Start::measured(&model, of.recordings.get(s.recording)?, s.first)))
            .collect();
        let guesses = motions_or_none(of, &fit.segments, &measured);
        Ok(Self {
            method,
            estimates: estimates.collect(),
            converged: fit.converged,
            iterations: fit.history.len().saturating_sub(1),
            compared: fit.compared,
            free: fit.free,
            misfit: fit.misfit,
            unseen: fit.observability.iter().filter_map(|combination| unseen(combination, parameters)).collect(),
            residuals: misfits(&motions),
            left_out: fit.left_out,
            motions,
            guesses,
        })
    }
}

impl MethodReport {
    /// Report of a filter over every recording. Estimates are means over the second half of the rows; those of several recordings are
    /// weighted by their information at the end.
    pub(super) fn of_filters(of: &Identification, reports: &[FilterReport]) -> Result<Self, IdentifyError> {
        let found = of.target.parameters.iter().enumerate().map(|(k, parameter)| {
            let each = reports.iter().filter_map(|report| {
                let deviation = report.moments.last()?.parameters.get(k)?.deviation;
                Some((report.averages.get(k).copied()?, deviation.max(f64::MIN_POSITIVE)))
            });
            let (sum, weight) = each.fold((0.0, 0.0), |(sum, weight), (value, deviation)| {
                (sum + value / (deviation * deviation), weight + 1.0 / (deviation * deviation))
            });
            estimate_of(parameter, sum / weight, Some(1.0 / f64::sqrt(weight)))
        });
        let estimates: Vec<EstimateReport> = found.collect();
        let values: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
        // The fit of the values is measured from fitted starts, because measured velocities are inaccurate.
        let known = Target { text: of.scene_with(&values)?, parameters: Vec::new(), ..of.target.clone() };
        let options = FitOptions { warm_up: false, free_starts: true, ..of.options };
        let fit = Fit::of_all(&known, &of.recordings, options).run()?;
        let motions = motions(of, (&values, &fit.segments), fit.starts.iter())?;
        let model = of.target.scene(&of.target.starts())?.model;
        let measured: Vec<Start> =
            of.recordings.iter().map(|recording| Start::measured(&model, recording, 0)).collect();
        let failures = of.recordings.iter().zip(reports).filter_map(|(recording, report)| {
            let first = report.first_failure.as_ref()?;
            Some(format!("{}: {} particles, the first because {first}", recording.name, report.failures))
        });
        Ok(Self {
            method: Method::Filter,
            converged: true,
            iterations: reports.iter().map(|report| report.moments.len().saturating_sub(1)).sum(),
            compared: fit.compared,
            free: estimates.len() + fit.free,
            misfit: fit.misfit,
            unseen: Vec::new(),
            residuals: misfits(&motions),
            left_out: failures.chain(fit.left_out).collect(),
            guesses: motions_or_none(of, &fit.segments, &measured),
            motions,
            estimates,
        })
    }
}

/// An estimate with its interval.
fn estimate_of(parameter: &Parameter, value: f64, deviation: Option<f64>) -> EstimateReport {
    let [low, high] = parameter.bounds;
    let at_bound = if value <= low {
        Some(Bound::Low)
    } else if value >= high {
        Some(Bound::High)
    } else {
        None
    };
    EstimateReport {
        name: parameter.name.clone(),
        paths: parameter.paths.clone(),
        unit: parameter.unit.clone(),
        value,
        deviation,
        interval: deviation.map(|deviation| [value - WIDTH * deviation, value + WIDTH * deviation]),
        start: parameter.start,
        bounds: parameter.bounds,
        at_bound,
    }
}

/// The motions of all recordings, each with its runs.
fn motions<'s>(
    of: &Identification,
    (values, segments): (&[f64], &[Segment]),
    starts: impl Iterator<Item = &'s Start>,
) -> Result<Vec<Motion>, IdentifyError> {
    let runs: Vec<(Segment, &Start)> = segments.iter().copied().zip(starts).collect();
    let motion = |(k, recording)| {
        let of_recording = runs.iter().copied().filter(move |(segment, _)| segment.recording == k);
        Motion::of((&of.target, values), recording, of_recording)
    };
    of.recordings.iter().enumerate().map(motion).collect()
}

fn motions_or_none(of: &Identification, segments: &[Segment], starts: &[Start]) -> Vec<Motion> {
    motions(of, (&of.target.starts(), segments), starts.iter()).unwrap_or_default()
}

/// Description of a combination that is not observable within its bounds; none if it is.
fn unseen(of: &Observability, parameters: &[Parameter]) -> Option<String> {
    let most = of.combination.iter().fold(0.0, |most: f64, (_, weight)| most.max(weight.abs()));
    let parts: Vec<_> = of.combination.iter().filter(|(_, weight)| weight.abs() >= SMALL * most).collect();
    // Largest change of the combination until the first of its parameters has crossed its whole range.
    let room = parts.iter().filter_map(|(name, weight)| {
        let parameter = parameters.iter().find(|parameter| parameter.name == *name)?;
        let [low, high] = parameter.bounds;
        Some((high - low) / (parameter.scale * weight.abs()))
    });
    let room = room.fold(f64::INFINITY, f64::min);
    if of.deviation.is_some_and(|deviation| deviation < room) {
        return None;
    }
    let far = match of.deviation {
        Some(_) => "by less than one standard deviation over its whole range",
        None => "not at all",
    };
    Some(match parts.as_slice() {
        [(name, _)] => format!("{name}: the compared motion changes with it {far}"),
        parts => {
            let names: Vec<_> = parts.iter().map(|(name, _)| name.as_str()).collect();
            let weights: Vec<_> = parts.iter().map(|(name, weight)| format!("{weight:+.2} {name}")).collect();
            format!(
                "{} are not observable separately: along {} (in units of their scales) the compared motion changes {far}",
                names.join(" and "),
                weights.join(" ")
            )
        }
    })
}
