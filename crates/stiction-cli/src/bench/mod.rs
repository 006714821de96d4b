//! `stiction bench`: speed of the built-in cases, of chains over their number of links ([`chains`]), of every preset on four scenes
//! ([`family`]), or of a scene of the user ([`pass`]).

mod chains;
mod family;
mod pass;

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use stiction::scene::{self, Scene};

use crate::{
    arguments::BenchOptions,
    failure::Failure,
    layout::{columns, number, print_json, print_text},
    progress::Progress,
};
use pass::play;

/// Minimum total time of the repetitions of a case, and their minimum number.
const TIME_PER_CASE: Duration = Duration::from_millis(1500);
const LEAST_REPETITIONS: usize = 5;

/// A scene with its step and other changes.
struct Case {
    name: &'static str,
    text: fn() -> String,
    step: f64,
    changes: &'static [(&'static str, &'static str)],
}

const CASES: [Case; 10] = [
    Case::new("falling-rod", || include_str!("../../../../scenes/falling_rod.toml").to_owned(), 0.0025),
    Case::new("four-balls", || include_str!("../../../../scenes/four_balls.toml").to_owned(), 0.00125),
    Case::new("stack", || include_str!("../../../../scenes/stack_of_boxes.toml").to_owned(), 0.005),
    Case::new("pendulum-chain", || pendulum_chain(10), 0.0025),
    Case::new("chain-32", || chains::hanging_chain(32, "reduced"), 0.001),
    Case::new("tripod", tripod, 1e-4),
    Case {
        changes: &[
            ("simulation.preset", "stewart-trinkle"),
            ("scheme.directions", "32"),
            ("simulation.duration", "0.5"),
        ],
        ..Case::new("tripod-polygon-32", tripod, 1e-4)
    },
    Case::new("needle-push", || include_str!("../../../../scenes/needle_push.toml").to_owned(), 0.001),
    Case::new("two-spheres", || include_str!("../../../../scenes/two_spheres.toml").to_owned(), 0.01),
    Case::new("gear-grasp", || include_str!("../../../../scenes/gear_grasp.toml").to_owned(), 0.001),
];

impl Case {
    const fn new(name: &'static str, text: fn() -> String, step: f64) -> Self {
        Self { name, text, step, changes: &[] }
    }
}

/// Part on three contact points on a vibrating plate, C-28.
fn tripod() -> String {
    include_str!("../../../../scenes/plate/tripod.toml").to_owned()
}

/// Names of the cases, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(CASES.map(|case| case.name))
}

/// Measurement of a case.
#[derive(Debug, Serialize)]
struct Measurement {
    case: &'static str,
    step: f64,
    steps: u64,
    repetitions: usize,
    microseconds_per_step: f64,
    /// Time per step of the fastest repetition, µs; other load only adds time.
    microseconds_per_step_least: f64,
    problem_size_max: usize,
    contacts_max: usize,
}

pub(crate) fn run(options: &BenchOptions) -> Result<(), Failure> {
    if let Some(path) = &options.scene {
        return pass::run(path, options);
    }
    if let Some(name) = &options.once {
        let (scene, steps) = load(chosen(name)?)?;
        play(&scene, steps)?;
        return print_text(&format!("case {name}\nsteps {steps}\n"));
    }
    let account = measure_all(options)?;
    if options.json { print_json(&account) } else { print_text(&account.text()) }
}

/// All measurements; none for parts that were not requested.
#[derive(Debug, Serialize)]
struct Account {
    cases: Option<Vec<Measurement>>,
    chains: Option<Vec<chains::Family>>,
    presets: Option<Vec<family::Cell>>,
}

