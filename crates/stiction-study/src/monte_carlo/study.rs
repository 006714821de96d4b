//! Monte Carlo study: cells, variants and trials.
//!
//! Trials are numbered so that a study that ends early has tried every cell and variant equally often: first the first trial of all cells
//! in all variants, then the second, and so on.

use std::{path::PathBuf, sync::Arc};

use stiction::{
    Scene, Simulation, StepCause, StepError, StepProblem,
    complementarity::ProblemFile,
    measure::{Measure, Needs, Value as Measured},
    record::RunColumns,
    scene::{self, SceneError},
};

use super::{Design, Parameter, Value};
use crate::Failure;

/// Speed below which a body is at rest, m/s and rad/s: rounding does not move it faster.
const REST_SPEED: f64 = 1e-9;

/// Number of steps at rest after which a trial may end.
const REST_STEPS: u32 = 10;

/// One of several models or conditions to compare.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its scene file.
    pub scene_path: PathBuf,
    /// Changes to the scene: paths and values.
    pub overrides: Vec<(String, String)>,
    /// The random parameters with the distributions they have here.
    pub random: Vec<Parameter>,
    pub(super) scene_text: Arc<str>,
}

/// Limits that end a study before all its trials are made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Failed trials after which it ends; no limit when `None`.
    pub failures: Option<u64>,
    /// Seconds after which it begins no more trials.
    pub seconds: Option<f64>,
}

/// A Monte Carlo study, ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MonteCarlo {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file, of variants that have no other one.
    pub scene_path: PathBuf,
    /// Trials per cell and variant.
    pub trials: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Sampling of the trials of a cell.
    pub design: Design,
    /// True if a trial ends when everything is at rest.
    pub ends_at_rest: bool,
    /// Limits of the study.
    pub budget: Budget,
    /// Folder to which the files of its scenes are relative.
    pub(super) folder: PathBuf,
    pub(super) study_text: Arc<str>,
    pub(super) grid: Vec<Parameter>,
    pub(super) random: Vec<Parameter>,
    pub(super) variants: Vec<Variant>,
    pub(super) success: Measure,
    pub(super) metrics: Vec<(String, Measure)>,
    /// Evaluation order of the metrics: each after those that it names.
    pub(super) order: Vec<usize>,
    pub(super) mirror: Vec<String>,
    pub(super) needs: Needs,
}

/// Trial within the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The trial within its cell.
    pub trial: u64,
    /// The cell.
    pub cell: u64,
    /// The variant.
    pub variant: usize,
}

/// Result of a trial.
#[derive(Clone, Debug)]
pub struct Row {
    /// True if the predicate holds; false for a failed trial.
    pub success: bool,
    /// Steps that were made.
    pub steps: u64,
    /// Metrics in their order; NaN for a failed trial.
    pub metrics: Vec<f64>,
    /// Reason of the failure, if it failed.
    pub failure: Option<Failure>,
}

/// Result, and for an unsolved step its problem as JSON.
#[derive(Debug)]
pub struct Trial {
    /// The row.
    pub row: Row,
    /// Unsolved problem, if any.
    pub problem: Option<String>,
}

impl MonteCarlo {
    /// Parameters that span cells.
    pub fn grid(&self) -> &[Parameter] {
        &self.grid
    }

    /// Parameters that are drawn in every trial; variants may have other distributions of them.
    pub fn random(&self) -> &[Parameter] {
        &self.random
    }

