//! Runs of a scene without recording: time of the fastest and statistics.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;
use stiction::{Simulation, complementarity::Status, scene::Scene};

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
    steps_above_aim: u64,
    residual_max: f64,
    speed_final: f64,
    /// Time of each step.
    times: Vec<Duration>,
}

/// Runs a scene without recording.
pub(super) fn play(scene: &Scene, steps: u64) -> Result<Pass, Failure> {
    pass(&mut Simulation::from_scene(scene).map_err(Failure::input)?, steps)
}

fn pass(simulation: &mut Simulation, steps: u64) -> Result<Pass, Failure> {
    let mut pass = Pass::default();
    let started = Instant::now();
    for _ in 0..steps {
        let step_started = Instant::now();
        let report = simulation.step().map_err(|error| Failure::step(&error, None))?;
        pass.times.push(step_started.elapsed());
        pass.problem_size_max = pass.problem_size_max.max(report.problem_size);
        pass.contacts_max = pass.contacts_max.max(report.contacts);
        pass.contacts_final = report.contacts;
        pass.penetration_max = pass.penetration_max.max(report.penetration);
        pass.penetration_final = report.penetration;
        pass.steps_halved += u64::from(report.substeps > report.layer_substeps.max(1));
        pass.steps_above_aim += u64::from(report.status != Status::Solved);
        pass.residual_max = pass.residual_max.max(report.residual.value);
    }
    pass.wall = started.elapsed();
    pass.speed_final = simulation.state().v.iter().fold(0.0, |most, v| most.max(v.abs()));
    Ok(pass)
}

impl Pass {
    /// Takes from another run of the same steps what it did faster.
    fn keep_least(&mut self, other: &Self) {
        self.wall = self.wall.min(other.wall);
        for (least, time) in self.times.iter_mut().zip(&other.times) {
            *least = time.min(least).to_owned();
        }
    }

    /// Time of the slowest step, s, and its number from 1.
    fn slowest(&self) -> (f64, u64) {
        let slowest = (1..).zip(&self.times).max_by_key(|(_, time)| **time);
        slowest.map_or((0.0, 0), |(step, time)| (time.as_secs_f64(), step))
    }

    /// Time within which 99 % of the steps were made, s.
    fn percentile_99(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        let rank = (times.len() * 99).div_ceil(100);
        times.get(rank.saturating_sub(1)).map_or(0.0, Duration::as_secs_f64)
    }
}

/// Output of `stiction bench --scene`.
#[derive(Debug, Serialize)]
struct Account {
    scene: String,
    step: f64,
    steps: u64,
    /// Number of runs; the time is that of the fastest, and that of a step the least of all runs.
    repetitions: u32,
    wall_seconds: f64,
    step_seconds_max: f64,
    step_seconds_max_at_step: u64,
    step_seconds_p99: f64,
    /// Time of each step, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    step_seconds: Option<Vec<f64>>,
    problem_size_max: usize,
    contacts_max: usize,
    contacts_final: usize,
    penetration_max: f64,
    penetration_final: f64,
    /// Largest component of the velocities after the last step, m/s and rad/s.
    speed_final: f64,
    residual_max: f64,
    steps_above_aim: u64,
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
        pass.keep_least(&once()?);
    }
    let (step_seconds_max, step_seconds_max_at_step) = pass.slowest();
    let account = Account {
        scene: scene.name,
        step: scene.settings.step,
        steps,
        repetitions: options.repeat,
        wall_seconds: pass.wall.as_secs_f64(),
        step_seconds_max,
        step_seconds_max_at_step,
        step_seconds_p99: pass.percentile_99(),
        step_seconds: options.step_times.then(|| pass.times.iter().map(Duration::as_secs_f64).collect()),
        problem_size_max: pass.problem_size_max,
        contacts_max: pass.contacts_max,
        contacts_final: pass.contacts_final,
        penetration_max: pass.penetration_max,
        penetration_final: pass.penetration_final,
        speed_final: pass.speed_final,
        residual_max: pass.residual_max,
        steps_above_aim: pass.steps_above_aim,
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
            .row(
                "slowest step",
                format!(
                    "{}, step {}; 99 % within {}",
                    seconds(self.step_seconds_max),
                    self.step_seconds_max_at_step,
                    seconds(self.step_seconds_p99)
                ),
            )
            .row(
                "residual",
                format!(
                    "{} at most, {} of {} steps above the aim",
                    number(self.residual_max),
                    self.steps_above_aim,
                    self.steps
                ),
            )
            .row("contacts", format!("{} at most, {} at the end", self.contacts_max, self.contacts_final))
            .row("problem size", format!("{} at most", self.problem_size_max))
            .row(
                "penetration",
                format!("{} m at most, {} m at the end", number(self.penetration_max), number(self.penetration_final)),
            )
            .row("velocity", format!("{} m/s or rad/s at the end, the largest component", number(self.speed_final)));
        sheet.text()
    }
}
