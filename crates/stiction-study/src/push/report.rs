//! What a search found.

use serde::Serialize;

use super::{Goal, Miss, Path};
use crate::SuccessRate;

/// A path and where it leads.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The trial it comes from.
    pub trial: u64,
    /// Whether the path was refined after the trial.
    pub refined: bool,
    /// The path.
    pub path: Path,
    /// Its length, m: the cost of the plan.
    pub length: f64,
    /// Seconds until the part is at the goal.
    pub duration: f64,
    /// Where the part comes to lie: position and angle.
    pub pose: [f64; 3],
    /// How far that is from the goal.
    pub miss: Miss,
    /// How often it reaches the goal under other friction, where that was tried.
    pub rehearsed: Option<SuccessRate>,
}

/// How many trials failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailureCount {
    /// The reason.
    pub reason: String,
    /// Number of trials.
    pub count: u64,
    /// The first of them.
    pub first_trial: u64,
    /// What happened there.
    pub detail: String,
}

/// The answer to a push study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PushReport {
    /// Trials asked for.
    pub trials: u64,
    /// The seed.
    pub seed: u64,
    /// The goal.
    pub goal: Goal,
    /// Trials that reached the goal, of all that were made; failed ones did not reach it. Refined paths do not count.
    pub successes: SuccessRate,
    /// Trials that failed, by reason, the most frequent first.
    pub failed: Vec<FailureCount>,
    /// Whether somebody stopped it before all was done.
    pub interrupted: bool,
    /// All plans that reach the goal, the shortest path first, then by trial.
    pub found: Vec<Plan>,
    /// The trial that came nearest to the goal.
    pub nearest: Option<Plan>,
}

impl PushReport {
    /// The shortest plan that reaches the goal.
    pub fn best(&self) -> Option<&Plan> {
        self.found.first()
    }
}
