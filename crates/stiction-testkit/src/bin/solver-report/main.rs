//! Runs every method on all available problems and writes `docs/solver-report.md`: `cargo xtask report`.
//!
//! It also writes the measured part of the decision table of `stiction-complementarity`. Problems are those of `problems/` and
//! of the external sets below `STICTION_DATA`. Methods are those of the catalogue, with the ladder of frictional problems at
//! two accuracies.

// This program reads files and the environment, measures time and writes files; the lints against that are meant for the numerical crates.
#![allow(clippy::disallowed_methods)]

mod account;
mod measure;
mod readme;
mod warm;

use measure::Measured;
use std::path::PathBuf;
use std::process::ExitCode;
use stiction_testkit::corpus;
use warm::Pair;

fn main() -> ExitCode {
    let problems = corpus::available();
    let measured: Vec<_> = problems.iter().flat_map(measure::all_methods).collect();
    let warm = warm::all(&problems);
    println!("{} problems, {} solves", problems.len(), measured.len());
    match write(&account::markdown(&problems, &measured, &warm), &measured, &warm) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the report and the measured part of the README of the crate.
fn write(page: &str, measured: &[Measured], warm: &[Pair]) -> Result<(), String> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let save = |path: &str, text: &str| {
        println!("{path}");
        std::fs::write(root.join(path), text).map_err(|error| format!("cannot write {path}: {error}"))
    };
    save("docs/solver-report.md", page)?;
    let path = "crates/stiction-complementarity/README.md";
    let old = std::fs::read_to_string(root.join(path)).map_err(|error| format!("cannot read {path}: {error}"))?;
    save(path, &readme::renewed(&old, measured, warm).ok_or(format!("{path} has no marks for the measured part"))?)
}
