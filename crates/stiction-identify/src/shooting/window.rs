//! Estimates from the last so many rows, row after row: the online form.

use rayon::prelude::*;
use serde::Serialize;

use super::{Fit, FitOptions};
use crate::{IdentifyError, Recording, Segment, Target};

/// The estimates of one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// The last row of the window.
    pub row: usize,
    /// Its time, s.
    pub time: f64,
    /// The parameters.
    pub values: Vec<f64>,
    /// Their standard deviations; none where they cannot be seen.
    pub deviations: Vec<Option<f64>>,
}

/// The estimates of every row of a recording from the last `length` rows up to it.
pub fn windows(
    target: &Target,
    recording: &Recording,
    length: usize,
    options: FitOptions,
) -> Result<Vec<Window>, IdentifyError> {
    let recordings = std::slice::from_ref(recording);
    let ends: Vec<usize> = (length.max(1)..recording.times.len()).collect();
    ends.into_par_iter()
        .map(|last| {
            let segments = vec![Segment { recording: 0, first: last - length.max(1), last }];
            let report = Fit { target, recordings, segments, options }.run()?;
            let time = recording.times.get(last).copied().unwrap_or(f64::NAN);
            let deviations = report.estimates.iter().map(|estimate| estimate.deviation).collect();
            Ok(Window { row: last, time, values: report.values(), deviations })
        })
        .collect()
}
