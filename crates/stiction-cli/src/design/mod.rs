//! `stiction design`: parameters of a scene that minimise an objective.

mod page;
mod table;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};
use stiction_study::design::{self, DesignReport, DesignSearch, Log};

use crate::{arguments::DesignOptions, failure::Failure, layout, output, sweep::Observer};

/// File names inside the folder.
const FILES: [&str; 5] = ["evaluations.jsonl", "results.json", "results.html", "convergence.svg", "best.toml"];

/// Results, written and, with `--json`, printed. They do not depend on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    design: &'r str,
    scene: String,
    #[serde(flatten)]
    report: &'r DesignReport,
}

pub(crate) fn run(options: &DesignOptions) -> Result<(), Failure> {
    let search = configured(options)?;
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(&search.design().name));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::input(format!("cannot write {}: {error}", folder.display()))
            .with_help("choose a folder that can be written with --out DIR")
    })?;
    let files = FILES.map(|name| folder.join(name));
    output::refuse_inputs(&files, [options.design.as_path(), &search.design().scene_path])?;
    let [log, ..] = files;
    let log = if options.resume { Log::resume(&log, search.design()) } else { Log::create(&log, search.design()) };
    let log =
        log.map_err(|error| Failure::input(error).with_help("without --resume the search starts from the beginning"))?;
    let started = Instant::now();
    let observer = Observer::new((search.work(), "evaluations"), None)?;
    let report = search.run(options.jobs, &log, &observer).map_err(Failure::work)?;
    drop(observer);
    let seconds = started.elapsed().as_secs_f64();
    let scene = search.design().scene_path.display().to_string();
    let results = Results { version: env!("CARGO_PKG_VERSION"), design: &search.design().name, scene, report: &report };
    let written = write(&search, &results, &folder);
    if options.json {
        layout::print_json(&results)?;
    } else {
        let files = written.as_ref().map_or(&[][..], Vec::as_slice);
        layout::print_text(&table::text(&search, &report, (seconds, log.found()), files))?;
    }
    written?;
    if let Some(trouble) = log.trouble() {
        return Err(Failure::work(format!("evaluations could not be written: {trouble}")));
    }
    match (report.interrupted, report.objective, report.failed.first()) {
        (true, ..) => {
            Err(Failure::work("stopped on request; the evaluations so far are kept")
                .with_help("continue with --resume"))
        }
        (false, None, Some(failure)) => {
            Err(Failure::work(format!("every evaluation failed; one cause: {}", failure.detail)))
        }
        _ => Ok(()),
    }
}

/// Search of the file with the options of the command line.
fn configured(options: &DesignOptions) -> Result<DesignSearch, Failure> {
    let search = design::load(&options.design)?;
    let mut changed = *search.options();
    changed.method = options.method.map_or(changed.method, Into::into);
    changed.evaluations = options.evaluations.unwrap_or(changed.evaluations);
    changed.starts = options.starts.unwrap_or(changed.starts);
    changed.seed = options.seed.unwrap_or(changed.seed);
    DesignSearch::new(search.design().clone(), changed).map_err(Failure::input)
}

/// Writes everything but the log; returns the paths.
fn write(search: &DesignSearch, results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let [log, json, page, figure, best] = FILES.map(|name| folder.join(name));
    // Removes the result of an older search.
    let _ = std::fs::remove_file(&best);
    let text = serde_json::to_string_pretty(results).map_err(|error| output::unwritten(&json, &error))?;
    let convergence = convergence(results.report).to_svg();
    let mut files =
        vec![(json, text + "\n"), (page, page::page(search, results.report, &convergence)), (figure, convergence)];
    if let (Some(run), Some(_)) = (search.design().runs.first(), results.report.objective) {
        let values: Vec<_> = results.report.parameters.iter().map(|chosen| chosen.value).collect();
        let scene = search.design().scene_text(run, &values).map_err(|error| output::unwritten(&best, &error))?;
        files.push((best, scene));
    }
    for (path, text) in &files {
        output::write(path, text)?;
    }
    Ok(std::iter::once(log).chain(files.into_iter().map(|(path, _)| path)).collect())
}

/// Best objective over the evaluations, one line per start.
fn convergence(report: &DesignReport) -> Figure {
    let curves: Vec<(Vec<f64>, Vec<f64>)> = report
        .starts
        .iter()
        .map(|start| {
            let points = start.milestones.iter().filter_map(|m| Some((m.evaluations as f64, m.objective?)));
            points.unzip()
        })
        .collect();
    let values = || curves.iter().flat_map(|(_, y)| y.iter().copied());
    let (low, high) = values().fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
    let axis = Axis::new("best objective", "");
    // A logarithmic axis shows the last improvements of a search as well as the first ones.
    let axis = if low > 0.0 && high > 10.0 * low { axis.log() } else { axis };
    let mut panel = Panel::new(Axis::new("evaluations", ""), axis);
    let several = curves.len() > 1;
    for (k, (x, y)) in curves.into_iter().enumerate() {
        // With more starts than colours a legend is ambiguous.
        let layer = Layer::steps(x, y).colour(k);
        panel = panel.with(if several && k < 6 { layer.named(format!("start {}", k + 1)) } else { layer });
    }
    if let Some(best) = report.objective.filter(|_| several) {
        panel = panel.with(Layer::horizontal_marks(vec![best]).dash(Dash::Dotted).muted());
    }
    Figure::new("").with(panel).panel_size(150.0, 80.0)
}
