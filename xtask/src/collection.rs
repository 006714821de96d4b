//! `cargo xtask corpus` and `cargo xtask report`: the collection in `problems/`, and what the methods do on it.
//!
//! Both are programs of `stiction-testkit`, because they need the solvers; this command only starts them, in release.

use crate::stage::{cargo, execute};

/// Writes the files of `problems/` that are made from code.
pub(crate) fn write_corpus() -> Result<(), String> {
    program("corpus")
}

/// Runs every method on every problem within reach and writes `docs/solver-report.md`.
pub(crate) fn report() -> Result<(), String> {
    program("solver-report")
}

fn program(name: &str) -> Result<(), String> {
    execute(&mut cargo(&["run", "--release", "--package", "stiction-testkit", "--bin", name]))
}
