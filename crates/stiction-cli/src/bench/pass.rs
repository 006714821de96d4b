//! Runs of a scene without recording: time of the fastest and statistics.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;
use stiction::{Simulation, scene::Scene};

use crate::{
    arguments::{BenchOptions, RunSolver},
    failure::Failure,
    input,
    layout::{Sheet, moment, number, print_json, print_text, seconds},
    run::with_solver,
};

/// Time and extremes of a run.
#[derive(Default)]
pub(super) struct Pass {
    pub(super) wall: Duration,
    pub(super) problem_size_max: usize,
    pub(super) contacts_max: usize,
    contacts_final: usize,
    penetration_max: f64,
    penetration_final: f64,
    steps_halved: u64,
}

/// Runs a scene without recording.
pub(super) fn play(scene: &Scene, steps: u64) -> Result<Pass, Failure> {
    pass(&mut Simulation::from_scene(scene).map_err(Failure::input)?, steps)
}

fn pass(simulation: &mut Simulation, steps: u64) -> Result<Pass, Failure> {
    let mut pass = Pass::default();
    let started = Instant::now();
    for _ in 0..steps {
        let report = simulation.step().map_err(|error| Failure::step(&error, None))?;
        pass.problem_size_max = pass.problem_size_max.max(report.problem_size);
        pass.contacts_max = pass.contacts_max.max(report.contacts);
        pass.contacts_final = report.contacts;
        pass.penetration_max = pass.penetration_max.max(report.penetration);
        pass.penetration_final = report.penetration;
        pass.steps_halved += u64::from(report.substeps > report.layer_substeps.max(1));
    }
    pass.wall = started.elapsed();
    Ok(pass)
}

/// Output of `stiction bench --scene`.
#[derive(Debug, Serialize)]
struct Account {
    scene: String,
    step: f64,
    steps: u64,
    /// Number of runs; the time is that of the fastest.
    repetitions: u32,
    wall_seconds: f64,
    problem_size_max: usize,
    contacts_max: usize,
    contacts_final: usize,
    penetration_max: f64,
    penetration_final: f64,
    steps_halved: u64,
}

/// Runs a scene or robot and prints the time.
pub(super) fn run(path: &Path, options: &BenchOptions) -> Result<(), Failure> {
    let scene = input::load(path, &options.set, &options.robot, |error| error)?;
    let steps = options.steps.unwrap_or(scene.settings.steps());
    let once = || {
        let simulation = Simulation::from_scene(&scene).map_err(Failure::input)?;
        pass(&mut with_solver(simulation, RunSolver::Ladder, options.accuracy)?, steps)
    };
    let mut pass = once()?;
    for _ in 1..options.repeat {
        pass.wall = once()?.wall.min(pass.wall);
    }
    let account = Account {
        scene: scene.name,
        step: scene.settings.step,
        steps,
        repetitions: options.repeat,
        wall_seconds: pass.wall.as_secs_f64(),
        problem_size_max: pass.problem_size_max,
        contacts_max: pass.contacts_max,
        contacts_final: pass.contacts_final,
        penetration_max: pass.penetration_max,
        penetration_final: pass.penetration_final,
        steps_halved: pass.steps_halved,
    };
    if options.json { print_json(&account) } else { print_text(&account.text()) }
}

impl Account {
    fn text(&self) -> String {
        let mut sheet = Sheet::default();
        let fastest = match self.repetitions {
            1 => String::new(),
            more => format!(", fastest of {more}"),
        };
        let rate = self.steps as f64 / self.wall_seconds.max(f64::MIN_POSITIVE);
        sheet
            .row("scene", &self.scene)
            .row("steps", format!("{} of {}, {} of them halved", self.steps, moment(self.step), self.steps_halved))
            .row("time", format!("{} ({} steps per second){fastest}", seconds(self.wall_seconds), rate.round()))
            .row("contacts", format!("{} at most, {} at the end", self.contacts_max, self.contacts_final))
            .row("problem size", format!("{} at most", self.problem_size_max))
            .row(
                "penetration",
                format!("{} m at most, {} m at the end", number(self.penetration_max), number(self.penetration_final)),
            );
        sheet.text()
    }
}
