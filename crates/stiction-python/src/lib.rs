//! Python module `stiction._stiction`: thin bindings of the crates.
//!
//! Reading order: `simulation`, `joints` (joint coordinates), `dynamics` (mass matrix, Jacobians, sites), `contacts`, `run` (recordings), `solve` (problems without mechanics), `gradient`, `compare`, `worlds` (many
//! simulations in parallel), `study`, `identification`; `arrays` checks values from Python, `errors` converts errors to exceptions. The parts
//! that need no speed are written in Python, in `python/stiction`.

// Python code may use the clock, files and the environment.
#![allow(clippy::disallowed_methods)]
// Values from Python arrive owned, and methods of classes take the interpreter token in any case.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod compare;
mod contacts;
mod dynamics;
mod errors;
mod gradient;
mod identification;
mod interrupt;
mod joints;
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
        dynamics::{
            forward_dynamics, inverse_dynamics, jacobian, joint_forces, mass_matrix, site_names, site_on_body,
            site_pose, site_twist,
        },
        gradient::gradients,
        identification::Identification,
        joints::{
            joint_coordinate_names, joint_facts, joint_value, qpos, qvel, set_joint_coordinates, set_joint_value,
        },
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
