//! Moving-window estimates, row after row: the online form.

use rayon::prelude::*;
use serde::Serialize;

use super::{Fit, FitOptions, FitReport};
use crate::{IdentifyError, Recording, Segment, Target};

/// Estimates at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// The last row of the window.
    pub row: usize,
    /// Its time, s.
    pub time: f64,
    /// The parameters.
    pub values: Vec<f64>,
    /// Their standard deviations; none if they are not observable.
    pub deviations: Vec<Option<f64>>,
}

/// The estimates from the last `length` rows up to every `every`th row of a recording, counted from its last.
///
/// The objective may have several minima if contacts change their mode within a window. So each window is searched twice: from the initial
/// guess, and from the result of the window before it (of the first: after it). The lesser minimum counts.
pub fn windows(
    target: &Target,
    recording: &Recording,
    (length, every): (usize, usize),
    options: FitOptions,
) -> Result<Vec<Window>, IdentifyError> {
    let (recordings, length) = (std::slice::from_ref(recording), length.max(1));
    let mut ends: Vec<usize> = (length..recording.times.len()).rev().step_by(every.max(1)).collect();
    ends.reverse();
    let fit = |last: usize| {
        let segments = vec![Segment { recording: 0, first: last - length, last }];
        Fit { target, recordings, segments, options }
    };
    let alone: Vec<FitReport> = ends.par_iter().map(|last| fit(*last).run()).collect::<Result<_, _>>()?;
    let beside = |place: usize| alone.get(if place == 0 { 1 } else { place - 1 }).map(FitReport::values);
    let starts: Vec<Option<Vec<f64>>> = (0..ends.len()).map(beside).collect();
    // A run that cannot be made with the values of another window is ignored.
    let again: Vec<Option<FitReport>> = ends
        .par_iter()
        .zip(starts)
        .map(|(last, start)| start.and_then(|values| fit(*last).run_from(values).ok()))
        .collect();
    let lesser = |(alone, again): (FitReport, Option<FitReport>)| match again {
        Some(again) if again.history.last() < alone.history.last() => again,
        _ => alone,
    };
    let window = |(last, report): (&usize, FitReport)| {
        let time = recording.times.get(*last).copied().unwrap_or(f64::NAN);
        let deviations = report.estimates.iter().map(|estimate| estimate.deviation).collect();
        Window { row: *last, time, values: report.values(), deviations }
    };
    Ok(ends.iter().zip(alone.into_iter().zip(again).map(lesser)).map(window).collect())
}
