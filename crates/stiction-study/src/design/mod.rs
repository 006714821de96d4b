//! Design: parameters of a scene that minimise an objective over one or several runs.
//!
//! A [`Design`] is a scene, *parameters* that enter it, *runs* that differ in their initial values, and *terms*: expressions over each run
//! ([`stiction::measure`]) whose weighted sum is the objective. An evaluation simulates every run. A [`DesignSearch`] minimises the
//! objective by the method of Nelder and Mead or by CMA-ES, or solves a boundary-value problem: terms that must vanish, by the method of
//! Levenberg and Marquardt.
//!
//! The objective is a pure function of the parameters, and the methods are deterministic: the same design has the same result on any number
//! of threads. Every evaluation is written to a [`Log`]. An interrupted search starts again with the evaluations of the log, and so
//! continues at the point of interruption.
//!
//! ```text
//! file       design files (TOML)                     formula   values that follow from parameters
//! evaluate   one evaluation: runs, terms, objective  log       evaluations on disk
//! optimise   the methods; the only module that uses the crate behind them
//! search     starts, budget, progress                report    what came out
//! ```

mod evaluate;
mod file;
mod formula;
mod log;
mod optimise;
mod report;
mod search;

pub use evaluate::{Evaluation, Run, Term};
pub use file::{load, parse, schema};
pub use formula::Formula;
pub use log::{Log, LogError};
pub use optimise::Method;
pub use report::{Chosen, DesignFailure, DesignReport, Ending, Milestone, RunScore, StartReport};
pub use search::{DesignError, DesignSearch, SearchOptions};

use std::path::PathBuf;

/// Parameter that a design chooses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in formulas and expressions.
    pub name: String,
    /// Path of the value of the scene that it sets; `None` if it acts through formulas only.
    pub path: Option<String>,
    /// Start of the search.
    pub start: f64,
    /// Lower and upper bound.
    pub bounds: [f64; 2],
    /// Distance of the first trials from the start: the size of the first simplex, or the standard deviation of the first generation.
    pub scale: f64,
}

/// Scene with parameters and an objective to minimise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Design {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file.
    pub scene_path: PathBuf,
    /// Its text.
    scene_text: String,
    /// Parameters to choose.
    pub parameters: Vec<Parameter>,
    /// Values of the scene that are formulas of parameters.
    formulas: Vec<(String, Formula)>,
    /// Runs of one evaluation.
    pub runs: Vec<Run>,
    /// Terms that are measured of each run.
    pub terms: Vec<Term>,
    /// Number of steps between records of a run.
    record_every: u32,
}

impl Design {
    /// Adds a value of the scene that is constant in the search.
    pub fn with_value(mut self, path: &str, value: f64) -> Self {
        self.formulas.push((path.to_owned(), Formula::constant(value)));
        self
    }
}
