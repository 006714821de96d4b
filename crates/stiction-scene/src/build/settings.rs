//! `[simulation]` and `[scheme]`: limits, and what is left out filled in.

use stiction_multibody::limits;

use super::reader::At;
use crate::{
    Margin, SchemeSettings, Settings,
    error::Fault,
    file::{Count, MarginValue, SceneFile},
};

/// Smallest and largest time step, s.
const STEP: (f64, f64) = (1e-9, 10.0);
/// Largest number of steps.
const STEPS: f64 = 1e9;
/// The weight γ of `anitescu-hart` when left out.
const HART_GAMMA: f64 = 0.3;
/// Friction directions in space when left out.
const DIRECTIONS: u32 = 8;

pub(super) fn settings(file: &SceneFile, root: &At) -> Result<Settings, Fault> {
    let (table, at) = (&file.simulation, root.key("simulation"));
    if !(STEP.0..=STEP.1).contains(&table.step) {
        let message = format!("the step must be from {:e} to {} seconds, but is {:e}", STEP.0, STEP.1, table.step);
        return Err(at.key("step").fault(message));
    }
    if table.duration <= 0.0 || !table.duration.is_normal() {
        return Err(at.key("duration").fault(format!("the duration must be positive, but is {:e}", table.duration)));
    }
    let steps = table.duration / table.step;
    if steps > STEPS {
        let message = format!(
            "{:e} s in steps of {:e} s are {steps:.2e} steps; at most {STEPS:e} are allowed",
            table.duration, table.step
        );
        return Err(at.key("duration").fault(message));
    }
    Ok(Settings {
        duration: table.duration,
        step: table.step,
        preset: table.preset,
        scheme: scheme(file, &root.key("scheme"))?,
        record_every: table.record_every.map_or(1, |Count(count)| count),
    })
}

fn scheme(file: &SceneFile, at: &At) -> Result<SchemeSettings, Fault> {
    let (table, preset) = (&file.scheme, file.simulation.preset);
    let asked = weight(&at.key("gamma"), table.gamma)?;
    let gamma = match (preset.fixed_gamma(), asked) {
        (Some(fixed), Some(asked)) if asked != fixed => {
            let message = format!("the preset \"{}\" means gamma = {fixed}, not {asked}", preset.name());
            return Err(at
                .key("gamma")
                .fault(message)
                .hint("with `preset = \"anitescu-hart\"` gamma is free to choose"));
        }
        (Some(fixed), _) => fixed,
        (None, asked) => asked.unwrap_or(HART_GAMMA),
    };
    let directions = table.directions.unwrap_or(DIRECTIONS);
    if !(4..=1024).contains(&directions) || directions % 2 != 0 {
        let message = format!("`directions` must be an even number from 4 to 1024, but is {directions}");
        return Err(at.key("directions").fault(message));
    }
    Ok(SchemeSettings {
        gamma,
        joint_gamma: weight(&at.key("joint_gamma"), table.joint_gamma)?.unwrap_or(gamma),
        jacobians: table.jacobians,
        directions,
        margin: margin(&at.key("margin"), table.margin.as_ref())?,
        prescribed_slip: table.prescribed_slip,
        orientation: table.orientation.into(),
    })
}

fn weight(at: &At, value: Option<f64>) -> Result<Option<f64>, Fault> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(at.fault(format!("gamma must lie between 0 and 1, but is {value:e}")))
        }
        _ => Ok(value),
    }
}

/// A margin in metres, or `auto`.
pub(super) fn margin(at: &At, value: Option<&MarginValue>) -> Result<Margin, Fault> {
    match value {
        Some(MarginValue::Distance(distance)) if (0.0..=limits::LENGTH).contains(distance) => {
            Ok(Margin::Distance(distance.abs()))
        }
        Some(MarginValue::Distance(distance)) => {
            Err(at.fault(format!("`margin` must lie between 0 and {:e} m, but is {distance:e}", limits::LENGTH)))
        }
        Some(MarginValue::Word(_)) | None => Ok(Margin::Auto),
    }
}
