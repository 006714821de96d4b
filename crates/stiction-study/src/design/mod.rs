//! Design: parameters of a scene, chosen so that an objective over one or several runs becomes small.
//!
//! A [`Design`] is a scene, *parameters* that enter it, *runs* that differ in where they start, and *terms*: expressions over each
//! run ([`stiction::measure`]) whose weighted sum is the objective. An evaluation simulates every run. A [`DesignSearch`] minimises
//! the objective by the method of Nelder and Mead or by CMA-ES, or solves a boundary-value problem: terms that must vanish, by
//! the method of Levenberg and Marquardt.
//!
//! The objective is a pure function of the parameters, and the methods are deterministic: the same design has the same result on any
//! number of threads. Every evaluation goes to a [`Log`]; a search that was stopped is made again from its start, with the answers of
//! the log, and so continues where it stopped.
//!
//! ```text
//! file       design files (TOML)                     formula   values that follow from parameters
//! evaluate   one evaluation: runs, terms, objective  log       evaluations on disk
//! optimise   the methods; knows the crate behind them, and nobody else does
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

/// A quantity that a design chooses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in formulas and expressions.
    pub name: String,
    /// The value of the scene that it is, by its path; `None` where it acts through formulas only.
    pub path: Option<String>,
    /// Where the search starts.
    pub start: f64,
    /// Least and greatest value.
    pub bounds: [f64; 2],
    /// How far the first trials go from the start: the size of the first simplex, or the standard deviation of the first generation.
    pub scale: f64,
}

/// A scene and what should become small by the choice of parameters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Design {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file.
    pub scene_path: PathBuf,
    /// Its text.
    scene_text: String,
    /// What is chosen.
    pub parameters: Vec<Parameter>,
    /// Values of the scene that follow from parameters.
    formulas: Vec<(String, Formula)>,
    /// What is simulated in one evaluation.
    pub runs: Vec<Run>,
    /// What is measured of each run.
    pub terms: Vec<Term>,
    /// Every how many steps a run is looked at.
    record_every: u32,
}

impl Design {
    /// The design with one more value of the scene that does not change in the search.
    pub fn with_value(mut self, path: &str, value: f64) -> Self {
        self.formulas.push((path.to_owned(), Formula::constant(value)));
        self
    }
}
