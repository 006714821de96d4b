//! What a search found.

use serde::Serialize;

use super::Method;

/// What came out of a design. Nothing in it depends on the machine or the number of threads.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DesignReport {
    /// How it was searched.
    pub method: Method,
    /// What the randomness started from.
    pub seed: u64,
    /// The best parameters that were found; as they are at the start where no evaluation came to its end.
    pub parameters: Vec<Chosen>,
    /// The objective there; `None` where no evaluation came to its end. For least squares the sum of squares.
    pub objective: Option<f64>,
    /// The objective at the start of the first search.
    pub objective_at_start: Option<f64>,
    /// The terms there, run by run.
    pub runs: Vec<RunScore>,
    /// Number of different points that were evaluated.
    pub evaluations: u64,
    /// Evaluations that failed, by reason; the search saw them as infinitely bad.
    pub failed: Vec<DesignFailure>,
    /// Whether it was stopped.
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
    /// What happened in one of them.
    pub detail: String,
}

/// A parameter and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// The value of the scene that it is.
    pub path: Option<String>,
    /// What was found.
    pub value: f64,
    /// Where the first search started.
    pub start: f64,
    /// Least and greatest value; `None` where there is no bound.
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
    /// Where it started.
    pub start: Vec<f64>,
    /// The best it found.
    pub best: Vec<f64>,
    /// The objective there.
    pub objective: Option<f64>,
    /// Why it ended.
    pub ending: Ending,
    /// How it went.
    pub milestones: Vec<Milestone>,
}

/// How things stood after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Milestone {
    /// Iterations so far.
    pub iteration: u64,
    /// Evaluations of this search so far.
    pub evaluations: u64,
    /// The best objective so far; `None` where no evaluation came to its end.
    pub objective: Option<f64>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ending {
    /// The method is as near as was asked for.
    Converged,
    /// The evaluations were used up.
    Budget,
    /// The method found no way on.
    NoProgress,
    /// Somebody wanted to stop.
    Stopped,
}

impl Ending {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Budget => "evaluations used up",
            Self::NoProgress => "no way on",
            Self::Stopped => "stopped",
        }
    }
}
