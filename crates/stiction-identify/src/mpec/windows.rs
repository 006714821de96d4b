//! Moving-window estimates, row after row: the online form.

use rayon::prelude::*;

use super::{Member, MpecOptions, fit};
use crate::{IdentifyError, Recording, Target, shooting::Window};

/// Estimates at every row of a recording from the last `length` rows up to it.
pub fn windows(
    target: &Target,
    recording: &Recording,
    length: usize,
    options: &MpecOptions,
) -> Result<Vec<Window>, IdentifyError> {
    let length = length.max(1);
    let ends: Vec<usize> = (length..recording.times.len()).collect();
    ends.into_par_iter()
        .map(|last| {
            let member = Member { target, recording, rows: last - length..last + 1 };
            let report = fit(&[member], options)?.fit;
            let time = recording.times.get(last).copied().unwrap_or(f64::NAN);
            let deviations = report.estimates.iter().map(|estimate| estimate.deviation).collect();
            Ok(Window { row: last, time, values: report.values(), deviations })
        })
        .collect()
}
