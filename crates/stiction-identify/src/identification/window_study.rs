//! Estimates from windows of rows, and their scatter with the length of the window.

use serde::Serialize;

use super::Identification;
use crate::{
    Recording,
    shooting::{Window, windows},
};

/// The estimates of windows of one length.
#[derive(Clone, Debug, Serialize)]
pub struct WindowStudy {
    /// Name of the recording.
    pub recording: String,
    /// Rows of a window before its last.
    pub length: usize,
    /// Mean of the estimates, by parameter.
    pub mean: Vec<f64>,
    /// Standard deviation of the estimates, by parameter.
    pub scatter: Vec<f64>,
    /// The estimates, row after row.
    pub windows: Vec<Window>,
}

impl Identification {
    /// Study of one length; on failure the reason.
    pub(super) fn window_study(&self, recording: &Recording, length: usize) -> Result<WindowStudy, String> {
        let about = format!("windows of {length} rows of {}", recording.name);
        let rows = recording.times.len();
        if length >= rows {
            return Err(format!("{about}: it has {rows} only"));
        }
        let windows =
            windows(&self.target, recording, (length, 1), self.options).map_err(|e| format!("{about}: {e}"))?;
        let count = windows.len() as f64;
        let over = |k: usize| windows.iter().filter_map(move |window| window.values.get(k).copied());
        let parameters = 0..self.target.parameters.len();
        let mean: Vec<f64> = parameters.clone().map(|k| over(k).sum::<f64>() / count).collect();
        let spread = |k: usize| {
            let mean = mean.get(k).copied().unwrap_or(0.0);
            (over(k).map(|x| (x - mean) * (x - mean)).sum::<f64>() / count).sqrt()
        };
        let scatter = parameters.map(spread).collect();
        Ok(WindowStudy { recording: recording.name.clone(), length, mean, scatter, windows })
    }
}
