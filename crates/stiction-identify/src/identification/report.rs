//! What an identification found.

use serde::Serialize;

use super::{ColumnMisfit, Identification, Motion, Prediction, WindowStudy, column::misfits};
use crate::{
    IdentifyError, Method, Parameter, Segment, Start, Target,
    filter::FilterReport,
    shooting::{Fit, FitOptions, FitReport, Observability},
};

/// Standard deviations to either side that hold 95 % of a normal distribution.
const WIDTH: f64 = 1.959_963_984_540_054;

/// Weights below this share of the largest are not worth a word.
const SMALL: f64 = 0.05;

/// What an identification found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IdentificationReport {
    /// What each method found.
    pub methods: Vec<MethodReport>,
    /// Estimates from windows.
    pub windows: Vec<WindowStudy>,
    /// Motions that were held out.
    pub predictions: Vec<Prediction>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// Whether it was stopped before its end.
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
    /// The values of the scene that it is.
    pub paths: Vec<String>,
    /// Its unit; empty for that of the scene.
    pub unit: String,
    /// What was found.
    pub value: f64,
    /// Standard deviation, from the stated noise or from how far the motion is off, whichever is larger.
    pub deviation: Option<f64>,
    /// Where it is with 95 % confidence; none where it cannot be seen or is at a bound.
    pub interval: Option<[f64; 2]>,
    /// The first guess.
    pub start: f64,
    /// Least and greatest value.
    pub bounds: [f64; 2],
    /// The bound that it is at.
    pub at_bound: Option<Bound>,
}

/// What a method found.
#[derive(Clone, Debug, Serialize)]
pub struct MethodReport {
    /// The method.
    pub method: Method,
    /// The parameters.
    pub estimates: Vec<EstimateReport>,
    /// Whether it ended by itself.
    pub converged: bool,
    /// Its iterations.
    pub iterations: usize,
    /// Measured numbers that were compared.
    pub compared: usize,
    /// Numbers that were free: parameters and starts.
    pub free: usize,
    /// Root mean square of the residuals in units of the noise: 1 where model and noise are right.
    pub misfit: f64,
    /// What the recordings do not tell, and why.
    pub unseen: Vec<String>,
    /// How far each column is off.
    pub residuals: Vec<ColumnMisfit>,
    /// Runs that count for nothing, and why.
    pub left_out: Vec<String>,
    /// The recordings, and simulations with what was found.
    #[serde(skip)]
    pub motions: Vec<Motion>,
    /// The same with the first guesses from measured starts, where they can be simulated.
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
    /// The report of a filter over every recording. Estimates are means over the second half of the rows; those of several recordings count by
    /// what each knows at its end.
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
        // What the values explain is seen from starts that fit: a measured velocity is worth little.
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

/// What a combination says that cannot be seen within its bounds: nothing where it can.
fn unseen(of: &Observability, parameters: &[Parameter]) -> Option<String> {
    let most = of.combination.iter().fold(0.0, |most: f64, (_, weight)| most.max(weight.abs()));
    let parts: Vec<_> = of.combination.iter().filter(|(_, weight)| weight.abs() >= SMALL * most).collect();
    // How far the combination can go before the first of its parameters has crossed its whole range.
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
                "{} cannot be told apart: along {} (in units of their scales) the compared motion changes {far}",
                names.join(" and "),
                weights.join(" ")
            )
        }
    })
}
