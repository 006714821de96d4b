//! Steps per second of every preset on four scenes of different kinds.

use std::time::{Duration, Instant};

use serde::Serialize;
use stiction::{Preset, Simulation, StepError, compare::scheme_of, scene};

use crate::{
    failure::Failure,
    layout::{Sheet, columns},
};

/// Minimum total time of the repetitions of a combination; at least one is made.
const TIME_PER_CELL: Duration = Duration::from_millis(500);

/// Scenes, with their simulated time: the same for every preset, so that all have the same contacts.
const SCENES: [(&str, &str, f64); 4] = [
    ("falling_rod", include_str!("../../../../scenes/falling_rod.toml"), 1.0),
    ("pendulum_friction", include_str!("../../../../scenes/pendulum_friction.toml"), 1.0),
    ("four_balls", include_str!("../../../../scenes/four_balls.toml"), 1.0),
    ("tower_of_boxes", include_str!("../../../../scenes/tower_of_boxes.toml"), 0.25),
];

/// Number of combinations.
pub(super) const CELLS: usize = SCENES.len() * Preset::INERTIAL.len();

/// Measurement of a scene with a preset.
#[derive(Debug, Serialize)]
pub(super) struct Cell {
    scene: &'static str,
    preset: &'static str,
    /// Step size, s.
    step: f64,
    /// None if `reason` is given.
    steps_per_second: Option<f64>,
    /// Reason why there is no measurement, as a sentence.
    reason: Option<String>,
}

/// Measures all combinations; `done` is called after each.
pub(super) fn measure(mut done: impl FnMut()) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (name, text, duration) in SCENES {
        for preset in Preset::INERTIAL {
            cells.push(cell(name, text, duration, preset)?);
            done();
        }
    }
    Ok(cells)
}

fn cell(name: &'static str, text: &str, duration: f64, preset: Preset) -> Result<Cell, Failure> {
    let scene = scene::parse(text, name)?;
    let step = scene.settings.step;
    let measured = scheme_of(preset, &[], |changes| scene::parse_with(text, name, changes)).and_then(|scheme| {
        let start = || Simulation::new(scene.model.clone(), scheme.clone(), step).map_err(|error| error.to_string());
        fastest(start, scene::steps_in(duration, step))
    });
    let (steps_per_second, reason) = match measured {
        Ok(rate) => (Some(rate), None),
        Err(reason) => (None, Some(reason)),
    };
    Ok(Cell { scene: name, preset: preset.name(), step, steps_per_second, reason })
}

/// Steps per second of the fastest repetition.
fn fastest(start: impl Fn() -> Result<Simulation, String>, steps: u64) -> Result<f64, String> {
    let begun = Instant::now();
    let mut least = Duration::MAX;
    while begun.elapsed() < TIME_PER_CELL {
        let mut simulation = start()?;
        let started = Instant::now();
        for _ in 0..steps {
            let _ = simulation.step().map_err(|error: StepError| format!("fails in {error}"))?;
        }
        least = least.min(started.elapsed());
    }
    Ok(steps as f64 / least.as_secs_f64())
}

/// Table with scenes in rows and presets in columns; a dash with a number refers to a reason below.
pub(super) fn table(cells: &[Cell]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in cells.iter().filter_map(|cell| cell.reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let shown = |cell: &Cell| match (cell.steps_per_second, cell.reason.as_deref()) {
        (Some(rate), _) => three_digits(rate),
        (None, reason) => {
            let number = reasons.iter().position(|known| Some(*known) == reason);
            format!("- ({})", number.unwrap_or_default() + 1)
        }
    };
    let rows = SCENES.map(|(name, ..)| {
        let of_scene = cells.iter().filter(|cell| cell.scene == name);
        std::iter::once(name.to_owned()).chain(of_scene.map(shown)).collect()
    });
    let heading: Vec<_> = std::iter::once("steps per second").chain(Preset::INERTIAL.map(Preset::name)).collect();
    let mut notes = Sheet::default();
    for (k, reason) in reasons.iter().enumerate() {
        notes.row(&format!("({})", k + 1), *reason);
    }
    columns(&heading, &rows) + &notes.text()
}

/// Three significant digits; more would be noise.
fn three_digits(rate: f64) -> String {
    let unit = 10_f64.powi((rate.max(1.0).log10().floor() as i32 - 2).max(0));
    format!("{}", (rate / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_combination_has_a_dash_and_a_footnote() {
        let cell = |scene, preset: Preset, rate, reason: Option<&str>| Cell {
            scene,
            preset: preset.name(),
            step: 0.01,
            steps_per_second: rate,
            reason: reason.map(str::to_owned),
        };
        let cells = [
            cell("falling_rod", Preset::Ncp, Some(123_456.0), None),
            cell("falling_rod", Preset::Reference, None, Some("too hard")),
            cell("four_balls", Preset::Ncp, None, Some("too round")),
            cell("four_balls", Preset::Reference, None, Some("too hard")),
        ];
        let text = table(&cells);
        for part in ["123000", "- (1)", "- (2)", "(1)  too hard", "(2)  too round"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert_eq!(text.matches("too hard").count(), 1);
    }

    #[test]
    fn rates_have_three_digits() {
        assert_eq!(three_digits(1234.5), "1230");
        assert_eq!(three_digits(87.4), "87");
        assert_eq!(three_digits(0.4), "0");
    }

    #[test]
    fn every_combination_steps_or_says_why_not() {
        let mut refused = Vec::new();
        for (name, text, duration) in SCENES {
            let scene = scene::parse(text, name).expect("scene");
            assert!(scene::steps_in(duration, scene.settings.step) >= 50, "{name}");
            for preset in Preset::INERTIAL {
                match scheme_of(preset, &[], |changes| scene::parse_with(text, name, changes)) {
                    Ok(scheme) => {
                        let model = scene.model.clone();
                        let mut simulation = Simulation::new(model, scheme, scene.settings.step).expect("a simulation");
                        let _ = simulation.step().expect("a step");
                    }
                    Err(reason) => refused.push((name, preset.name(), reason.contains("jacobians"))),
                }
            }
        }
        let others = ["moreau-jean", "reference", "geometrically-implicit"].map(|preset| ("four_balls", preset, true));
        assert_eq!(refused, others, "these decide themselves where geometry is taken");
    }
}
