//! `stiction sweep` of `verification` studies.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use stiction_study::verify::{Verification, VerificationReport, VerifyOptions};

use super::{Observer, folder_of, verification_table};
use crate::{arguments::SweepOptions, failure::Failure, layout, output};

/// File names inside the folder.
const FILES: (&str, &str) = ("results.json", "accepted.toml");

/// Results, written and, with `--json`, printed. Only `seconds` depends on the machine or the number of threads.
#[derive(Serialize)]
struct Results<'r> {
    version: &'static str,
    study: &'r str,
    kind: &'static str,
    scene: String,
    #[serde(flatten)]
    report: &'r VerificationReport,
}

pub(super) fn run(study: Verification, options: &SweepOptions) -> Result<(), Failure> {
    if options.resume {
        return Err(Failure::input(
            "`--resume` continues studies of the kind `monte-carlo`; remove it for studies of the kind `verification`",
        ));
    }
    let seed = options.seed.unwrap_or(study.seed);
    let study = study.with_sample(seed, options.trials);
    let folder = folder_of(options, &study.name)?;
    let files = [FILES.0, FILES.1].map(|name| folder.join(name));
    output::refuse_inputs(&files, [options.study.as_path(), &study.scene_path])?;
    let observer = Observer::new((study.candidates().count(), "candidates"), None)?;
    let started = Instant::now();
    let mut verify = VerifyOptions::default();
    (verify.threads, verify.naive) = (options.jobs, options.naive);
    let report = study.run(&verify, &|| started.elapsed().as_secs_f64(), &observer).map_err(Failure::work)?;
    let seconds = started.elapsed().as_secs_f64();
    drop(observer);
    let scene = study.scene_path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        study: &study.name,
        kind: "verification",
        scene,
        report: &report,
    };
    let written = write(&study, &results, &folder);
    if options.json {
        layout::print_json(&results)?;
    } else {
        let files = written.as_ref().map_or(&[][..], Vec::as_slice);
        layout::print_text(&verification_table::text(&study, &report, seconds, files))?;
    }
    written?;
    outcome(&report)
}

/// Checks the outcome of a study. A study without accepted candidates is not a failure.
fn outcome(report: &VerificationReport) -> Result<(), Failure> {
    if report.interrupted {
        return Err(Failure::work("stopped on request; the results so far are kept"));
    }
    let mut failures = report.rejected.iter().filter_map(|rejected| rejected.failure.as_ref());
    match failures.next() {
        Some(first) if failures.count() as u64 + 1 == report.made => {
            Err(Failure::work(format!("a run of every candidate failed; the first: {}", first.detail)))
        }
        _ => Ok(()),
    }
}

/// Writes the results and, if a candidate was accepted, the scene of the first; returns their paths.
fn write(study: &Verification, results: &Results, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let [json, scene] = [FILES.0, FILES.1].map(|name| folder.join(name));
    // Removes the scene of an older study.
    let _ = std::fs::remove_file(&scene);
    let text = serde_json::to_string_pretty(results).map_err(|error| output::unwritten(&json, &error))?;
    output::write(&json, text + "\n")?;
    let (Some(first), Some(last)) = (results.report.accepted.first(), study.stages().last()) else {
        return Ok(vec![json]);
    };
    let text = study.scene_text(last, &first.values, &last.circumstances.values(0));
    let text = text.map_err(|error| output::unwritten(&scene, &error))?;
    output::write(&scene, text)?;
    Ok(vec![json, scene])
}
