//! Identification: recordings, unknown parameters, and the methods that find them.

mod column;
mod method;
mod predict;
mod report;
mod window_study;

use std::path::PathBuf;

pub use column::{ColumnMisfit, Motion, MotionColumn};
pub use predict::{HeldOut, Prediction, PredictionError};
pub use report::{Bound, EstimateReport, IdentificationReport, MethodReport};
pub use window_study::WindowStudy;

use stiction::{SceneError, scene};

use crate::{
    IdentifyError, Method, Recording, Segment, Target,
    shooting::{Fit, FitOptions},
};

/// An identification, ready to run.
#[derive(Clone, Debug)]
pub struct Identification {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file.
    pub scene_path: PathBuf,
    /// The scene and its unknown parameters.
    pub target: Target,
    /// Recordings for the estimates.
    pub recordings: Vec<Recording>,
    /// Recordings that are predicted.
    pub held_out: Vec<HeldOut>,
    /// Methods: the first gives the estimates, the others are reported beside them.
    pub methods: Vec<Method>,
    /// Options of shooting.
    pub options: FitOptions,
    /// Rows of a run; none for whole recordings.
    pub rows_per_run: Option<usize>,
    /// Lengths of the windows of the window study, in rows.
    pub windows: Vec<usize>,
    /// Notes on unusual properties of the recordings.
    pub notes: Vec<String>,
}

impl Identification {
    /// The runs that are compared.
    pub fn segments(&self) -> Vec<Segment> {
        self.fit().segments
    }

    pub(crate) fn fit(&self) -> Fit<'_> {
        match self.rows_per_run {
            Some(rows) => Fit::of_pieces(&self.target, &self.recordings, rows, self.options),
            None => Fit::of_all(&self.target, &self.recordings, self.options),
        }
    }

    /// Number of parts of the work.
    pub fn work(&self) -> usize {
        self.methods.len() + self.windows.len() * self.recordings.len() + self.held_out.len()
    }

    /// Runs everything. `goes_on` is called with the number of completed parts; false ends the work, and the results so far are kept.
    pub fn run(&self, goes_on: &dyn Fn(usize) -> bool) -> Result<IdentificationReport, IdentifyError> {
        let mut report = IdentificationReport { notes: self.notes.clone(), ..IdentificationReport::default() };
        let mut done = 0;
        for method in &self.methods {
            report.methods.push(self.run_method(*method)?);
            done += 1;
            if !goes_on(done) {
                report.interrupted = true;
                return Ok(report);
            }
        }
        for length in &self.windows {
            for recording in &self.recordings {
                match self.window_study(recording, *length) {
                    Ok(study) => report.windows.push(study),
                    Err(reason) => report.notes.push(reason),
                }
                done += 1;
                if !goes_on(done) {
                    report.interrupted = true;
                    return Ok(report);
                }
            }
        }
        let found = report.methods.first().map(MethodReport::values).unwrap_or_default();
        for held_out in &self.held_out {
            match self.predict(held_out, &found) {
                Ok(prediction) => report.predictions.push(prediction),
                Err(error) => report.notes.push(format!("not predicted: {error}")),
            }
            done += 1;
            if !goes_on(done) {
                report.interrupted = true;
                return Ok(report);
            }
        }
        Ok(report)
    }

    /// The scene as TOML text with these values.
    pub fn scene_with(&self, values: &[f64]) -> Result<String, SceneError> {
        scene::rewrite(&self.scene_path, &self.target.changes(values))
    }
}
