//! Comparison of schemes on one scene.

use std::{sync::Arc, time::Instant};

use pyo3::prelude::*;
use stiction::{
    Preset,
    compare::{self, Entry, Plan, TruthCandidate, Watch, scheme_of},
    scene,
};

use crate::{errors, interrupt::Signals};

/// Clock, and cancellation by Python.
struct Clock<'a> {
    started: Instant,
    signals: &'a Signals,
}

impl Watch for Clock<'_> {
    fn now(&mut self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn goes_on(&mut self) -> bool {
        !self.signals.is_raised()
    }
}

/// Runs a scene with presets and step sizes, and measures each against the reference solution; returns JSON text.
#[pyfunction]
pub(crate) fn compare_schemes(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    presets: Vec<String>,
    steps: Vec<f64>,
    until: Option<f64>,
) -> PyResult<String> {
    let wrong = |message: String| errors::exception(py, "CompareError", message, Vec::new());
    let scene = scene::parse(text, file_name).map_err(|error| errors::scene(py, &error))?;
    let entry = |preset: Preset| {
        let scheme = scheme_of(preset, &[], |changes| scene::parse_with(text, file_name, changes));
        Entry { name: preset.name().to_owned(), scheme }
    };
    let mut plan = Plan::new(Arc::clone(&scene.model), steps, until.unwrap_or(scene.settings.duration));
    for name in presets {
        let preset = Preset::find(&name).ok_or_else(|| {
            let known = Preset::ALL.map(Preset::name).join(", ");
            wrong(format!("there is no preset `{name}`; there are {known}"))
        })?;
        plan.entries.push(entry(preset));
    }
    let reference = std::iter::once(entry(Preset::Reference));
    let truth = reference.chain(plan.entries.iter().filter(|entry| entry.name != "reference").cloned());
    plan.truth = truth.map(|entry| TruthCandidate { entry, step: None }).collect();
    let signals = Signals::new();
    let mut clock = Clock { started: Instant::now(), signals: &signals };
    let made = py.detach(|| signals.during(|| compare::run(&plan, &mut clock)))?;
    let mut comparison = made.map_err(|error| wrong(error.to_string()))?;
    comparison.scene = scene.name;
    serde_json::to_string(&comparison).map_err(|error| wrong(error.to_string()))
}
