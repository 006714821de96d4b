//! `stiction sweep`: the trials of a study, and what they say together.

mod table;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use serde::Serialize;
use stiction_study::{Study, Watch, push::PushReport};

use crate::{arguments::SweepOptions, failure::Failure, layout, progress::Progress, signals};

/// File names inside the folder.
const FILES: (&str, &str) = ("results.json", "best.toml");

/// What is written and, with `--json`, printed: nothing in it depends on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    study: &'r str,
    kind: &'static str,
    scene: &'r str,
    #[serde(flatten)]
    report: &'r PushReport,
}

pub(crate) fn run(options: &SweepOptions) -> Result<(), Failure> {
    let mut study = stiction_study::load(&options.study)?;
    study.search = study.search.with_options(|search| {
        search.trials = options.trials.unwrap_or(search.trials);
        search.seed = options.seed.unwrap_or(search.seed);
    });
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(&study.name));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot write {}: {error}", folder.display()))
            .with_help("choose a folder that can be written with --out DIR")
    })?;
    let started = Instant::now();
    let progress = Mutex::new(Progress::new(study.search.work(), "trials"));
    let onlooker = Onlooker { progress, stop: signals::stop_on_signals()? };
    let report = study.search.run(options.jobs, &onlooker).map_err(Failure::work)?;
    drop(onlooker);
    let seconds = started.elapsed().as_secs_f64();
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        study: &study.name,
        kind: "push",
        scene: &study.scene.name,
        report: &report,
    };
    let written = write(&study, &results, &folder);
    if options.json {
        layout::print_json(&results)?;
    } else {
        let files = written.as_ref().map_or(&[][..], Vec::as_slice);
        layout::print_text(&table::text(&study, &report, seconds, files))?;
    }
    written?;
    if report.interrupted {
        return Err(Failure::work("stopped on request; the trials that were made are kept"));
    }
    let failed: u64 = report.failed.iter().map(|failure| failure.count).sum();
    match report.failed.first() {
        Some(first) if failed == report.successes.of => {
            Err(Failure::work(format!("every trial failed; the first: {}", first.detail)))
        }
        _ => Ok(()),
    }
}

/// The progress bar and Ctrl-C.
pub(crate) struct Onlooker {
    pub(crate) progress: Mutex<Progress>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Watch for Onlooker {
    fn goes_on(&self, finished: u64) -> bool {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).at(finished);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Writes the results and, where there is a plan, the scene that replays the best one; returns where they are.
fn write(study: &Study, results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unwritten =
        |path: &Path, error: &dyn std::fmt::Display| Failure::work(format!("cannot write {}: {error}", path.display()));
    let [json, best] = [FILES.0, FILES.1].map(|name| folder.join(name));
    // The plan of an older study has no place beside the results of this one.
    let _ = std::fs::remove_file(&best);
    let text = serde_json::to_string_pretty(results).map_err(|error| unwritten(&json, &error))?;
    std::fs::write(&json, text + "\n").map_err(|error| unwritten(&json, &error))?;
    let Some(plan) = results.report.best() else { return Ok(vec![json]) };
    let scene = study.replay(plan).map_err(|error| unwritten(&best, &error))?;
    std::fs::write(&best, scene).map_err(|error| unwritten(&best, &error))?;
    Ok(vec![json, best])
}
