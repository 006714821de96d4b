//! The Python module `stiction._stiction`: a thin layer between Python and the crates.
//!
//! Reading order: `simulation` (what steps), `contacts` (what touched), `run` (recordings), `solve` (problems without mechanics), `gradient`, `compare`, `worlds` (many
//! simulations side by side), `study`, `identification`;
//! `errors` and `arrays` are the two directions of distrust. What needs no speed is written in Python, in `python/stiction`.

// Python has a clock, files and an environment.
#![allow(clippy::disallowed_methods)]
// Values from Python arrive owned, and methods of classes take the interpreter whether they need it or not.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod compare;
mod contacts;
mod errors;
mod gradient;
mod identification;
mod patience;
mod run;
mod simulation;
mod solve;
mod study;
mod worlds;

use pyo3::prelude::*;

/// The compiled part of stiction; use the package `stiction`.
#[pymodule]
mod _stiction {
    #[pymodule_export]
    use super::{
        compare::compare_schemes,
        contacts::Contacts,
        gradient::gradients,
        identification::Identification,
        run::{Recorder, Tables, view_page},
        simulation::{Simulation, StepReport, robot_scene, scene_from_json, scene_to_json},
        solve::solve_problem,
        study::{Collector, Design, Study},
        worlds::Worlds,
    };

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
