//! `stiction sweep` of `push` studies.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use stiction_study::{PushStudy, push::PushReport};

use super::{Observer, folder_of, push_table};
use crate::{arguments::SweepOptions, failure::Failure, layout, output};

/// File names inside the folder.
const FILES: (&str, &str) = ("results.json", "best.toml");

/// Results, written and, with `--json`, printed. They do not depend on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    study: &'r str,
    kind: &'static str,
    scene: &'r str,
    #[serde(flatten)]
    report: &'r PushReport,
}

pub(super) fn run(mut study: PushStudy, options: &SweepOptions) -> Result<(), Failure> {
    if options.resume {
        return Err(Failure::input(
            "`--resume` continues studies of the kind `monte-carlo`; remove it for studies of the kind `push`",
        ));
    }
    study.search = study.search.with_options(|search| {
        search.trials = options.trials.unwrap_or(search.trials);
        search.seed = options.seed.unwrap_or(search.seed);
    });
    let folder = folder_of(options, &study.name)?;
    let files = [FILES.0, FILES.1].map(|name| folder.join(name));
    output::refuse_inputs(&files, [options.study.as_path(), &study.scene_path])?;
    let started = Instant::now();
    let observer = Observer::new((study.search.work(), "trials"), None)?;
    let report = study.search.run(options.jobs, &observer).map_err(Failure::work)?;
    drop(observer);
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
        layout::print_text(&push_table::text(&study, &report, seconds, files))?;
    }
    written?;
    if report.interrupted {
        return Err(Failure::work("stopped on request; the trials so far are kept"));
    }
    let failed: u64 = report.failed.iter().map(|failure| failure.count).sum();
    match report.failed.first() {
        Some(first) if failed == report.successes.of => {
            Err(Failure::work(format!("every trial failed; the first: {}", first.detail)))
        }
        _ => Ok(()),
    }
}

/// Writes the results and, if there is a plan, the scene of the best one; returns their paths.
fn write(study: &PushStudy, results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let [json, best] = [FILES.0, FILES.1].map(|name| folder.join(name));
    // Removes the plan of an older study.
    let _ = std::fs::remove_file(&best);
    let text = serde_json::to_string_pretty(results).map_err(|error| output::unwritten(&json, &error))?;
    output::write(&json, text + "\n")?;
    let Some(plan) = results.report.best() else { return Ok(vec![json]) };
    let scene = study.replay(plan).map_err(|error| output::unwritten(&best, &error))?;
    output::write(&best, scene)?;
    Ok(vec![json, best])
}
