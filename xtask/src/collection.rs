//! `cargo xtask corpus`, `cargo xtask report` and `cargo xtask ablation`: the collection in `problems/`, what the methods do on it, and what
//! each rung of the ladders is for.
//!
//! All are programs of `stiction-testkit`, because they need the solvers; this command only starts them, in release.

use crate::stage::{cargo, execute};
use crate::tree;

/// Writes the files of `problems/` that are made from code.
pub(crate) fn write_corpus() -> Result<(), String> {
    program("corpus")
}

/// Runs every method on every problem within reach and writes `docs/solver-report.md`.
pub(crate) fn report() -> Result<(), String> {
    program("solver-report")
}

/// Removes each rung of the ladders and writes `docs/ablation.md`.
pub(crate) fn ablation() -> Result<(), String> {
    program("ablation")
}

/// The same as JSON on standard output, with nothing else there.
pub(crate) fn ablation_as_json() -> Result<(), String> {
    let mut command =
        cargo(&["run", "--release", "--package", "stiction-testkit", "--bin", "ablation", "--", "--json"]);
    let status = command.current_dir(tree::root()).status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("ablation --json: {status}")) }
}

fn program(name: &str) -> Result<(), String> {
    execute(&mut cargo(&["run", "--release", "--package", "stiction-testkit", "--bin", name]))
}
