//! `stiction compare`: one scene with several schemes and step sizes, and the errors of each.

mod table;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use stiction::{
    Preset,
    compare::{self, CompareError, Comparison, Entry, Outcome, Plan, TruthCandidate, Watch, scheme_of},
    scene::{self, Scene},
};

use crate::{
    arguments::{ALL_PRESETS, CompareOptions},
    failure::Failure,
    input, layout, output,
    progress::Progress,
    signals,
};

/// File names inside the folder.
const FILES: (&str, &str) = ("compare.json", "compare.html");

pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    let scene = input::load(&options.scene, &options.set, &options.robot, |error| error)?;
    let text = scene::text_of(&options.scene, &options.robot.options())?.text;
    let plan = plan(options, &scene, &text)?;
    plan.validate().map_err(Failure::input)?;
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.name));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot write {}: {error}", folder.display()))
            .with_help("choose a folder that can be written with --out DIR")
    })?;
    output::refuse_inputs(&[FILES.0, FILES.1].map(|name| folder.join(name)), [options.scene.as_path()])?;
    let stop = signals::stop_on_signals()?;
    let interrupt = signals::interrupt(&stop);
    let mut watch =
        Observer { started: Instant::now(), progress: Progress::new(plan.total_steps(), "steps"), done: 0, stop };
    let mut comparison = interrupt.during(|| compare::run(&plan, &mut watch)).map_err(|error| match error {
        CompareError::NoTruth(_) | CompareError::Stopped => Failure::work(error),
        other => Failure::input(other),
    })?;
    drop(watch);
    comparison.scene.clone_from(&scene.name);
    let written = write(&comparison, &folder);
    let files = written.as_ref().map_or(&[][..], Vec::as_slice);
    if options.json {
        layout::print_json(&comparison)?;
    } else {
        layout::print_text(&table::text(&comparison, files))?;
    }
    written?;
    if comparison.interrupted {
        return Err(Failure::work("stopped on request; the results so far are kept"));
    }
    if comparison.rows.iter().any(|row| row.outcome == Outcome::Finished) {
        Ok(())
    } else {
        Err(Failure::work("no run finished"))
    }
}

fn plan(options: &CompareOptions, scene: &Scene, text: &str) -> Result<Plan, Failure> {
    let steps = if options.steps.is_empty() {
        (0..=options.halvings).map(|k| scene.settings.step / f64::from(1_u32 << k)).collect()
    } else {
        options.steps.clone()
    };
    let until = options.until.unwrap_or(scene.settings.duration);
    let mut plan = Plan::new(Arc::clone(&scene.model), steps, until);
    plan.entries = presets(&options.presets)?.into_iter().map(|preset| entry(options, text, preset)).collect();
    plan.truth = truth(options, text, &plan.entries)?;
    Ok(plan)
}

/// Presets by name, without duplicates.
fn presets(names: &[String]) -> Result<Vec<Preset>, Failure> {
    let mut presets = Vec::new();
    for name in names {
        let named = if name == ALL_PRESETS { Preset::INERTIAL.to_vec() } else { vec![preset(name)?] };
        for preset in named {
            if !presets.contains(&preset) {
                presets.push(preset);
            }
        }
    }
    Ok(presets)
}

fn preset(name: &str) -> Result<Preset, Failure> {
    Preset::find(name).ok_or_else(|| {
        Failure::input(format!("there is no preset `{name}`"))
            .with_help(format!("presets: {}", Preset::ALL.map(Preset::name).join(", ")))
    })
}

/// Entry of a preset in this scene.
fn entry(options: &CompareOptions, text: &str, preset: Preset) -> Entry {
    let name = options.scene.display().to_string();
    let scheme = scheme_of(preset, &options.set, |changes| scene::parse_with(text, &name, changes));
    Entry { name: preset.name().to_owned(), scheme }
}

/// Candidates for the reference solution: the requested one, or the reference scheme and then the compared ones, in order.
fn truth(options: &CompareOptions, text: &str, entries: &[Entry]) -> Result<Vec<TruthCandidate>, Failure> {
    let Some(asked) = &options.reference else {
        let reference = entry(options, text, Preset::Reference);
        let others = entries.iter().filter(|entry| entry.name != reference.name).cloned();
        let candidates = std::iter::once(reference.clone()).chain(others);
        return Ok(candidates.map(|entry| TruthCandidate { entry, step: None }).collect());
    };
    let (name, step) = match asked.split_once('@') {
        None => (asked.as_str(), None),
        Some((name, step)) => {
            let parsed = step.trim().parse::<f64>().map_err(|_| {
                Failure::input(format!("`--reference {asked}`: `{step}` is not a step size"))
                    .with_help("expected PRESET or PRESET@H, such as reference@1e-4")
            })?;
            (name, Some(parsed))
        }
    };
    let entry = entry(options, text, preset(name.trim())?);
    match &entry.scheme {
        Ok(_) => Ok(vec![TruthCandidate { entry, step }]),
        Err(reason) => Err(Failure::input(format!(
            "the preset `{}` cannot provide the reference solution here: {reason}",
            entry.name
        ))),
    }
}

/// Clock, progress bar and Ctrl-C.
struct Observer {
    started: Instant,
    progress: Progress,
    done: u64,
    stop: Arc<AtomicBool>,
}

impl Watch for Observer {
    fn now(&mut self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn goes_on(&mut self) -> bool {
        self.done += 1;
        self.progress.at(self.done);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Writes the numbers and the page; returns their paths.
fn write(comparison: &Comparison, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let [json, html] = [FILES.0, FILES.1].map(|name| folder.join(name));
    let text = serde_json::to_string_pretty(comparison).map_err(|error| output::unwritten(&json, &error))?;
    output::write(&json, text + "\n")?;
    let page = compare::page(comparison).map_err(|error| output::unwritten(&html, &error))?;
    output::write(&html, page)?;
    Ok(vec![json, html])
}
