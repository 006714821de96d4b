//! `stiction sweep` of `monte-carlo` studies.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde::Serialize;
use stiction_study::monte_carlo::{Ending, MonteCarlo, Report, StudyError, SweepOptions as Sweep};

use super::{Observer, figures, folder_of, monte_carlo_table, page};
use crate::{arguments::SweepOptions, failure::Failure, layout, output};

/// Resolution of raster pictures.
const DOTS_PER_INCH: f64 = 200.0;

/// Results, written and, with `--json`, printed. They do not depend on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    study: &'r str,
    kind: &'static str,
    scene: String,
    #[serde(flatten)]
    report: &'r Report,
}

pub(super) fn run(mut study: MonteCarlo, options: &SweepOptions) -> Result<(), Failure> {
    study.trials = options.trials.unwrap_or(study.trials);
    study.seed = options.seed.unwrap_or(study.seed);
    let folder = folder_of(options, &study.name)?;
    let limit =
        options.max_seconds.or(study.budget.seconds).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let observer = Observer::new((study.count(), "trials"), limit)?;
    let started = Instant::now();
    let mut sweep = Sweep::default();
    (sweep.threads, sweep.resume, sweep.replace) = (options.jobs, options.resume, options.fresh);
    let report = study.run(&folder, &sweep, &observer).map_err(|error| refusal(&error))?;
    let seconds = started.elapsed().as_secs_f64();
    let asked = observer.stop.load(Ordering::Relaxed);
    drop(observer);
    let scene = study.scene_path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let results =
        Results { version: env!("CARGO_PKG_VERSION"), study: &study.name, kind: "monte-carlo", scene, report: &report };
    let tables = |files: &[PathBuf]| monte_carlo_table::text(&study, &report, seconds, files);
    let written = write(&results, &folder, &tables(&[]));
    if options.json {
        layout::print_json(&results)?;
    } else {
        layout::print_text(&tables(written.as_ref().map_or(&[][..], Vec::as_slice)))?;
    }
    written?;
    outcome(&report, asked)
}

/// Failure for a folder that cannot be used, with the options to resolve it, or for a study that could not continue.
fn refusal(error: &StudyError) -> Failure {
    match error {
        StudyError::Present { .. } => Failure::input(error)
            .with_help("`--resume` continues it, `--fresh` replaces it, `--out DIR` chooses another folder"),
        StudyError::OtherPresent { .. } | StudyError::OtherStudy { .. } | StudyError::NotAJournal { .. } => {
            Failure::input(error).with_help(
                "`--fresh` replaces it, `--out DIR` chooses another folder; `--resume` continues the same study only",
            )
        }
        _ => Failure::work(error),
    }
}

/// Checks the outcome of a study. Reaching the time limit is not a failure.
fn outcome(report: &Report, asked: bool) -> Result<(), Failure> {
    let failed: u64 = report.failures.iter().map(|kind| kind.count).sum();
    let first = report.failures.first().map(|kind| kind.detail.as_str()).unwrap_or_default();
    match report.ending {
        Ending::Stopped if asked => {
            Err(Failure::work("stopped on request; the trials so far are kept").with_help("`--resume` continues"))
        }
        Ending::TooManyFailures => {
            Err(Failure::work(format!("{failed} trials failed, more than `max_failures` allows; the first: {first}")))
        }
        _ if failed > 0 && failed == report.made => {
            Err(Failure::work(format!("every trial failed; the first: {first}")))
        }
        _ => Ok(()),
    }
}

/// Writes the summary, the figures and the page; returns their paths.
fn write(results: &Results, folder: &Path, tables: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![folder.join("trials.parquet")];
    let mut write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        output::write(&path, bytes)?;
        files.push(path);
        Ok::<_, Failure>(())
    };
    let text = serde_json::to_string_pretty(results)
        .map_err(|error| Failure::work(format!("cannot write the summary: {error}")))?;
    write("summary.json", (text + "\n").as_bytes())?;
    let report = results.report;
    let (map, marginals) = (figures::map(report), figures::marginals(report));
    let named = [("map", &map), ("histogram", &figures::histogram(report)), ("marginals", &marginals)];
    for (name, figure) in named.into_iter().filter_map(|(name, figure)| Some((name, figure.as_ref()?))) {
        write(&format!("{name}.svg"), figure.to_svg().as_bytes())?;
        let png = figure.to_png(DOTS_PER_INCH);
        let png = png.map_err(|error| Failure::work(format!("cannot draw {name}.png: {error}")))?;
        write(&format!("{name}.png"), &png)?;
    }
    let title = format!("{}, of the scene {}", results.study, results.scene);
    let on_page: Vec<_> = [figures::maps_and_histograms(report).or(map), marginals].into_iter().flatten().collect();
    write("results.html", page::page(&title, tables, &on_page, report).as_bytes())?;
    Ok(files)
}
