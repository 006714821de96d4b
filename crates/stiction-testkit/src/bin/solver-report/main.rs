//! Runs every method on every problem within reach and writes `docs/solver-report.md`: `cargo xtask report`.
//!
//! Problems are those of `problems/` and, where `STICTION_DATA` leads to them, the external sets; methods are those of the
//! catalogue, the ladder of frictional problems at two accuracies.

// This program reads files and the environment, measures time and writes: the rules against that protect the numerical crates.
#![allow(clippy::disallowed_methods)]

mod account;
mod collection;
mod measure;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let problems = collection::all();
    let measured: Vec<_> = problems.iter().flat_map(measure::all_methods).collect();
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/solver-report.md"));
    match std::fs::write(&path, account::markdown(&problems, &measured)) {
        Ok(()) => {
            println!("{} problems, {} solves: {}", problems.len(), measured.len(), path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot write {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
