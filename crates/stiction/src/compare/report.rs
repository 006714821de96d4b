//! Results of a comparison: plain data, the fields of `compare.json`.

use serde::{Deserialize, Serialize};

use super::Errors;
use crate::record::{EnergySummary, Extreme, ResidualSummary};

/// Results of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Version of stiction.
    pub version: String,
    /// Name of the scene; empty for models without one.
    pub scene: String,
    /// Simulated time, s.
    pub until: f64,
    /// Velocity components, over which the norms are taken.
    pub components: usize,
    /// Reference solution.
    pub truth: Truth,
    /// Runs, scheme by scheme, the largest step first.
    pub rows: Vec<Row>,
    /// Schemes that do not support this scene, with the reason.
    pub refusals: Vec<Refusal>,
    /// True if the comparison was stopped on request; some runs are then missing.
    pub interrupted: bool,
}

/// Reference solution that the errors are measured against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Truth {
    /// Name of the scheme.
    pub preset: String,
    /// Step size, s.
    pub step: f64,
    /// Its distance from itself sampled at every second step, and at least rounding: smaller errors are not significant.   [COMPARE-7]
    pub resolution: Errors,
    /// Largest componentwise variation of its velocity.   [COMPARE-3]
    pub variation: f64,
    /// Earlier candidates that did not simulate the whole time, with the reason.
    #[serde(alias = "passed_over")]
    pub rejected_candidates: Vec<Refusal>,
}

/// A scheme that does not support the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Name of the scheme.
    pub preset: String,
    /// Reason, as a sentence.
    pub reason: String,
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The whole time was simulated.
    Finished,
    /// A step failed.
    Failed {
        /// Number of the step, from 1.
        step: u64,
        /// Time at the start of the step, s.
        time: f64,
        /// Cause, as a sentence.
        cause: String,
    },
}

/// Run of one scheme with one step size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Name of the scheme.
    pub preset: String,
    /// Step size, s.
    pub step: f64,
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Distance from the reference solution; none for a run that failed.
    pub errors: Option<Errors>,
    /// Orders of convergence from the next larger step to this one.   [COMPARE-8]
    pub orders: Orders,
    /// Largest componentwise variation of the velocity, m/s or rad/s.   [COMPARE-3]
    pub variation: f64,
    /// Cost of the run.
    pub cost: Cost,
    /// Violation of constraints.
    pub infeasibility: InfeasibilityExtremes,
    /// Total energy, J.
    pub energy: EnergySummary,
    /// Longest slip path of any pair of bodies, m.   [COMPARE-6]
    pub slip: f64,
    /// Largest residual of all steps (natural map of the problem).
    pub residual: ResidualSummary,
}

/// Orders of convergence; none without a larger step size, or if an error is below the resolution of the reference solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// Order of the velocity error.
    pub velocity: Option<f64>,
    /// Order of the position error.
    pub position: Option<f64>,
}

/// Cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Number of steps.
    pub steps: u64,
    /// Number of these steps that were halved.   [STEP-13]
    #[serde(default)]
    pub halved: u64,
    /// Solver iterations over all steps: pivots, Gauss-Seidel or Newton iterations; integrator steps for the reference.
    pub iterations: u64,
    /// Least wall-clock time of all repetitions, steps only, s. The only value here that is not reproducible.
    pub wall_seconds: f64,
}

/// Violation of constraints at step ends: the largest and the last value.   [STEP-9]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InfeasibilityExtremes {
    /// Violation of joints, m or rad.
    pub joints: Extreme,
    /// Violation of joints and contacts, m or rad.
    pub total: Extreme,
}