    /// Variants of the model, at least one.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Names of the metrics.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|(name, _)| name.as_str())
    }

    /// Grid parameters about whose middle success should be symmetric.
    pub fn mirror(&self) -> &[String] {
        &self.mirror
    }

    /// Numbers of values of the grid parameters.
    pub fn shape(&self) -> Vec<usize> {
        let length =
            |parameter: &Parameter| if let super::Draw::Grid(values) = &parameter.draw { values.len() } else { 1 };
        self.grid.iter().map(length).collect()
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.shape().into_iter().map(|n| n as u64).product()
    }

    /// Number of trials in all.
    pub fn count(&self) -> u64 {
        self.trials.saturating_mul(self.cells()).saturating_mul(self.variants.len() as u64)
    }

    /// Cell, variant and trial of number `index`.
    pub fn place(&self, index: u64) -> Place {
        let (variants, cells) = (self.variants.len().max(1) as u64, self.cells().max(1));
        Place { variant: (index % variants) as usize, cell: index / variants % cells, trial: index / variants / cells }
    }

    /// Index of the value of each grid parameter in a cell; the first changes fastest.
    pub fn steps_of(&self, cell: u64) -> Vec<usize> {
        let mut rest = cell as usize;
        let digit = |n: usize| {
            let digit = rest % n.max(1);
            rest /= n.max(1);
            digit
        };
        self.shape().into_iter().map(digit).collect()
    }

    /// Probabilities at which the random parameters of a trial are drawn: the same for every variant.
    pub fn probabilities(&self, place: Place) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.random.len()];
        self.design.point(self.seed, [place.cell, place.trial], self.trials, &mut probabilities);
        probabilities
    }

    /// The values of all parameters, those of the grid first.
    pub fn values(&self, place: Place) -> Vec<Value> {
        let cell = self.steps_of(place.cell);
        let on_grid = self.grid.iter().zip(cell).map(|(parameter, step)| match &parameter.draw {
            super::Draw::Grid(values) => Value::Number(values.get(step).copied().unwrap_or(f64::NAN)),
            other => other.at(0.0),
        });
        let drawn = self.random_of(place.variant).iter().zip(self.probabilities(place));
        let drawn = drawn.map(|(parameter, u)| parameter.draw.at(u));
        on_grid.chain(drawn).collect()
    }

    /// The random parameters with the distributions of a variant.
    pub fn random_of(&self, variant: usize) -> &[Parameter] {
        self.variants.get(variant).map_or(&self.random, |variant| &variant.random)
    }

    /// The texts of all scene files, each once, in the order of the variants.
    pub(super) fn scene_texts(&self) -> String {
        let mut texts: Vec<&Arc<str>> = Vec::new();
        for variant in &self.variants {
            if !texts.contains(&&variant.scene_text) {
                texts.push(&variant.scene_text);
            }
        }
        texts.into_iter().map(|text| &**text).collect()
    }

    /// The scene of a trial.
    pub fn scene(&self, place: Place) -> Result<Scene, SceneError> {
        let (text, path, mut overrides) = match self.variants.get(place.variant) {
            Some(variant) => (&*variant.scene_text, &variant.scene_path, variant.overrides.clone()),
            None => ("", &self.scene_path, Vec::new()),
        };
        for (parameter, value) in self.parameters().zip(self.values(place)) {
            let written = parameter.written(&value);
            overrides.extend(parameter.paths.iter().map(|path| (path.clone(), written.clone())));
        }
        scene::parse_with(text, &path.display().to_string(), &overrides)
    }

    /// All parameters, those of the grid first.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.grid.iter().chain(&self.random)
    }

    /// Makes trial number `index`: a function of the study and the index alone.
    pub fn make(&self, index: u64) -> Trial {
        let place = self.place(index);
        let mut steps = 0;
        self.attempt(place, &mut steps).unwrap_or_else(|(failure, problem)| {
            let metrics = vec![f64::NAN; self.metrics.len()];
            Trial { row: Row { success: false, steps, metrics, failure: Some(failure) }, problem }
        })
    }

    fn attempt(&self, place: Place, made: &mut u64) -> Result<Trial, (Failure, Option<String>)> {
        let refused = |reason: &str, error: &dyn std::fmt::Display| {
            (Failure { reason: reason.to_owned(), detail: error.to_string() }, None)
        };
        let scene =
            self.scene(place).map_err(|error| refused("the scene refuses the values of its parameters", &error))?;
        let steps = scene.settings.steps();
        let mut simulation = Simulation::from_scene(&scene)
            .map_err(|error| refused("the scheme refuses the values of the parameters", &error))?;
        let mut run = self.columns(&simulation, &scene, place);
        let mut resting = 0;
        for _ in 0..steps {
            let report = simulation.step().map_err(|error| (Failure::of_step(&error), problem(&simulation, &error)))?;
            *made += 1;
            resting = if self.ends_at_rest && simulation.is_at_rest(REST_SPEED) { resting + 1 } else { 0 };
            if resting == REST_STEPS {
                run.record_last(&simulation, &report);
                break;
            }
            run.record(&simulation, &report);
        }
        let scalar = |measure: &Measure, run: &RunColumns| match measure.evaluate(run) {
            Ok(measured) => match measured.value {
                Measured::Scalar(x) => Ok(x),
                Measured::Series(_) => Err(refused("an expression is not one number", &measure.text())),
            },
            Err(error) => Err(refused("an expression has no value", &error)),
        };
        // Metrics, and the predicate after them, refer to other metrics by name.
        let mut metrics = vec![f64::NAN; self.metrics.len()];
        for &k in &self.order {
            if let (Some((name, measure)), Some(metric)) = (self.metrics.get(k), metrics.get_mut(k)) {
                *metric = scalar(measure, &run)?;
                run.set_constant(name, *metric);
            }
        }
        let success = scalar(&self.success, &run)?;
        let row = Row { success: success != 0.0 && !success.is_nan(), steps: *made, metrics, failure: None };
        Ok(Trial { row, problem: None })
    }

    /// Columns of a run that the expressions read, and its numerical parameters by name.
    pub(super) fn columns(&self, simulation: &Simulation, scene: &Scene, place: Place) -> RunColumns {
        let mut run = RunColumns::new(simulation, &self.needs, scene.settings.record_every);
        for (parameter, value) in self.parameters().zip(self.values(place)) {
            if let Value::Number(x) = value {
                run.set_constant(&parameter.name, x);
            }
        }
        run
    }
}

/// Unsolved problem as the text of a file; some kinds have no file format.
fn problem(simulation: &Simulation, error: &StepError) -> Option<String> {
    if !matches!(error.cause, StepCause::NotSolved { .. } | StepCause::Jammed { .. }) {
        return None;
    }
    let problem = match simulation.problem() {
        StepProblem::Mixed(problem) => ProblemFile::MixedLcp(problem.clone()),
        StepProblem::Friction(problem) => ProblemFile::Friction(problem.clone()),
        _ => return None,
    };
    problem.to_json().ok()
}
