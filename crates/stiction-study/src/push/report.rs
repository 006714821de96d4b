//! Report of a search for plans.

use serde::Serialize;

use super::{Goal, Miss, Path};
use crate::SuccessRate;

/// Path with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The trial it comes from.
    pub trial: u64,
    /// True if the path was refined after the trial.
    pub refined: bool,
    /// The path.
    pub path: Path,
    /// Its length, m: the cost of the plan.
    pub length: f64,
    /// Time until the part is at the goal, s.
    pub duration: f64,
    /// Final pose of the part: position and angle.
    pub pose: [f64; 3],
    /// Distance of the pose from the goal.
    pub miss: Miss,
    /// Success rate under other friction, if it was rehearsed.
    pub rehearsed: Option<SuccessRate>,
}

/// Number of trials that failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailureCount {
    /// The reason.
    pub reason: String,
    /// Number of trials.
    pub count: u64,
    /// The first of them.
    pub first_trial: u64,
    /// Details of the first.
    pub detail: String,
}

/// Report of a push study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PushReport {
    /// Number of requested trials.
    pub trials: u64,
    /// The seed.
    pub seed: u64,
    /// The goal.
    pub goal: Goal,
    /// Success rate of the trials that were made; failed ones are no successes. Refined paths do not count.
    pub successes: SuccessRate,
    /// Trials that failed, by reason, the most frequent first.
    pub failed: Vec<FailureCount>,
    /// True if it was stopped before all was done.
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
