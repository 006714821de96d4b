//! `stiction identify`: parameters of a scene from recorded motions.

mod figures;
mod page;
mod table;

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use serde::Serialize;
use stiction_identify::{Identification, IdentificationReport, IdentifyError};

use crate::{arguments::IdentifyOptions, failure::Failure, layout, output, progress::Progress, signals};

/// File names inside the folder.
const FILES: [&str; 3] = ["summary.json", "report.html", "estimated.toml"];

/// Results, written and, with `--json`, printed. They do not depend on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    identification: &'r str,
    scene: String,
    recordings: Vec<Shown<'r>>,
    #[serde(flatten)]
    report: &'r IdentificationReport,
}

/// Recording in the summary.
#[derive(Serialize)]
struct Shown<'r> {
    name: &'r str,
    rows: usize,
    /// Number of measured values.
    numbers: usize,
}

pub(crate) fn run(options: &IdentifyOptions) -> Result<(), Failure> {
    let identification = stiction_identify::load(&options.identification, &stiction_identify::read_bytes)?;
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(&identification.name));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot write {}: {error}", folder.display()))
            .with_help("choose a folder that can be written with --out DIR")
    })?;
    let files = FILES.map(|name| folder.join(name));
    output::refuse_inputs(&files, [options.identification.as_path(), &identification.scene_path])?;
    let started = Instant::now();
    let stop = signals::stop_on_signals()?;
    let progress = Mutex::new(Progress::new(identification.work() as u64, "parts"));
    let report = identification.run(&|done| {
        progress.lock().unwrap_or_else(PoisonError::into_inner).at(done as u64);
        !stop.load(Ordering::Relaxed)
    });
    drop(progress);
    let report = report.map_err(failed)?;
    let recordings = identification.recordings.iter().map(|recording| Shown {
        name: &recording.name,
        rows: recording.times.len(),
        numbers: recording.numbers(0..recording.times.len()),
    });
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        identification: &identification.name,
        scene: identification.scene_path.display().to_string(),
        recordings: recordings.collect(),
        report: &report,
    };
    let written = write(&identification, &results, &folder);
    if options.json {
        layout::print_json(&results)?;
    } else {
        let files = written.as_ref().map_or(&[][..], Vec::as_slice);
        let elapsed = started.elapsed().as_secs_f64();
        layout::print_text(&table::text(&identification, &report, elapsed, files))?;
    }
    written?;
    if report.interrupted {
        return Err(Failure::work("stopped on request; the results so far are kept"));
    }
    Ok(())
}

/// Invalid files are input errors (exit code 2); failed runs are simulation errors (exit code 1).
fn failed(error: IdentifyError) -> Failure {
    match error {
        IdentifyError::Scene(error) => Failure::Scene(*error),
        IdentifyError::Recording { .. } | IdentifyError::Nothing | IdentifyError::NotInBuild { .. } => {
            Failure::input(error)
        }
        other => Failure::work(format!("the identification failed: {other}")).with_help(
            "every run at the initial guess failed: improve the initial guess, or restrict the time with from and to",
        ),
    }
}

/// Writes the files; returns their paths.
fn write(identification: &Identification, results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let [summary, page, scene] = FILES.map(|name| folder.join(name));
    let text = serde_json::to_string_pretty(results).map_err(|error| output::unwritten(&summary, &error))?;
    let values = results.report.methods.first().map(stiction_identify::MethodReport::values).unwrap_or_default();
    let estimated = identification.scene_with(&values).map_err(|error| output::unwritten(&scene, &error))?;
    let files = [(summary, text + "\n"), (page, page::page(identification, results.report)), (scene, estimated)];
    for (path, text) in &files {
        output::write(path, text)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
