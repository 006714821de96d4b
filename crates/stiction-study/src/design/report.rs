//! Report of a search.

use serde::Serialize;

use super::Method;

/// Report of a design. It does not depend on the machine or the number of threads.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DesignReport {
    /// Method of the search.
    pub method: Method,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Best parameters found; those of the start if no evaluation was completed.
    pub parameters: Vec<Chosen>,
    /// Objective there; `None` if no evaluation was completed. For least squares it is the sum of squares.
    pub objective: Option<f64>,
    /// The objective at the start of the first search.
    pub objective_at_start: Option<f64>,
    /// The terms there, run by run.
    pub runs: Vec<RunScore>,
    /// Number of different points that were evaluated.
    pub evaluations: u64,
    /// Evaluations that failed, by reason; their objective was infinite.
    pub failed: Vec<DesignFailure>,
    /// True if it was interrupted.
    pub interrupted: bool,
    /// The searches, from their different starts.
    pub starts: Vec<StartReport>,
}

/// Evaluations that failed for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DesignFailure {
    /// The reason.
    pub reason: String,
    /// Number of evaluations.
    pub count: u64,
    /// Details of one of them.
    pub detail: String,
}

/// A parameter and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// Path of the value of the scene that it sets.
    pub path: Option<String>,
    /// Value found.
    pub value: f64,
    /// Start of the first search.
    pub start: f64,
    /// Lower and upper bound; `None` without a bound.
    pub bounds: [Option<f64>; 2],
}

/// The terms of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunScore {
    /// Name of the run.
    pub run: String,
    /// Each term with its weighted value.
    pub terms: Vec<(String, f64)>,
}

/// One search.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct StartReport {
    /// Start of the search.
    pub start: Vec<f64>,
    /// Best parameters found.
    pub best: Vec<f64>,
    /// The objective there.
    pub objective: Option<f64>,
    /// Reason why it ended.
    pub ending: Ending,
    /// Progress of the search.
    pub milestones: Vec<Milestone>,
}

/// Progress after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Milestone {
    /// Iterations so far.
    pub iteration: u64,
    /// Evaluations of this search so far.
    pub evaluations: u64,
    /// Best objective so far; `None` if no evaluation was completed.
    pub objective: Option<f64>,
}

/// Reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ending {
    /// The method has converged to the tolerance.
    Converged,
    /// The evaluations are used up.
    Budget,
    /// The method made no progress.
    NoProgress,
    /// The search was stopped from outside.
    Stopped,
}

impl Ending {
    /// Description in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Budget => "evaluations used up",
            Self::NoProgress => "no way on",
            Self::Stopped => "stopped",
        }
    }
}
