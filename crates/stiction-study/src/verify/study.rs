//! Verification: candidates, stages, and the evaluation of one run.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
};

use stiction::{
    Scene, Simulation,
    measure::{Measure, Needs, Value as Measured},
    record::RunColumns,
    scene::{self, SceneError},
};

use super::{Passage, Sample};
use crate::{Failure, Stream, monte_carlo::Value};

/// Name of the width of a passage in expressions.
pub(super) const WIDTH: &str = "passage";

/// Model of the scene, and the condition that a candidate must satisfy in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// True if steps are made; a stage of geometry evaluates the initial state only.
    pub simulates: bool,
    /// Circumstances under which a candidate must pass.
    pub circumstances: Sample,
    /// Values of the scene of this model: paths and values.
    pub(super) overrides: Vec<(String, String)>,
    pub(super) success: Measure,
    pub(super) needs: Needs,
    pub(super) passage: Option<Passage>,
}

/// A verification, ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file.
    pub scene_path: PathBuf,
    /// Seed of the random numbers.
    pub seed: u64,
    pub(super) scene_text: Arc<str>,
    pub(super) candidates: Sample,
    pub(super) stages: Vec<Stage>,
}

impl Verification {
    /// Samples of the candidates.
    pub fn candidates(&self) -> &Sample {
        &self.candidates
    }

    /// The stages, in their order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The study from another seed, with another number of draws of the random parameters of candidates.
    pub fn with_sample(mut self, seed: u64, draws: Option<u64>) -> Self {
        self.seed = seed;
        self.candidates = self.candidates.with(seed, draws);
        for stage in &mut self.stages {
            stage.circumstances = stage.circumstances.clone().with(circumstances_seed(seed), None);
        }
        self
    }

    /// The scene of a candidate under one of the circumstances of a stage.
    pub fn scene(&self, stage: &Stage, candidate: &[Value], circumstances: &[Value]) -> Result<Scene, SceneError> {
        let file = self.scene_path.display().to_string();
        scene::parse_with(&self.scene_text, &file, &self.changes(stage, candidate, circumstances))
    }

    /// Scene of a candidate as TOML text.
    pub fn scene_text(
        &self,
        stage: &Stage,
        candidate: &[Value],
        circumstances: &[Value],
    ) -> Result<String, SceneError> {
        scene::rewrite(&self.scene_path, &self.changes(stage, candidate, circumstances))
    }

    fn changes(&self, stage: &Stage, candidate: &[Value], circumstances: &[Value]) -> Vec<(String, String)> {
        let of_candidate = self.candidates.changes(candidate);
        stage.overrides.iter().cloned().chain(of_candidate).chain(stage.circumstances.changes(circumstances)).collect()
    }

    /// True if a candidate satisfies the condition of a stage under these circumstances; a run that is not completed is a failure.
    pub fn passes(&self, stage: &Stage, candidate: &[Value], circumstances: &[Value]) -> Result<bool, Failure> {
        catch_unwind(AssertUnwindSafe(|| self.attempt(stage, candidate, circumstances)))
            .unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
    }

    fn attempt(&self, stage: &Stage, candidate: &[Value], circumstances: &[Value]) -> Result<bool, Failure> {
        let scene = self
            .scene(stage, candidate, circumstances)
            .map_err(|error| refused("the scene refuses the values of its parameters", &error))?;
        let mut simulation = Simulation::from_scene(&scene)
            .map_err(|error| refused("the scheme refuses the values of the parameters", &error))?;
        let mut run = self.columns(stage, &simulation, &scene, (candidate, circumstances))?;
        for _ in 0..if stage.simulates { scene.settings.steps() } else { 0 } {
            let report = simulation.step().map_err(|error| Failure::of_step(&error))?;
            run.record(&simulation, &report);
        }
        match stage.success.evaluate(&run).map(|measured| measured.value) {
            Ok(Measured::Scalar(success)) => Ok(success != 0.0 && !success.is_nan()),
            Ok(Measured::Series(_)) => Err(refused("an expression is not one number", &stage.success.text())),
            Err(error) => Err(refused("an expression has no value", &error)),
        }
    }

    /// Columns of a run that the expression reads, with its numerical values and the width of the passage by name.
    pub(super) fn columns(
        &self,
        stage: &Stage,
        simulation: &Simulation,
        scene: &Scene,
        (candidate, circumstances): (&[Value], &[Value]),
    ) -> Result<RunColumns, Failure> {
        let mut run = RunColumns::new(simulation, &stage.needs, scene.settings.record_every);
        let of_candidate = self.candidates.parameters().iter().zip(candidate);
        for (parameter, value) in of_candidate.chain(stage.circumstances.parameters().iter().zip(circumstances)) {
            if let Value::Number(x) = value {
                run.set_constant(&parameter.name, *x);
            }
        }
        if let Some(passage) = &stage.passage {
            let width = passage.width(simulation.model(), simulation.configuration());
            run.set_constant(WIDTH, width.map_err(|error| refused("the passage has no width", &error))?);
        }
        Ok(run)
    }
}

/// Seed of the circumstances. They are independent of the candidates, and are the same for all of them.
pub(super) fn circumstances_seed(seed: u64) -> u64 {
    Stream::new(seed, u64::MAX).bits()
}

fn refused(reason: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure { reason: reason.to_owned(), detail: error.to_string() }
}