impl Account {
    fn text(&self) -> String {
        let cases = self.cases.as_deref().map(table);
        let tables = [cases, self.chains.as_deref().map(chains::table), self.presets.as_deref().map(family::table)];
        tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// Measures cases, chains and presets, or the requested part.
fn measure_all(options: &BenchOptions) -> Result<Account, Failure> {
    let one = options.case.is_some() || options.presets || options.chains;
    let (with_chains, with_presets) = (options.chains || !one, options.presets || !one);
    let chosen = |case: &&Case| !one || options.case.as_deref() == Some(case.name);
    let cases: Vec<_> = CASES.iter().filter(chosen).collect();
    let cells = [(with_chains, chains::CELLS), (with_presets, family::CELLS)];
    let cells: usize = cells.iter().filter(|(with, _)| *with).map(|(_, cells)| cells).sum();
    let mut progress = Progress::new((cases.len() + cells) as u64, "cases");
    let mut done = 0;
    let mut next = || {
        done += 1;
        progress.at(done);
    };
    let mut measurements = Vec::new();
    for case in &cases {
        measurements.push(measure(case)?);
        next();
    }
    let chains = if with_chains { Some(chains::measure(&mut next)?) } else { None };
    let presets = if with_presets { Some(family::measure(next)?) } else { None };
    Ok(Account { cases: (!cases.is_empty()).then_some(measurements), chains, presets })
}

fn chosen(name: &str) -> Result<&'static Case, Failure> {
    CASES.iter().find(|case| case.name == name).ok_or_else(|| Failure::input(format!("there is no case {name}")))
}

fn load(case: &Case) -> Result<(Scene, u64), Failure> {
    let mut changes = vec![("simulation.step".to_owned(), format!("{:?}", case.step))];
    changes.extend(case.changes.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())));
    let scene = scene::parse_with(&(case.text)(), case.name, &changes)?;
    let steps = scene.settings.steps();
    Ok((scene, steps))
}

/// Median over repetitions, after a warm-up.
fn measure(case: &Case) -> Result<Measurement, Failure> {
    let (scene, steps) = load(case)?;
    let first = play(&scene, steps)?;
    let started = Instant::now();
    let mut times = Vec::new();
    while times.len() < LEAST_REPETITIONS || started.elapsed() < TIME_PER_CASE {
        times.push(play(&scene, steps)?.wall);
    }
    times.sort_unstable();
    let per_step = |time: Option<&Duration>| time.map_or(f64::NAN, |t| t.as_secs_f64() * 1e6 / steps.max(1) as f64);
    Ok(Measurement {
        case: case.name,
        step: case.step,
        steps,
        repetitions: times.len(),
        microseconds_per_step: per_step(times.get(times.len() / 2)),
        microseconds_per_step_least: per_step(times.first()),
        problem_size_max: first.problem_size_max,
        contacts_max: first.contacts_max,
    })
}

fn table(measurements: &[Measurement]) -> String {
    let rows: Vec<_> = measurements
        .iter()
        .map(|m| {
            vec![
                m.case.to_owned(),
                number(m.microseconds_per_step),
                number(m.microseconds_per_step_least),
                m.problem_size_max.to_string(),
                m.contacts_max.to_string(),
                m.steps.to_string(),
                m.step.to_string(),
                m.repetitions.to_string(),
            ]
        })
        .collect();
    columns(&["case", "µs per step", "fastest", "problem size", "contacts", "steps", "step (s)", "repetitions"], &rows)
}

/// Chain of slender rods of one metre and one kilogram, joined by hinges, released from the horizontal.
fn pendulum_chain(links: usize) -> String {
    let mut text = "[simulation]\nduration = 1.0\nstep = 0.0025\ngravity = [0.0, -9.81]\n".to_owned();
    let mut above = "world".to_owned();
    for k in 0..links {
        let _ = write!(
            text,
            "[[body]]\nname = \"link-{k}\"\nmass = 1.0\ninertia = 0.08333333333333333\nposition = [{k}.5, 0.0]\n\
             [[joint]]\nname = \"hinge-{k}\"\nkind = \"revolute\"\nbetween = [\"{above}\", \"link-{k}\"]\n\
             anchor = [{k}.0, 0.0]\n",
        );
        above = format!("link-{k}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_loads_and_steps() {
        for case in &CASES {
            let (scene, steps) = load(case).unwrap_or_else(|_| panic!("{} does not load", case.name));
            assert!(steps >= 100, "{}", case.name);
            assert!(play(&scene, 10).is_ok(), "{}", case.name);
        }
    }
}
