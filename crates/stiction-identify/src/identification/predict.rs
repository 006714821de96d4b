//! Predictions of held-out motions with the estimates.

use serde::Serialize;

use super::{Identification, Motion};
use crate::{
    IdentifyError, Recording, Segment, Start, Target,
    shooting::{Fit, FitOptions},
};

/// A recording that is predicted.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The recording.
    pub recording: Recording,
    /// Number of rows that the start is fitted to; the others are compared.
    pub start_rows: usize,
}

/// Errors of a prediction, over the rows that the start was not fitted to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionError {
    /// Median distance, m; none if no position was measured.
    pub position_median: Option<f64>,
    /// Distance in the last row, m.
    pub position_last: Option<f64>,
    /// Median angle, rad; none if no orientation was measured.
    pub angle_median: Option<f64>,
    /// Angle in the last row, rad.
    pub angle_last: Option<f64>,
    /// Root mean square of the residuals in units of the noise.
    pub rms: f64,
}

/// A predicted motion.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The recording.
    pub recording: String,
    /// Rows that the start was fitted to.
    pub start_rows: usize,
    /// Rows that were compared.
    pub compared: usize,
    /// With the estimates.
    pub found: PredictionError,
    /// With the initial guesses; none if they could not be simulated.
    pub guessed: Option<PredictionError>,
    /// The motion with the estimates.
    #[serde(skip)]
    pub motion: Motion,
}

impl Identification {
    /// Predicts a motion with the estimates, and with the initial guesses.
    pub(super) fn predict(&self, held_out: &HeldOut, found: &[f64]) -> Result<Prediction, IdentifyError> {
        let HeldOut { recording, start_rows } = held_out;
        let motion = self.predicted(held_out, found)?;
        let guessed = self.predicted(held_out, &self.target.starts()).ok();
        Ok(Prediction {
            recording: recording.name.clone(),
            start_rows: *start_rows,
            compared: recording.times.len().saturating_sub(*start_rows),
            found: error_of(&motion, *start_rows),
            guessed: guessed.map(|motion| error_of(&motion, *start_rows)),
            motion,
        })
    }

    /// Motion with these values from a start that fits the first rows.
    fn predicted(&self, held_out: &HeldOut, values: &[f64]) -> Result<Motion, IdentifyError> {
        let HeldOut { recording, start_rows } = held_out;
        let known =
            Target { text: self.scene_with(values)?, file_name: self.target.file_name.clone(), parameters: vec![] };
        let segments = vec![Segment { recording: 0, first: 0, last: start_rows.saturating_sub(1).max(1) }];
        let options = FitOptions { warm_up: false, free_starts: true, ..self.options };
        let fit = Fit { target: &known, recordings: std::slice::from_ref(recording), segments, options }.run()?;
        let start: &Start = fit.starts.first().ok_or(IdentifyError::Nothing)?;
        let whole = Segment { recording: 0, first: 0, last: recording.times.len().saturating_sub(1) };
        Motion::of((&known, &[]), recording, std::iter::once((whole, start)))
    }
}

/// Errors of a motion from a row on.
fn error_of(motion: &Motion, first: usize) -> PredictionError {
    let rows = first..motion.times.len();
    let distances = |unit: &str| -> Vec<f64> {
        let off = |row: usize| {
            let squares: Vec<f64> = motion
                .columns
                .iter()
                .filter(|column| column.unit == unit)
                .filter_map(|column| {
                    // Residuals of orientations in space are root mean squares of three.
                    let parts = if column.name.ends_with(".turned") { 3.0 } else { 1.0 };
                    Some(
                        parts
                            * (column.residuals.get(row)? * column.noise)
                            * (column.residuals.get(row)? * column.noise),
                    )
                })
                .filter(|square| square.is_finite())
                .collect();
            (!squares.is_empty()).then(|| squares.iter().sum::<f64>().sqrt())
        };
        rows.clone().filter_map(off).collect()
    };
    let [positions, angles] = ["m", "rad"].map(distances);
    let residuals = motion.columns.iter().flat_map(|column| column.residuals.iter().skip(first));
    let residuals: Vec<f64> = residuals.copied().filter(|r| r.is_finite()).collect();
    PredictionError {
        position_median: median(&positions),
        position_last: positions.last().copied(),
        angle_median: median(&angles),
        angle_last: angles.last().copied(),
        rms: (residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len().max(1) as f64).sqrt(),
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle.wrapping_sub(1)), sorted.get(middle)) {
        (Some(below), Some(above)) if sorted.len().is_multiple_of(2) => Some(0.5 * (below + above)),
        (_, above) => above.copied(),
    }
}
