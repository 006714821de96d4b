//! Evaluation of a design: every run is simulated and measured.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use serde::Serialize;
use stiction::{
    Simulation,
    measure::{Measure, Needs, Value},
    record::RunColumns,
    scene::{self, Scene, SceneError},
};

use super::Design;
use crate::{Failure, Outcome};

/// One of the runs of an evaluation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Its name in tables.
    pub name: String,
    /// Values of the scene that belong to this run: pairs of a path and a TOML value.
    pub changes: Vec<(String, String)>,
}

impl Run {
    /// Run with its own values of the scene.
    pub fn new(name: impl Into<String>, changes: Vec<(String, String)>) -> Self {
        Self { name: name.into(), changes }
    }
}

/// One term of the objective.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Term {
    /// Its name in tables.
    pub name: String,
    /// Measured quantity of a run: one number.
    pub measure: Measure,
    /// Factor of the value.
    pub weight: f64,
}

/// Result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// For each run the value of each term, weighted.
    pub values: Vec<Vec<f64>>,
}

impl Evaluation {
    /// The sum of all terms of all runs.
    pub fn sum(&self) -> f64 {
        self.values.iter().flatten().sum()
    }

    /// The sum of the squares of all terms of all runs.
    pub fn sum_of_squares(&self) -> f64 {
        self.values.iter().flatten().map(|x| x * x).sum()
    }

    /// The terms of all runs, one after the other.
    pub fn residuals(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().flatten().copied()
    }
}

impl Design {
    /// Evaluates the terms at these values of the parameters. Runs are simulated in parallel if there are threads for them.
    pub fn evaluate(&self, parameters: &[f64]) -> Outcome<Evaluation> {
        let mut needs = Needs::default();
        self.terms.iter().for_each(|term| term.measure.add_needs(&mut needs));
        let runs: Vec<_> = self
            .runs
            .par_iter()
            .map(|run| {
                let made = catch_unwind(AssertUnwindSafe(|| self.run(run, parameters, &needs)));
                made.unwrap_or_else(|panic| Outcome::Failed(Failure::of_panic(&*panic)))
            })
            .collect();
        let mut values = Vec::with_capacity(runs.len());
        for run in runs {
            match run {
                Outcome::Done(terms) => values.push(terms),
                Outcome::Failed(failure) => return Outcome::Failed(failure),
            }
        }
        Outcome::Done(Evaluation { values })
    }

    /// The scene of a run.
    pub fn scene(&self, run: &Run, parameters: &[f64]) -> Result<Scene, SceneError> {
        let file = self.scene_path.display().to_string();
        scene::parse_with(&self.scene_text, &file, &self.changes(run, parameters))
    }

    /// The scene of a run as TOML text.
    pub fn scene_text(&self, run: &Run, parameters: &[f64]) -> Result<String, SceneError> {
        scene::rewrite(&self.scene_path, &self.changes(run, parameters))
    }

    /// Text of the scene as it was read, before any changes.
    pub fn scene_source(&self) -> &str {
        &self.scene_text
    }

    /// Changes of the scene: values of the run, then parameters, then formulas of parameters.
    fn changes(&self, run: &Run, parameters: &[f64]) -> Vec<(String, String)> {
        let values = self.parameters.iter().zip(parameters);
        let own = values.filter_map(|(parameter, value)| Some((parameter.path.clone()?, format!("{value:?}"))));
        let follow =
            self.formulas.iter().map(|(path, formula)| (path.clone(), format!("{:?}", formula.value(parameters))));
        run.changes.iter().cloned().chain(own).chain(follow).collect()
    }

    fn run(&self, run: &Run, parameters: &[f64], needs: &Needs) -> Outcome<Vec<f64>> {
        let fail = |reason: &str, detail: String| {
            let detail = format!("run `{}`: {detail}", run.name);
            Outcome::Failed(Failure { reason: reason.to_owned(), detail })
        };
        let scene = match self.scene(run, parameters) {
            Ok(scene) => scene,
            Err(error) => return fail("the scene is refused", error.message),
        };
        let mut simulation = match Simulation::from_scene(&scene) {
            Ok(simulation) => simulation,
            Err(error) => return fail("the scene cannot be simulated", error.to_string()),
        };
        let mut columns = RunColumns::new(&simulation, needs, self.record_every);
        for (parameter, value) in self.parameters.iter().zip(parameters) {
            columns.set_constant(&parameter.name, *value);
        }
        for _ in 0..scene.settings.steps() {
            match simulation.step() {
                Ok(report) => columns.record(&simulation, &report),
                Err(error) => return fail("a step failed", error.to_string()),
            }
        }
        let mut values = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            match term.measure.evaluate(&columns) {
                Ok(measured) => match measured.value {
                    Value::Scalar(x) if x.is_finite() => values.push(term.weight * x),
                    Value::Scalar(x) => return fail("a term has no value", format!("term `{}` is {x}", term.name)),
                    Value::Series(_) => return fail("a term is a series", format!("term `{}`", term.name)),
                },
                Err(error) => return fail("a term cannot be measured", format!("term `{}`: {error}", term.name)),
            }
        }
        Outcome::Done(values)
    }
}
